"""The double check: it agrees with what is true, and finds a planted contradiction everywhere."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from derivations.audit import Audited, judge_claim
from derivations.claim import Claim, Evidence, Relation, Rung, Verdict, VerdictWord
from derivations.domain import Domain
from derivations.record import load_statements
from derivations.targets import TARGETS
from numerics.report import drawn, simulated, witness
from numerics.report.double_check import POINTS, DoubleCheck, double_check, rows
from numerics.report.drawn import collected, runs
from numerics.report.simulated import NOT_OF_THE_MAP, WAYS

EXACT, UPPER, LOWER = Relation.EXACT, Relation.UPPER, Relation.LOWER
SUFFICIENT, ASYMPTOTIC = Relation.SUFFICIENT, Relation.ASYMPTOTIC
NO_MOMENTUM = {"mu": Domain(low=Fraction(0), high=Fraction(0))}


def claim(quantity: str, says: str, relation: Relation = EXACT, **more: Any) -> Claim:
    """A claim about heavy ball with a constant lag, if about the map at all."""
    own = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1}
    if "refresh" in more or more.pop("sawtooth", False):
        own["lag_model"] = "sawtooth"
    names = {name for name in more if name in ("lag", "refresh", "shift", "of", "optimizer")}
    model = {**own, **{name: more.pop(name) for name in names}}
    if not TARGETS[quantity].linear:
        model = {}
    return Claim("mine", quantity, says, relation, model=model, **more)


def proved(false: Claim) -> Audited:
    """A false claim as it would be, had a solver been wrong about it."""
    setting = TARGETS[false.quantity].read(false.model, frozenset())
    verdict = Verdict(VerdictWord.HOLDS, Evidence(Rung.PROVED, "SMT (z3 0): planted", "all"))
    return Audited(false, verdict, setting.conventions())


# --- decided again -------------------------------------------------------------------------------

SOLVED = {
    "threshold": (claim("threshold", "x < 1 - mu", lag=1), "x < 1 - mu**2"),
    "nesterov": (
        claim("threshold", "x < 2*(1 + mu)/(1 + 2*mu)", lag=0, optimizer="nesterov"),
        "x < 2*(1 + mu)/(1 + 3*mu)",
    ),
    "every lag": (
        claim("threshold", "x*d < 1 - mu", SUFFICIENT, domain={
            "d": Domain(low=Fraction(1), integer=True)
        }),
        "x*d < 2*(1 - mu)",
    ),
    "every refresh": (
        claim("threshold", "x*N < 2*(1 - mu)", SUFFICIENT, sawtooth=True),
        "x*N < 3*(1 - mu)",
    ),
    "necessary": (
        claim("threshold", "x < 2*(1 - mu)", Relation.NECESSARY, lag=1), "x < (1 - mu)/2"
    ),
    "lower": (claim("mass", "(1 + mu)/2", LOWER), "(1 + mu)/2 + x"),
    "upper": (claim("damping", "1 - mu", UPPER), "(1 - mu)/2"),
    "no map": (claim("logit_gain", "0", LOWER), "1/beta"),
}  # fmt: skip


@pytest.mark.parametrize("name", SOLVED)
def test_a_proof_is_decided_again_and_a_false_one_found_out(name: str) -> None:
    true, false = SOLVED[name]
    audited = judge_claim(true)
    assert audited.verdict.evidence.method.startswith("SMT ")
    found = double_check(audited).decided
    assert len(found) == POINTS
    assert all(found.values())
    row, _ = rows([double_check(proved(replace(true, says=false)))])
    assert not row.passed
    assert row.at.startswith("mine at ")


def test_the_points_reach_the_ends_and_press_against_the_border() -> None:
    drawn_runs = runs(judge_claim(claim("threshold", "x < 1 - mu", lag=1)))
    points = [next(drawn_runs) for _ in range(200)]
    assert any(run.mu == 0 for run in points)
    assert any(0 < 1 - run.mu < Fraction(1, 1000) for run in points)
    gaps = [abs(run.x / (1 - run.mu) - 1) for run in points]
    assert any(gap < Fraction(1, 10**6) for gap in gaps)
    assert any(run.x > 10 for run in points)


def test_the_points_are_the_same_every_time() -> None:
    audited = judge_claim(SOLVED["every lag"][0])
    assert double_check(audited) == double_check(audited)


def test_only_strong_verdicts_are_looked_at() -> None:
    refuted = judge_claim(claim("threshold", "x < 1 - mu", lag=2))
    assert double_check(refuted) == DoubleCheck()
    strong = judge_claim(claim("threshold", "x < 1 - mu", lag=1))
    weak = replace(strong.verdict, evidence=Evidence(Rung.TESTED, "SMT (z3 0)", ""))
    assert double_check(replace(strong, verdict=weak)) == DoubleCheck()
    algebra = judge_claim(claim("mass", "(1 + mu)/2", lag=0))
    assert double_check(algebra) == DoubleCheck()
    assert not rows([DoubleCheck()])[0].passed


# --- simulated -----------------------------------------------------------------------------------

SEEN = {
    "threshold": (claim("threshold", "x < 1 - mu", lag=1), "x < 1.01*(1 - mu)"),
    "sufficient": (
        claim("threshold", "x*N < 2*(1 - mu)", SUFFICIENT, sawtooth=True),
        "x*N < 3*(1 - mu)",
    ),
    "lower": (claim("threshold", "(1 - mu)/2", LOWER, lag=1), "1 - mu/2"),
    "onset": (claim("onset", "(1 - sqrt(mu))**2", lag=0), "1.01*(1 - sqrt(mu))**2"),
    "late onset": (claim("onset", "((1 - mu)/2)**2", lag=1), "((1 - mu)/2)**2/2"),
    "onset, upper": (claim("onset", "2*(1 - mu)/N", UPPER, sawtooth=True), "(1 - mu)**2/(8*N)"),
    "onset, lower": (claim("onset", "((1 - mu)/2)**2/2", LOWER, lag=1), "((1 - mu)/2)**2*2"),
    "flip": (claim("flip_threshold", "2*(1 + mu)", refresh=1), "2*(1 + mu**2)"),
    "radius": (claim("spectral_radius", "sqrt(mu + x)", LOWER, lag=1), "sqrt(mu + 2*x)"),
    "relaxation": (
        claim("relaxation_time", "(1 - mu)/x - (1 + mu)/(2*(1 - mu)) - d", ASYMPTOTIC, order=2),
        "(1 - mu)/x - (1 + mu)/(2*(1 - mu)) - 2*d",
    ),
    "period": (
        claim("period", "2*pi/acos((1 + mu)/(2*sqrt(mu + x)))", lag=1, of="map"),
        "2*pi/acos((1 + mu)/(2*sqrt(mu + x + x**2)))",
    ),
    "variance": (
        claim("variance", "(1 + mu)/((1 - mu)*x*(2*(1 + mu) - x))", lag=0),
        "(1 + mu)/((1 - mu)*x*(2*(1 + mu) - x/2))",
    ),
    "small variance": (
        claim("variance", "1/(2*x*((1 - mu) - x))", ASYMPTOTIC, order=1, lag=1),
        "(1 + mu)/(2*x*((1 - mu) - x))",
    ),
    "autocovariance": (
        claim("autocovariance", "(1 + mu - x)/((1 - mu)*x*(2*(1 + mu) - x))", lag=0, shift=1),
        "(1 + mu + x)/((1 - mu)*x*(2*(1 + mu) - x))",
    ),
    "any shift": (
        claim("autocovariance", "(1 - x)**k/(x*(2 - x))", lag=0, shift="k", domain=NO_MOMENTUM),
        "(1 - x)**(k + 1)/(x*(2 - x))",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SEEN)
def test_the_map_agrees_with_the_truth_and_finds_an_error(name: str) -> None:
    true, false = SEEN[name]
    audited = judge_claim(true)
    assert audited.verdict.word is VerdictWord.HOLDS
    found = double_check(audited).simulated
    assert len(found) == WAYS[true.quantity].points
    assert all(found.values())
    _, row = rows([DoubleCheck(simulated=simulated.simulated(proved(replace(true, says=false))))])
    assert not row.passed
    assert row.at.startswith("mine at heavy-ball, ")


@pytest.mark.parametrize("id", ["sec-3.2.flip", "sec-3.2.neimark-sacker"])
def test_an_eigenvalue_on_the_circle_is_reached_exactly(id: str) -> None:
    (stated,) = (claim for claim in load_statements() if claim.id == id)
    audited = judge_claim(stated)
    found = double_check(audited).simulated
    assert len(found) == WAYS[stated.quantity].points
    assert all(found.values())
    near = replace(audited, claim=replace(stated, says=f"({stated.says})*(1 + 1/10**9)"))
    assert not any(simulated.simulated(near).values())


def test_a_map_that_does_something_else_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    audited = judge_claim(claim("threshold", "x < 1 - mu", lag=1))
    true = witness.growth_rate
    spoilt = lambda *run, **at: true(*run, **at) * 1.01  # noqa: E731
    monkeypatch.setattr(witness, "growth_rate", spoilt)
    assert not all(double_check(audited).simulated.values())


def test_too_few_points_are_a_disagreement() -> None:
    one = claim("threshold", "x < 1 - mu", lag=1)
    assert collected(one, iter([("a", True), ("b", None)]), 2) == {
        "mine at a": True,
        "mine: looked at 1 points only": False,
    }
    # A domain of one point is looked at again and again.
    assert collected(one, iter([("a", True)] * 5), 2) == {"mine at a": True}
    endless = (("a", None) for _ in iter(int, 1))
    assert collected(one, endless, 2) == {"mine: looked at 0 points only": False}
    assert drawn.domain_of(one, "mu").high == 1


def test_a_quantity_of_the_map_without_a_way_is_not_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    linear = {name for name, target in TARGETS.items() if target.linear}
    assert linear == set(WAYS) | NOT_OF_THE_MAP
    assert not set(WAYS) & NOT_OF_THE_MAP
    audited = judge_claim(claim("threshold", "x < 1 - mu", lag=1))
    monkeypatch.delitem(WAYS, "threshold")
    words = "mine: no simulation is written for exact claims about threshold"
    assert double_check(audited).simulated == {words: False}


def test_what_is_not_of_the_map_is_not_run() -> None:
    says = "2*pi*(1 + mu + x*d**2)/sqrt(2*x*(1 + mu + x*d**2) - (1 - mu - x*d)**2)"
    for other in (
        claim("period", says, of="oscillator"),
        claim("damping", "1 - mu - x*d"),
        Claim("c", "slow_rate", "K/C", ASYMPTOTIC, order=1, small="M"),
    ):
        assert double_check(judge_claim(other)) == DoubleCheck()
