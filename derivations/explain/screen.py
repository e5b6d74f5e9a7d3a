r"""Readings that a few points rule out, with nothing derived for them.

A screen rules out and never confirms: what it lets through is derived and judged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import chain, islice
from typing import Any

import sympy as sp

from derivations.claim import Claim, Relation
from derivations.decide import (
    REGION_RELATION,
    as_condition,
    as_value,
    at_pinned,
    domains_of,
    put_in,
)
from derivations.domain import Domain
from derivations.judge import balls, search
from derivations.judge.order import SLACK, observed_order
from derivations.judge.region import broken_at
from derivations.judge.value import Value
from derivations.notation import QUANTITIES, quantity
from derivations.targets import Target, TargetError
from derivations.targets.base import Setting

__all__ = ["constant_factor", "ruled_out"]

#: Points at which another reading of a condition is looked at, and lags, where it is for every one.
_CONDITIONS = 60
_LAGS = 3
#: Points at which a value is looked for; those at which one is compared, bounded, and its order.
_SOUGHT = 40
_VALUES = 4
_BOUNDS = 40
_ORDERS = 3
_BITS = 96
#: A factor is a fraction with a denominator up to this one, met this closely.
_DENOMINATOR = 60
_CLOSE = 1e-12
#: Equal values differ by less, relative to either.
_TINY = 1e-18


def ruled_out(claim: Claim, target: Target, setting: Setting, printed: sp.Basic) -> bool:
    """Whether a few points show that a claim, so read, does not hold.

    Parameters
    ----------
    claim
        Its relation and its domain are asked for.
    target, setting, printed
        The quantity, and the conventions and the formula as read.
    """
    try:
        settings = list(_at_few_lags(claim, target, setting))
        if target.contains is not None:
            return any(_misses(claim, target, here, printed) for here in settings)
        if target.sketch is None:
            return False
        return any(_differs(claim, target.sketch(here), here, printed) for here in settings)
    except (TargetError, ValueError):
        return False  # without meaning so read: the judge says so


def constant_factor(
    claim: Claim, target: Target, setting: Setting, printed: sp.Basic
) -> sp.Rational | None:
    """Return derived over printed where it is the same simple number at every point looked at."""
    if target.sketch is None:
        return None
    ratios: list[Any] = []
    try:
        for here in _at_few_lags(claim, target, setting):
            said, value, points = _at_points(claim, target.sketch(here), here, printed)
            for point in points:
                with suppress(balls.Undefined, ZeroDivisionError):
                    if value.defined(point) and len(ratios) < _VALUES:
                        with balls.precision(_BITS):
                            ratios.append(
                                value.ball(point, _BITS) / balls.evaluate(said, point, _BITS)
                            )
    except (TargetError, ValueError):
        return None
    if len(ratios) < _VALUES or not all(r.is_finite() for r in ratios):
        return None
    simple = Fraction(float(ratios[0].mid())).limit_denominator(_DENOMINATOR)
    factor = sp.Rational(simple.numerator, simple.denominator)
    same = all(balls.magnitude(r - ratios[0]) < _CLOSE for r in ratios)
    near = abs(float(ratios[0].mid()) - simple) < _CLOSE
    return factor if same and near and factor not in (0, 1) else None


def _at_few_lags(claim: Claim, target: Target, setting: Setting) -> Iterator[Setting]:
    update = setting.update
    if update is None or update.steps is not None or not _needs_lag(target, setting):
        yield setting
        return
    lag = update.lag_model.parameter.name
    lags = claim.domain.get(lag, QUANTITIES[lag].domain).integers()
    yield from (setting.at(value) for value in islice(lags, _LAGS))


def _needs_lag(target: Target, setting: Setting) -> bool:
    if target.contains is not None or target.by_lag(setting):
        return True
    return target.sketch is not None and target.sketch(setting).expression is None


def _misses(claim: Claim, target: Target, setting: Setting, printed: sp.Basic) -> bool:
    """Whether a condition fails at a simple point; of a region membership is known exactly."""
    assert target.contains is not None
    assert setting.update is not None
    condition = put_in(as_condition(printed), setting)
    if condition.has(sp.zoo, sp.nan, sp.oo):
        return False
    broken = broken_at(condition, target.contains(setting), REGION_RELATION[claim.relation])
    share = setting.update.stale_share
    domains = domains_of(claim, setting, [condition, quantity("mu"), quantity("x"), share])
    return any(map(broken, islice(search.simple_points(domains), _CONDITIONS)))


def _differs(claim: Claim, value: Value, setting: Setting, printed: sp.Basic) -> bool:
    said, value, points = _at_points(claim, value, setting, printed)
    if said.has(sp.zoo, sp.nan, sp.oo):
        return False
    if claim.relation is Relation.ASYMPTOTIC:
        return _slower(claim, said, value, _domains(claim, value, setting, said))
    wrong = (_wrong(claim.relation, said, value, point) for point in points)
    enough = _VALUES if claim.relation is Relation.EXACT else _BOUNDS
    return any(islice((found for found in wrong if found is not None), enough))


def _at_points(
    claim: Claim, value: Value, setting: Setting, printed: sp.Basic
) -> tuple[sp.Expr, Value, Iterator[search.Point]]:
    """Return printed and derived as they are compared, and points to compare them at."""
    value = at_pinned(value, setting, printed)
    said = as_value(put_in(printed, setting))
    domains = _domains(claim, value, setting, said)
    drawn = search.drawn(domains, _SOUGHT, seed=11)
    return said, value, chain(drawn, islice(search.simple_points(domains), _SOUGHT))


def _domains(
    claim: Claim, value: Value, setting: Setting, said: sp.Expr
) -> dict[sp.Symbol, Domain]:
    known = [value.expression] if value.expression is not None else []
    return domains_of(claim, setting, [said, *value.symbols, *known])


def _wrong(relation: Relation, said: sp.Expr, value: Value, point: search.Point) -> bool | None:
    """Whether the printed value is not the derived one, or on the wrong side; None if unknown."""
    try:
        if not value.defined(point):
            return None
        ours = value.ball(point, _BITS)
        gap = balls.evaluate(said, point, _BITS) - ours
    except (balls.Undefined, ZeroDivisionError):
        return None
    if balls.magnitude(gap) <= _TINY * max(balls.magnitude(ours), 1e-30):
        return False
    sides = {Relation.UPPER: bool(gap < 0), Relation.LOWER: bool(gap > 0)}
    return sides.get(relation, bool(gap < 0 or gap > 0))


def _slower(
    claim: Claim, said: sp.Expr, value: Value, domains: dict[sp.Symbol, Domain]
) -> bool:
    """Whether the relative error is seen to fall more slowly than claimed, wherever it is seen."""
    small = quantity(claim.small.removeprefix("1/"))
    if claim.small.startswith("1/") or claim.order is None:
        return False
    others = {s: d for s, d in domains.items() if s != small}
    points = search.drawn(others, _ORDERS, seed=11) if others else [{}]
    seen = [observed_order(said, value, small, point) for point in points]
    settled = [late for early, late in filter(None, seen) if abs(early - late) <= SLACK]
    return bool(settled) and all(late < claim.order - SLACK for late in settled)
