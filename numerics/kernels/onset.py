"""The x at which the exact map turns oscillatory, whole force stale.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth"]

def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    mu, d = floats(mu, d)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d))
    c0 = d + 1
    c1 = d**2
    c2 = d*mu + d + np.sqrt(c1*mu**2 - 2*c1*mu + c1 + 4*mu)
    c3 = c2/c0/2
    c4 = -c3
    return shaped(-2*c0*c3**d*(c4 + 1)*(c4 + mu)/c2, shape)


def heavy_ball_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    mu, N = floats(mu, N)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(N))
    c0 = mu - 1
    c1 = mu**N - 1
    return shaped(c0*c1/(np.sqrt(N) + np.sqrt(mu)*np.sqrt(c1/c0))**2, shape)


def ema_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    mu, d = floats(mu, d)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d))
    c0 = d + 1
    c1 = d**2
    c2 = d*mu + d + np.sqrt(c1*mu**2 - 2*c1*mu + c1 + 4*mu)
    c3 = c2/c0/2
    c4 = -c3
    return shaped(2*c0*c3**d*(c4 + 1)*(c4 + mu)/(c2*(mu - 1)), shape)


def ema_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    mu, N = floats(mu, N)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(N))
    c0 = mu**N - 1
    return shaped(-c0/(np.sqrt(N) + np.sqrt(mu)*np.sqrt(c0/(mu - 1)))**2, shape)
