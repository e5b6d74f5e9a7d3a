r"""Where a smooth function of one variable changes sign, or touches zero, along a grid.

The grid must resolve the function: a few points to each turn. Between grid points the work is done
in decimal arithmetic, so that a touch is told from two close crossings, or from a near miss, by
dozens of digits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Zero", "zeros"]

Function = Callable[[Decimal], Decimal]

_TURN = Decimal("0.2")  # a parabola that touches zero between three grid points dips below 1/9
_TOUCH = 30  # digits by which a touch is below its surroundings
_PRECISE = Decimal("1e-40")  # relative, of a zero; the function itself is good to 50 digits
_STEPS = 1000


class Zero(NamedTuple):
    """A zero, and the signs to its left and right along the grid; equal signs mean a touch."""

    at: Decimal
    before: int
    after: int


def zeros(f: Function, grid: Sequence[Decimal]) -> list[Zero]:
    """Return the zeros of `f` strictly between the ends of `grid`, in its order."""
    points = [(place, point, f(point)) for place, point in enumerate(grid)]
    kept = [point for point in points if point[2]]
    found = []
    for (place, a, fa), (next_place, b, fb) in pairwise(kept):
        if next_place > place + 1:  # the grid has hit a zero, a touch or not
            found.append(Zero(grid[place + 1], _sign(fa), _sign(fb)))
        elif (fa > 0) != (fb > 0):
            found.append(Zero(_root(f, a, fa, b, fb), _sign(fa), _sign(fb)))
    for (_, a, fa), (_, b, fb), (_, c, fc) in zip(kept, kept[1:], kept[2:], strict=False):
        alike = (fa > 0) == (fb > 0) == (fc > 0)
        if alike and abs(fb) <= min(abs(fa), abs(fc)) and abs(fb) <= _TURN * max(abs(fa), abs(fc)):
            found += _at_turn(f, (a, fa), (b, fb), (c, fc))
    return sorted(found, key=lambda zero: zero.at, reverse=grid[0] > grid[-1])


def _sign(value: Decimal) -> int:
    return (value > 0) - (value < 0)


def _at_turn(
    f: Function,
    left: tuple[Decimal, Decimal],
    middle: tuple[Decimal, Decimal],
    right: tuple[Decimal, Decimal],
) -> list[Zero]:
    """Return what lies where the function turns towards zero: two crossings, a touch or nothing."""
    sign = _sign(middle[1])
    surroundings = max(abs(left[1]), abs(right[1]))
    at, lowest = _turning_point(f, left, middle, right)
    if abs(lowest) <= surroundings.scaleb(-_TOUCH):
        return [Zero(at, sign, sign)]
    if _sign(lowest) == sign:
        return []
    return [
        Zero(_root(f, *left, at, lowest), sign, -sign),
        Zero(_root(f, at, lowest, *right), -sign, sign),
    ]


def _turning_point(
    f: Function,
    left: tuple[Decimal, Decimal],
    middle: tuple[Decimal, Decimal],
    right: tuple[Decimal, Decimal],
) -> tuple[Decimal, Decimal]:
    """Successive parabolas through three points around an extremum."""
    sign = _sign(middle[1])
    precise = abs(right[0] - left[0]).scaleb(-_TOUCH)
    for step in range(_STEPS):
        (a, fa), (b, fb), (c, fc) = left, middle, right
        p, q = (b - a) * (fb - fc), (b - c) * (fb - fa)
        new = b - ((b - a) * p - (b - c) * q) / (2 * (p - q)) if p != q else b
        if sign * fb <= 0 or abs(new - b) <= precise:
            break
        if step % 4 == 3 or not min(a, c) < new < max(a, c):
            # Parabolas tend to leave one end in place: bisect the longer side now and then.
            new = (a + b) / 2 if abs(b - a) > abs(c - b) else (b + c) / 2
        point = new, f(new)
        low, high = (point, middle) if (new < b) == (a < c) else (middle, point)
        if sign * low[1] <= sign * high[1]:
            middle, right = low, high
        else:
            left, middle = low, high
    return middle


def _root(f: Function, a: Decimal, fa: Decimal, b: Decimal, fb: Decimal) -> Decimal:
    """Regula falsi with Anderson and Bjorck's weights, bisecting now and then for safety."""
    for step in range(_STEPS):
        room = _PRECISE * max(abs(a), abs(b))
        if abs(b - a) <= 2 * room:
            return b
        c = (a + b) / 2 if step % 4 == 3 else b - fb * (b - a) / (fb - fa)
        # Staying off the ends makes the bracket close around a zero that an end has come near.
        c = min(max(c, min(a, b) + room), max(a, b) - room)
        fc = f(c)
        if fc == 0:
            return c
        if (fc > 0) != (fb > 0):
            a, fa = b, fb
        elif step % 4 != 3:
            weight = 1 - fc / fb
            fa *= weight if weight > 0 else Decimal("0.5")
        b, fb = c, fc
    raise ArithmeticError(f"no zero found between {float(a)} and {float(b)}; please report it")
