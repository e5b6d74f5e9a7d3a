"""Exact stationary variance per unit noise, short lags.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_lag_0", "ema_lag_1", "ema_lag_2", "heavy_ball_lag_0", "heavy_ball_lag_1", "heavy_ball_lag_2", "nesterov_lag_0", "nesterov_lag_1", "nesterov_lag_2"]

def heavy_ball_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    return shaped(-(mu + 1)/(x*(mu - 1)*(2*mu - x + 2)), shape)


def heavy_ball_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = s*x
    c1 = c0 + mu
    return shaped(-(c1 + 1)/(x*(c1 - 1)*(2*c0 + 2*mu - x + 2)), shape)


def heavy_ball_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = s*x
    c1 = x**2
    c2 = c0*mu + c0 - c1*s + mu
    return shaped(-(c2 + 1)/(x*(2*mu - x + 2)*(2*c1*s**2 + c2 - 1)), shape)


def ema_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    return shaped((mu + 1)/(x*(mu - 1)**2*(mu*x + 2*mu - x + 2)), shape)


def ema_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = s*x
    c1 = 2*mu
    return (
        shaped(-(-c0*mu + c0 + mu + 1)/(x*(c0 - 1)*(mu - 1)**2*(-c0*c1 + 2*c0 + c1 + mu*x - x +
        2)), shape)
    )


def ema_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = 2*mu
    c1 = mu*x
    c2 = mu**2
    c3 = s*x
    c4 = x**2
    c5 = c4*s
    c6 = c3 - c5
    c7 = c4*s**2
    return (
        shaped(-(c0*c5 - c2*c3 - c2*c5 + c6 + mu + 1)/(x*(mu - 1)**2*(c0 + c1 - x + 2)*(-c0*c7 +
        c1*s + c5*mu + c6 + 2*c7 - 1)), shape)
    )


def nesterov_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = mu*x
    return shaped(-(-c0 + mu + 1)/(x*(c0 - mu + 1)*(2*c0 - 2*mu + x - 2)), shape)


def nesterov_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = 2*mu
    c1 = s*x
    c2 = c1*mu
    c3 = x**2
    c4 = c3*s
    c5 = mu**2
    c6 = c3*s**2
    c7 = -c1*c5 + c1 + c2 + c4*c5 + c4*mu - c6*mu - mu*x + mu
    return shaped(-(-2*c5*c6 + c7 + 1)/(x*(c7 - 1)*(-c0*x + c0 + 2*c1 + 4*c2 - x + 2)), shape)


def nesterov_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, x, s = floats(mu, x, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(x), np.shape(s))
    c0 = 2*mu
    c1 = mu*x
    c2 = x**2
    c3 = c2*s
    c4 = s*x
    c5 = x**3
    c6 = c5*s
    c7 = c6*mu
    c8 = mu**3
    c9 = c4*c8
    c10 = c6*c8
    c11 = c4*mu
    c12 = s**2
    c13 = c12*c5
    c14 = c13*mu
    c15 = mu**2
    c16 = c15*c3
    c17 = 2*c8
    c18 = c17*c3
    c19 = 2*c15
    c20 = c13*c17
    c21 = c19*c6
    c22 = c12*c2
    c23 = 2*c22
    c24 = c23*c8
    c25 = c15*c22
    c26 = c15*c4 + c22*mu - 1
    c27 = c5*s**3
    return (
        shaped(-(c1 + c10 - c11 - c13*c19 - c14 - 3*c16 - c18 - c20 + c21 + c24 + 3*c25 + c26 + c3
        - c4 + c7 + c9 - mu)/(x*(c0*x - c0 + x - 2)*(-c0*c27 - c1 - c10 + c11 + 6*c13*c15 + 3*c14
        - 4*c15*c27 + c16 + c18 + c20 - c21 + c23 - c24 - c25 + c26 - c3 + c4 - c7 - c9 + mu)),
        shape)
    )
