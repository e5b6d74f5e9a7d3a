"""The cross-checks of the report: they pass on what is right, fail on what is nearly right."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from derivations.audit import Audited, judge_claim
from derivations.claim import Claim, Relation
from numerics.exact import Threshold
from numerics.report import borders, confirm, motion
from numerics.report.crosscheck import Crosscheck
from numerics.report.witness import counterexamples
from numerics.simulation import ConstantLag, Sawtooth

FEW = (ConstantLag(2), Sawtooth(3))


@pytest.fixture(autouse=True)
def few_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (borders, motion):
        monkeypatch.setattr(module, "MOMENTA", (Fraction(0), Fraction(1, 2)))
        monkeypatch.setattr(module, "ALL", FEW)
        monkeypatch.setattr(module, "OPTIMIZERS", ("heavy-ball", "nesterov"))
    monkeypatch.setattr(borders, "LAGS", FEW[:1])
    monkeypatch.setattr(borders, "REFRESHES", FEW[1:])


def scaled(value: float) -> Callable[[Callable[..., float]], Callable[..., float]]:
    return lambda exact: lambda *args: exact(*args) * value


def shifted(exact: Callable[..., Threshold]) -> Callable[..., Threshold]:
    """The same threshold and intervals, a fiftieth further out."""

    def wrong(run: Any) -> Threshold:
        found = exact(run)
        intervals = tuple((low * 1.02, high * 1.02) for low, high in found.stable_intervals)
        return Threshold(found.value * 1.000001, found.kind, intervals)

    return wrong


def rescaled(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """The same oscillator with a thousandth more damping."""

    def wrong(**arguments: Any) -> Any:
        mass, damping, stiffness = kernel(**arguments)
        return mass, damping * 1.001, stiffness

    return wrong


CHECKS: Mapping[str, tuple[Callable[[], Crosscheck], Any, str, Any]] = {
    "constant threshold": (lambda: borders.thresholds("constant"), borders, "threshold", shifted),
    "sawtooth threshold": (lambda: borders.thresholds("sawtooth"), borders, "threshold", shifted),
    "intervals": (borders.regained_stability, borders, "threshold", shifted),
    "radius": (borders.radii, borders, "spectral_radius", scaled(1 + 1e-6)),
    "onset": (borders.onsets, borders, "onset", scaled(1.003)),
    "variance": (motion.impulse_variances, motion, "stationary_variance", scaled(1 + 1e-10)),
    "noise": (motion.noisy_variances, motion, "stationary_variance", scaled(1.05)),
    "curve": (motion.curve_orders, motion.oscillator, "heavy_ball_constant", rescaled),
    "rate": (motion.rate_orders, motion.oscillator, "heavy_ball_constant", rescaled),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_passes_on_the_truth_and_fails_on_an_error(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, module, function, spoil = CHECKS[name]
    assert check().passed
    monkeypatch.setattr(module, function, spoil(getattr(module, function)))
    spoilt = check()
    assert not spoilt.passed
    assert spoilt.at


def test_the_stiffness_check_can_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert motion.stiffnesses().passed
    exact = motion.staleness.stale_samples
    monkeypatch.setattr(motion.staleness, "stale_samples", lambda **at: exact(**at)[1::-1])
    assert not motion.stiffnesses().passed


def test_a_nan_never_passes() -> None:
    row = Crosscheck.of("a", "b", {"good": 0.0, "bad": math.nan}, 1.0, "c")
    assert not row.passed
    assert row.at == "bad"
    assert row.json()["deviation"] is None
    assert not Crosscheck.decided("a", "b", {}, "c").passed


# --- counterexamples on the map -------------------------------------------------------------------


def audited(says: str, lag: int, relation: Relation = Relation.EXACT, **model: Any) -> Audited:
    conventions = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1, "lag": lag}
    return judge_claim(Claim("mine", "threshold", says, relation, model={**conventions, **model}))


@pytest.mark.parametrize("lag", [2, 3, 4, 5])
def test_the_map_confirms_that_the_rule_is_not_sharp(lag: int) -> None:
    row = audited("x*d < 1 - mu", lag)
    assert row.verdict.word.value == "refuted"
    assert confirm(row).startswith("the map decays there, by a factor of 0.")
    assert counterexamples([row]).passed


def at(row: Audited, **point: str) -> Audited:
    counterexample = {**row.verdict.counterexample, **point}
    return replace(row, verdict=replace(row.verdict, counterexample=counterexample))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ("1", "the map neither grows nor decays there"),
        ("2", "the map grows there, by a factor of 1.41421 a step"),
    ],
)
def test_the_map_says_what_it_does_where_a_condition_is_not_safe(x: str, words: str) -> None:
    row = at(audited("x < 3*(1 - mu)", 1, Relation.SUFFICIENT), mu="0", x=x)
    assert confirm(row) == words
    assert counterexamples([row]).passed


def test_a_false_counterexample_is_found_out() -> None:
    row = audited("x*d < 1 - mu", 2)
    assert not counterexamples([at(row, mu="0", x="1/10")]).passed
    none = replace(row, verdict=replace(row.verdict, counterexample={}))
    assert not counterexamples([none]).passed


def test_a_claim_about_something_else_has_no_run() -> None:
    claim = Claim("c", "slow_rate", "K/C")
    assert confirm(judge_claim(claim)) == ""


def test_a_damping_claim_is_run_where_it_fails() -> None:
    model = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1}
    row = judge_claim(Claim("draft", "damping", "1 - mu - x*d**2/2", model=model))
    assert row.verdict.word.value == "refuted"
    assert confirm(row).startswith("the map ")
