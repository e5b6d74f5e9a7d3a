r"""The noise of a reward curve: how large, how long it remembers, how it takes a spike.

A row's residual has the variance ``binomial + excess``, where the binomial part is known from G and
the prompts per step, or one variance for all rows where it is not. In units of that standard
deviation it is white noise plus an AR(1) part of share f that remembers rho of itself from row to
row: autocovariance ``f rho^k``. f = 1 is plain AR(1). The innovations of that process are Gaussian
up to `SPIKE` standard deviations and have a power-law tail beyond, so a spike cannot pull a curve.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.signal import lfilter
from scipy.special import expit, logit

__all__ = ["SPIKE", "Noise", "estimate_noise", "spike_loss", "spike_weight"]

FloatArray = NDArray[np.float64]

#: Innovations beyond so many standard deviations are taken for spikes.
SPIKE = 3.0

#: With fewer rows memory cannot be told from the curve, and the noise is taken as white.
ROWS_FOR_MEMORY = 30

#: A wander that lasts longer than the log over this is trend, and left to the curve.
_SLOWEST = 8

_SHARES = (0.03, 0.15, 0.6)
_MEMORIES = (0.5, 0.85, 0.97)

#: What is believed of share and memory before the rows are seen: log-odds of this mean and standard
#: deviation. A few per cent of the variance wander slowly, as the noise of gradients makes them
#: (lemma-6); a short log cannot tell such a wander from nothing, and must not take it for nothing.
_BELIEF = ((-3.0, 2.0), (3.0, 1.5))


@dataclass(frozen=True)
class Noise:
    """Noise of a fitted curve.

    Attributes
    ----------
    variance
        Mean variance of a row about the curve.
    share, memory
        Share f of it that is correlated, and the correlation rho of that share from row to row.
    binomial
        Mean of the known binomial part; None where it is not known. A variance below it means
        that rewards scatter less than successes would: then the binomial part is scaled down.
    """

    variance: float
    share: float
    memory: float
    binomial: float | None

    @property
    def excess(self) -> float | None:
        """Variance beyond the binomial part, negative if there is less; None if not known."""
        return None if self.binomial is None else self.variance - self.binomial

    def std(self, known: FloatArray | None, rows: int) -> FloatArray:
        """Return the standard deviation of each row, from its known variance."""
        if known is None or self.binomial is None:
            return np.full(rows, self.variance**0.5)
        if self.variance >= self.binomial:
            # the floor keeps a row at the bound, where success is certain, from deciding all
            floor = 1e-3 * self.variance
            return np.sqrt(np.maximum(known + (self.variance - self.binomial), floor))
        return np.sqrt(np.maximum(known, 1e-3 * self.binomial) * (self.variance / self.binomial))

    def filter(self) -> tuple[float, float, float]:
        """Return ``(ar, ma, std)``: ``e_k = z_k - ar z_{k-1} - ma e_{k-1}`` has that std."""
        f, rho = self.share, self.memory
        now, next_ = f * (1 - rho**2) + (1 - f) * (1 + rho**2), -rho * (1 - f)
        lean = next_ / now
        ma = 2 * lean / (1 + max(0.0, 1 - 4 * lean * lean) ** 0.5)
        return rho, ma, (now / (1 + ma * ma)) ** 0.5

    def innovations(self, standardised: FloatArray) -> FloatArray:
        """Return unit-variance innovations of residuals in standard deviations, along axis 0."""
        if self.share == 0 or self.memory == 0:
            return standardised
        ar, ma, std = self.filter()
        found = lfilter([1.0, -ar], [1.0, ma], standardised, axis=0)
        found[1:] /= std  # the first row is not predicted: its variance is 1
        return np.asarray(found)

    def log_determinant(self, std: FloatArray) -> float:
        """Return the sum over the rows of the logarithm of an innovation's std in rewards."""
        inner = 0.0 if self.share == 0 or self.memory == 0 else log(self.filter()[2])
        return float(np.log(std).sum()) + (std.size - 1) * inner


def spike_loss(innovation: FloatArray) -> FloatArray:
    """Return minus the log density but for a constant: quadratic, then logarithmic."""
    size = np.maximum(np.abs(innovation) / SPIKE, 1.0)
    return np.where(size > 1, SPIKE**2 * (0.5 + np.log(size)), 0.5 * innovation**2)


def spike_weight(innovation: FloatArray) -> FloatArray:
    """Return the weight at which a square pulls as `spike_loss` does: 1, or ``(SPIKE/e)^2``."""
    return 1.0 / np.maximum(np.abs(innovation) / SPIKE, 1.0) ** 2


def estimate_noise(
    residual: FloatArray,
    known: FloatArray | None,
    tangent: FloatArray,
    before: Noise | None,
) -> tuple[Noise, float]:
    r"""Return the noise of greatest restricted likelihood, and minus its logarithm.

    `residual` and `known` have shape (rows,); `before` is where the search starts.

    `tangent` (rows, parameters) has orthonormal columns that span what the curve can do at first
    order. The restricted likelihood counts only what is left beside that, so that a curve that
    follows the noise does not make the noise look smaller or shorter.
    """
    rows = residual.size
    binomial = None if known is None else float(known.mean())
    rough = float(residual @ residual) / max(1, rows - tangent.shape[1])
    spread = float(np.median(np.abs(residual)) / 0.6745) ** 2
    level = max(rough, 1e-300)
    longest = 1 - _SLOWEST / max(rows, 2 * _SLOWEST)

    def cost(point: FloatArray) -> float:
        noise = _noise(point, level, binomial, longest)
        std = noise.std(known, rows)
        whole = noise.innovations(np.column_stack([residual, tangent]) / std[:, None])
        gram = whole[:, 1:].T @ whole[:, 1:]
        lost = 0.5 * float(np.linalg.slogdet(gram)[1]) if gram.size else 0.0
        doubt = sum(
            0.5 * ((p - mean) / sd) ** 2 for p, (mean, sd) in zip(point[1:], _BELIEF, strict=False)
        )
        seen = float(spike_loss(whole[:, 0]).sum()) + noise.log_determinant(std)
        return seen + lost + float(doubt)

    if rows < ROWS_FOR_MEMORY:
        point, least = _descend(cost, np.array([log(max(spread, 1e-4 * level) / level)]))
        return _noise(point, level, binomial, longest), least
    if before is None:
        scales = (0.0, log(max(spread, 1e-4 * level) / level))
        grid = product(scales, logit(_SHARES), logit(_MEMORIES))
        start = min((np.array(place) for place in grid), key=cost)
    else:
        start = np.array([log(before.variance / level), *logit([before.share, before.memory])])
    point, least = _descend(cost, start)
    return _noise(point, level, binomial, longest), least


def _descend(
    cost: Callable[[FloatArray], float], start: FloatArray
) -> tuple[FloatArray, float]:
    """Return where a simplex comes down to, in level and log-odds."""
    simplex = np.vstack([start, start + np.diag([0.1, 0.4, 0.4])[: start.size, : start.size]])
    found = minimize(
        cost, start, method="Nelder-Mead",
        options={"initial_simplex": simplex, "maxfev": 60, "xatol": 0.02, "fatol": 0.01},
    )  # fmt: skip
    return found.x, float(found.fun)


def _noise(
    point: FloatArray, level: float, binomial: float | None, longest: float
) -> Noise:
    variance = level * exp(min(max(float(point[0]), -30.0), 30.0))
    if point.size == 1:
        return Noise(variance, 0.0, 0.0, binomial)
    share, memory = (float(v) for v in expit(np.clip(point[1:], -8.0, 8.0)))
    return Noise(variance, share, min(memory, longest), binomial)
