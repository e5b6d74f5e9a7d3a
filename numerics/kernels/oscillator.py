"""Mass, damping and stiffness of theorem-7.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth", "nesterov_constant", "nesterov_sawtooth"]

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
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    c0 = s*x
    return (
        shaped((c0*d**2 + mu + 1)/2, shape),
        shaped(-c0*d - mu + 1, shape),
        shaped(x, shape),
    )


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
    mu, x, N, s = floats(mu, x, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(N), np.shape(s))
    c0 = s*x*(N - 1)
    return (
        shaped((c0*(2*N - 1) + 6*mu + 6)/12, shape),
        shaped((-c0 - 2*mu + 2)/2, shape),
        shaped(x, shape),
    )


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
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    c0 = x*(mu - 1)
    c1 = c0*s
    return (
        shaped((-c1*d**2 + mu + 1)/2, shape),
        shaped(c1*d - mu + 1, shape),
        shaped(-c0, shape),
    )


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
    mu, x, N, s = floats(mu, x, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(N), np.shape(s))
    c0 = x*(mu - 1)
    c1 = c0*s*(N - 1)
    return (
        shaped((-c1*(2*N - 1) + 6*mu + 6)/12, shape),
        shaped((c1 - 2*mu + 2)/2, shape),
        shaped(-c0, shape),
    )


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
    mu, x, d, s = floats(mu, x, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(d), np.shape(s))
    c0 = d*s
    return (
        shaped((mu - x*(2*c0*mu - d**2*s + mu) + 1)/2, shape),
        shaped(-mu - x*(c0 - mu) + 1, shape),
        shaped(x, shape),
    )


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
    mu, x, N, s = floats(mu, x, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(N), np.shape(s))
    c0 = 6*mu
    c1 = N*s
    return (
        shaped((c0 + x*(2*N**2*s - c0*c1 + c0*s - c0 - 3*c1 + s) + 6)/12, shape),
        shaped((-2*mu + x*(-c1 + 2*mu + s) + 2)/2, shape),
        shaped(x, shape),
    )
