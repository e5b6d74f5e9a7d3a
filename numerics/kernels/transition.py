"""The x at which theorem-7 turns oscillatory (sec-3.5), whole force stale.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_constant", "heavy_ball_constant", "nesterov_constant"]

def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    mu, d = floats(mu, d)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d))
    c0 = 2*d
    c1 = mu**2
    c2 = d**2
    c3 = 2*c2
    return (
        shaped((mu - 1)**2/(-d*mu + d + mu + np.sqrt(-c0*c1 + c0 + c1*c3 + c1 - 4*c2*mu + c3 +
        2*mu + 1) + 1), shape)
    )


def ema_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    mu, d = floats(mu, d)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d))
    c0 = 2*d
    c1 = mu**2
    c2 = d**2
    c3 = 2*c2
    return (
        shaped(-(mu - 1)/(-d*mu + d + mu + np.sqrt(-c0*c1 + c0 + c1*c3 + c1 - 4*c2*mu + c3 + 2*mu
        + 1) + 1), shape)
    )


def nesterov_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    mu, d = floats(mu, d)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d))
    c0 = mu**2
    c1 = d*mu
    c2 = d**2
    c3 = 2*c2
    return (
        shaped((mu - 1)**2/(c0 - c1 + d + np.sqrt(c0*c3 + 6*c0*d + 5*c0 - 4*c1 - 4*c2*mu + c3 -
        4*d*mu**3 + 2*d - 2*mu + 1) + 1), shape)
    )
