"""prop-9's rule and the transition of section 3.5 against arithmetic and the theory's page."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import sympy as sp

from derivations.algebra import is_zero
from derivations.derivation import StepError
from derivations.notation import quantity
from derivations.results import oscillator, refresh_rule, transition
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

MU, X, D, N, S, DELTA = (quantity(name) for name in ("mu", "x", "d", "N", "s", "delta"))
KINDS = list(product(OPTIMIZERS, LAG_MODELS))


def update(optimizer="heavy-ball", lag_model="constant", share=S, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def number(expression: sp.Expr, **values: object) -> float:
    at = {quantity(name): sp.Rational(str(value)) for name, value in values.items()}
    return float(sp.N(expression.subs(at), 30))


RULES = [
    ("heavy-ball", (1 - MU) / (S * D)),
    ("ema", 1 / (S * D)),
    ("nesterov", (1 - MU) / (S * D - MU)),
]


@pytest.mark.parametrize(("optimizer", "rule"), RULES)
def test_the_rule_is_prop_9s(optimizer, rule) -> None:
    constant = refresh_rule.derive(update(optimizer))
    assert is_zero(constant["rule_threshold"] - rule)
    sawtooth = refresh_rule.derive(update(optimizer, "sawtooth"))
    assert is_zero(sawtooth["rule_threshold"] - rule.subs(D, N))


@pytest.mark.parametrize("share", [sp.Rational(-1, 2), sp.S.One, sp.Integer(3)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_rule_speaks_only_where_lag_undoes_damping(optimizer, share) -> None:
    derivation = refresh_rule.derive(update(optimizer, "constant", share, 2))
    speaks = number(derivation["denominator"], mu=0.5) > 0
    damping = oscillator.derive(update(optimizer, "constant", share, 2))["damping"]
    assert speaks == (number(damping, mu=0.5, x=1000, delta=1) < 0)
    assert speaks == (share > 0)


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema"])
def test_without_stale_force_there_is_no_rule(optimizer) -> None:
    for premise in (update(optimizer, lag=0), update(optimizer, share=sp.S.Zero)):
        with pytest.raises(ValueError, match="other than 0"):
            refresh_rule.derive(premise)


ONSETS = [  # the theory's table
    (0, 0, 0.5),
    (0, 1, 0.2360679775),
    (0, 4, 0.0876952648396),
    ("1/2", 2, 0.0481456008918),
    ("9/10", 0, 0.00263157894737),
    ("9/10", 1, 0.00249843945008),
    ("9/10", 8, 0.00181289950103),
]


@pytest.mark.parametrize(("mu", "age", "onset"), ONSETS)
def test_truncated_onsets_of_the_theory(mu, age, onset) -> None:
    general = transition.derive(update(share=sp.S.One))["truncated_onset"]
    special = transition.derive(update(share=sp.S.One, lag=age))["truncated_onset"]
    assert number(general, mu=mu, d=age) == pytest.approx(onset, rel=1e-10)
    assert number(special, mu=mu) == pytest.approx(onset, rel=1e-10)


@pytest.mark.parametrize(("optimizer", "lag_model"), KINDS)
def test_the_onset_is_the_first_zero_with_positive_damping(optimizer, lag_model) -> None:
    derived = transition.derive(update(optimizer, lag_model))
    coefficients = oscillator.derive(update(optimizer, lag_model))
    symbols = (MU, S, D, N, X)
    onset, radicand, damping_there = (
        sp.lambdify(symbols, derived[name]) for name in
        ("truncated_onset", "radicand", "damping_at_onset")
    )
    mass, damping, stiffness = (
        sp.lambdify(symbols, coefficients[name].subs(DELTA, 1)) for name in
        ("mass", "damping", "stiffness")
    )
    met = 0
    for mu, share, age in product((0, 0.3, 0.45, 0.9), (-1, -0.25, 0.5, 1, 1.9, 4), (1, 2, 5)):
        def discriminant(x: float, at=(mu, share, age, age)) -> float:
            return damping(*at, x) ** 2 - 4 * mass(*at, x) * stiffness(*at, x)

        values = [discriminant(x) for x in (0.0, 1.0, 2.0)]
        quadratic = np.polyfit([0.0, 1.0, 2.0], values, 2)
        roots = np.roots(np.where(abs(quadratic) < 1e-12, 0, quadratic))
        first = min((r.real for r in roots if abs(r.imag) < 1e-9 and r.real > 0), default=None)
        at = (mu, share, age, age, 0.0)
        found = onset(*at) if radicand(*at) >= 0 else None
        if found is not None and found <= 0:
            found = None
        assert (found is None) == (first is None), at
        if found is not None:
            met += 1
            assert found == pytest.approx(first, rel=1e-6)
            assert damping_there(*at) == pytest.approx(damping(*at[:4], found), rel=1e-9, abs=1e-12)
            if optimizer != "nesterov" and share >= 0:
                assert damping_there(*at) > 0
    assert met > 20


def test_ema_has_heavy_balls_onset_at_its_own_step_size() -> None:
    heavy, ema = (transition.derive(update(o))["truncated_onset"] for o in ("heavy-ball", "ema"))
    assert is_zero(heavy - (1 - MU) * ema)


def test_a_wrong_damping_is_not_called_the_rule(monkeypatch) -> None:
    """Damping that rises with x is not what the steps after the rule say of it."""
    real = oscillator.derive(update(share=sp.S.One))
    rising = replace(real, results={**real.results, "damping": DELTA * (MU - 1 + X * D)})
    monkeypatch.setattr(oscillator, "derive", lambda _: rising)
    with pytest.raises(StepError, match="below it damping is positive"):
        refresh_rule.derive.__wrapped__(update(share=sp.S.One))
