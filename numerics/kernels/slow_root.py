"""The relaxation time and the x that gives it, to leading orders in x.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_constant", "heavy_ball_constant", "nesterov_constant"]

@kernel
def heavy_ball_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    return ((mu + 1)/c0 - 2*c0/x - 2*d*s)/2


@kernel
def ema_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return ((mu + 1)/(mu - 1) + 2/x - 2*d*s)/2


@kernel
def nesterov_constant(*, mu: ArrayLike, x: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""relaxation_time, from slow-root.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    c1 = mu*mu
    return ((2*c1 + 1 - mu)/c0 - 2*c0/x - 2*d*s)/2
