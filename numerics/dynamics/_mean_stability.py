r"""Whether the mean map under a random lag is stable, from its roots.

With w = z - 1 and the survival function ``S_m = P(D >= m)``,

    z chi = w (w + 1 - mu) + (G(1) + now w)(x - x_s (w/z) sum_m S_m z**-(m-1)),

in which nothing cancels at a slow root. Eigenvalues of the companion matrix are refined on it by
Newton's method where they are near the circle, the only place where their digits matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics._linear_map import LinearMap
from numerics.dynamics._yule_walker import forces
from numerics.dynamics.model import FloatArray

__all__ = ["stable_in_the_mean"]

_NEAR = 1e-3  # of the circle; eigenvalues are better than that even where several meet
_STEPS = 60  # they halve the distance to roots that nearly meet, until it is their gap
_ASIDE = 1e-9j  # on the real axis a pair next to it cannot be approached
_CLOSE = 1e-9  # a last step this short, relative, leaves all digits


def stable_in_the_mean(linear: LinearMap, law: FloatArray) -> NDArray[np.bool_]:
    """Return whether all roots are inside the unit circle; `law` has shape (n, L+1)."""
    with np.errstate(all="ignore"):  # beyond the range of floats no map is stable
        force = forces(linear, law)[:, 1:]
        companion = np.zeros((*force.shape, force.shape[1]))
        companion[:, range(1, force.shape[1]), range(force.shape[1] - 1)] = 1.0
        companion[:, 0] = -force
        companion[:, 0, 0] += 1 + linear.mu
        companion[:, 0, 1] -= linear.mu
        z = np.linalg.eigvals(companion).astype(np.complex128)
        near = np.abs(np.abs(z) - 1) < _NEAR
        run, _ = np.nonzero(near)
        w = _refined(linear.take(run), np.cumsum(law[run, :0:-1], axis=1)[:, ::-1], z[near] - 1)
        inside = np.abs(z) < 1
        inside[near] = 2 * w.real + np.abs(w) ** 2 < 0  # |1 + w|**2 < 1
        return np.asarray(inside.all(axis=1))


def _refined(
    linear: LinearMap, survival: FloatArray, w: NDArray[np.complex128]
) -> NDArray[np.complex128]:
    w = np.where(w.imag == 0, w + _ASIDE, w)
    for _ in range(_STEPS):
        z, gain, aged, slope = 1 + w, linear.total + linear.now * w, 0 * w, 0 * w
        for alive in survival.T[::-1]:  # Horner in u = 1/z: sum of S_m u**m, and its slope in u
            aged, slope = (aged + alive) / z, slope / z + aged + alive
        value = w * (w + 1 - linear.mu) + gain * (linear.x - linear.stale * w * aged)
        turn = 2 * w + 1 - linear.mu + linear.now * (linear.x - linear.stale * w * aged)
        turn -= gain * linear.stale * (aged - w * slope / z**2)
        step = value / turn
        step = np.where(np.isfinite(step) & (np.abs(step) < _NEAR), step, 0.0)
        w = w - step
        if np.all(np.abs(step) <= _CLOSE * np.abs(w)):
            break
    return w
