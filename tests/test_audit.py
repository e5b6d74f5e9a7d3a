"""From a printed formula to a verdict: the claims the project promises, and bad input."""

from __future__ import annotations

import json
import sys
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
import sympy as sp

from derivations.audit import Audited, audit_files, judge_claim
from derivations.claim import Claim, Evidence, Relation, Rung, Verdict, VerdictWord
from derivations.claim_file import ClaimFileError, read_claims
from derivations.domain import Domain
from derivations.judge import balls, smt
from numerics.cli import main
from numerics.simulation import ConstantLag, growth_rate
from numerics.workers import in_processes

HEAVY = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1}


def judged(
    quantity: str,
    says: str,
    relation: str = "exact",
    order: int | None = None,
    domain: dict[str, Domain] | None = None,
    **model: object,
) -> Audited:
    return judge_claim(
        Claim(
            "c",
            quantity,
            says,
            Relation(relation),
            order=order,
            model={**HEAVY, **model},
            domain=domain or {},
        )
    )


def test_the_rule_is_exact_at_lag_one() -> None:
    verdict = judged("threshold", "x*d < 1 - mu", lag=1).verdict
    assert (verdict.word, verdict.evidence.rung) == (VerdictWord.HOLDS, Rung.PROVED)
    assert verdict.difference == "0"


@pytest.mark.parametrize("lag", [2, 3, 4, 5])
def test_the_rule_is_safe_but_not_exact_beyond(lag: int) -> None:
    exact = judged("threshold", "x*d < 1 - mu", lag=lag).verdict
    assert (exact.word, exact.evidence.rung) == (VerdictWord.REFUTED, Rung.PROVED)
    mu, x = (Fraction(exact.counterexample[name]) for name in ("mu", "x"))
    assert x * lag > 1 - mu  # printed: unstable
    rate = growth_rate("heavy-ball", ConstantLag(lag), mu=float(mu), x=float(x), stale_share=1)
    assert rate < 1  # the map: stable
    safe = judged("threshold", "x*d < 1 - mu", "sufficient", lag=lag).verdict
    assert (safe.word, safe.evidence.rung) == (VerdictWord.HOLDS, Rung.PROVED)


def test_the_polynomial_form_at_lag_two() -> None:
    verdict = judged("threshold", "mu*x + mu + x**2 + x < 1", lag=2).verdict
    assert (verdict.word, verdict.evidence.rung) == (VerdictWord.HOLDS, Rung.PROVED)


def test_a_mass_without_the_half_is_refuted_with_the_difference() -> None:
    verdict = judged("mass", "mu", lag=0).verdict
    assert (verdict.word, verdict.evidence.rung) == (VerdictWord.REFUTED, Rung.PROVED)
    mu = sp.Symbol("mu")
    assert sp.expand(sp.sympify(verdict.difference, locals={"mu": mu}) - (1 - mu) / 2) == 0


def test_every_lag_is_proved_by_the_theorem() -> None:
    evidence = judged(
        "threshold",
        "x*d < 1 - mu",
        "sufficient",
        domain={"d": Domain(low=Fraction(1), integer=True)},
    ).verdict.evidence
    assert evidence.rung is Rung.PROVED
    assert "every d" in evidence.domain


def test_at_lag_zero_the_rule_is_not_safe() -> None:
    verdict = judged("threshold", "x*d < 1 - mu", "sufficient").verdict  # every lag, 0 included
    assert verdict.word is VerdictWord.REFUTED
    assert verdict.counterexample["d"] == "0"


def test_lags_without_a_theorem_are_never_called_proved() -> None:
    verdict = judged("threshold", "x < 2*(1 + mu)", "necessary").verdict
    assert verdict.word is VerdictWord.HOLDS
    assert verdict.evidence.rung < Rung.PROVED
    assert any("no theorem covers" in note for note in verdict.notes)


@pytest.mark.parametrize(
    ("says", "order", "word"),
    [
        ("1/(2*x*(1 - mu))", 1, "holds"),
        ("1/(2*x*(1 - mu))", 2, "refuted"),
        ("(1 + x/(2*(1 + mu)))/(2*x*(1 - mu))", 2, "holds"),
        ("(1 + x/(2*(1 + mu)))/(2*x*(1 - mu))", 3, "refuted"),
        ("1/(x*(1 - mu))", 1, "refuted"),
    ],
)  # fmt: skip
def test_asymptotic_claims_carry_their_order(says: str, order: int, word: str) -> None:
    verdict = judged("variance", says, "asymptotic", order, lag=0).verdict
    assert (verdict.word.value, verdict.evidence.rung) == (word, Rung.PROVED)


def test_an_order_is_observed_where_no_algebra_decides() -> None:
    held = judged("spectral_radius", "1 - x/(1 - mu)", "asymptotic", 2, lag=2).verdict
    assert (held.word, held.evidence.rung) == (VerdictWord.HOLDS, Rung.TESTED)
    broken = judged("spectral_radius", "1 - 2*x/(1 - mu)", "asymptotic", 2, lag=2).verdict
    assert (broken.word, broken.evidence.rung) == (VerdictWord.REFUTED, Rung.TESTED)


def test_what_has_no_closed_form_is_certified_by_balls() -> None:
    below = judged(
        "spectral_radius",
        "1",
        "upper",
        lag=1,
        domain={
            "x": Domain(high=Fraction(1, 100), low=Fraction(1, 1000)),
            "mu": Domain(low=Fraction(0), high=Fraction(1, 2)),
        },
    ).verdict
    assert (below.word, below.evidence.rung) == (VerdictWord.HOLDS, Rung.CERTIFIED)
    wrong = judged("spectral_radius", "1 - x", lag=1).verdict
    assert (wrong.word, wrong.evidence.rung) == (VerdictWord.REFUTED, Rung.PROVED)


@pytest.mark.parametrize("share", ["-1/2", "1/2", "3/2"])
def test_other_shares_have_their_own_borders(share: str) -> None:
    verdict = judged("threshold", "x < 1 - mu", stale_share=share, lag=1).verdict
    assert verdict.word is VerdictWord.REFUTED
    assert verdict.counterexample["s"] == share


# --- a missing solver ----------------------------------------------------------------------------


@pytest.fixture
def without_z3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)


@pytest.fixture
def without_flint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "flint", None)


@pytest.mark.usefixtures("without_z3")
def test_without_z3_the_rung_is_lower_and_says_so() -> None:
    assert smt.entails([], [sp.true]).answer is smt.Answer.MISSING
    verdict = judged("threshold", "x < 1 - mu", lag=1).verdict
    assert verdict.word is VerdictWord.HOLDS
    assert verdict.evidence.rung < Rung.PROVED
    assert any("z3 is not installed" in note for note in verdict.notes)
    refuted = judged("threshold", "x < (1 - mu)/2", lag=1).verdict
    assert (refuted.word, refuted.evidence.rung) == (VerdictWord.REFUTED, Rung.PROVED)


@pytest.mark.usefixtures("without_flint")
def test_without_flint_nothing_is_certified() -> None:
    assert not balls.available()
    verdict = judged("spectral_radius", "1", "upper", lag=1).verdict
    assert verdict.word is VerdictWord.UNDECIDED
    assert any("python-flint is not installed" in note for note in verdict.notes)
    exact = judged("mass", "(1 + mu)/2", lag=0).verdict
    assert exact.evidence.rung is Rung.PROVED  # algebra needs no balls


def test_undecided_cannot_carry_evidence() -> None:
    with pytest.raises(ValueError, match="cannot rest"):
        Verdict(VerdictWord.UNDECIDED, Evidence(Rung.TESTED, "wishful"))
    with pytest.raises(ValueError, match="cannot rest"):
        Verdict(VerdictWord.HOLDS, Evidence(Rung.NONE, "wishful"))


# --- files -----------------------------------------------------------------------------------

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


def test_the_json_of_an_audit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path, GOOD + GOOD.replace('"rule"', '"two"').replace("lag = 1 }", "lag = 3 }")
    )
    assert main(["audit", str(path), "--json"]) == 1  # the second is not as expected
    rows = json.loads(capsys.readouterr().out)["claims"]
    assert [row["id"] for row in rows] == ["rule", "two"]
    assert rows[0]["verdict"] == "holds"
    assert rows[0]["evidence"]["rung"] == "proved"
    assert set(rows[0]["evidence"]) == {"rung", "method", "domain"}
    assert rows[0]["difference"] == "0"
    assert rows[1]["verdict"] == "refuted"
    assert {"mu", "x"} <= set(rows[1]["counterexample"])
    assert all(Fraction(value) is not None for value in rows[1]["counterexample"].values())


def test_a_decimal_bound_is_the_decimal(tmp_path: Path) -> None:
    (claim,) = read_claims(written(tmp_path, GOOD + "domain = { mu = [0, 0.99] }\n"))
    assert claim.domain["mu"].high == Fraction(99, 100)


def test_an_order_expected_to_fail_is_no_alarm(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("lag = 1 }", "lag = 3 }") + 'expect = "refuted"\n')
    assert [row.as_expected for row in audit_files([path])] == [True]
    assert main(["audit", str(path)]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[[claim]]", "[[claim"), "line"),
        (("x*d < 1 - mu", "x*q < 1 - mu"), "unknown name 'q'"),
        (("x*d < 1 - mu", "__import__('os').system('x')"), "character"),
        (("x*d < 1 - mu", "x < " + "1+" * 500_000 + "1"), "10000 characters"),
        (('"threshold"', '"treshold"'), "did you mean 'threshold'"),
        (('"heavy-ball"', '"heavyball"'), "did you mean 'heavy-ball'"),
        (('"heavy-ball"', '"adam"'), "not derived in this version"),
        (('"constant"', '"random"'), "not derived in this version"),
        (("lag = 1", "lag = -1"), "lag = -1"),
        (("lag = 1", "lag = 1.5"), "lag = 1.5"),
        (("lag = 1", "refresh = 1"), "takes 'lag'"),
        (("stale_share = 1", "stale_share = nan"), "not a number"),
        (('"exact"', '"exactly"'), "did you mean 'exact'"),
        (('"exact"', '"asymptotic"'), "needs order"),
        (('says = "x*d < 1 - mu"', "says = 3"), "must be text"),
        (("lag = 1 }", "lag = 1 }\ndomain = { mu = [0.9, 0.1] }"), "reversed"),
        (("lag = 1 }", "lag = 1 }\ndomain = { mu = [2, 3] }"), "no legal value"),
        (("lag = 1 }", "lag = 1 }\ndomain = { beta = [0, 1] }"), "does not depend on beta"),
        (("lag = 1 }", "lag = 1 }\nexpected = 'holds'"), "did you mean 'expect'"),
        (("", GOOD), "used twice"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_bad_input_is_one_line_naming_file_and_claim(
    change: tuple[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = change
    text = GOOD.replace(old, new, 1) if old else GOOD + new
    path = written(tmp_path, text)
    assert main(["audit", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert str(path) in err
    assert message in err
    assert len(err) < 1000


def test_nothing_is_judged_before_everything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path, GOOD + GOOD.replace('"rule"', '"bad"').replace("1 - mu", "1 - nu"))
    monkeypatch.setattr("derivations.audit.decide", lambda *_: pytest.fail("judged too early"))
    with pytest.raises(ClaimFileError, match="bad"):
        audit_files([path])


def test_processes_judge_alike(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(
        '[[claim]]\nid = "a"\nquantity = "damping"\nrelation = "exact"\nsays = "1 - mu - x*d/2"\n'
        'model = { optimizer = "heavy-ball", lag_model = "constant" }\n'
        '[[claim]]\nid = "b"\nquantity = "kl_force"\nrelation = "exact"\nsays = "p - p_ref"\n'
        'model = { kl = "k3" }\n'
    )
    alone = audit_files([path], explained=True)
    shared = audit_files([path], partial(in_processes, processes=2), explained=True)
    assert [row.json() for row in shared] == [row.json() for row in alone]
