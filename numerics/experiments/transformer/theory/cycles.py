r"""Runs with a stale policy, one refresh interval after the other: multipliers, and borders.

Without momentum a cycle takes the deviation q from rest, at one sampling of the policy, to that at
the next; with momentum it takes (q, v), v the last step. The linear part of that map, by regression
over cycles and seeds, is what the monodromy matrix predicts. A term in q^2 takes up the map's bend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.setting import Run
from numerics.inputs import InvalidInput

__all__ = ["Cycles", "Multiplier", "crossing", "cycles", "jackknifed", "multiplier", "period"]

FloatArray = NDArray[np.float64]

_LINEAR = 1.5  # of the first deviation: from where on a start of a cycle is left out
_DEGREE = 2


class Cycles(NamedTuple):
    """Starts and ends of cycles, each (cycles, 2): deviation of the logit, and the last step."""

    start: FloatArray
    end: FloatArray


class Multiplier(NamedTuple):
    """The leading eigenvalue of a cycle and its standard error."""

    value: float
    error: float


def period(run: Run) -> int:
    """Return the steps from one sampling to the next: a batch may be used more than once."""
    return int(run.setting.refresh * dict(run.setting.trl).get("num_iterations", 1))


def cycles(run: Run, rest: float) -> Cycles:
    """Return the cycles of a run of one prompt that start within the linear range.

    Parameters
    ----------
    run
        It begins displaced, and with no step before.
    rest
        The logit at which it would stay.
    """
    away = run.logit[:, 0] - rest
    state = np.stack([away, np.diff(away, prepend=away[0])], axis=-1)[:: period(run)]
    near = np.abs(state[:-1, 0]) <= _LINEAR * abs(away[0])
    return Cycles(state[:-1][near], state[1:][near])


def multiplier(some: Sequence[Cycles], *, momentum: bool) -> Multiplier:
    r"""Return the leading eigenvalue of the linear part, from all cycles together.

    With momentum its modulus (the error is then that of the deviation's own coefficient, which
    serves as a weight).
    """
    start, end = (np.concatenate(parts) for parts in zip(*some, strict=True))
    linear = start if momentum else start[:, :1]
    terms = np.column_stack([linear, start[:, 0] ** 2])
    if len(start) <= terms.shape[1]:
        raise InvalidInput(f"{len(start)} cycles in the linear range; give more seeds or steps")
    found = np.linalg.lstsq(terms, end, rcond=None)[0]
    left = end[:, 0] - terms @ found[:, 0]
    scale = float(left @ left) / (len(start) - terms.shape[1])
    error = float(np.sqrt(scale * np.linalg.inv(terms.T @ terms)[0, 0]))
    if not momentum:
        return Multiplier(float(found[0, 0]), error)
    return Multiplier(float(np.abs(np.linalg.eigvals(found[:2])).max()), error)


def crossing(
    refreshes: Sequence[int],
    values: Sequence[float] | FloatArray,
    errors: Sequence[float] | FloatArray,
    level: float,
) -> float:
    r"""Return the refresh at which a parabola through the multipliers reaches `level`.

    NaN where it does not between the first and the last; of two, the one nearer the middle.
    """
    steps = np.array(refreshes, dtype=np.float64)
    middle = float(steps.mean())
    fit = np.polyfit(steps - middle, values, _DEGREE, w=1 / np.asarray(errors))
    fit[-1] -= level
    found = [root.real + middle for root in np.roots(fit) if abs(root.imag) < 1e-9]
    inside = [place for place in found if steps[0] <= place <= steps[-1]]
    return float(min(inside, key=lambda place: abs(place - middle), default=np.nan))


def jackknifed(
    statistic: Callable[[Sequence[int]], FloatArray], seeds: Sequence[int]
) -> tuple[FloatArray, FloatArray]:
    r"""Return a statistic of all seeds, and a value a seed whose mean and interval are its own.

    Tukey's pseudo-values: with n seeds, n times the statistic of all less n - 1 times that without
    the seed. They are (seeds, ...).
    """
    whole = statistic(seeds)
    count = len(seeds)
    without = np.array([statistic([other for other in seeds if other != seed]) for seed in seeds])
    return whole, count * whole - (count - 1) * without
