r"""The linear map of a flat family as coefficients, and how noise passes through the optimizer.

With h_k what the next displacement inherits, ``f_k = x_f q_k + x_s q_{k-lag}`` and kick e_k,

    q_{k+1} = q_k + h_k - now f_k + e_k
    h_{k+1} = mu h_k - kept f_k + mu e_k

is ``q_{k+1} - q_k = mu (q_k - q_{k-1}) - now f_k - before f_{k-1} + e_k`` with
``kept = mu now + before``: the update of every optimizer, noise added to the right side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics.model import FloatArray, Model

__all__ = ["NOISE_ENTERS", "LinearMap", "linear_map"]

#: Where noise enters: added to the right side of the recurrence of q, or to the gradient.
NOISE_ENTERS = ("recurrence", "gradient")

# Squares stay within the range of floats. No map is stable at the largest; below the smallest the
# product of x and the variance, which is what is computed, no longer depends on x.
_LARGEST, _SMALLEST = 1e100, 1e-140


@dataclass(frozen=True, eq=False)
class LinearMap:
    r"""Coefficients of a flat family, each of shape (n,).

    Attributes
    ----------
    mu
        Momentum.
    now, before
        g0 and g1 of the gain ``G(z) = g0 + g1/z`` on the force.
    kept
        ``mu now + before``, without cancellation.
    total
        G(1), without cancellation.
    x, fresh, stale
        Stiffness per step (between 1e-140 and 1e100), and its parts x_f and x_s.
    """

    mu: FloatArray
    now: FloatArray
    before: FloatArray
    kept: FloatArray
    total: FloatArray
    x: FloatArray
    fresh: FloatArray
    stale: FloatArray

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> LinearMap:
        """Return the chosen members (a mask or indices)."""
        return LinearMap(**{name: value[chosen] for name, value in vars(self).items()})

    def kick(self, noise_enters: str) -> tuple[FloatArray, FloatArray]:
        """Return what unit noise brings to q and to h in the step it enters."""
        if noise_enters == "recurrence":
            return np.ones_like(self.mu), self.mu
        return self.now, self.kept

    def filter(self, noise_enters: str) -> tuple[FloatArray, FloatArray]:
        r"""Return ``(total**2, now before)`` of the gain that the noise passes through.

        Noise ``now e_k + before e_{k-1}`` has these as its spectrum:
        ``|G|**2 = total**2 - now before |z - 1|**2`` on the unit circle.
        """
        if noise_enters == "recurrence":
            return np.ones_like(self.mu), np.zeros_like(self.mu)
        return self.total**2, self.now * self.before


def linear_map(family: Model, x: FloatArray) -> LinearMap:
    """Return the coefficients of a flat family at stiffness `x`, shape (n,).

    Stiffness and share are cut to where squares stay within the range of floats.
    """
    mu, (now, before) = family.mu, family.gain
    memory, intake, direct, passed = family.recurrence
    share = np.clip(family.stale_share, -_LARGEST, _LARGEST)
    force = np.clip(x, _SMALLEST, _LARGEST)
    return LinearMap(
        mu=mu,
        now=now,
        before=before,
        kept=memory * (passed * intake),
        total=(1 - memory) * direct + passed * intake,
        x=force,
        fresh=(1 - share) * force,
        stale=share * force,
    )
