"""What an audit refuses is told whole, in one run; what it read is told with every verdict."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path

import pytest

from derivations.claim_file import ClaimFileError
from derivations.targets import TARGETS, TargetError
from numerics.cli import main

GOOD = """
[[claim]]
id = "rule"
quantity = "threshold"
says = "x*d < 1 - mu"
relation = "exact"
model = { optimizer = "heavy-ball", lag_model = "constant", stale_share = 1, lag = 1 }
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "claims.toml"
    path.write_text(text, encoding="utf-8")
    return path


REFUSED = [
    ("x*q < 1 - mu", "unknown name 'q'"),
    ("x d/2d < 1", "two readings"),
    (r"\\frac{.}{2} < 1", "unexpected '.'"),
]


def test_every_refused_claim_is_named_in_one_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = [
        GOOD.replace("x*d < 1 - mu", says).replace('"rule"', f'"bad{n}"')
        for n, (says, _) in enumerate(REFUSED)
    ]
    path = written(tmp_path, "".join([GOOD, *bad, GOOD.replace('"rule"', '"key"') + "odd = 1\n"]))
    lost = tmp_path / "lost.toml"
    assert main(["audit", str(path), str(lost)]) == 2
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert all(line.startswith("grpo-dynamics: error: ") for line in lines)
    # What cannot be read comes first, as ever; then what cannot be judged, in the file's order.
    assert "claim 'key': unknown key 'odd'" in lines[0]
    assert "lost.toml: No such file" in lines[1]
    for n, (line, (_, reason)) in enumerate(zip(lines[2:], REFUSED, strict=True)):
        assert f"{path}: claim 'bad{n}': " in line
        assert reason in line


def test_what_is_refused_only_when_judged_is_named_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = GOOD.replace('"threshold"', '"autocovariance"').replace("x*d < 1 - mu", "1/x")
    late = late.replace('"constant"', '"sawtooth"').replace("lag = 1 }", "refresh = 2, shift = 0 }")
    rows = [late.replace('"rule"', f'"late{n}"') for n in (1, 2)]
    assert main(["audit", str(written(tmp_path, GOOD + "".join(rows)))]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert [line.split("'")[1] for line in err.splitlines()] == ["late1", "late2"]


def test_a_flood_of_refusals_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = (GOOD.replace('"rule"', f'"r{n}"') + "odd = 1\n" for n in range(100))
    assert main(["audit", str(written(tmp_path, "".join(rows)))]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 41
    assert lines[-1].endswith("and 60 more claims cannot be judged")


def test_an_error_of_many_refusals_crosses_processes() -> None:
    again = pickle.loads(pickle.dumps(ClaimFileError("first", "second")))
    assert (str(again), again.refusals) == ("first", ("first", "second"))


def test_the_formula_as_read_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, GOOD.replace("x*d < 1 - mu", "ηKd < 1−μ"))
    assert main(["audit", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert row["as_read"] == "d*x < 1 - mu"
    assert main(["audit", str(path)]) == 0
    assert re.search(r"printed +ηKd < 1−μ\n +as read +d\*x < 1 - mu", capsys.readouterr().out)


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if target.linear])
def test_the_lag_models_listed_are_those_derived(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quantities", name, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["quantities"]
    target = TARGETS[name]
    derived, refused = [], []
    for lag_model, steps in (("constant", "lag"), ("sawtooth", "refresh")):
        own = {choice: allowed[0] for choice, allowed in target.choices.items()}
        model = {"optimizer": "heavy-ball", "lag_model": lag_model, steps: 2, **own}
        try:
            target.build(target.read(model, frozenset()))
        except TargetError as refusal:
            refused.append(str(refusal))
        else:
            derived.append(lag_model)
    assert all("lag_model" in reason for reason in refused)
    assert row["conventions"]["lag_model"] == derived
    flags = {"constant": "lag", "sawtooth": "refresh"}
    assert " or ".join(flags[lag_model] for lag_model in derived) in row["conventions"]
