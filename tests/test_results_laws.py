"""The empirical laws of reward curves: derived exponents and units against plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np
import pytest
import sympy as sp

from derivations.algebra import is_zero
from derivations.audit import judge_claim
from derivations.claim import Rung
from derivations.claim_file import claim_from
from derivations.notation import quantity
from derivations.results import compute_exponent, saturation_law
from derivations.results.compute_exponent import CURVES
from derivations.targets import TARGETS, TargetError
from numerics.fit import FAMILIES, fit, series
from numerics.simulation import ConstantLag, simulate_linear

P, P_0, T, TAU, SIGMA, R_P, R_M, ETA, B, C_MID = (
    quantity(n) for n in ("p", "p_0", "t", "tau", "sigma", "r_p", "r_m", "eta", "B", "C_mid")
)
SPEEDS: dict[str, Callable[[float], float]] = {
    "no-kl-std": lambda p: sqrt(p * (1 - p)),
    "no-kl-mean": lambda p: p * (1 - p),
}


def number(expression: sp.Expr, **at: float) -> float:
    return float(expression.subs({quantity(name): value for name, value in at.items()}))


def local(share: Callable[[float], float], t: float) -> float:
    """Return d ln(y/(1 - y))/d ln t by a central difference."""
    h = 1e-4
    late, early = share(t * exp(h)), share(t * exp(-h))
    return (log(late / (1 - late)) - log(early / (1 - early))) / (2 * h)


@pytest.mark.parametrize("curve", CURVES)
def test_every_step_is_proved_and_named_once(curve: str) -> None:
    found = compute_exponent.derive(curve)
    assert found.rung is Rung.PROVED
    names = [step.name for step in found.steps]
    assert len(names) == len(set(names)) >= 8
    assert all(step.rung is Rung.PROVED for step in found.steps)


def walked(curve: str, start: float, step: float) -> tuple[list[float], float]:
    """Return success rates of plain gradient steps of a logit, up to 99.9 %."""
    theta, path = log(start / (1 - start)), [start]
    while path[-1] < 0.999:
        theta += step * SPEEDS[curve](path[-1])
        path.append(1 / (1 + exp(-theta)))
    return path, step


@pytest.mark.parametrize("curve", SPEEDS)
@pytest.mark.parametrize("start", [0.05, 0.25, 0.6])
def test_the_exponent_is_that_of_plain_gradient_steps(curve: str, start: float) -> None:
    exponent = compute_exponent.derive(curve)["exponent"]
    value = sp.lambdify((P, P_0), exponent)
    for wanted in (0.3, 0.7, 0.95):
        at = start + wanted * (1 - start)
        misses = []
        for step in (0.04, 0.02):
            path, _ = walked(curve, start, step)
            k = next(k for k, p in enumerate(path) if p >= at)
            odds = [log((p - start) / (1 - p)) for p in path[k - 1 : k + 2]]
            seen = (odds[2] - odds[0]) / (log(k + 1) - log(k - 1))
            misses.append(abs(seen / value(path[k], start) - 1))
        assert misses[0] < 0.05  # a step is of size eta, and so is what it misses by
        assert misses[1] < 0.6 * misses[0]


@pytest.mark.parametrize("curve", SPEEDS)
def test_by_the_spread_of_rewards_it_is_the_same(curve: str) -> None:
    found = compute_exponent.derive(curve)
    for p, p_0 in ((0.7, 0.4), (0.95, 0.2), (0.999, 0.9)):
        by_p = number(found["exponent"], p=p, p_0=p_0)
        by_spread = number(found["by_spread"], sigma=sqrt(p * (1 - p)), p_0=p_0)
        assert by_spread == pytest.approx(by_p, rel=1e-9)
        assert number(found["half"], p_0=p_0) == pytest.approx(
            number(found["exponent"], p=(1 + p_0) / 2, p_0=p_0), rel=1e-12
        )


def test_its_limits_are_reached() -> None:
    ends = {"no-kl-std": 2, "no-kl-mean": 1}
    for curve, end in ends.items():
        found = compute_exponent.derive(curve)
        assert found["late"] == end
        assert found["start"] == 1
        assert number(found["exponent"], p=0.3 + 1e-7, p_0=0.3) == pytest.approx(1, abs=1e-6)
        misses = [abs(number(found["by_spread"], sigma=s, p_0=0.3) - end) for s in (1e-3, 1e-4)]
        assert misses[1] < 0.11 * misses[0]


def test_the_exponential_and_the_oscillator_from_rest() -> None:
    single = compute_exponent.derive("exponential")
    rest = compute_exponent.derive("from-rest")

    def left(t: float) -> float:
        return (0.5 * exp(-0.1 * t) - 0.1 * exp(-0.5 * t)) / 0.4

    for t in (0.01, 1.0, 20.0, 60.0):
        seen = local(lambda time: 1 - exp(-time / 5), t)
        assert number(single["exponent"], t=t, tau=5) == pytest.approx(seen, rel=1e-5)
        seen = local(lambda time: 1 - left(time), t)
        assert number(rest["exponent"], t=t, r_p=0.5, r_m=0.1) == pytest.approx(seen, rel=1e-5)
    assert (single["start"], rest["start"], single["late"]) == (1, 2, sp.oo)
    assert is_zero(single["half"] - 2 * sp.log(2))
    assert "half" not in rest.results


def test_the_map_from_rest_starts_with_two() -> None:
    """Heavy ball at zero lag: the deviation falls like k**2 while momentum still builds up."""
    path = simulate_linear(
        "heavy-ball", ConstantLag(0), mu=0.9999, x=1e-9, stale_share=1.0, steps=200
    ).path
    done = 1 - path
    assert log(done[160] / done[80]) / log(2) == pytest.approx(2, abs=0.05)


def test_the_fit_has_the_derived_inflection() -> None:
    law = compute_exponent.derive(CURVES[0])["law_inflection"]
    family = FAMILIES["compute-law"]
    for b in (1.5, 2.0, 6.0):
        read = family.read({"C_mid": 40.0, "B": b}, np.array([0.2, 0.6]))
        assert read["inflection"] == pytest.approx(number(law, B=b, C_mid=40), rel=1e-12)
    assert family.read({"C_mid": 40.0, "B": 0.8}, np.array([0.2, 0.6]))["inflection"] == 0


def test_an_unknown_curve_is_refused() -> None:
    with pytest.raises(ValueError, match="curve 'power' is unknown"):
        compute_exponent.derive("power")


# --- the saturation laws -------------------------------------------------------------------------


def test_the_constant_of_the_saturation_law_belongs_to_its_units() -> None:
    """Two people fit one run: one counts steps and parameters, one samples and billions."""
    constant = saturation_law.derive()["constant"]
    size, tau = 3e9, 3e9**0.3
    samples, billions = 8.0, 1e-9
    theirs = tau * samples / (size * billions) ** 0.3
    assert number(constant, u=samples, v=billions) == pytest.approx(theirs, rel=1e-12)
    assert number(constant, u=1, v=1) == 1


@pytest.mark.parametrize(("name", "speed"), [("std", "no-kl-std"), ("mean", "no-kl-mean")])
def test_the_logit_does_not_rise_steadily(name: str, speed: str) -> None:
    found = saturation_law.derive()[f"logit_acceleration_{name}"]
    eta, h = 0.3, 1e-6
    for p in (0.1, 0.4, 0.8):
        rate = eta * SPEEDS[speed](p)
        slope = eta * (SPEEDS[speed](p + h) - SPEEDS[speed](p - h)) / (2 * h)
        seen = slope * p * (1 - p) * rate
        assert number(found, p=p, eta=eta) == pytest.approx(seen, rel=1e-6)
    assert found.subs(P, sp.Rational(1, 2)) == 0


def test_without_noise_the_fit_tells_the_flow_from_the_laws() -> None:
    """Rewards on the path of plain gradient steps lie on no sigmoid and on no compute law."""
    path, _ = walked("no-kl-std", 0.1, 0.05)
    given = series(range(1, len(path) + 1), path)
    met = abs(fit(given, "no-kl-std").residual).max()
    for law in ("exponential", "sigmoid", "compute-law"):
        assert abs(fit(given, law).residual).max() > 5 * met


# --- as quantities to audit ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ({"quantity": "saturation", "says": "R_inf - (R_inf - R_0)*exp(-t/tau)"}, "holds"),
        ({"quantity": "saturation", "says": "R_inf*(1 - exp(-t/tau))"}, "refuted"),
        ({"quantity": "saturation_constant", "says": "u/v**(3/10)"}, "holds"),
        ({"quantity": "saturation_constant", "says": "u/v**(1/3)"}, "refuted"),
        ({"quantity": "logit_acceleration", "says": "eta**2*p**2*(1 - p)**2*(1 - 2*p)",
          "model": {"normaliser": "mean"}}, "holds"),
        ({"quantity": "logit_acceleration", "says": "eta**2*p**2*(1 - p)**2*(1 - 2*p)",
          "model": {"normaliser": "std"}}, "refuted"),
        ({"quantity": "starting_exponent", "says": "1", "model": {"curve": "no-kl-mean"}}, "holds"),
        ({"quantity": "starting_exponent", "says": "1", "model": {"curve": "from-rest"}},
         "refuted"),
        ({"quantity": "half_exponent", "says": "2*log(2)", "model": {"curve": "exponential"}},
         "holds"),
        ({"quantity": "compute_exponent", "says": "t/tau/(1 - exp(-t/tau))",
          "model": {"curve": "exponential"}}, "holds"),
        ({"quantity": "compute_exponent", "says": "1", "relation": "asymptotic", "order": 1,
          "small": "sigma", "model": {"curve": "no-kl-std"}}, "refuted"),
        ({"quantity": "compute_exponent", "says": "2", "relation": "asymptotic", "order": 1,
          "small": "sigma", "model": {"curve": "no-kl-mean"}}, "refuted"),
        ({"quantity": "compute_inflection", "says": r"C_{\mathrm{mid}}((B-1)/(B+1))^{1/B}"},
         "holds"),
    ],
)  # fmt: skip
def test_claims_about_the_laws_are_judged(claim: dict[str, object], verdict: str) -> None:
    made = claim_from({"id": "drawn", "relation": "exact", **claim})
    assert judge_claim(made).verdict.word.value == verdict


def test_where_a_quantity_exists() -> None:
    late = TARGETS["compute_exponent"]
    value = late.build(late.read({"curve": "no-kl-std"}, frozenset()))
    point = {P_0: Fraction(1, 4)}  # a spread of sqrt(3)/4 to begin with
    assert value.defined({**point, SIGMA: Fraction(43, 100)})
    assert not value.defined({**point, SIGMA: Fraction(44, 100)})
    steepest = TARGETS["compute_inflection"]
    value = steepest.build(steepest.read({}, frozenset()))
    assert value.defined({B: Fraction(11, 10)})
    assert not value.defined({B: Fraction(1)})


def test_half_way_from_rest_has_no_closed_form() -> None:
    with pytest.raises(TargetError, match="curve = 'from-rest' is unknown"):
        TARGETS["half_exponent"].read({"curve": "from-rest"}, frozenset())
