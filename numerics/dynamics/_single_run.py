r"""Stability and variance of a single run at a constant lag, in plain floats.

The formulas of `_winding` and `_delay_line`, where they are explained, on numbers: for one run,
NumPy's calls on arrays of one number take fifteen times as long as the arithmetic. What is unstable
or needs care is left to the arrays.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

from numerics.dynamics._linear_map import LinearMap

__all__ = ["single_variance"]

_Pair = tuple[float, float]
_Form = tuple[float, float, float]  # in (1, w(0), y(d))
_Matrix = tuple[float, float, float, float]

_UNIT: _Matrix = (1.0, 0.0, 0.0, 1.0)
_ZERO: _Matrix = (0.0, 0.0, 0.0, 0.0)


class _Run(NamedTuple):
    """`LinearMap` of one run."""

    mu: float
    now: float
    before: float
    kept: float
    total: float
    x: float
    fresh: float
    stale: float


class _Port(NamedTuple):
    """A stretch of the line, as in `_delay_line`."""

    passes: _Matrix
    reflects: _Matrix
    adds: _Pair
    safety: float


def single_variance(linear: LinearMap, lag: int, noise_enters: str, safe: float) -> float | None:
    """Return x Var(q) of one run, None if it is not stable or a determinant is below `safe`."""
    run = _Run(**{name: value.item() for name, value in vars(linear).items()})
    if not _stable(run, lag):
        return None
    if lag == 0:
        run, lag = run._replace(fresh=run.x, stale=0.0), 1
    try:
        scaled, first, safety = _level(run, lag)
    except ZeroDivisionError:
        return None
    if noise_enters != "recurrence":
        scaled = run.total**2 * scaled - 2 * run.now * run.before * run.x * first
    return scaled if safety >= safe and scaled > 0 else None


def _stable(run: _Run, lag: int) -> bool:
    """Whether the phase of chi turns by pi on the upper half circle."""
    mu, now, before, fresh = run.mu, run.now, run.before, run.fresh
    levels = run.x * (fresh - run.stale)
    level, bend = levels * run.total**2, mu + fresh * before
    slope = (1 - mu) ** 2 - fresh * (now * (1 + mu) + before * (3 - mu)) - levels * now * before
    under = slope * slope - 4 * level * bend
    larger = -(slope + math.copysign(math.sqrt(max(under, 0.0)), slope)) / 2
    if under < 0 or larger == 0 or bend == 0:
        places = [0.0, *([0.0] if larger == 0 or under < 0 else [_on_circle(level / larger)]), 4.0]
    else:
        places = [0.0, *sorted(map(_on_circle, (larger / bend, level / larger))), 4.0]
    leads = [level + u * (slope + u * bend) > 0 for u in ((a + b) / 2 for a, b in pairwise(places))]
    phases = [_phases(run, lag, u) for u in places]
    turned = (phases[-1][not leads[-1]] - phases[0][not leads[0]]) / math.pi
    for (one, other), (of_fresh, of_stale) in zip(pairwise(leads), phases[1:-1], strict=True):
        turned -= 2 * (one - other) * round((of_stale - of_fresh) / (2 * math.pi))
    return round(turned) == 1


def _on_circle(u: float) -> float:
    return min(max(u, 0.0), 4.0)


def _phases(run: _Run, lag: int, u: float) -> _Pair:
    """Return the phases of P and of Q."""
    height = math.sqrt(u * (4 - u)) / 2
    c = run.mu + run.fresh * run.before
    of_fresh = math.atan2((1 - c) * height, run.fresh * run.total - (1 + c) * u / 2)
    of_gain = math.atan2(-run.before * height, run.total - run.before * u / 2)
    turn = 2 * math.asin(math.sqrt(u) / 2)
    return of_fresh, (math.pi if run.stale < 0 else 0.0) + of_gain - lag * turn


def _level(run: _Run, lag: int) -> tuple[float, float, float]:
    """Return ``x r(0)``, ``r(0) - r(1)`` and the safety under unit white noise, lag from 1."""
    mu, now, before, fresh, stale = run.mu, run.now, run.before, run.fresh, run.stale
    loss = 1 - mu
    start: tuple[_Form, _Form] = ((0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    far: _Form = (0.0, 0.0, 1.0)
    f_1 = _moved(run, start, far)
    if lag == 1:
        f_before, f_d, safety = start, f_1, 1.0
    else:
        f_before, safety = _across(run, f_1, lag - 2)
        f_d = _moved(run, f_before, f_1[0])
    f_after = _moved(run, f_d, start[0])
    f_beyond = _moved(run, f_after, f_1[0])
    f_2 = _moved(run, f_1, f_before[0])
    held = [fresh * a + stale * b for a, b in zip(f_1[0], f_after[0], strict=True)]
    there = [a - b for a, b in zip(f_d[0], far, strict=True)]
    here = [w + mu * y + before * h for w, y, h in zip(start[1], f_1[0], held, strict=True)]
    inverse, determinant = _inverse((there[1], there[2], here[1], here[2]))
    w_0, y_d = _on(inverse, (-there[0], before - here[0]))
    y_1, y_2, y_before, y_at, y_after, y_beyond = (
        y[0] + y[1] * w_0 + y[2] * y_d for y, _ in (f_1, f_2, f_before, f_d, f_after, f_beyond)
    )
    of_now = fresh * loss * y_1 + stale * (y_after + loss * y_at - mu * y_before)
    of_before = fresh * (y_2 + loss * y_1) + stale * (y_beyond + loss * y_after - mu * y_at)
    scaled = 1 / (2 * loss * run.total - now * of_now - before * of_before)
    return scaled, scaled * y_1, min(safety, abs(determinant))


def _moved(run: _Run, state: tuple[_Form, _Form], mirrored: _Form) -> tuple[_Form, _Form]:
    """Return F(k+1) from F(k) and the form of y(d-k)."""
    a, b, c = mirrored
    push = (1 - run.stale * a, -run.stale * b, -run.stale * c)
    stays, drags = 1 - run.now * run.fresh, run.kept * run.fresh
    terms = list(zip(*state, push, strict=True))
    first = [stays * y + w + run.now * p for y, w, p in terms]
    second = [run.mu * w - drags * y + run.kept * p for y, w, p in terms]
    return (first[0], first[1], first[2]), (second[0], second[1], second[2])


def _across(
    run: _Run, state: tuple[_Form, _Form], length: int
) -> tuple[tuple[_Form, _Form], float]:
    """Return F(1+length) when F(1) is given at both ends of the line; and the safety."""
    step = (1 - run.now * run.fresh, 1.0, -run.kept * run.fresh, run.mu)
    mirror = (-run.now * run.stale, 0.0, -run.kept * run.stale, 0.0)
    adds = (run.now, run.kept)
    line, safety = _stretch(step, mirror, adds, length // 2), 1.0
    ahead, pushed = _UNIT, (0.0, 0.0)
    if length % 2:
        image, safety = _inverse(_from_unit(mirror))
        ahead, pushed = _times(image, step), _on(image, adds)
    inverse, determinant = _inverse(_from_unit(_times(line.reflects, ahead)))
    columns = []
    for index, near in enumerate(zip(*state, strict=True)):
        middle, back = _on(line.passes, near), _on(line.reflects, near)
        if index == 0:  # what is added belongs to the form's 1
            middle = _plus(middle, _plus(line.adds, _on(line.reflects, pushed)))
            back = _plus(back, line.adds)
        opposite = _on(ahead, _on(inverse, middle))
        if index == 0:
            opposite = _plus(opposite, pushed)
        columns.append(_plus(_on(line.passes, opposite), back))
    (a, d), (b, e), (c, f) = columns
    return ((a, b, c), (d, e, f)), min(abs(safety), line.safety, abs(determinant))


def _stretch(step: _Matrix, mirror: _Matrix, adds: _Pair, steps: int) -> _Port:
    """Return the two-port of so many steps, by repeated doubling."""
    result = None
    inverse, determinant = _inverse(_from_unit(_times(mirror, mirror)))
    power = _Port(
        _times(inverse, step),
        _times(inverse, _times(mirror, step)),
        _on(inverse, _plus(adds, _on(mirror, adds))),
        abs(determinant),
    )
    while steps:
        if steps & 1:
            result = power if result is None else _joined(result, power)
        steps >>= 1
        if steps:
            power = _joined(power, power)
    return result or _Port(_UNIT, _ZERO, (0.0, 0.0), 1.0)


def _joined(left: _Port, right: _Port) -> _Port:
    """Return two stretches in a row as one, by Redheffer's star product."""
    inverse, determinant = _inverse(_from_unit(_times(left.reflects, right.reflects)))
    through = _times(right.passes, inverse)
    turned = _times(through, _times(left.reflects, right.passes))
    a, b, c, d = right.reflects
    return _Port(
        _times(through, left.passes),
        (a + turned[0], b + turned[1], c + turned[2], d + turned[3]),
        _plus(right.adds, _on(through, _plus(left.adds, _on(left.reflects, right.adds)))),
        min(left.safety, right.safety, abs(determinant)),
    )


def _times(left: _Matrix, right: _Matrix) -> _Matrix:
    a, b, c, d = left
    e, f, g, h = right
    return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h


def _on(matrix: _Matrix, pair: _Pair) -> _Pair:
    a, b, c, d = matrix
    return a * pair[0] + b * pair[1], c * pair[0] + d * pair[1]


def _plus(one: _Pair, other: _Pair) -> _Pair:
    return one[0] + other[0], one[1] + other[1]


def _from_unit(matrix: _Matrix) -> _Matrix:
    a, b, c, d = matrix
    return 1 - a, -b, -c, 1 - d


def _inverse(matrix: _Matrix) -> tuple[_Matrix, float]:
    a, b, c, d = matrix
    determinant = a * d - b * c
    return (d / determinant, -b / determinant, -c / determinant, a / determinant), determinant
