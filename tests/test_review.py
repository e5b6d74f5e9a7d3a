"""What a reviewer takes from an audit: a page that stands alone, a table that pastes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from numerics import cli

CLAIMS = r'''
[[claim]]
id = "draft-eq-9"
quantity = "damping"
says = '1 - \mu - \frac{x d^2}{2}'
relation = "exact"
statement = "<b>damping</b> & co"
model = { optimizer = "heavy-ball", lag_model = "constant" }
expect = "refuted"

[[claim]]
id = "rule"
quantity = "threshold"
says = '|x| < 1'
relation = "exact"
model = { optimizer = "heavy-ball", lag_model = "constant", lag = 2 }
expect = "refuted"
'''.replace("|x|", "x*2")


@pytest.fixture
def claims(tmp_path: Path) -> Path:
    path = tmp_path / "draft.toml"
    path.write_text(CLAIMS, encoding="utf-8")
    return path


def test_the_page_stands_alone_and_shows_every_claim(claims: Path, tmp_path: Path) -> None:
    page = tmp_path / "out" / "review.html"
    assert cli.main(["audit", str(claims), "--html", str(page)]) == 0
    html = page.read_text(encoding="utf-8")
    assert html.count("<article") == 2
    assert html.count("<svg") == 2  # a curve for the value, a path of the map for the condition
    assert html.count("<math") >= 2
    assert "&lt;b&gt;damping&lt;/b&gt; &amp; co" in html
    assert not re.search(r'(?:src|href)="(?:https?:)?//', html)
    assert [path.name for path in page.parent.iterdir()] == ["review.html"]


def test_the_table_pastes(claims: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["audit", str(claims), "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 4
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines} == {6}
    assert "**refuted** (proved)" in lines[2]
    assert r"`1 - \mu - \frac{x d^2}{2}`" in lines[2]


def test_two_ways_to_print_are_one_too_many(
    claims: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", str(claims), "--json", "--markdown"]) == 2
    assert "give one of them" in capsys.readouterr().err


def test_a_page_is_a_file(
    claims: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", str(claims), "--html", str(tmp_path)]) == 2
    assert "is a directory" in capsys.readouterr().err
