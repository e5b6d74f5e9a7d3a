"""Stability conditions as polynomials, and the exact decision at a point: each checks the other."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
import reference
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

from derivations.judge.smt import Answer, entails
from derivations.notation import quantity
from derivations.results.stability_conditions import conditions, is_stable_at
from derivations.update import LAG_MODELS, OPTIMIZERS, Optimizer, Update

MU, X, S = (quantity(name) for name in ("mu", "x", "s"))
BOX = [MU >= 0, MU < 1, X > 0]


def update(optimizer="heavy-ball", lag_model="constant", share=S, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def exact(value: F) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def hold(premise: Update, point: dict[sp.Symbol, F]) -> bool:
    at = {symbol: exact(value) for symbol, value in point.items()}
    return all(condition.subs(at) > 0 for condition in conditions(premise))


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(list(OPTIMIZERS)), st.sampled_from(list(LAG_MODELS)), st.integers(0, 4),
    st.fractions(0, F(19, 20), max_denominator=20), st.fractions(F(1, 50), 4, max_denominator=50),
    st.fractions(-2, 3, max_denominator=6),
)  # fmt: skip
@example("heavy-ball", "constant", 0, F(1, 2), F(3), F(1))  # a root at z = -1
@example("heavy-ball", "constant", 2, F(0), F(2), F(0))  # the same, with roots at 0 besides
@example("heavy-ball", "constant", 1, F(9, 10), F(1, 10), F(1))  # a pair on the circle
@example("ema", "constant", 1, F(0), F(1), F(1))
@example("nesterov", "constant", 0, F(1, 2), F(3, 2), F(1))  # a root at z = -1
@example("heavy-ball", "sawtooth", 1, F(0), F(1), F(1))  # refresh 2: an eigenvalue at -1
def test_conditions_hold_exactly_where_the_point_is_stable(
    optimizer, lag_model, lag, mu, x, share
) -> None:
    lag += lag_model == "sawtooth"
    point = {MU: mu, X: x, S: share}
    stable = is_stable_at(update(optimizer, lag_model, lag=lag), point)
    assert hold(update(optimizer, lag_model, lag=lag), point) is stable
    run = reference.Run(optimizer, lag_model, mu, share, lag)
    rate = reference.rate(run, x)
    assert stable is bool(rate < 0) or abs(rate) < 1e-15


@pytest.mark.parametrize(
    ("premise", "mu", "x"),
    [
        (update(share=1, lag=0), F(1, 2), F(3)),
        (update(share=1, lag=1), F(9, 10), F(1, 10)),
        (update(share=1, lag=1), F(0), F(1)),
        (update("nesterov", share=1, lag=0), F(1, 2), F(3, 2)),
        (update("ema", share=1, lag=1), F(3, 4), F(1)),
        (update(lag_model="sawtooth", share=1, lag=2), F(1, 2), F(5, 4)),
        (update(lag_model="sawtooth", share=1, lag=2), F(9, 10), F(19, 90)),
    ],
)
def test_the_border_itself_is_not_stable(premise, mu, x) -> None:
    tick = F(1, 10**40)
    for step, stable in ((-tick, True), (F(0), False), (tick, False)):
        point = {MU: mu, X: x + step}
        assert is_stable_at(premise, point) is stable
        assert hold(premise, point) is stable


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_long_lags_are_decided(optimizer, lag_model) -> None:
    seen = set()
    for lag in (32, 64):
        premise = update(optimizer, lag_model, lag=lag)
        run = reference.Run(optimizer, lag_model, F(9, 10), F(1), lag)
        for x in (F(1, 1000), F(1, 300), F(1, 3)):
            if lag_model == "constant":
                modes = np.abs(np.roots([float(c) for c in reference.coefficients(run, x)]))
            else:
                modes = np.abs(np.array(reference.monodromy_eigenvalues(run, x), dtype=complex))
            assert abs(modes.max() - 1) > 1e-5  # far enough from the border for floats to judge
            stable = is_stable_at(premise, {MU: F(9, 10), X: x, S: F(1)})
            assert stable is bool(modes.max() < 1)
            seen.add(stable)
    assert seen == {True, False}


def test_a_negative_share_is_not_immune() -> None:
    # The theory: x_f = 0.1, x_s = -0.05 at mu = 0.9 is stable up to d = 10 and unstable at 11.
    point = {MU: F(9, 10), X: F(1, 20), S: F(-1)}
    stable = [is_stable_at(update(lag=lag), point) for lag in range(13)]
    assert stable[:11] == [True] * 11
    assert not stable[11]


@pytest.mark.parametrize("lag", range(1, 7))
@pytest.mark.parametrize(("optimizer", "limit"), [("heavy-ball", 1 - MU), ("ema", sp.S.One)])
def test_the_rule_is_safe_and_exact_at_lag_1_only(optimizer, limit, lag) -> None:
    premise = update(optimizer, share=1, lag=lag)
    rule = lag * X < limit
    stable = [condition > 0 for condition in conditions(premise)]
    assert entails([*BOX, rule], stable).answer is Answer.YES
    if lag == 1:
        assert entails([*BOX, *stable], [rule]).answer is Answer.YES
    else:  # a point that the rule forbids and the map survives
        point = {MU: F(0), X: F(1, lag) + F(1, 100 * lag)}
        assert is_stable_at(premise, point)


@pytest.mark.parametrize("lag", [2, 4, 6, 8])
def test_conditions_are_integer_polynomials_of_the_premises_symbols(lag) -> None:
    for condition in conditions(update(lag=lag)):
        assert condition.free_symbols <= {MU, X, S}
        polynomial = sp.Poly(condition, MU, X, S)
        assert all(c.is_Integer for c in polynomial.coeffs())
        assert sp.gcd_list(polynomial.coeffs()) == 1


def test_a_changed_premise_changes_the_conditions() -> None:
    plain = OPTIMIZERS["heavy-ball"]
    for change in ({"intake": sp.Integer(2)}, {"direct": sp.S.One}, {"memory": MU / 2}):
        for model in LAG_MODELS.values():
            one = Update(plain, model, sp.S.One, sp.Integer(3))
            assert conditions(replace(one, optimizer=replace(plain, **change))) != conditions(one)


def test_fractions_in_a_premise_leave_integer_conditions() -> None:
    half = Optimizer("half", MU / 2, sp.Rational(1, 3), sp.S.Zero, sp.S.One, "", "extension")
    premise = Update(half, LAG_MODELS["constant"], sp.Rational(1, 2), sp.Integer(2))
    for x in (F(1, 2), F(2), F(9)):
        assert hold(premise, {MU: F(1, 2), X: x}) is is_stable_at(premise, {MU: F(1, 2), X: x})


@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_a_symbolic_lag_or_an_open_symbol_is_refused(lag_model) -> None:
    with pytest.raises(ValueError, match="fixed"):
        conditions(update(lag_model=lag_model))
    with pytest.raises(ValueError, match="fixed"):
        is_stable_at(update(lag_model=lag_model), {MU: F(0), X: F(1), S: F(1)})
    with pytest.raises(ValueError, match="leaves s open"):
        is_stable_at(update(lag_model=lag_model, lag=2), {MU: F(0), X: F(1)})


def test_a_premise_that_is_no_polynomial_is_refused() -> None:
    odd = replace(OPTIMIZERS["heavy-ball"], intake=sp.exp(MU))
    for model in LAG_MODELS.values():
        with pytest.raises(ValueError, match="not polynomials"):
            conditions(Update(odd, model, sp.S.One, sp.Integer(2)))
