r"""Weights of the models: stacking of predictive densities at earlier origins.

From each earlier origin every model says what the mean of some later rows will be, with a density;
the weights are those of greatest ``sum log(sum w_j p_j)`` (Yao, Vehtari, Simpson and Gelman 2018),
which is a proper score. A log has few origins that do not overlap, so a Dirichlet belief worth
`_BELIEVED` of them holds the weights near equal ones: it is known that estimated weights
seldom beat equal ones on short series.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.fit import Fit
from numerics.forecast.level import Level, level_of, window_noise
from numerics.forecast.posterior import Belief, Grid, posterior

__all__ = ["GAIN", "SURE", "Stack", "belief", "drift", "inside", "stack"]

FloatArray = NDArray[np.float64]

#: Standard deviation of the change still to come, in units of the change so far: as a run cannot
#: know that it is half way, a plateau that is further off has to be shown by the rows.
GAIN = 0.5
#: Amplitudes other than the plateau's, in the same units: wide enough to say nothing.
_RISE = 3.0
#: A model leaves the range of the rows seen as far as it is sure by so many standard deviations.
SURE = 2.0
#: Discrepancy: no run follows any of the curves. Its drift from them grows with ln(time), as a
#: wrong slope would on curves that look alike when time is rescaled. This is its standard deviation
#: when time has grown by e, in units of the change so far, as believed before the rows are seen,
#: and the standard deviation of its logarithm.
_DRIFT, _DRIFT_BELIEF = 0.08, 0.8
_DRIFTS = _DRIFT * np.exp(_DRIFT_BELIEF * np.linspace(-3.0, 3.0, 13))

_ORIGINS = (0.5, 0.6, 0.7, 0.8, 0.9)  # of the rows
_FEWEST = 8
_BELIEVED = 3.0
_LEVEL_BELIEF = 0.4
_OVERLAP = 0.5  # of an origin is new, as the rows behind and before them overlap
_FREEDOM = 4.0  # of Student's t


@dataclass(frozen=True)
class _Trial:
    """An earlier origin: rows before it, and later rows ``first`` to ``last`` to be foretold."""

    origin: int
    first: int
    last: int


def belief(level: Level) -> Belief:
    """Return what is believed of a curve before the rows say more."""
    return Belief(level.mean, GAIN * level.change, _RISE * level.change)


def drift(level: Level, ahead: FloatArray) -> FloatArray:
    """Return how the drift grows with the factor by which time does: times its size, in rewards."""
    return np.asarray(level.change * np.log(np.maximum(ahead, 1.0)))


def inside(
    mean: FloatArray, std: FloatArray, level: Level, bounds: tuple[float, float] | None
) -> FloatArray:
    """Return means held to the rows seen, or to where they are sure, and to the bounds."""
    low = np.minimum(level.low, mean + SURE * std)
    high = np.maximum(level.high, mean - SURE * std)
    held = np.clip(mean, low, high)
    return held if bounds is None else np.clip(held, *bounds)


def _trials(rows: int) -> list[_Trial]:
    """Return origins with a window of a tenth at the end of the rows, and one half way there."""
    found = []
    for share in _ORIGINS:
        origin = round(share * rows)
        for last in (rows, round((origin + rows) / 2)):
            window = max(2, min(last - origin, round(0.1 * last)))
            if origin >= _FEWEST and last - origin >= 3:
                found.append(_Trial(origin, last - window, last))
    return found


@dataclass(frozen=True)
class Stack:
    """Weights of the level (first) and of the families, and what the size of the drift may be.

    `drifts` (sizes,) are sizes and `chances` (sizes,) their probabilities.
    """

    weights: FloatArray
    drifts: FloatArray
    chances: FloatArray


def stack(about: Fit, grids: Sequence[Grid], white_value: FloatArray) -> Stack:
    """Return the weights of the models and the size of the drift, from earlier origins."""
    believed = np.full(1 + len(grids), (1 - _LEVEL_BELIEF) / len(grids))
    believed[0] = _LEVEL_BELIEF
    asked = _trials(len(about.series))
    if asked:
        tables = np.stack([_densities(about, grids, white_value, t) for t in asked], axis=1)
    else:
        tables = np.ones((_DRIFTS.size, 0, believed.size))
    weights = np.array([_weights(table, believed) for table in tables])
    seen = np.log(np.einsum("sij,sj->si", tables, weights)).sum(1)
    logged = _OVERLAP * seen - 0.5 * (np.log(_DRIFTS / _DRIFT) / _DRIFT_BELIEF) ** 2
    chances = np.exp(logged - logged.max())
    chances /= chances.sum()
    return Stack(chances @ weights, _DRIFTS, chances)


def _weights(table: FloatArray, believed: FloatArray) -> FloatArray:
    """Return the weights for densities (trials, models), by expectation and maximisation."""
    weight = believed
    for _ in range(60 if len(table) else 0):
        share = table * weight
        share /= share.sum(1, keepdims=True)
        weight = _OVERLAP * share.sum(0) + _BELIEVED * believed
        weight /= weight.sum()
    return weight


def _densities(
    about: Fit, grids: Sequence[Grid], white_value: FloatArray, trial: _Trial
) -> FloatArray:
    """Return the density each model gives to what was then seen, (sizes of drift, models)."""
    given = about.series
    level, now = level_of(about, trial.origin), level_of(about, len(given))
    window = slice(trial.first, trial.last)
    found = [(level.mean, window_noise(about.noise, level.window))]
    for grid in grids:
        known = posterior(grid, white_value, trial.origin, belief(level))
        found.append(known.moments(grid.basis[window].mean(0)))
    mean, std = np.array(found).T
    mean = inside(mean, std, level, given.bounds)
    ahead = given.time[window].mean() / given.time[trial.origin - 1]
    noise = window_noise(about.noise, trial.last - trial.first)
    wander = _DRIFTS[:, None] * drift(now, ahead)  # in the units it is asked for in
    scale = np.sqrt(std**2 + noise**2 + wander**2)
    z = (float(given.value[window].mean()) - mean) / scale
    logged = -0.5 * (_FREEDOM + 1) * np.log1p(z * z / _FREEDOM) - np.log(scale)
    return np.asarray(np.exp(np.maximum(logged - logged.max(), -700.0)))
