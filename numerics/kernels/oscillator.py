"""Mass, damping and stiffness of theorem-7.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth", "nesterov_constant", "nesterov_sawtooth"]

@kernel
def heavy_ball_constant(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    d: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = s*x
    c1 = d*d
    return (
        (c0*c1 + mu + 1)/2,
        1 - c0*d - mu,
        x,
    )


@kernel
def heavy_ball_sawtooth(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    N: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = s*x*(N - 1)
    return (
        (c0*(2*N - 1) + 6*mu + 6)/12,
        (2 - c0 - 2*mu)/2,
        x,
    )


@kernel
def ema_constant(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    d: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = x*(mu - 1)
    c1 = c0*s
    c2 = d*d
    return (
        (mu + 1 - c1*c2)/2,
        c1*d + 1 - mu,
        -c0,
    )


@kernel
def ema_sawtooth(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    N: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = x*(mu - 1)
    c1 = c0*s*(N - 1)
    return (
        (6*mu + 6 - c1*(2*N - 1))/12,
        (c1 + 2 - 2*mu)/2,
        -c0,
    )


@kernel
def nesterov_constant(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    d: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu*(x - 1)
    c1 = d*s*x
    return (
        (c1*(d - 2*mu) + 1 - c0)/2,
        c0 + 1 - c1,
        x,
    )


@kernel
def nesterov_sawtooth(
    *,
    mu: ArrayLike,
    x: ArrayLike,
    N: ArrayLike,
    s: ArrayLike,
) -> tuple[Array, Array, Array]:
    r"""mass, damping, stiffness, from theorem-7.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = s*x
    c1 = c0*(N - 1)
    c2 = x - 1
    return (
        (c0*(N*(2*N - 3) + 1) + 6 - 6*mu*(c1 + c2))/12,
        (2*c2*mu + 2 - c1)/2,
        x,
    )
