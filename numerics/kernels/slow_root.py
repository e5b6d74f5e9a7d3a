"""The relaxation time and the x that gives it, to leading orders in x.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_constant", "heavy_ball_constant", "nesterov_constant"]

def heavy_ball_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    c0 = mu - 1
    return shaped((-2*c0/x - 2*d*s + (mu + 1)/c0)/2, shape)


def ema_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    return shaped((-2*d*s + (mu + 1)/(mu - 1) + 2/x)/2, shape)


def nesterov_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    c0 = mu - 1
    return shaped((-2*c0/x - 2*d*s + (2*mu**2 - mu + 1)/c0)/2, shape)
