"""Where a curve is, how far it has come, and how far the rows seen reach."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.fit import Fit, Noise

__all__ = ["Level", "level_of", "window_noise"]

FloatArray = NDArray[np.float64]

_WINDOW = 0.1  # of the rows; three at least
_REACH = 10.0  # standard deviations of a row about the curve
_LEAST = 1e-6  # of the rewards' standard deviation


@dataclass(frozen=True)
class Level:
    """The mean of the last tenth of some rows, and what those rows have seen.

    `change` is the range of the means of a tenth of the rows, but not less than the noise of one of
    them; `low` and `high` are the range of the rows.
    """

    rows: int
    window: int
    mean: float
    change: float
    low: float
    high: float


def level_of(about: Fit, rows: int) -> Level:
    """Return the level after the first rows of a fit's series."""
    # a row that lies this far off is an accident, and not what the run has seen
    reach = _REACH * about.noise_std
    value = np.clip(about.series.value, about.curve - reach, about.curve + reach)[:rows]
    window = min(rows, max(3, round(_WINDOW * rows)))
    means = np.convolve(value, np.full(window, 1 / window), "valid")
    # rows that are all alike are no proof that no change is possible
    least = max(window_noise(about.noise, window), _LEAST * about.series.spread)
    change = max(float(np.ptp(means)), least)
    return Level(rows, window, float(means[-1]), change, float(value.min()), float(value.max()))


def window_noise(noise: Noise, rows: int) -> float:
    """Return the standard deviation of the mean of successive rows about the curve's mean."""
    lag = np.arange(1, rows)
    wander = float(((1 - lag / rows) * noise.share * noise.memory**lag).sum())
    return float(np.sqrt(noise.variance / rows * (1 + 2 * wander)))
