r"""How far x may go: the stability threshold, how stability is lost, and where it returns."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from numerics.exact import constant_border, sawtooth_border
from numerics.exact.arithmetic import digits_for, working
from numerics.exact.configuration import Configuration
from numerics.exact.contact import Contact, merged

__all__ = ["Threshold", "threshold"]


@dataclass(frozen=True)
class Threshold:
    r"""The stability of a configuration as a function of x > 0.

    Attributes
    ----------
    value
        The first x at which the spectral radius reaches 1.
    kind
        Where the eigenvalue is then: ``"real"`` (1), ``"flip"`` (-1) or ``"neimark-sacker"``.
        Under sawtooth lag, an eigenvalue of the monodromy matrix.
    stable_intervals
        All open intervals of x > 0 with spectral radius below 1, ascending. Two that share an end
        are parted by a single x at which an eigenvalue touches the unit circle.
    """

    value: float
    kind: str
    stable_intervals: tuple[tuple[float, float], ...]


@lru_cache(maxsize=1024)
def threshold(c: Configuration) -> Threshold:
    """Return the threshold and all stable intervals of x.

    Notes
    -----
    Theory sections 3.1, 3.2, 3.6 and 3.7 (extension). Every x at which an eigenvalue is on the unit
    circle is located; between two of them stability cannot change. No interval is unbounded: with x
    the force outgrows the inertia, and the x beyond which nothing is stable is known beforehand.
    """
    with working(digits_for(c)):
        if c.constant:
            borders = _counted(merged(constant_border.contacts(c)))
        else:
            borders = sawtooth_border.judged(c, merged(sawtooth_border.contacts(c)))
    intervals = []
    kinds = []
    start, inside = Decimal(0), True
    for contact, stable_after in borders:
        if inside:
            intervals.append((float(start), float(contact.x)))
            kinds.append(contact.kind)
        start, inside = contact.x, stable_after
    if inside:
        raise ArithmeticError(f"no end of stability found for {c}; please report it")
    return Threshold(intervals[0][1], kinds[0], tuple(intervals))


def _counted(contacts: list[Contact]) -> list[tuple[Contact, bool]]:
    """Pair each contact with whether all roots are inside just beyond it."""
    outside = 0
    borders = []
    for contact in contacts:
        outside += contact.leaving
        if outside < 0:
            raise ArithmeticError(f"lost count of roots at x = {contact.x:.17g}; please report it")
        borders.append((contact, outside == 0))
    return borders
