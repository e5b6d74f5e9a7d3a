r"""Shapes of a curve whose rate depends on its height alone: every solution is one shape, shifted.

``d theta/dt = eta D(p)``, ``p = logistic(theta)``, is solved by ``p(t) = g(eta (t - t_half))`` with
g(0) = 1/2, whatever the start. D is the mean drift of the logit without a KL term (theory.md 3.9
and 3.10): ``sqrt(p (1-p))``, ``p (1-p)``, or that of a group of G.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_simpson
from scipy.special import expit

from numerics.dynamics import group_moments

__all__ = ["Flow", "group_flow", "mean_flow", "std_flow"]

FloatArray = NDArray[np.float64]

_FARTHEST = 30.0  # logit of the ends of a table; beyond it p is 0 or 1 to 13 digits
_KNOTS = 1501


@dataclass(frozen=True, eq=False)
class Flow:
    """The shape g as a table: p and its rate ``dp/du`` at increasing u, shape (knots,)."""

    u: FloatArray
    p: FloatArray
    rate: FloatArray

    def __call__(self, u: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return g(u) and g'(u), by cubics that meet height and rate at the knots."""
        u = np.clip(u, self.u[0], self.u[-1])
        right = np.clip(np.searchsorted(self.u, u), 1, self.u.size - 1)
        left = right - 1
        width = self.u[right] - self.u[left]
        x = (u - self.u[left]) / width
        y = 1 - x
        p0, p1, r0, r1 = self.p[left], self.p[right], self.rate[left], self.rate[right]
        lean0, lean1 = width * r0, width * r1
        height = (
            p0 * y * y * (1 + 2 * x) + p1 * x * x * (1 + 2 * y) + x * y * (lean0 * y - lean1 * x)
        )
        rate = 6 * x * y * (p1 - p0) / width + r0 * y * (1 - 3 * x) + r1 * x * (1 - 3 * y)
        return height, rate

    def start(self, success: float) -> float:
        """Return u at which g is `success`."""
        u = np.array([np.interp(success, self.p, self.u)])
        for _ in range(3):  # Newton, from between two knots
            height, rate = self(u)
            u = u - (height - success) / rate
        return float(u[0])


def _grid() -> tuple[FloatArray, FloatArray]:
    """Return logits from 0 and sigma2 = p (1-p) at them."""
    theta = np.linspace(0.0, _FARTHEST, _KNOTS)
    return theta, expit(theta) * expit(-theta)


def _flow(theta: FloatArray, sigma2: FloatArray, drift: FloatArray) -> Flow:
    """Return the shape; every drift is the same at p and 1 - p, so one half is the other turned."""
    u, failure = cumulative_simpson(1 / drift, x=theta, initial=0.0), expit(-theta)
    rate = drift * sigma2
    return Flow(
        np.concatenate([-u[:0:-1], u]),
        np.concatenate([failure[:0:-1], 1 - failure]),
        np.concatenate([rate[:0:-1], rate]),
    )


@lru_cache(maxsize=1)
def std_flow() -> Flow:
    """Return the shape of large groups, std-normalised (theory.md 3.10)."""
    theta, sigma2 = _grid()
    return _flow(theta, sigma2, np.sqrt(sigma2))


@lru_cache(maxsize=1)
def mean_flow() -> Flow:
    """Return the shape of advantages r - mean r (theory.md 3.10)."""
    theta, sigma2 = _grid()
    return _flow(theta, sigma2, sigma2)


@lru_cache(maxsize=64)
def group_flow(group_size: int) -> Flow:
    """Return the shape of groups of G, std-normalised with ddof 1 as trainers do (theory.md 3.9).

    The drift is summed at p <= 1/2, which keeps its digits.
    """
    theta, sigma2 = _grid()
    drift = group_moments(
        p=expit(-theta), correlation=0, group_size=group_size, baseline="group-mean",
        normaliser="group-std", ddof=1, eps=0,
    ).drift  # fmt: skip
    return _flow(theta, sigma2, np.asarray(drift))
