r"""The smallest counterexample: simple rationals first, exactly decided.

Points are visited in the order a person would try them: 0, 1, 1/2, 2, 1/3, ... A point found by the
solver instead is moved to simpler coordinates for as long as it still breaks the claim.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from derivations.domain import Domain

__all__ = ["Point", "drawn", "simple_points", "simplest_between", "simplify", "smallest"]

Point = dict[sp.Symbol, Fraction]
Broken = Callable[[Point], bool]

#: How many candidates a search may decide before it gives way to the solver's own model.
BUDGET = 2000


def _cost(value: Fraction) -> int:
    return abs(value.numerator) + value.denominator


def simple_points(domains: Mapping[sp.Symbol, Domain], height: int = 12) -> Iterator[Point]:
    """Iterate over the simple rational points of a box, simplest first."""
    if not domains:
        yield {}
        return
    symbols = list(domains)
    columns = [domains[s].simple(height) for s in symbols]
    if len(symbols) >= 3:
        keep = max(8, int(60_000 ** (1 / len(symbols))))
        columns = [column[:keep] for column in columns]
    costs = [sorted(map(_cost, column)) for column in columns]
    if not all(costs):
        return
    least, most = sum(c[0] for c in costs), sum(c[-1] for c in costs)
    for total in range(least, most + 1):
        for values in _costing(total, columns):
            yield dict(zip(symbols, values, strict=True))


def _costing(total: int, columns: Sequence[Sequence[Fraction]]) -> Iterator[tuple[Fraction, ...]]:
    """Iterate over the rows of a product whose costs add up to `total`."""
    first, *rest = columns
    for value in first:
        left = total - _cost(value)
        if not rest:
            if left == 0:
                yield (value,)
        elif left > 0:
            for others in _costing(left, rest):
                yield (value, *others)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the rational of least denominator in the open interval (low, high) of positives."""
    whole = low.numerator // low.denominator
    if whole + 1 < high:
        return Fraction(whole + 1)
    if low == whole:  # between whole and high <= whole + 1: one over the next integer above
        gap = high - whole
        return whole + Fraction(1, gap.denominator // gap.numerator + 1)
    rest = simplest_between(1 / (high - whole), 1 / (low - whole))
    return whole + 1 / rest


def drawn(domains: Mapping[sp.Symbol, Domain], count: int, seed: int = 20260629) -> list[Point]:
    """Draw `count` reproducible rational points of a box, ends and near-ends included."""
    source = random.Random(seed)
    return [{s: domain.draw(source) for s, domain in domains.items()} for _ in range(count)]


def smallest(
    domains: Mapping[sp.Symbol, Domain], broken: Broken, *, height: int = 12, budget: int = BUDGET
) -> Point | None:
    """Return the first simple point at which `broken` is true, or None within the budget."""
    for tried, point in enumerate(simple_points(domains, height)):
        if tried >= budget:
            return None
        if broken(point):
            return point
    return None


def simplify(
    point: Mapping[sp.Symbol, Fraction], domains: Mapping[sp.Symbol, Domain], broken: Broken
) -> Point | None:
    """Return a point of simpler coordinates at which `broken` still holds, or None if none does.

    The given point may be a rounded algebraic number, so it is itself tried last.
    """
    current = dict(point)
    for denominator in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100, 1000, 10**6):
        rounded = {s: v.limit_denominator(denominator) for s, v in current.items()}
        if all(rounded[s] in domains[s] for s in rounded) and broken(rounded):
            current = rounded
            break
    else:
        if not all(v in domains[s] for s, v in current.items()) or not broken(current):
            return None
    for symbol in current:
        for denominator in (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 32, 64, 100):
            value = current[symbol].limit_denominator(denominator)
            if value == current[symbol]:
                break
            trial = {**current, symbol: value}
            if value in domains[symbol] and broken(trial):
                current = trial
                break
    return current
