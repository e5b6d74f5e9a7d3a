"""Change points of a series, with intervals: where a level or a line changes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from numerics.diagnose.finding import Change
from numerics.diagnose.trend import Floats, blocks, despiked, noise
from numerics.inputs import InvalidInput, floats, known_name

__all__ = ["PIECES", "changes", "ramp"]

#: What a series is between two changes, and how many numbers describe it there.
PIECES = {"level": 1, "line": 2}
_MOST_ROWS = 500  # the search takes their square; longer series are averaged in blocks
_MOST_CORNERS = 120  # pairs of corners are their square
_SHORTEST = 3  # rows in a piece
_PENALTY = 14.0  # see `changes`


def changes(
    step: Floats, value: Floats, *, pieces: Literal["level", "line"] = "level"
) -> tuple[Change, ...]:
    r"""Return where the level (or the straight line) of a series changes, in order.

    Parameters
    ----------
    step, value : (n,) float array
        In the order of the steps, finite.
    pieces : {"level", "line"}

    Returns
    -------
    tuple of Change
        `Change.step` is the first step of the new piece.

    Raises
    ------
    InvalidInput
        Series of different lengths.

    Notes
    -----
    The pieces of least squared error, each further one paid for with a penalty, found exactly by
    dynamic programming (optimal partitioning, Jackson and others 2005). Errors are measured in the
    long-run variance v (1 + phi)/(1 - phi) of the noise, so that correlated noise makes no changes;
    single rows far off their neighbours are cut short first. The penalty p (2 ln n + 14), p numbers
    a piece, is calibrated: on noise alone less than 1 % of the series get a change. The interval is
    the shortest stretch that holds 95 % of the likelihood of the position between its two
    neighbours. (extension)
    """
    known_name("pieces", pieces, PIECES)
    given = floats(step=step, value=value)
    step, value = given["step"], given["value"]
    if step.shape != value.shape or step.ndim != 1:
        raise InvalidInput(f"step and value have shapes {step.shape} and {value.shape}: give (n,)")
    step, value = blocks(step, value, _MOST_ROWS)
    n = len(step)
    if n < 2 * _SHORTEST:
        return ()
    variance, phi = noise(value)
    value = despiked(value)
    scale = variance * (1 + phi) / (1 - phi)
    if scale <= 0:
        scale = 1e-12 * max(float(np.ptp(value)) ** 2, 1e-300)
    cost = _Cost(step, value, PIECES[pieces], scale)
    starts = _partition(cost, n, PIECES[pieces] * (2 * np.log(n) + _PENALTY))
    edges = [0, *starts, n]
    return tuple(
        _change(cost, step, value, *edges[i : i + 3]) for i in range(len(edges) - 2)
    )


def ramp(step: Floats, value: Floats) -> Change:
    r"""Return where a series that moves from one level to another begins to move.

    Level, straight line, level, by least squares over both corners (n >= 4). The interval of the
    first corner is that of its profile likelihood, in the long-run variance of what the fit
    leaves.  (extension)
    """
    step, value = blocks(step, value, _MOST_CORNERS)
    n = len(step)
    first, second = np.triu_indices(n, k=1)
    rise = np.clip(
        (step[None, :] - step[first, None]) / (step[second] - step[first])[:, None], 0, 1
    )
    rise = rise - rise.mean(axis=1, keepdims=True)
    centred = value - value.mean()
    power = np.sum(rise**2, axis=1)
    error = float(centred @ centred) - (rise @ centred) ** 2 / power
    best = int(np.argmin(error))
    height = float(rise[best] @ centred / power[best])
    left = centred - height * rise[best]
    variance, phi = noise(left) if n >= 6 else (float(np.mean(left**2)), 0.0)
    scale = max(variance * (1 + phi) / (1 - phi), error[best] / n, 1e-300)
    within = step[first[error <= error[best] + 3.84 * scale]]
    before = float(value.mean() + height * rise[best].min())
    return Change(
        float(step[first[best]]), float(within.min()), float(within.max()), before, before + height
    )


class _Cost:
    """Squared error of the best piece over rows [start, stop), in units of the noise."""

    def __init__(self, step: Floats, value: Floats, numbers: int, scale: float) -> None:
        time = (step - step[0]) / max(float(np.ptp(step)), 1e-300)
        value = value - value.mean()
        powers = (np.ones_like(time), time, time**2, value, time * value, value**2)
        self._sums = [np.concatenate([[0.0], np.cumsum(power)]) for power in powers]
        self._numbers = numbers
        self._scale = scale

    def __call__(self, start: np.ndarray | int, stop: np.ndarray | int) -> Floats:
        n, t, tt, y, ty, yy = (total[stop] - total[start] for total in self._sums)
        error = yy - y**2 / n
        if self._numbers == 2:
            across = tt - t**2 / n
            along = ty - t * y / n
            usable = across > 1e-12
            error = error - np.where(usable, along**2 / np.where(usable, across, 1.0), 0.0)
        return np.asarray(np.maximum(error, 0.0) / self._scale)


def _partition(cost: _Cost, n: int, penalty: float) -> list[int]:
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    origin = np.zeros(n + 1, dtype=int)
    for stop in range(_SHORTEST, n + 1):
        start = np.arange(0, stop - _SHORTEST + 1)
        total = best[start] + cost(start, stop) + penalty
        chosen = int(np.argmin(total))
        best[stop], origin[stop] = total[chosen], start[chosen]
    starts = []
    stop = n
    while origin[stop]:
        stop = int(origin[stop])
        starts.append(stop)
    return starts[::-1]


def _change(cost: _Cost, step: Floats, value: Floats, left: int, at: int, right: int) -> Change:
    where = np.arange(left + 1, right)
    error = cost(left, where) + cost(where, right)
    weight = np.exp(-(error - error.min()) / 2)
    weight /= weight.sum()
    order = np.argsort(-weight, kind="stable")
    held = order[: int(np.searchsorted(np.cumsum(weight[order]), 0.95)) + 1]
    return Change(
        step=float(step[at]),
        low=float(step[where[held.min()]]),
        high=float(step[where[held.max()]]),
        before=float(value[left:at].mean()),
        after=float(value[at:right].mean()),
    )
