"""Does a rise come in two stages, with a plateau between them?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit

from numerics.diagnose.trend import Floats, blocks, noise

__all__ = ["Stages", "two_stages"]

_MOST_ROWS = 120
_FEWEST_ROWS = 40
_GAIN = 30.0  # drop in squared error over the noise's variance; three more numbers are fitted
_LEAST_SHARE = 0.1  # of the whole rise in each stage
_PLATEAU = 0.1  # of the whole log, between nine tenths of one stage and a tenth of the next
_TENTH = float(np.log(9.0))  # a logistic is at a tenth this many widths before its middle


@dataclass(frozen=True)
class Stages:
    """Two rises: what each adds, and the steps between which the reward stood still."""

    first: float
    second: float
    plateau_from: float
    plateau_to: float
    gain: float


def two_stages(step: Floats, value: Floats) -> Stages | None:
    r"""Return the two stages of a rise, or None if one rise describes it as well.

    A sum of two logistic rises against one logistic and one exponential rise, by least squares,
    the drop in squared error measured in the long-run variance of the noise.  (extension)
    """
    if len(step) < _FEWEST_ROWS:
        return None
    step, value = blocks(step, value, _MOST_ROWS)
    time = (step - step[0]) / (step[-1] - step[0])
    variance, phi = noise(value)
    scale = variance * (1 + phi) / (1 - phi)
    span = float(np.ptp(value))
    if scale <= 0 or span == 0:
        return None
    starts = [[middle, -3.0] for middle in (0.1, 0.3, 0.6)]
    one = min(_fit(_logistics, time, value, start)[0] for start in starts)
    one = min(one, *(_fit(_exponential, time, value, [np.log(t)])[0] for t in (0.05, 0.2, 1.0)))
    both = [
        _fit(_logistics, time, value, [a, -3.5, b, -3.5])
        for a, b in ((0.05, 0.3), (0.1, 0.5), (0.2, 0.6), (0.3, 0.8), (0.5, 0.8))
    ]
    error, found, heights = min(both, key=lambda fit: fit[0])
    gain = (one - error) / scale
    (early, narrow), (late, wide) = sorted([(found[0], found[1]), (found[2], found[3])])
    first, second = heights[1:] if found[0] <= found[2] else heights[:0:-1]
    begins = early + _TENTH * np.exp(narrow)
    ends = late - _TENTH * np.exp(wide)
    share = np.array([first, second]) / (first + second) if first + second > 0 else np.zeros(2)
    if gain < _GAIN or share.min() < _LEAST_SHARE or ends - begins < _PLATEAU or ends > 1:
        return None
    if begins < 0 or first + second > 2 * span:
        return None
    plateau = step[0] + np.array([begins, ends]) * (step[-1] - step[0])
    return Stages(float(first), float(second), float(plateau[0]), float(plateau[1]), float(gain))


def _logistics(time: Floats, shape: Floats) -> Floats:
    rises = [expit((time - m) / np.exp(w)) for m, w in zip(shape[::2], shape[1::2], strict=True)]
    return np.column_stack([np.ones_like(time), *rises])


def _exponential(time: Floats, shape: Floats) -> Floats:
    return np.column_stack([np.ones_like(time), 1 - np.exp(-time / np.exp(shape[0]))])


def _fit(
    basis: Callable[[Floats, Floats], Floats], time: Floats, value: Floats, start: list[float]
) -> tuple[float, Floats, Floats]:
    """Return squared error, shape and heights: the heights are linear and solved for exactly."""

    def heights(shape: Floats) -> tuple[Floats, Floats]:
        columns = basis(time, shape)
        found = np.asarray(np.linalg.lstsq(columns, value, rcond=None)[0], dtype=np.float64)
        return found, columns @ found - value

    low, high = np.full(len(start), -6.0), np.full(len(start), 1.5)
    if len(start) > 1:
        low[::2], high[1::2] = -0.3, -0.5
    done = least_squares(lambda shape: heights(shape)[1], start, bounds=(low, high), max_nfev=40)
    found, rest = heights(done.x)
    return float(rest @ rest), done.x, found
