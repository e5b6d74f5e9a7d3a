"""cor-13, eq-15, prop-14 and the slow-start attribution against high-precision arithmetic."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import pairwise

import pytest
import sympy as sp
from mpmath import mp, mpf

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.derivation import StepError
from derivations.notation import quantity
from derivations.results import attribution, exponent, overdamped, slow_start
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

M, C, K, T, TAU, MU, X = (quantity(n) for n in ("M", "C", "K", "t", "tau", "mu", "x"))
R_0, R_INF, SIZE, ETA = (quantity(n) for n in ("R_0", "R_inf", "size", "eta"))


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(60):
        yield


def function(expression: sp.Expr, symbols=(M, C, K, T)):
    compiled = sp.lambdify(symbols, expression, "mpmath")
    return lambda *values: compiled(*(mpf(v) for v in values))


@pytest.mark.parametrize("derive", [slow_start.derive, overdamped.derive, exponent.derive])
def test_every_step_is_proved(derive) -> None:
    assert derive().rung is Rung.PROVED
    assert len(derive().steps) >= 5


REGIMES = {"overdamped": (2, 5, 3), "underdamped": (2, 3, 5), "critical": (2, 4, 2)}


@pytest.mark.parametrize("regime", REGIMES)
def test_each_curve_moves_as_the_oscillator_does_from_rest(regime) -> None:
    mass, damping, stiffness = REGIMES[regime]
    curve = function(slow_start.derive()[regime])

    def q(t):
        return curve(mass, damping, stiffness, t)

    assert abs(q(0) - 1) < mpf(10) ** -50
    assert abs(mp.diff(q, 0)) < mpf(10) ** -20
    for t in (mpf("0.1"), mpf(1), mpf(4)):
        residual = mass * mp.diff(q, t, 2) + damping * mp.diff(q, t) + stiffness * q(t)
        assert abs(residual) < mpf(10) ** -15


@pytest.mark.parametrize(
    ("regime", "name"),
    [
        ("overdamped", "inflection_time"),
        ("underdamped", "inflection_underdamped"),
        ("critical", "inflection_critical"),
    ],
)
def test_each_curve_is_steepest_at_its_inflection(regime, name) -> None:
    constants = REGIMES[regime]
    derived = slow_start.derive()
    curve, when = function(derived[regime]), function(derived[name], (M, C, K))(*constants)

    def speed(t):
        return -mp.diff(lambda u: curve(*constants, u), t)

    others = (when * percent / 100 for percent in (20, 60, 99, 101, 150))
    assert speed(when) > max(map(speed, others))


def test_an_unstable_oscillator_still_has_its_first_inflection() -> None:
    """Negative damping: the angle is obtuse, so an arctangent of the quotient would be wrong."""
    derived = slow_start.derive()
    curve = function(derived["underdamped"])
    when = function(derived["inflection_underdamped"], (M, C, K))(1, "-0.2", 1)
    assert when > mp.pi / 2
    assert abs(mp.diff(lambda u: curve(1, "-0.2", 1, u), when, 2)) < mpf(10) ** -15


@pytest.mark.parametrize("name", ["overdamped", "underdamped"])
def test_the_regimes_meet_at_critical_damping(name) -> None:
    derived = slow_start.derive()
    sign = 1 if name == "overdamped" else -1
    inflections = {"overdamped": "inflection_time", "underdamped": "inflection_underdamped"}
    damping = mp.sqrt(4 + sign * mpf(10) ** -24)
    near, at = (function(derived[n])(1, d, 1, 2) for n, d in ((name, damping), ("critical", 2)))
    assert abs(near - at) < mpf(10) ** -22
    assert abs(at - mpf("0.40600584970983805")) < mpf(10) ** -16
    meets = function(derived[inflections[name]], (M, C, K))(1, damping, 1)
    assert abs(meets - 1) < mpf(10) ** -22


@pytest.mark.parametrize(
    "values", [(1, 1e9, 1, 1e9), (1, 1e9, 1e9, 1), ("1e-18", 1, 1, 1)]
)
def test_far_from_critical_it_is_one_exponential_in_any_unit_of_time(values) -> None:
    curve = function(slow_start.derive()["overdamped"])
    assert float(curve(*values)) == pytest.approx(0.36787944117144233, rel=1e-8)


def test_the_reward_starts_flat() -> None:
    derived = slow_start.derive()
    assert derived["initial_slope"] == 0
    reward = derived["reward_overdamped"]
    assert is_zero(reward - (R_INF - (R_INF - R_0) * derived["overdamped"]))
    rates = derived["fast_rate"], derived["slow_rate"]
    assert is_zero(rates[0] + rates[1] - C / M)
    assert is_zero(rates[0] * rates[1] - K / M)


def test_the_limit_is_the_single_exponential() -> None:
    derived = overdamped.derive()
    assert is_zero(derived["tau"] - C / K)
    assert is_zero(derived["slow_rate_leading"] * derived["tau"] - 1)
    assert is_zero(derived["slow_rate_error"] - M * K / C**2)
    assert is_zero(derived["reward"] - (R_INF - (R_INF - R_0) * sp.exp(-T / TAU)))
    rate = sp.Symbol("r")
    assert is_zero((M * rate**2 - C * rate + K).subs(rate, derived["slow_rate"]))


def distance(rho: mpf) -> mpf:
    """Largest distance of the curve from exp(-T) over a grid of T, C = K = 1."""
    curve = function(slow_start.derive()["overdamped"])
    times = [mpf(k) / 50 for k in range(1, 400)]
    times += [rho * k / 4 for k in range(1, 120)]
    return max(abs(curve(rho, 1, 1, t) - mp.exp(-t)) for t in times)


def test_the_curve_stays_within_the_bound() -> None:
    bound = function(overdamped.derive()["error_bound"], (M, C, K))
    source = random.Random(13)
    for _ in range(8):
        rho = mpf(source.uniform(0.0005, 0.2499))
        assert distance(rho) <= bound(rho, 1, 1)


def test_the_error_of_the_limit_is_of_first_order() -> None:
    leading = function(overdamped.derive()["error_leading"], (M, C, K))
    rhos = [mpf("0.004"), mpf("0.002"), mpf("0.001")]
    errors = [distance(rho) for rho in rhos]
    for error, half in pairwise(errors):
        assert float(error / half) == pytest.approx(2, abs=0.05)
    for rho, error in zip(rhos, errors, strict=True):
        assert float(error / leading(rho, 1, 1)) == pytest.approx(1, abs=0.05)
    slow = function(overdamped.derive()["slow_rate"], (M, C, K))
    relative = function(overdamped.derive()["slow_rate_error"], (M, C, K))
    for rho in rhos:
        assert float((slow(rho, 1, 1) - 1) / relative(rho, 1, 1)) == pytest.approx(1, abs=0.02)


def test_a_curve_that_does_not_start_from_rest_does_not_pass(monkeypatch) -> None:
    def swapped(work, name, curve, damping, stiffness):
        return real(work, name, curve.subs(T, T + 1), damping, stiffness)

    real = slow_start._from_rest
    monkeypatch.setattr(slow_start, "_from_rest", swapped)
    with pytest.raises(StepError, match="motion and start"):
        slow_start.derive.__wrapped__()


def test_a_wrong_slow_rate_does_not_pass_cor_13(monkeypatch) -> None:
    real = slow_start.derive()
    wrong = replace(real, results={**real.results, "slow_rate": real["slow_rate"] * 2})
    monkeypatch.setattr(slow_start, "derive", lambda: wrong)
    with pytest.raises(StepError, match="slow rate"):
        overdamped.derive.__wrapped__()


def test_the_exponents_are_opposite() -> None:
    derived = exponent.derive()
    a = sp.Symbol("a", real=True)
    assert derived["exponent_identity"] == -a
    assert is_zero(derived["tau_zero_lag"] - (1 - MU) / X)
    assert "data" in " ".join(map(str, derived.premises))
    # K ~ size**-0.5 with the step size raised as size**0.2 gives tau ~ size**0.3.
    slopes = {
        sp.Function("eta", real=True): SIZE ** sp.Rational(1, 5),
        sp.Function("K", real=True): 1 / sp.sqrt(SIZE),
        sp.Function("mu", real=True): sp.Rational(9, 10),
    }
    split = derived["slope_split"]
    for name, value in slopes.items():
        split = split.subs(name(SIZE), value)
    assert is_zero(split.doit() - sp.Rational(3, 10))


def test_momentum_delays_by_the_theorys_figures() -> None:
    derived = attribution.derive(Update.named("heavy-ball", "constant"))
    assert is_zero(derived["delay"] - (1 + MU) / (2 * (1 - MU)))
    at = {MU: sp.Rational(9, 10), X: sp.Rational(1, 10000)}
    assert derived["delay"].subs(at) == sp.Rational(19, 2)
    leading, error = (
        float(derived[name].subs(at)) for name in ("inflection_leading", "inflection_error")
    )
    assert leading * (1 + error) == pytest.approx(45, abs=0.5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_leading_forms_are_leading(optimizer) -> None:
    """What is left after the stated relative error falls by 4 (and a logarithm) as x is halved."""
    from_rest = slow_start.derive()
    derived = attribution.derive(Update.named(optimizer, "sawtooth", lag=3))
    gain = 0.5 if optimizer == "ema" else 1
    left: dict[str, list[mpf]] = {"delay": [], "inflection": []}
    for x in (mpf("2e-4"), mpf("1e-4")):
        pull = x * (mpf("0.5") if optimizer == "nesterov" else 0)
        constants = ((mpf("1.5") - pull) / 2, mpf("0.5") + pull, gain * x)
        fast, slow, bend = (
            function(from_rest[name], (M, C, K))(*constants)
            for name in ("fast_rate", "slow_rate", "inflection_time")
        )
        exact = {"delay": mp.log(fast / (fast - slow)) / slow, "inflection": bend}
        names = {"delay": ("delay", "delay_error"),
                 "inflection": ("inflection_leading", "inflection_error")}
        for what, (leading, error) in names.items():
            values = [function(derived[n], (MU, X))("0.5", x) for n in (leading, error)]
            left[what].append(exact[what] / values[0] - 1 - values[1])
    assert float(left["delay"][0] / left["delay"][1]) == pytest.approx(4, abs=0.1)
    assert float(left["inflection"][0] / left["inflection"][1]) == pytest.approx(4, abs=0.4)


def test_attribution_follows_its_optimizer_and_no_lag() -> None:
    heavy = Update.named("heavy-ball", "constant")
    reference = attribution.derive(heavy)["delay"]
    damped = replace(OPTIMIZERS["heavy-ball"], memory=MU / 2)
    changed = attribution.derive(Update(damped, LAG_MODELS["constant"]))
    assert not is_zero(changed["delay"] - reference)
    for premise in (heavy.at(7), Update.named("heavy-ball", "sawtooth", stale_share=-2)):
        assert is_zero(attribution.derive(premise)["delay"] - reference)
