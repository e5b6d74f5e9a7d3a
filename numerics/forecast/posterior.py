r"""What the rows say of a family's curves: a posterior on a grid, exact in the amplitudes.

A family is linear in its amplitudes, so for each point of a grid over its one or two nonlinear
coordinates the posterior of the amplitudes is normal, and the evidence of the point has a closed
form. No optimum is searched, none can run away, and any number of earlier origins costs only the
sums over fewer rows, because the filter that whitens the rows looks backwards only.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from numerics.fit import Coordinate, Family, Fit

__all__ = ["Belief", "Grid", "Posterior", "coarse", "finer", "posterior"]

FloatArray = NDArray[np.float64]

_POINTS = {1: 48, 2: 14}  # of a coordinate's axis, by the number of coordinates
_KEPT = 8.0  # of the logarithm of the evidence: what is further below is left out of a finer grid


@dataclass(frozen=True)
class Belief:
    """What is believed before the rows: the plateau is normal about `level` with standard deviation
    `gain`, the other amplitudes about 0 with `rise`."""

    level: float
    gain: float
    rise: float


@dataclass(frozen=True, eq=False)
class Grid:
    """Curves of a family at the rows: ``basis`` (rows, points, linear), ``white`` whitened."""

    family: Family
    axes: tuple[FloatArray, ...]
    inner: FloatArray
    basis: FloatArray
    white: FloatArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """Weights (points,) of a grid, mean (points, linear) and covariance root of the amplitudes.

    `logged` is the logarithm of the evidence of each point, but for a constant.
    """

    grid: Grid
    weight: FloatArray
    mean: FloatArray
    root: FloatArray
    logged: FloatArray

    def moments(self, row: FloatArray) -> tuple[float, float]:
        """Return mean and standard deviation of ``row @ amplitudes``, `row` (points, linear)."""
        mean = np.einsum("ki,ki->k", row, self.mean)
        spread = (np.einsum("ki,kij->kj", row, self.root) ** 2).sum(1)
        middle = float(self.weight @ mean)
        return middle, float(self.weight @ (spread + (mean - middle) ** 2)) ** 0.5

    def draw(
        self, count: int, random: np.random.Generator
    ) -> tuple[NDArray[np.int64], FloatArray]:
        """Return points (count,) of the grid and amplitudes (count, linear)."""
        where = random.choice(self.weight.size, size=count, p=self.weight)
        push = random.standard_normal((count, self.mean.shape[1]))
        return where, self.mean[where] + np.einsum("kij,kj->ki", self.root[where], push)


def coarse(about: Fit, family: Family) -> Grid:
    """Return the grid over all that a log of this length can show of a family."""
    points = _POINTS[len(family.coordinates)]
    axes = tuple(_axis(coordinate, points) for coordinate in family.coordinates)
    return _grid(about, family, axes)


def finer(about: Fit, found: Posterior) -> Grid:
    """Return a grid over the box of those points that are not refuted, and one step around it."""
    kept = found.grid.inner[found.logged > found.logged.max() - _KEPT]
    axes = []
    for axis, column in zip(found.grid.axes, kept.T, strict=True):
        step = axis[1] - axis[0]
        low, high = max(axis[0], column.min() - step), min(axis[-1], column.max() + step)
        axes.append(np.linspace(low, high, axis.size))
    return _grid(about, found.grid.family, tuple(axes))


def _axis(coordinate: Coordinate, points: int) -> FloatArray:
    """Return an axis of inner values: from the first to the last start of a search, and beyond."""
    low, high = (coordinate.inner(end(coordinate.starts)) for end in (min, max))
    spare = 1.0 if coordinate.logarithmic else 0.4
    return np.linspace(
        max(low - spare, coordinate.inner(coordinate.low)),
        min(high + spare, coordinate.inner(coordinate.high)), points,
    )  # fmt: skip


def _grid(about: Fit, family: Family, axes: tuple[FloatArray, ...]) -> Grid:
    given = about.series
    inner = np.array(list(product(*axes)))
    basis = np.stack([family.at(given.time, point, given.span)[0] for point in inner], axis=1)
    flat = about.whiten(basis.reshape(len(given), -1)) * about.spike_root[:, None]
    return Grid(family, axes, inner, basis, flat.reshape(basis.shape))


def posterior(grid: Grid, white_value: FloatArray, rows: int, belief: Belief) -> Posterior:
    """Return the posterior from the first rows."""
    white, value = grid.white[:rows], white_value[:rows]
    plateau = np.array(grid.family.plateau)
    prior = np.outer(plateau, plateau) / belief.gain**2
    prior += np.diag([0.0] + [belief.rise**-2.0] * (plateau.size - 1))
    precision = np.einsum("tki,tkj->kij", white, white, optimize=True) + prior
    pull = np.einsum("tki,t->ki", white, value) + plateau * (belief.level / belief.gain**2)
    factor = np.linalg.cholesky(precision)
    half = np.linalg.solve(factor, pull[..., None])[..., 0]
    logged = 0.5 * (half**2).sum(1) - np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(1)
    weight = np.exp(logged - logged.max())
    root = np.swapaxes(np.linalg.inv(factor), 1, 2)
    mean = np.einsum("kij,kj->ki", root, half)
    return Posterior(grid, weight / weight.sum(), mean, root, logged)
