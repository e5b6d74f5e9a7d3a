r"""How far from sharp: the exact border over the printed one, over a claim's domain.

A sufficient condition may give room away and a necessary one may promise too much. Both borders are
found along x, at points that span the domain: the exact one by `numerics.exact.threshold`, the
printed one where the condition stops being true.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

from numerics.exact import threshold
from numerics.report.crosscheck import configuration
from numerics.report.drawn import domain_of
from numerics.report.witness import Run, numbers_of, printed_conditions, schedule_of

if TYPE_CHECKING:
    import sympy as sp

    from derivations.audit import Audited

__all__ = ["Sharpness", "in_words", "sharpness"]

_MOMENTA = (Fraction(0), Fraction(1, 2), Fraction(9, 10))
_LAGS = (0, 1, 2, 4, 8, 32)
_HALVINGS = 32
_BEYOND = 2**20  # times the exact border: a printed border further off is taken for none


@dataclass(frozen=True)
class Sharpness:
    """The exact border over the printed one, at one point of the domain.

    Attributes
    ----------
    mu, lag
        Momentum, and the lag or refresh in steps.
    factor
        1 where the condition is sharp; above 1 it gives room away, below 1 it is not safe. None
        where the printed condition holds for no x at all, or as far as one looked.
    """

    mu: Fraction
    lag: int
    factor: float | None

    def json(self) -> dict[str, object]:
        """Return the point as plain data."""
        return {"mu": str(self.mu), "lag": self.lag, "factor": self.factor}


def sharpness(audited: Audited) -> tuple[Sharpness, ...]:
    """Return the factor over the domain of a claimed sufficient or necessary condition.

    Empty for every other claim, and where the stale share or the domain of x is not the usual one.
    """
    claim = audited.claim
    if claim.quantity != "threshold" or claim.relation.value not in ("sufficient", "necessary"):
        return ()
    if "stale_share" not in numbers_of(audited) or "x" in claim.domain:
        return ()
    conditions = printed_conditions(claim)
    return tuple(
        Sharpness(run.mu, run.lag, _factor(run, conditions)) for run in _spanning(audited)
    )


def in_words(points: Sequence[Sharpness]) -> tuple[str, ...]:
    """Return a line for each momentum, and first what the numbers are."""
    if not points:
        return ()
    lines = ["exact border over printed: 1 is sharp, above 1 gives room away, below 1 is not safe"]
    for mu in dict.fromkeys(point.mu for point in points):
        row = [point for point in points if point.mu == mu]
        told = [f"{_shown(point.factor)} at {point.lag}" for point in row]
        lines.append(f"mu = {mu}: {', '.join(told)} {'step' if row[-1].lag == 1 else 'steps'}")
    return tuple(lines)


def _shown(factor: float | None) -> str:
    return "none" if factor is None else f"{factor:.4g}"


def _spanning(audited: Audited) -> Iterator[Run]:
    """Iterate over runs that span the domain of momentum and lag."""
    claim, given = audited.claim, numbers_of(audited)
    lag_model = audited.conventions["lag_model"]
    key, symbol = ("lag", "d") if lag_model == "constant" else ("refresh", "N")
    momenta, steps = domain_of(claim, "mu"), domain_of(claim, symbol)
    lags = [int(given[key])] if key in given else [d for d in _LAGS if Fraction(d) in steps]
    fixed = {momenta.low} if momenta.low is not None and momenta.low == momenta.high else set()
    for lag, mu in product(lags, sorted(fixed) or [m for m in _MOMENTA if m in momenta]):
        share = Fraction(given["stale_share"])
        yield Run(
            audited.conventions["optimizer"], schedule_of(lag_model, lag), mu, Fraction(1), share
        )


def _factor(run: Run, conditions: tuple[sp.Basic, ...]) -> float | None:
    from derivations.judge import balls

    border = threshold(configuration(run.optimizer, run.schedule, run.mu, run.stale_share)).value
    if border is None or not border > 0:
        return None
    exact = Fraction(border)

    def says(part: Fraction) -> bool:
        return all(balls.truth(each, run.at(exact * part).values()) for each in conditions)

    low, high = Fraction(0), Fraction(1, _BEYOND)
    if not says(high):
        return None
    while says(high):
        low, high = high, 2 * high
        if high > _BEYOND:
            return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if says(middle) else (low, middle)
    return float(2 / (low + high))
