r"""Onset of oscillation under a constant or random lag with a stale share in [0, 1], over arrays.

The real root that comes down from 1 is at z when ``x = -A/F``, ``A = (z - 1)(1 - mu/z)`` and
``F = G (1 - s + s E z**-D)``; it is no longer real beyond the largest of these x, where it meets
another. Logarithmically,

    d ln x/d ln z = -z/(1 - z) + mu/(z - mu) + g1/(g0 z + g1) + E_z D

with E_z the mean under weights ``s p_j z**-j``, and 1 - s more at lag 0. It falls from z = mu to 1,
so there is one meeting. No other root overtakes: every factor of ``F/(1 - mu/z)`` is largest in
modulus on the positive axis. (Extension; theory section 3.4.)
"""

from __future__ import annotations

import numpy as np

from numerics.dynamics.characteristic import law_of
from numerics.dynamics.model import FloatArray, Model

__all__ = ["first_meeting"]

_HALVINGS = 64
_BELOW_ONE = 1 - 2.0**-53  # where nothing is remembered, the root comes down to 0


def first_meeting(family: Model) -> FloatArray:
    """Return the onset of a flat family of one L whose shares are in [0, 1]."""
    mu, share = family.mu, family.stale_share
    g0, g1 = family.gain
    weight = share[:, None] * law_of(family)
    weight[:, 0] += 1 - share
    friction = 1 - mu
    low, high = np.zeros_like(mu), np.ones_like(mu)  # of t, where 1 - z = (1 - mu) t
    with np.errstate(all="ignore"):  # towards t = 1 powers of 1/z may overflow: the lag outweighs
        for _ in range(_HALVINGS):
            t = (low + high) / 2
            z, force, age = _at(t, mu, weight)
            rise = mu / (friction * (1 - t)) + g1 / (g0 * z + g1) + age
            falls = rise < z / (friction * t)  # d ln x/d ln z: t is still too small
            low, high = np.where(falls, t, low), np.where(falls, high, t)
        t = np.minimum((low + high) / 2, _BELOW_ONE)
        z, force, _ = _at(t, mu, weight)
        return np.asarray(friction * t * friction * (1 - t) / ((g0 * z + g1) * force))


def _at(t: FloatArray, mu: FloatArray, weight: FloatArray) -> tuple[FloatArray, ...]:
    """Return z, the sum of ``w_j z**-j``, and the mean age under these weights."""
    z = mu + (1 - mu) * (1 - t)
    force, turn = np.zeros_like(z), np.zeros_like(z)
    for age in range(weight.shape[1] - 1, -1, -1):
        force = force / z + weight[:, age]
        turn = turn / z + age * weight[:, age]
    return z, force, np.where(np.isnan(turn / force), np.inf, turn / force)
