r"""Constant lag: every x at which a characteristic root is on the unit circle.

With chi = a + x F, ``a(z) = (z-1)(1-mu/z)`` and ``F(z) = G(z) (1 - s + s z**-d)``, a root z on the
circle needs ``x(z) = -a/F`` real and positive: ``H = a conj(F)`` real and negative. On the circle
``Im H / sin w`` is a polynomial in v = 1 - cos w, and its sign tells more than its zeros: a pair
leaves the disc with growing x exactly where it falls from + to - as w grows, because
``d log|z| / dx = Im(dx/dw) / |dx/dw|**2`` and ``Im x = -Im H / |F|**2``. Counting the pairs that
leave gives the number of unstable roots at every x without computing one (extension; for heavy ball
at s = 1 theory section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import pi, sin

from numerics.exact.arithmetic import decimal, power
from numerics.exact.configuration import Configuration
from numerics.exact.contact import FLIP, NEIMARK_SACKER, Contact
from numerics.exact.crossings import zeros

__all__ = ["contacts"]

_PER_TURN = 12  # grid points to half a period of the fastest oscillation
_GRADING = 1.15

Pair = tuple[Decimal, Decimal]


def contacts(c: Configuration) -> list[Contact]:
    """Return the contacts below an x beyond which nothing is stable."""
    g0, g1 = map(decimal, c.recurrence.gain)
    share, mu = decimal(c.share), decimal(c.momentum)
    on_circle = _force_along_circle(c)

    def bend(v: Decimal) -> Decimal:
        return on_circle(v)[0][1]

    # Beyond this x nothing is stable: the roots of a stable polynomial of degree n <= d + 2, and
    # likewise their products by n - 1, sum to less than n in modulus. The first sum bounds |x_f| g0
    # by d + 4, the second |x_s| g0, which at lag 1 shares its coefficient with mu + x_f g1, by
    # twice as much.
    bound = 4 * (c.delay + 4) / g0
    found = []
    # `bend` is positive at w = 0, where it is (1-mu) G(1), and the first zeros may lie close.
    sign = 1
    for zero in zeros(bend, _grid(c)):
        if zero.at >= 2:
            continue
        sign = zero.after
        (re, _), size = on_circle(zero.at)
        if re < 0 and -re < bound * size:  # size is 0 where x is infinite
            found.append(Contact(-re / size, NEIMARK_SACKER, zero.before - zero.after))
    at_flip = (g0 - g1) * (1 - share + (-1) ** c.delay * share)
    if at_flip > 0:
        found.append(Contact(2 * (1 + mu) / at_flip, FLIP, sign))
    return found


def _force_along_circle(c: Configuration) -> Callable[[Decimal], tuple[Pair, Decimal]]:
    r"""Return ``1 - cos w -> ((Re H, Im H / sin w), |F|**2)``."""
    g0, g1 = map(decimal, c.recurrence.gain)
    share, mu = decimal(c.share), decimal(c.momentum)

    def on_circle(v: Decimal) -> tuple[Pair, Decimal]:
        cosine, sine2 = 1 - v, v * (2 - v)

        def times(one: Pair, other: Pair) -> Pair:  # numbers p + i q sin w as (p, q)
            return (
                one[0] * other[0] - one[1] * other[1] * sine2,
                one[0] * other[1] + one[1] * other[0],
            )

        alpha, beta = power(2 * cosine, Decimal(1), c.delay)  # z**d = alpha z + beta
        force = times(
            (g0 + g1 * cosine, g1),
            (1 - share + share * (alpha * cosine + beta), share * alpha),
        )
        inertia = -(1 + mu) * v, 1 - mu
        return times(inertia, force), force[0] ** 2 + force[1] ** 2 * sine2

    return on_circle


def _grid(c: Configuration) -> list[Decimal]:
    """Return 1 - cos w for w over (0, pi], graded towards 0, and one point beyond 2.

    The polynomial is as smooth beyond 2 as before it, and a zero at w = pi is then between points.
    """
    cells = _PER_TURN * (c.delay + 3)
    smallest = 1e-3 * min(float(1 - c.momentum), 1 / cells) / float(1 + abs(c.share))
    graded = [pi / cells]
    while graded[-1] > smallest:
        graded.append(graded[-1] / _GRADING)
    angles = graded[:0:-1] + [pi * cell / cells for cell in range(1, cells)]
    points = [2 * Decimal(sin(angle / 2)) ** 2 for angle in angles]
    return [*points, Decimal(2), 4 - points[-1]]
