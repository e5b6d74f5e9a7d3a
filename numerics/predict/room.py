r"""What a configuration leaves: the largest lag, or refresh interval, that is safe at its x.

Under constant lag d the characteristic polynomial is ``P(z) = z**d A(z) + B(z)`` with
``A = (z-1)(z-mu) + x_f (g0 z + g1)`` and ``B = x_s (g0 z + g1)``. The run is stable iff all its
d + 2 zeros are inside the unit circle, that is iff ``arg P`` turns by ``(d + 2) pi`` along the
upper half circle. Where ``|A| > |B|`` it turns as ``z**d A``, elsewhere as B, up to an angle below
pi/2 at each end; the ends are zeros of a quadratic that does not know d. So the turn at every lag
costs a few operations, done in ball arithmetic: the count is an integer or it is not known. Under a
sawtooth lag the conditions on the 2 x 2 monodromy matrix cost a few operations too (extension).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

from numerics.exact import LONGEST_DELAY, Configuration, exact_stiffness, stable
from numerics.exact.arithmetic import close, decimal, digits_for, working
from numerics.exact.refresh import invariants

__all__ = ["largest_safe_delay"]

_AGREE = 10  # digits

Judge = Callable[[int], bool | None]


def largest_safe_delay(
    c: Configuration, x: Fraction, *, longest: int = LONGEST_DELAY
) -> int | None:
    r"""Return the largest lag (sawtooth: refresh) up to which every one is stable at this x.

    Parameters
    ----------
    c, x
        The run and its stiffness per step, above 0; the lag or refresh in `c` is not used.
    longest
        The longest to look at, up to `LONGEST_DELAY`.

    Returns
    -------
    int or None
        In steps; `longest` if every one up to that is stable; None if not even the shortest,
        on-policy, is stable.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    x = exact_stiffness(x)
    shortest = 0 if c.constant else 1

    def stable_at(steps: int) -> bool:
        there = replace(c, lag=steps) if c.constant else replace(c, refresh=steps)
        return stable(there, x)

    if not stable_at(shortest):
        return None
    if c.share == 0 and c.constant:
        return longest
    # A stable polynomial of degree d + 2 has no coefficient as large as this (`constant_border`).
    swamped = c.constant and abs(c.share * x * c.recurrence.gain[0]) > 10
    judge = stable_at if swamped else (_by_winding if c.constant else _by_jury)(c, x)
    for steps in range(shortest + 1, longest + 1):
        verdict = judge(steps)
        if not (stable_at(steps) if verdict is None else verdict):
            return steps - 1
    return longest


def _by_jury(c: Configuration, x: Fraction) -> Judge:
    r"""Return whether the run is stable at a refresh: the signs of Jury's conditions.

    They are believed where twice the digits give the same numbers.
    """

    def judge(refresh: int) -> bool | None:
        there = replace(c, refresh=refresh)
        digits = digits_for(there, x)
        rows = []
        for precision in (digits, 2 * digits):
            with working(precision):
                found = invariants(there)(decimal(x))
                rows.append((found.real, found.flip, found.circle))
        if not all(close(few, many, _AGREE) for few, many in zip(*rows, strict=True)):
            return None
        return all(condition > 0 for condition in rows[1])

    return judge


def _by_winding(c: Configuration, x: Fraction) -> Judge:
    """Return whether the run is stable at a lag: True, False, or None where balls cannot tell."""
    from flint import ctx

    bits = 128 + 4 * digits_for(c, x)
    with ctx.workprec(bits):
        arcs = _arcs(c, x)

    def judge(lag: int) -> bool | None:
        with ctx.workprec(bits):
            turn = sum((arc(lag) for arc in arcs), start=_ball(0)) / _ball(0).pi()
            count = turn.unique_fmpz()
        return None if count is None else bool(count == lag + 2)

    return judge


def _arcs(c: Configuration, x: Fraction) -> list[Callable[[int], Any]]:
    """Cut the half circle where ``|A| = |B|``; return the turn of P along each arc, by lag."""
    from flint import acb

    g0, g1 = c.recurrence.gain
    fresh, stale, mu = (1 - c.share) * x, c.share * x, c.momentum
    # A = z**2 + p z + r = z a(z), and on the circle Im a = (1 - r) sin w keeps its sign.
    p, r = fresh * g0 - 1 - mu, fresh * g1 + mu
    side = -1 if r > 1 else 1

    def at(u: Any) -> tuple[Any, Any, Any]:  # u = 1 - cos w, which resolves small angles
        sine = (u * (2 - u)).sqrt()
        real = _ball(fresh * (g0 + g1)) - _ball(1 + r) * u
        a = acb(real, _ball(abs(1 - r)) * sine)
        b = acb(_ball(stale * (g0 + g1)) - _ball(stale * g1) * u, -_ball(stale * g1) * sine)
        return 2 * (u / 2).sqrt().asin(), a, b

    def arc(low: Any, high: Any) -> Callable[[int], Any]:
        _, a, b = at((low + high) / 2)
        inertia = bool(abs(a) > abs(b))
        if not inertia and not abs(b) > abs(a):
            return lambda lag: a.real.nan()  # too close for balls: no lag can be counted
        ends = [at(u) for u in (low, high)]
        turning = _ball(1 if inertia else 0)
        still, phases = _ball(0), []
        for sign, (w, a, b) in zip((-1, 1), ends, strict=True):
            main = side * a.arg() if inertia else _sided(b, stale).arg()
            a_signed = acb(a.real, side * a.imag)
            ratio = b / a_signed if inertia else a_signed / b
            still += sign * (w + main)
            phases.append((sign, w, ratio))
        width = ends[1][0] - ends[0][0]

        def turn(lag: int) -> Any:
            total = still + turning * lag * width
            for sign, w, ratio in phases:
                angle = -w * lag if inertia else w * lag
                total += sign * (1 + ratio * acb(angle.cos(), angle.sin())).arg()
            return total

        return turn

    cuts = [_ball(0), *_crossings(p, r, g0, g1, stale), _ball(2)]
    return [arc(low, high) for low, high in pairwise(cuts)]


def _sided(b: Any, stale: Fraction) -> Any:
    """Return b on the side of the plane where its argument is continuous."""
    return b if stale > 0 else -b


def _crossings(p: Fraction, r: Fraction, g0: Fraction, g1: Fraction, stale: Fraction) -> list[Any]:
    r"""Return the u in (0, 2), ascending, at which ``|A|**2 - |B|**2`` changes its sign."""
    slope = 2 * (1 + r) * p - 2 * stale**2 * g0 * g1
    level = p * p + (1 - r) ** 2 - stale**2 * (g0 * g0 + g1 * g1)
    e0, e1, e2 = 4 * r + slope + level, -8 * r - slope, 4 * r
    if e0 == 0:  # A zero at an end of the half circle is no crossing.
        e0, e1, e2 = e1, e2, Fraction(0)
    elif 4 * e2 + 2 * e1 + e0 == 0:
        e0, e1, e2 = e1 + 2 * e2, e2, Fraction(0)
    if e2 == 0:
        roots = [_ball(-e0 / e1)] if e1 else []
    else:
        square = e1 * e1 - 4 * e0 * e2
        if square <= 0:
            return []
        larger = -(_ball(e1) + (1 if e1 >= 0 else -1) * _ball(square).sqrt()) / 2
        roots = [larger / _ball(e2), _ball(e0) / larger]
    return sorted((u for u in roots if 0 < u < 2), key=float)


def _ball(value: Fraction | int) -> Any:
    from flint import arb, fmpq

    return arb(fmpq(value.numerator, value.denominator))
