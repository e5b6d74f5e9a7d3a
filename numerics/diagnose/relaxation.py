"""The relaxation time of a rising curve, for the margin of the lag."""

from __future__ import annotations

import numpy as np

from numerics.diagnose.finding import Estimate
from numerics.diagnose.trend import Floats, noise

__all__ = ["relaxation_time"]

_GRID = 200
_DROP = 3.84  # of twice the log-likelihood, for 95 %


def relaxation_time(step: Floats, value: Floats) -> Estimate | None:
    r"""Return tau of R_inf - (R_inf - R_0) exp(-t/tau), or None if the log does not determine it.

    The profile likelihood over tau, from a row to ten times the log, levels solved for linearly;
    None when the interval reaches either end, when the curve does not rise, or when the
    exponential is no better than a constant. A first estimate for a margin: `numerics.fit`
    compares models.  (stated: equation 13; interval: extension)
    """
    n = len(step)
    if n < 10 or np.ptp(value) == 0:
        return None
    time = step - step[0]
    variance, phi = noise(value)
    scale = variance * (1 + phi) / (1 - phi)
    if scale <= 0:
        return None
    coarse = np.geomspace(time[1], 10 * time[-1], _GRID)
    error, height = _profile(coarse, time, value - value.mean(), scale)
    best = int(np.argmin(error))
    constant = float(np.sum((value - value.mean()) ** 2)) / scale
    if height[best] >= 0 or constant - error[best] < 2 * _DROP:
        return None
    within = np.flatnonzero(error <= error[best] + _DROP)
    if within[0] == 0 or within[-1] == _GRID - 1:
        return None
    fine = np.geomspace(coarse[within[0] - 1], coarse[within[-1] + 1], _GRID)
    error, _ = _profile(fine, time, value - value.mean(), scale)
    low, high = fine[np.flatnonzero(error <= error.min() + _DROP)[[0, -1]]]
    return Estimate(float(fine[int(np.argmin(error))]), float(low), float(high), "steps")


def _profile(tau: Floats, time: Floats, centred: Floats, scale: float) -> tuple[Floats, Floats]:
    """Return squared error over the noise, and height of the exponential, for every tau."""
    shapes = np.exp(-time[None, :] / tau[:, None])
    shapes = shapes - shapes.mean(axis=1, keepdims=True)
    power = np.sum(shapes**2, axis=1)
    height = shapes @ centred / power
    return (centred @ centred - height**2 * power) / scale, height
