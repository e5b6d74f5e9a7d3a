"""The x at which theorem-7 turns oscillatory (sec-3.5), whole force stale.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_constant", "heavy_ball_constant", "nesterov_constant"]

@kernel
def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    c0 = mu - 1
    c1 = c0*c0
    c2 = mu*mu
    return c1/(d + mu + np.sqrt(2*d*(d*(mu*(mu - 2) + 1) + 1 - c2) + mu*(mu + 2) + 1) + 1 - d*mu)


@kernel
def ema_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    c0 = mu*mu
    return (
        (mu - 1)/(d*mu - d - mu - np.sqrt(2*d*(d*(mu*(mu - 2) + 1) + 1 - c0) + mu*(mu + 2) + 1) -
        1)
    )


@kernel
def nesterov_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""truncated_onset, from sec-3.5.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    c0 = d + 1
    c1 = 2*d
    c2 = d*mu
    c3 = mu - 1
    c4 = c3*c3
    c5 = mu*mu
    return c4/(c0 + c5 + np.sqrt(c0*c1 + 1 - mu*(4*c0*d + mu*(4*c2 - c1*(d + 3) - 5) + 2)) - c2)
