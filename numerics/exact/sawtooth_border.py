r"""Sawtooth lag: every x at which a monodromy eigenvalue is on the unit circle.

An eigenvalue 1. ``det(I - M) = x G(1) sigma(l1) sigma(l2)`` with l1, l2 the eigenvalues of a step
and ``sigma(l) = 1 + l + ... + l**(N-1)``: it vanishes for x > 0 only where l is an N-th root of
unity other than 1, and since ``|l1 l2| < 1`` for a complex pair, only at l = -1 with N even.

An eigenvalue -1 or a complex pair. ``det(I + M)`` and ``1 - det M`` are searched for zeros on a
grid that follows the step's eigenvalues: their angle where they are complex, their N-th power where
they are real.

No momentum. M is a single multiplier, ``((1 - x_f)**N - s)/(1 - s)``, and all is closed form.

All of this is an extension; at s = 1 it is theory section 3.2.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from math import cos, pi

from numerics.exact.arithmetic import decimal
from numerics.exact.configuration import Configuration
from numerics.exact.contact import FLIP, NEIMARK_SACKER, REAL, Contact
from numerics.exact.crossings import zeros
from numerics.exact.refresh import invariants

__all__ = ["contacts", "grid", "judged", "multiplier_reaches"]

_PER_TURN = 12  # grid points to half a period of the fastest oscillation
_RATIO = Decimal("1.05")  # of neighbouring grid points where nothing oscillates


def contacts(c: Configuration) -> list[Contact]:
    """Return the contacts up to an x beyond which nothing is stable."""
    fresh = 1 - decimal(c.share)
    if not c.momentum:
        found = [Contact(x, FLIP) for x in multiplier_reaches(c, -1)]
    else:
        at = invariants(c)
        xs = grid(c)
        found = [Contact(zero.at, FLIP) for zero in zeros(lambda x: at(x).flip, xs)]
        found += [Contact(zero.at, NEIMARK_SACKER) for zero in zeros(lambda x: at(x).circle, xs)]
    if c.delay % 2 == 0 and fresh > 0:
        found.append(Contact(_fresh_at(c, Decimal(-1)) / fresh, REAL))
    return found


def judged(c: Configuration, found: list[Contact]) -> list[tuple[Contact, bool]]:
    """Pair each contact with whether all eigenvalues are inside just beyond it."""
    at = invariants(c)
    beyond = [(one.x + other.x) / 2 for one, other in pairwise(found)]
    beyond += [found[-1].x * _RATIO]
    conditions = [at(x) for x in beyond]
    return [
        (contact, min(now.real, now.flip, now.circle) > 0)
        for contact, now in zip(found, conditions, strict=True)
    ]


def multiplier_reaches(c: Configuration, value: int) -> list[Decimal]:
    """Return, for a run without momentum, every x > 0 at which its multiplier is `value`."""
    share, n = decimal(c.share), c.delay
    if share == 1:  # the multiplier is 1 - N x
        return [Decimal(1 - value) / n]
    wanted = share + value * (1 - share)  # of (1 - x_f)**N
    size = (abs(wanted).ln() / n).exp() if wanted else wanted
    roots = {size.copy_sign(wanted)} if n % 2 else {size, -size}
    if n % 2 == 0 and wanted < 0:
        return []
    return sorted(x for x in ((1 - root) / (1 - share) for root in roots) if x > 0)


def _fresh_at(c: Configuration, eigenvalue: Decimal) -> Decimal:
    """Return the x_f at which a step has that real eigenvalue."""
    g0, g1 = map(decimal, c.recurrence.gain)
    mu = decimal(c.momentum)
    return -(eigenvalue - 1) * (eigenvalue - mu) / (g0 * eigenvalue + g1)


def grid(c: Configuration) -> list[Decimal]:
    """Return x, ascending, that resolve the monodromy matrix up to where nothing is stable."""
    share, mu, n = decimal(c.share), decimal(c.momentum), c.delay
    g0, g1 = map(decimal, c.recurrence.gain)
    fresh = 1 - share
    lowest = (1 - mu) ** 2 / (10000 * (1 + abs(share)) * n)
    if fresh <= 0:
        # Both eigenvalues of a step are positive and one is above 1, so det(I - M), which is below
        # 4 for a stable M, is at least x G(1) N.
        return _geometric(lowest, 4 / ((g0 + g1) * n))
    # The step's eigenvalues are complex between the roots of
    # (1 + mu - g0 x_f)**2 = 4 (mu + g1 x_f), which is a quadratic in x_f.
    middle = ((1 + mu) * g0 + 2 * g1) / g0**2
    reach = 2 * ((mu * g0 + g1) * (g0 + g1)).sqrt() / g0**2
    lower, upper = (1 - mu) ** 2 / (g0**2 * (middle + reach)), middle + reach
    cells = _PER_TURN * n
    parts = (Decimal(1 - cos(pi * cell / cells)) / 2 for cell in range(cells + 1))
    return [
        *_geometric(lowest, lower / fresh)[:-1],
        *((lower + (upper - lower) * part) / fresh for part in parts),
        *(x_f / fresh for x_f in _alternating(c, max(Decimal(0), mu + g1 * upper).sqrt())),
    ]


def _geometric(first: Decimal, last: Decimal) -> list[Decimal]:
    points = [last]
    while points[-1] > first:
        points.append(points[-1] / _RATIO)
    return points[::-1]


def _alternating(c: Configuration, smallest: Decimal) -> list[Decimal]:
    r"""Return x_f, ascending, over which a step has a negative eigenvalue l, up to instability.

    `smallest` is ``|l|`` where the eigenvalues become real. The grid is even in ``N ln|l|`` near 0
    and geometric below. Past l = -1 an even N is unstable at once, ``det(I - M) < 0``. For odd N
    ``det(I - M)`` grows with ``|l|``, and at 4 it excludes stability; it is at least
    ``x G(1) (1 + |l|**N) / (2 (1 + |l|))``.
    """
    n, fresh = c.delay, 1 - decimal(c.share)
    static = sum(map(decimal, c.recurrence.gain))
    tenth = Decimal("0.1")
    exponents = [-tenth * step for step in range(81)]
    while exponents[-1] > -40 * n:
        exponents.append(exponents[-1] * _RATIO)
    sizes = [(exponent / n).exp() for exponent in reversed(exponents)]
    result = [_fresh_at(c, -size) for size in sizes if size > smallest]
    exponent = Decimal(0)
    while n % 2:
        exponent += tenth
        size = (exponent / n).exp()
        result.append(_fresh_at(c, -size))
        if result[-1] / fresh * static * (1 + size**n) >= 8 * (1 + size):
            break
    return result
