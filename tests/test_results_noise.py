"""lemma-6 and the slow root against the map's own covariance and eigenvalues."""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp
from plain_map import Plain

from derivations.algebra import is_zero
from derivations.derivation import StepError
from derivations.notation import quantity
from derivations.results import refresh_rule, slow_root, temperature
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

MU, X, D, N, S, TAU = (quantity(name) for name in ("mu", "x", "d", "N", "s", "tau"))
KINDS = list(product(OPTIMIZERS, LAG_MODELS))
SHARES = (1.0, -0.5, 1.5)


def update(optimizer="heavy-ball", lag_model="constant", share=S, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def number(expression: sp.Expr, **values: object) -> float:
    at = {quantity(name): sp.Rational(str(value)) for name, value in values.items()}
    return float(sp.N(expression.subs(at), 30))


VARIANCES = [  # the theory's reference numbers
    ("0.5", "0.01", 0, 100.334448160535),
    ("0.5", "0.1", 1, 12.9032258064516),
    ("0.9", "0.01", 3, 712.216076112741),
    ("0.9", "0.02", 3, 605.506966045938),
]


@pytest.mark.parametrize(("mu", "x", "age", "variance"), VARIANCES)
def test_yule_walker_gives_the_theorys_variances(mu, x, age, variance) -> None:
    exact = temperature.yule_walker(update(share=sp.S.One, lag=age))
    assert number(exact, mu=mu, x=x) == pytest.approx(variance, rel=1e-13)


def test_yule_walker_closed_forms() -> None:
    fresh = (1 + MU) / ((1 - MU) * X * (2 * (1 + MU) - X))
    aged = (1 + MU + X) / ((1 - MU - X) * X * (2 * (1 + MU) + X))
    assert is_zero(temperature.yule_walker(update(share=sp.S.One, lag=0)) - fresh)
    assert is_zero(temperature.yule_walker(update(share=sp.S.One, lag=1)) - aged)


def test_yule_walker_needs_a_fixed_constant_lag() -> None:
    for premise in (update(), update(lag_model="sawtooth", lag=2)):
        with pytest.raises(ValueError, match="fixed constant lag"):
            temperature.yule_walker(premise)


def test_lemma_6_has_the_form_the_theory_gives() -> None:
    derived = temperature.derive(update())
    eta, noise, stiffness = (quantity(name) for name in ("eta", "S", "K"))
    variance = eta * noise / (2 * stiffness * ((1 - MU) - S * eta * stiffness * D))
    assert is_zero(derived["variance_per_noise"] - 1 / (2 * X * ((1 - MU) - S * X * D)))
    assert is_zero(derived["variance"] - variance)
    assert is_zero(derived["temperature"] - stiffness * variance)
    assert is_zero(derived["relative_error"] - X / (2 * (1 + MU)))
    # Noise enters as a factor and nothing else does: a temperature.
    assert not (derived["variance"] / noise).cancel().has(noise)


@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("refresh", [1, 2, 3])
def test_the_relative_error_is_the_maps_to_first_order(
    optimizer, lag_model, share, refresh
) -> None:
    """Holds for the sawtooth's own periodic map too, of which the phase average is a model."""
    derived = temperature.derive(update(optimizer, lag_model))
    plain = Plain(optimizer, lag_model, 0.6, share, refresh)
    at = {"mu": 0.6, "s": share, "d": refresh, "N": refresh}
    left = []
    for x in (0.008, 0.004):
        leading, error = (
            number(derived[name], x=x, **at) for name in ("variance_per_noise", "relative_error")
        )
        left.append(plain.variance(x) / leading - 1 - error)
    assert left[0] / left[1] == pytest.approx(4, abs=0.5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_wrong_exact_variance_does_not_pass(optimizer, monkeypatch) -> None:
    right = temperature.yule_walker
    monkeypatch.setattr(temperature, "yule_walker", lambda u: right(u) * (1 + X))
    with pytest.raises(StepError, match="Yule-Walker"):
        temperature.derive.__wrapped__(update(optimizer))


def test_the_slow_root_has_the_form_the_theory_gives() -> None:
    derived = slow_root.derive(update())
    first = X / (1 - MU)
    assert is_zero(
        derived["relaxation_time"] - ((1 - MU) / X - S * D - (1 + MU) / (2 * (1 - MU)))
    )
    assert is_zero(derived["lag_shift"] + S * D)
    assert is_zero(derived["x_from_tau_leading"] - (1 - MU) / TAU)
    assert is_zero(derived["slow_root"].coeff(X, 1) * X + first)
    assert is_zero(derived["rate"].coeff(X, 1) * X - first)
    sawtooth = slow_root.derive(update(lag_model="sawtooth"))
    assert is_zero(sawtooth["lag_shift"] + S * (N - 1) / 2)


@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("refresh", [1, 3])
def test_the_series_is_the_maps_to_its_order(optimizer, lag_model, share, refresh) -> None:
    """Relaxation time to a remainder of order x, rate and root of order x**3."""
    derived = slow_root.derive(update(optimizer, lag_model))
    plain = Plain(optimizer, lag_model, 0.6, share, refresh)
    at = {"mu": 0.6, "s": share, "d": refresh, "N": refresh}
    off: dict[str, list[float]] = {"relaxation_time": [], "rate": [], "slow_root": []}
    for x in (0.004, 0.002):
        root = plain.decay(x).real
        rate = -float(sp.log(sp.Float(root, 30)))
        exact = {"relaxation_time": 1 / rate, "rate": rate, "slow_root": root}
        for name, values in off.items():
            values.append(exact[name] - number(derived[name], x=x, **at))
    assert off["relaxation_time"][0] / off["relaxation_time"][1] == pytest.approx(2, abs=0.3)
    assert off["rate"][0] / off["rate"][1] == pytest.approx(8, abs=1.2)
    assert off["slow_root"][0] / off["slow_root"][1] == pytest.approx(8, abs=1.2)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("share", SHARES)
def test_x_from_tau_is_exact(optimizer, share) -> None:
    derived = slow_root.derive(update(optimizer))
    for age, tau in product((0, 1, 4), (80, 1000)):
        x = number(derived["x_from_tau"], mu=0.6, s=share, d=age, tau=tau)
        root = Plain(optimizer, "constant", 0.6, share, age).decay(x)
        assert root.imag == pytest.approx(0, abs=1e-12)
        assert -1 / sp.log(sp.Float(root.real, 30)) == pytest.approx(tau, rel=1e-9)
        leading = number(derived["x_from_tau_leading"], mu=0.6, tau=tau)
        assert x / leading == pytest.approx(1, abs=12 / tau)


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema"])
def test_prop_9_says_that_the_lag_stays_below_the_relaxation_time(optimizer) -> None:
    derived = slow_root.derive(update(optimizer, share=sp.S.One))
    assert is_zero(derived["lag_over_tau"] - D / TAU)
    rule = refresh_rule.derive(update(optimizer, share=sp.S.One))["rule_threshold"]
    assert is_zero(derived["x_from_tau_leading"].subs(TAU, D) - rule)


@pytest.mark.parametrize("order", [0, 1])
def test_a_wrong_series_does_not_pass(order, monkeypatch) -> None:
    def forged(premise: Update) -> tuple[sp.Expr, ...]:
        return tuple(r * (1 + (k == order)) for k, r in enumerate(right(premise)))

    right = slow_root.rate_series
    monkeypatch.setattr(slow_root, "rate_series", forged)
    with pytest.raises(StepError, match="rate of the slow mode"):
        slow_root.derive.__wrapped__(update())
