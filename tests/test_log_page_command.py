"""`diagnose --html`: a page, whole or not at all, and never in place of what it is made from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from diagnose_logs import rise

from numerics import cli


@pytest.fixture
def log(tmp_path: Path) -> Path:
    random = np.random.default_rng(5)
    value = rise(40, 8) + 0.05 * random.standard_normal(40)
    path = tmp_path / "run.csv"
    rows = "".join(f"{k},{v}\n" for k, v in enumerate(value))
    path.write_text(f"step,reward\n{rows}", encoding="utf-8")
    return path


def test_the_page_is_written_and_the_text_as_well(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"gradient_accumulation_steps": 2, "steps_per_generation": 6}))
    page = tmp_path / "out" / "page.html"
    given = ["diagnose", str(log), "--config", str(config), "--trainer", "trl"]
    assert cli.main([*given, "--html", str(page)]) == 0
    text = capsys.readouterr().out
    assert cli.main(given) == 0
    assert capsys.readouterr().out == text
    html = page.read_text(encoding="utf-8")
    assert "<h1>run.<wbr>csv</h1>" in html
    assert '<section id="lag">' in html
    assert [path.name for path in page.parent.iterdir()] == ["page.html"]


@pytest.mark.parametrize(
    ("place", "why"), [(".", "is a directory"), ("run.csv", "would overwrite")]
)
def test_a_place_that_cannot_be_a_page_is_refused(
    log: Path, place: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = log.read_bytes()
    assert cli.main(["diagnose", str(log), "--html", str(log.parent / place)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert why in err
    assert err.count("\n") == 1
    assert log.read_bytes() == before
    assert [path.name for path in log.parent.iterdir()] == ["run.csv"]


def test_a_log_that_is_refused_leaves_no_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "short.csv"
    log.write_text("step,reward\n1,0.5\n2,0.6\n", encoding="utf-8")
    assert cli.main(["diagnose", str(log), "--html", str(tmp_path / "page.html")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["short.csv"]
