"""The exact stationary variance against the theory's page and responses to kicks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction as F
from itertools import product

import pytest
import reference
import sympy as sp
from printed import agrees

from derivations.algebra import is_zero
from derivations.claim import Rung
from derivations.notation import quantity
from derivations.results import sawtooth, stability, variance
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

MU, X, S, W = (quantity(name) for name in ("mu", "x", "s", "w"))


def pairs(*axes: Iterable[object]) -> list[tuple[object, ...]]:
    return list(product(*axes))


def update(optimizer="heavy-ball", lag_model="constant", share=S, lag=None) -> Update:
    return Update.named(optimizer, lag_model, stale_share=share, lag=lag)


def value(premise: Update, mu: object, x: object, share: object = 1) -> sp.Rational:
    at = {MU: sp.Rational(mu), X: sp.Rational(x), S: sp.Rational(share)}
    return variance.derive(premise)["variance"].subs(at)


@pytest.mark.parametrize(
    ("mu", "x", "lag", "printed"),
    [
        ("1/2", "1/100", 0, "100.334448160535"),
        ("1/2", "1/10", 1, "12.9032258064516"),
        ("9/10", "1/100", 3, "712.216076112741"),
        ("9/10", "1/50", 3, "605.506966045938"),
    ],
)
def test_reference_numbers_of_the_theory(mu, x, lag, printed) -> None:
    for premise in (update(share=1, lag=lag), update(lag=lag)):
        assert agrees(value(premise, mu, x), printed)


def test_the_theorys_formulas() -> None:
    at_once = (1 + MU) / ((1 - MU) * X * (2 * (1 + MU) - X))
    one_late = (1 + MU + X) / ((1 - MU - X) * X * (2 * (1 + MU) + X))
    assert is_zero(variance.derive(update(lag=0))["variance"] - at_once)
    assert is_zero(variance.derive(update(share=1, lag=1))["variance"] - one_late)
    # A refresh at every step is lag 0, whatever the share.
    assert is_zero(variance.derive(update(lag_model="sawtooth", lag=1))["variance"] - at_once)


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, range(5)))
def test_constant_lag_against_responses_to_kicks(optimizer, lag) -> None:
    premise = update(optimizer, lag=lag)
    for mu, x, share in ((F(0), F(1, 5), F(1)), (F(7, 10), F(1, 20), F(-1, 2)),
                         (F(9, 10), F(1, 100), F(2))):
        run = reference.Run(optimizer, "constant", mu, share, lag)
        plain = reference.variance_by_kicks(run, float(x), 4000)
        assert float(value(premise, mu, x, share)) == pytest.approx(plain, rel=1e-10)


@pytest.mark.parametrize(("optimizer", "refresh"), pairs(OPTIMIZERS, (1, 2, 3)))
def test_sawtooth_against_responses_to_kicks(optimizer, refresh) -> None:
    premise = update(optimizer, "sawtooth", share=1, lag=refresh)
    for mu, x in ((F(0), F(1, 5)), (F(7, 10), F(1, 20))):
        run = reference.Run(optimizer, "sawtooth", mu, F(1), refresh)
        plain = reference.variance_by_kicks(run, float(x), 4000)
        assert float(value(premise, mu, x)) == pytest.approx(plain, rel=1e-10)


@pytest.mark.parametrize("share", [F(-1, 2), F(1, 3), F(2)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_sawtooth_at_any_share(optimizer, share) -> None:
    run = reference.Run(optimizer, "sawtooth", F(1, 2), share, 2)
    plain = reference.variance_by_kicks(run, 0.1, 4000)
    premise = update(optimizer, "sawtooth", lag=2)
    assert float(value(premise, F(1, 2), F(1, 10), share)) == pytest.approx(plain, rel=1e-10)


def smallest_pole(premise: Update, mu: sp.Rational) -> sp.Expr:
    below = sp.fraction(sp.together(variance.derive(premise)["variance"].subs(MU, mu)))[1]
    return min(root for root in sp.Poly(below, X).real_roots() if root > 0)


@pytest.mark.parametrize(("optimizer", "lag"), pairs(OPTIMIZERS, range(5)))
def test_the_smallest_pole_is_the_border_under_constant_lag(optimizer, lag) -> None:
    pole = smallest_pole(update(optimizer, share=1, lag=lag), sp.Rational(3, 5))
    border = stability.derive(update(optimizer, share=1, lag=lag))
    at = {MU: sp.Rational(3, 5)}
    if "threshold" in border.results:
        assert abs(sp.N(border["threshold"].subs(at) - pole, 30)) < 1e-25
    if lag > 0:
        phase, ends = border["boundary_phase"].subs(at), (sp.Rational(1, 100), 3)
        angle = sp.nsolve(phase, W, ends, prec=30, solver="anderson")
        assert abs(sp.N(border["boundary_x"].subs(at).subs(W, angle) - pole, 25)) < 1e-20


@pytest.mark.parametrize(("optimizer", "refresh"), pairs(OPTIMIZERS, (1, 2, 3)))
def test_the_smallest_pole_is_the_border_under_a_sawtooth(optimizer, refresh) -> None:
    for mu in (sp.Rational(1, 5), sp.Rational(9, 10)):
        border = sawtooth.derive(update(optimizer, "sawtooth", share=1, lag=refresh))
        candidates = [border["flip"].subs(MU, mu)]
        if border["ns_denominator"].subs(MU, mu) > 0:
            candidates.append(border["neimark_sacker"].subs(MU, mu))
        pole = smallest_pole(update(optimizer, "sawtooth", share=1, lag=refresh), mu)
        assert pole == min(candidates)


@pytest.mark.parametrize(("optimizer", "lag_model"), pairs(OPTIMIZERS, LAG_MODELS))
def test_every_step_is_proved(optimizer, lag_model) -> None:
    derived = variance.derive(update(optimizer, lag_model, lag=2))
    assert derived.id == "stationary-variance"
    assert derived.rung is Rung.PROVED
    assert 3 <= len(derived.steps) <= 10


@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_a_changed_premise_changes_the_variance(lag_model) -> None:
    one = update(lag_model=lag_model, share=1, lag=2)
    plain = variance.derive(one)["variance"]
    for change in ({"intake": sp.Integer(2)}, {"direct": sp.S.One}, {"memory": MU / 2}):
        other = replace(one, optimizer=replace(one.optimizer, **change))
        assert not is_zero(variance.derive(other)["variance"] - plain)
    share = replace(one, stale_share=sp.Rational(1, 2))
    assert not is_zero(variance.derive(share)["variance"] - plain)


@pytest.mark.parametrize("lag_model", LAG_MODELS)
def test_a_symbolic_lag_is_refused(lag_model) -> None:
    with pytest.raises(ValueError, match="needs a fixed lag"):
        variance.derive(update(lag_model=lag_model))
