"""How far from sharp a condition is, against the closed borders of the theory."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from derivations.audit import Audited, judge_claim
from derivations.claim_file import claim_from
from numerics.cli import main
from numerics.report.sharpness import in_words, sharpness


def judged(says: str, relation: str, **more: Any) -> Audited:
    model = {"optimizer": "heavy-ball", "lag_model": "constant", **more.pop("model", {})}
    claim = {"id": "a", "quantity": "threshold", "says": says, "relation": relation}
    return judge_claim(claim_from({**claim, "model": model, **more}))


def test_the_published_rule_is_sharp_at_one_step_and_gives_up_to_half_pi_away() -> None:
    found = sharpness(judged(r"\eta K d < 1-\mu", "sufficient", domain={"d": [1, "inf"]}))
    at = {(point.mu, point.lag): point.factor for point in found}
    assert {lag for _, lag in at} == {1, 2, 4, 8, 32}
    for (mu, lag), factor in at.items():
        assert factor is not None
        if lag == 1:
            assert factor == pytest.approx(1, rel=1e-8)
        if mu == 0:  # Levin and May
            exact = 2 * math.sin(math.pi / (2 * (2 * lag + 1))) * lag
            assert factor == pytest.approx(exact, rel=1e-8)
        assert 1 - 1e-8 < factor < math.pi / 2
    first = in_words(found)[1]
    assert first == "mu = 0: 1 at 1, 1.236 at 2, 1.389 at 4, 1.476 at 8, 1.546 at 32 steps"


def test_under_a_sawtooth_it_gives_at_least_half_away() -> None:
    found = sharpness(judged("x*N < 1 - mu", "sufficient", model={"lag_model": "sawtooth"}))
    assert len(found) == 15
    assert all(point.factor is not None and point.factor > 2 - 1e-8 for point in found)


def test_below_one_is_not_safe() -> None:
    row = judged("x < 2*(1 - mu)", "sufficient", model={"lag": 1}, expect="refuted")
    assert [point.factor for point in sharpness(row)] == pytest.approx([0.5] * 3, rel=1e-8)
    assert in_words(sharpness(row))[1] == "mu = 0: 0.5 at 1 step"


def test_a_condition_that_never_fails_has_no_border() -> None:
    row = judged("x > 0", "necessary", model={"lag": 2})
    assert [point.factor for point in sharpness(row)] == [None] * 3


def test_other_claims_have_none() -> None:
    assert sharpness(judged("x < 1 - mu", "exact", model={"lag": 1})) == ()
    assert in_words(()) == ()


def test_an_audit_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(
        '[[claim]]\nid = "rule"\nquantity = "threshold"\nrelation = "sufficient"\n'
        'says = "x*d < 1 - mu"\n'
        'model = { optimizer = "heavy-ball", lag_model = "constant", lag = 2 }\n'
    )
    assert main(["audit", str(path), "--html", str(tmp_path / "page.html")]) == 0
    assert "sharp?    mu = 0: 1.236 at 2 steps" in capsys.readouterr().out
    assert "mu = 0: 1.236 at 2 steps" in (tmp_path / "page.html").read_text("utf-8")
    assert main(["audit", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["claims"]
    assert [point["lag"] for point in row["sharpness"]] == [2, 2, 2]
