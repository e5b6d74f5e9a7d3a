r"""Where oscillation begins: the first x whose dominant eigenvalue is not real and positive.

Oscillating and being unstable are different questions; theory section 3.4.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from numerics.exact.arithmetic import decimal, digits_for, working
from numerics.exact.configuration import Configuration, Number, exact_stiffness
from numerics.exact.crossings import zeros
from numerics.exact.polynomial import (
    characteristic,
    combined,
    derivative,
    positive_roots,
    product,
    reflections,
    rounded,
    value,
)
from numerics.exact.refresh import invariants
from numerics.exact.sawtooth_border import grid, multiplier_reaches
from numerics.exact.spectrum import dominant
from numerics.exact.stability import threshold

__all__ = ["onset", "regime"]

_SCAN = 128  # points at which overtaking is looked for
_LEAD = Decimal("1e-25")  # relative margin by which no other root may lead
_NEARLY = 1 - Decimal("1e-20")


def regime(c: Configuration, x: Number) -> str:
    """Return ``"overdamped"`` (critical included), ``"oscillatory"`` or ``"unstable"``.

    Overdamped means that the dominant eigenvalue is real and positive, or that x is the onset.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    exact_x = exact_stiffness(x)
    found = dominant(c, exact_x)
    if found.rate >= 0:
        return "unstable"
    if found.real_positive or float(exact_x) == onset(c):
        return "overdamped"
    return "oscillatory"


@lru_cache(maxsize=1024)
def onset(c: Configuration) -> float | None:
    r"""Return the first x whose dominant eigenvalue is no longer real and positive.

    Under constant lag there always is one below the threshold: the root that leaves the unit disc
    first is not positive, because ``chi(1) = x G(1) > 0``. Under sawtooth lag the eigenvalue of
    the monodromy matrix may stay positive until it reaches 1; then None.

    Notes
    -----
    Theory section 3.4 for constant lag and heavy ball at s = 1; otherwise an extension.
    """
    with working(digits_for(c)):
        first = _constant_onset(c) if c.constant else _sawtooth_onset(c)
    return None if first is None else float(first)


def _constant_onset(c: Configuration) -> Decimal:
    r"""Follow the real root r down from 1 to where it meets another or is overtaken in modulus.

    For s in [0, 1] it is not overtaken. Write ``chi/(1 - mu/z) = z - 1 + g(z)``: each factor of
    ``g = x G/(1 - mu/z) (1 - s + s z**-d)`` is largest in modulus over |z| >= r > mu at z = r, so
    any other root with |z| >= r has ``|z - 1| <= g(r) = 1 - r``. But the disc around 1 of a radius
    slightly larger than 1 - r holds one root only, by Rouche's theorem: on its edge |g| < |z - 1|.
    """
    floor, highest = _descent(c)
    if highest is not None and 0 <= c.share <= 1:
        return highest
    end = Decimal(threshold(c).value)
    if highest is not None:
        end = min(end, highest)
    scan = [end * step / _SCAN for step in range(_SCAN)] + [end * _NEARLY]
    overtaken = (step for step in pairwise(scan) if not _leads(c, step[1], floor))
    below, above = next(overtaken, (end, end))
    while above * _NEARLY > below:
        x = (below + above) / 2
        below, above = (x, above) if _leads(c, x, floor) else (below, x)
    return above


def _descent(c: Configuration) -> tuple[Decimal | None, Decimal | None]:
    r"""Return ``(z, x)`` where the real root coming down from 1 with growing x stops being real.

    The root at z belongs to ``x(z) = -A(z)/F(z)``, so it goes down to the first local maximum of
    x(z), where it meets another root. It may also go down to a pole, never meeting one (z, None),
    or, when nothing is remembered and nothing is stale, to 0 (None, 1).
    """
    mu, share, d = c.momentum, c.share, c.delay
    g0, g1 = c.recurrence.gain
    a = product({2: Fraction(1), 1: -1 - mu, 0: mu}, {d: Fraction(1)})
    force = product({1: g0, 0: g1}, combined({d: 1 - share}, {0: share}))
    rising, falling = product(derivative(a), force), product(a, derivative(force))
    turning = combined(rising, product({0: Fraction(-1)}, falling))
    lowest = decimal(mu)
    has_pole = share < 0 and d > 0
    if has_pole:
        pole = ((decimal(share) / decimal(share - 1)).ln() / d).exp()
        has_pole = pole > lowest
        lowest = max(pole, lowest)
    meetings = positive_roots(rounded(turning), lowest or None, Decimal(1))
    while len(meetings) > 1 and meetings[-1] == meetings[-2]:
        del meetings[-2:]  # x(z) pauses there and goes on rising
    if meetings:
        z = meetings[-1]
        return z, -value(rounded(a), z) / value(rounded(force), z)
    return (lowest, None) if has_pole else (None, Decimal(1))


def _leads(c: Configuration, x: Decimal, floor: Decimal | None) -> bool:
    """Whether the real root in (floor, 1) has the largest modulus of all roots."""
    poly = rounded(characteristic(c, Fraction(x)))
    radius = positive_roots(poly, floor, Decimal(1))[-1] * (1 + _LEAD)
    scaled = {power: coefficient * radius**power for power, coefficient in poly.items()}
    return all(abs(k) < 1 for k in reflections(scaled))


def _sawtooth_onset(c: Configuration) -> Decimal | None:
    """Return the first x at which the eigenvalues turn complex or their sum falls to 0."""
    limit = Decimal(threshold(c).value)
    if not c.momentum:
        return min((x for x in multiplier_reaches(c, 0) if x < limit), default=None)
    at = invariants(c)

    def discriminant(x: Decimal) -> Decimal:
        found = at(x)
        return found.trace**2 - 4 * found.det

    xs = [x for x in grid(c) if x <= 2 * limit]
    if discriminant(xs[0]) <= 0:
        raise ArithmeticError(f"the search for the onset of {c} began too late; please report it")
    balanced = [zero.at for zero in zeros(lambda x: at(x).trace, xs)]
    # With nearly equal eigenvalues the window in which they are complex is narrow, but the sum of a
    # complex pair passes through 0 inside it: looking there finds the window between grid points.
    turned = [zero.at for zero in zeros(discriminant, sorted({*xs, *balanced})) if zero.after < 0]
    return min((x for x in (*balanced, *turned) if x < limit), default=None)
