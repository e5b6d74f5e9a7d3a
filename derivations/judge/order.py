r"""Judging asymptotic claims by their order: printed/derived - 1 = O(small**n).

Where the relative error is algebraic in the small parameter its order is computed exactly.
Elsewhere the order is observed: halve the parameter and the error must fall by 2**n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import nullcontext
from fractions import Fraction
from itertools import pairwise

import sympy as sp

from derivations.algebra import canonical, is_zero, too_large
from derivations.claim import Rung, Verdict
from derivations.domain import Domain
from derivations.formula import render
from derivations.judge import balls, search, smt
from derivations.judge.comparison import Comparison
from derivations.judge.search import Point
from derivations.judge.value import Value, difference_text

__all__ = ["judge_order", "observed_order", "valuation"]

#: Slack of an observed order; the next possible order is a whole unit (or a half) away.
SLACK = 0.1
_BITS = 2048
#: Powers of 1/2 at which the error is looked at: so small that a drawn momentum close to 1 is not
#: taken for the limit, and large enough for order 8 to stay within the precision.
_HALVINGS = (100, 120, 140, 160)


def valuation(expression: sp.Expr, small: sp.Symbol, limit: int) -> int | None:
    """Return the order of vanishing of an algebraic expression in `small`, capped at `limit`.

    Rational expressions are read off their polynomials; others by derivatives at zero, each tested
    for zero exactly. A diverging expression has order -1. Returns None where neither decides.
    """
    numerator, denominator = sp.fraction(sp.cancel(sp.together(expression)))
    if is_zero(numerator):
        return limit
    try:
        orders = [
            min(monomial[0] for monomial, c in sp.Poly(part, small).terms() if not is_zero(c))
            for part in (numerator, denominator)
        ]
        return int(min(limit, orders[0] - orders[1]))
    except sp.PolynomialError:
        pass
    if any(part.has(small) for part in expression.atoms(sp.Abs, sp.sign, sp.Min, sp.Max)):
        return None  # not differentiable at zero, whatever its derivatives there are said to be
    for order in range(limit + 1):
        value = expression.subs(small, 0)
        if value.has(sp.zoo, sp.nan, sp.oo):
            diverges = order == 0 and is_zero((1 / expression).subs(small, 0))
            return -1 if diverges else None
        if order == limit:
            return limit  # the last derivative is finite, so the error is no larger
        if not is_zero(value):
            return order
        expression = sp.diff(expression, small)
    return limit


def _reduced_radicands(e: sp.Expr) -> sp.Expr:
    """Write sqrt((1/y - 1)*y) as sqrt(1 - y), which has a value at y = 0."""
    return e.replace(
        lambda p: p.is_Pow and p.exp.is_Rational and not p.exp.is_Integer,
        lambda p: sp.Pow(sp.cancel(sp.together(p.base)), p.exp),
    )


def _positive(domains: Mapping[sp.Symbol, Domain], small: sp.Symbol) -> dict[sp.Symbol, sp.Symbol]:
    """Return positive stand-ins, so that sqrt(C**2) is C where the domain says C > 0."""
    return {
        s: sp.Dummy(s.name, positive=True)
        for s, d in domains.items()
        if s != small and d.low is not None and d.low >= 0 and (d.low > 0 or d.low_open)
    }


def observed_order(
    printed: sp.Expr, value: Value, small: sp.Symbol, point: Point
) -> tuple[float, float] | None:
    """Return the last two observed orders while `small` is halved, or None if not observable.

    An error that is exactly zero all the way down counts as infinite order.
    """
    logs: list[float] = []
    for k in _HALVINGS:
        here = {**point, small: Fraction(1, 2**k)}
        if not value.defined(here):
            return None
        try:
            ours = value.ball(here, _BITS)
            with balls.precision(_BITS) if balls.available() else nullcontext():
                logs.append(balls.log2(balls.evaluate(printed, here, _BITS) / ours - 1))
        except (balls.Undefined, ZeroDivisionError):
            return None
    if logs[-1] == -math.inf:
        return (math.inf, math.inf)
    slopes = [
        (a - b) / (after - before)
        for (before, a), (after, b) in pairwise(zip(_HALVINGS, logs, strict=True))
    ]
    return slopes[-2], slopes[-1]


def judge_order(
    printed: sp.Expr,
    value: Value,
    order: int,
    small: sp.Symbol,
    domains: Mapping[sp.Symbol, Domain],
) -> Verdict:
    """Judge that `printed` equals the value up to a relative error of O(small**order).

    Parameters
    ----------
    small
        The symbol that tends to zero from above; every other symbol is held fixed.
    """
    difference = difference_text(printed, value)
    comparison = Comparison(domains, (), str(value), difference).note(
        f"asymptotic: relative error O({small.name}^{order}) as {small.name} -> 0"
    )
    others = {s: d for s, d in domains.items() if s != small}
    comparison = comparison.besides(_vanishing(value, small, others))
    derived, reach = value.expression, None
    if derived is None and value.series is not None and value.series[0] == small:
        _, derived, reach = value.series
    if derived is not None and (reach is None or reach >= order):
        stand_in = _positive(domains, small)
        relative = _reduced_radicands((printed / derived - 1).subs(stand_in))
        found = None if too_large(relative) else valuation(relative, small, order)
        if found is not None and found >= order:
            what = "exact algebra" if reach is None else f"exact series to order {reach}"
            return comparison.proved(f"{what}: the relative error vanishes to order {found}")
        if found is not None:
            leading = (
                sp.limit(sp.cancel(relative / small**found), small, 0) if found >= 0 else sp.oo
            )
            leading = canonical(leading.subs({v: k for k, v in stand_in.items()}))
            point = search.smallest(others, lambda p: found < 0 or _nonzero(leading, p))
            if point is not None:
                witness = (
                    f"the relative error there is ({leading})*{small}^{found} to leading order"
                )
                return comparison.refuted(
                    f"exact algebra: the order is {found}, not {order}", point, witness
                )
    return _observe(printed, value, order, small, others, comparison)


def _vanishing(value: Value, small: sp.Symbol, others: Mapping[sp.Symbol, Domain]) -> str:
    """Return where the leading term may vanish, so that no relative error is claimed there."""
    derived = value.expression if value.series is None else value.series[1]
    if derived is None:
        return ""
    leading = sp.together(derived).as_leading_term(small) if derived.has(small) else derived
    numerator = sp.fraction(sp.together(leading.subs(small, 1)))[0]
    box = [r for s, d in others.items() for r in smt.box(s, d)]
    outcome = smt.entails(box, [sp.Unequality(numerator, 0, evaluate=False)])
    return "" if outcome.answer is smt.Answer.YES else f"where {render(numerator)} is not 0"


def _nonzero(leading: sp.Expr, point: Point) -> bool:
    """Whether the leading coefficient is certainly not zero at a point, real or not."""
    try:
        return balls.sign(leading, point) in (-1, 1)
    except balls.NotReal:
        return True
    except balls.Undefined:
        return False


def _observe(
    printed: sp.Expr,
    value: Value,
    order: int,
    small: sp.Symbol,
    others: Mapping[sp.Symbol, Domain],
    comparison: Comparison,
) -> Verdict:
    held = 0
    for point in [*search.drawn(others, 24)] if others else [{}]:
        slopes = observed_order(printed, value, small, point)
        if slopes is None or abs(slopes[0] - slopes[1]) > SLACK:
            continue  # not yet in the asymptotic regime: says nothing
        if slopes[1] < order - SLACK:
            return comparison.refuted(
                "observed order under halving",
                point,
                f"the observed order there is {slopes[1]:.2f}",
                rung=Rung.TESTED,
            )
        held += 1
    if not held:
        return comparison.undecided("no order could be observed")
    return comparison.tested(f"observed order at least {order} at {held} points, by halving")
