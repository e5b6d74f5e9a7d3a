"""The models together: weighted draws of where the reward goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.fit import FAMILIES, Fit, Series, fit
from numerics.forecast.level import Level, level_of, window_noise
from numerics.forecast.posterior import Posterior, coarse, finer, posterior
from numerics.forecast.stacking import Stack, belief, drift, inside, stack

__all__ = ["LEVEL", "MODELS", "Mixture", "mixture", "spread_of"]

FloatArray = NDArray[np.float64]

#: The model that nothing more will happen: the mean of the last tenth of the rows.
LEVEL = "level"
#: Ways to end, one of each kind: exponential from once and from rest, logistic, a power of time,
#: and the two that GRPO without KL makes, of which one creeps. A second rise cannot be foretold
#: from before it, and a curve with a free first velocity runs away: those families are left out.
MODELS = ("exponential", "three-phase", "sigmoid", "compute-law", "no-kl-std", "no-kl-mean")

#: Families whose best describes the noise; one of them follows any rise.
_ABOUT = ("exponential", "three-phase", "sigmoid")
_DRAWS = 300  # of each model
_SEED = 20260704


@dataclass(frozen=True, eq=False)
class Mixture:
    """Models with their weights and draws; `posteriors`, `where` and `amplitudes` by family.

    `constant` is the AICc of a constant minus that of `about`, the best curve.

    `push` (models, draws) are draws of the drift from the curves, in units of what it grows with,
    and `rest` those of what is left: the level's own error, and the noise of a window of rows.
    """

    about: Fit
    constant: float
    level: Level
    stacked: Stack
    posteriors: tuple[Posterior, ...]
    where: tuple[NDArray[np.int64], ...]
    amplitudes: tuple[FloatArray, ...]
    push: FloatArray
    rest: FloatArray

    @property
    def series(self) -> Series:
        """The rows behind it."""
        return self.about.series

    @property
    def weights(self) -> FloatArray:
        """The weights of the models, the level first."""
        return self.stacked.weights

    @property
    def drift(self) -> float:
        """The size of the drift: its root mean square."""
        return float(np.sqrt(self.stacked.chances @ self.stacked.drifts**2))

    @property
    def weight(self) -> FloatArray:
        """The weight of each draw, (models * draws,), summing to 1."""
        return np.repeat(self.weights / _DRAWS, _DRAWS)

    def curves(self, time: FloatArray) -> FloatArray:
        """Return the draws of the curves at times since the origin, (models * draws, times)."""
        basis = [
            np.stack([p.grid.family.at(time, a, self.series.span)[0] for a in p.grid.inner], axis=1)
            for p in self.posteriors
        ]
        return self._held(basis, time.size)

    def paths(self, time: FloatArray) -> FloatArray:
        """Return the draws of the expected reward: curve and drift, inside the bounds."""
        return self._bound(self.curves(time) + self._drifts(time))

    def ends(self, time: float) -> FloatArray:
        """Return the draws of the plateaus with the drift up to a time, (models * draws,)."""
        return self._bound(self.plateaus() + self._drifts(np.array([time]))[:, 0])

    def plateaus(self) -> FloatArray:
        """Return the draws of where the curves end, (models * draws,)."""
        basis = [
            np.broadcast_to(
                np.array(p.grid.family.plateau), (1, p.grid.inner.shape[0], p.mean.shape[1])
            )
            for p in self.posteriors
        ]
        return self._held(basis, 1)[:, 0]

    def _drifts(self, time: FloatArray) -> FloatArray:
        """Return the draws of the drift from the curves, (models * draws, times)."""
        return self.push.reshape(-1, 1) * drift(self.level, time / self.series.span)

    def windows(self, time: FloatArray) -> FloatArray:
        """Return draws of the mean of rows at these times, noise included, (models * draws,)."""
        noise = window_noise(self.about.noise, time.size)
        return np.asarray(self.paths(time).mean(1) + noise * self.rest.ravel())

    def _held(self, basis: Sequence[FloatArray], times: int) -> FloatArray:
        """Return draws, the middle of each model held inside what was seen."""
        error = window_noise(self.about.noise, self.level.window)
        steady = self.level.mean + error * self.rest[0][::-1, None]
        found = [np.broadcast_to(steady, (_DRAWS, times))]
        for each, known, where, amplitudes in zip(
            basis, self.posteriors, self.where, self.amplitudes, strict=True
        ):
            mean, std = np.array([known.moments(row) for row in each]).T
            held = inside(mean, std, self.level, self.series.bounds)
            draws = np.einsum("tdi,di->dt", each[:, where], amplitudes)
            found.append(draws + (held - mean))
        return self._bound(np.concatenate(found))

    def _bound(self, reward: FloatArray) -> FloatArray:
        bounds = self.series.bounds
        return reward if bounds is None else np.clip(reward, *bounds)


def mixture(given: Series) -> Mixture:
    """Return the models of a series, weighted."""
    about = min((fit(given, name) for name in _ABOUT), key=lambda found: found.aicc)
    level = level_of(about, len(given))
    white_value = about.whiten(given.value) * about.spike_root
    grids = [coarse(about, FAMILIES[name].resolved(len(given))) for name in MODELS]
    stacked = stack(about, grids, white_value)
    random = np.random.default_rng(_SEED)
    known: list[Posterior] = []
    where: list[NDArray[np.int64]] = []
    amplitudes: list[FloatArray] = []
    for grid in grids:
        found = posterior(grid, white_value, len(given), belief(level))
        for _ in range(2):
            found = posterior(finer(about, found), white_value, len(given), belief(level))
        points, drawn = found.draw(_DRAWS, random)
        known.append(found)
        where.append(points)
        amplitudes.append(drawn)
    constant = fit(given, "constant").aicc - about.aicc
    shape = (stacked.weights.size, _DRAWS)
    size = random.choice(stacked.drifts, size=shape, p=stacked.chances)
    return Mixture(
        about, constant, level, stacked, tuple(known), tuple(where), tuple(amplitudes),
        size * random.standard_normal(shape), random.standard_normal(shape),
    )  # fmt: skip


def spread_of(draws: FloatArray, weight: FloatArray, levels: Sequence[float]) -> FloatArray:
    """Return weighted quantiles of draws (draws,)."""
    order = np.argsort(draws)
    below = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.interp(levels, below, draws[order])
