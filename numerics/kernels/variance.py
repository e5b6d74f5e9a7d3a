"""Exact stationary variance per unit noise, short lags.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_lag_0", "ema_lag_1", "ema_lag_2", "ema_lag_3", "heavy_ball_lag_0", "heavy_ball_lag_1", "heavy_ball_lag_2", "heavy_ball_lag_3", "nesterov_lag_0", "nesterov_lag_1", "nesterov_lag_2", "nesterov_lag_3"]

@kernel
def heavy_ball_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    return (mu + 1)/(x*(1 - mu)*(2*mu + 2 - x))


@kernel
def heavy_ball_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = s*x
    c1 = c0 + mu
    return (c1 + 1)/(x*(1 - c1)*(2*c0 + 2*mu + 2 - x))


@kernel
def heavy_ball_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = -x
    c1 = mu + 1
    c2 = c0 + c1
    c3 = s*x
    return (c1 + c2*c3)/(x*(c0 + 2*mu + 2)*(1 - c3*(c2 + 2*c3) - mu))


@kernel
def heavy_ball_lag_3(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = 2*mu + x*(2*s - 1) + 2
    c1 = mu + 1
    c2 = c1*s
    c3 = s*x
    c4 = mu*mu
    return (c1 + c3*(mu*(mu + 2) + x*(c2 - c0) + 2))/(c0*x*(1 - c3*(c4 + x*(3*c2 - c0) + 2) - mu))


@kernel
def ema_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    c1 = c0*c0
    return (mu + 1)/(c1*x*(mu*(x + 2) + 2 - x))


@kernel
def ema_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    c1 = s*x
    c2 = c0*c1
    c3 = c0*c0
    return (mu + 1 - c2)/(c3*x*(1 - c1)*(mu*(x + 2) + 2 - 2*c2 - x))


@kernel
def ema_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    c1 = c0*x
    c2 = s*x
    c3 = mu + 1
    c4 = c0*c0
    c5 = mu*mu
    return (
        (c2*(1 - c5 - x*(mu*(mu - 2) + 1)) + c3)/(c4*x*(c2*(2*c0*s*x - c1 - c3) + 1)*(c1 + 2*mu +
        2))
    )


@kernel
def ema_lag_3(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu - 1
    c1 = 2*s
    c2 = c1 - 1
    c3 = c2*mu
    c4 = mu*mu
    c5 = 3*s
    c6 = s*x
    c7 = mu + 1
    c8 = s - 2
    c9 = c0*c0
    return (
        (c6*(x*(c2*x*(mu*(mu*(mu - 3) + 3) - 1) + c8*mu*(c0*mu - 1) + c8) + 2 - c4*c7) +
        c7)/(c9*x*(1 - c6*(c4 + x*(c5 - c4*(c5 - 2) - x*(c2 + mu*(c3 + 2 - 4*s)) - 2) + 2))*(2*mu
        + x*(c1 - c3 - 1) + 2))
    )


@kernel
def nesterov_lag_0(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu*(x - 1)
    return (c0 - 1)/(x*(c0 + 1)*(2*c0 + x - 2))


@kernel
def nesterov_lag_1(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = mu*(x - 1)
    c1 = 2*mu + 1
    c2 = s*x
    c3 = c0 + 1
    c4 = mu*(c3 + x) + 1
    return (c2*(c4 - c1*c2*mu) + 1 - c0)/(x*(c2*(mu*s*x - c4) + c3)*(2*c1*c2 + 2 - 2*c0 - x))


@kernel
def nesterov_lag_2(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = x - 1
    c1 = s*x
    c2 = s - 1
    c3 = c2*x
    c4 = 2*s
    c5 = x*(c4 - 1)
    c6 = mu*(x*(c4 - c5 - 2) + 1)
    c7 = x*(s*(c4 - 3) + 1)
    return (
        (mu*(x*(s - c1*(s - c3) - 1) + 1 - c1*mu*(c6 + x*(3*s - 2*c3 - 3) + 1)) + 1 -
        c0*c1)/(x*(2*c0*mu + x - 2)*(c1*(c5 + 1) - mu*(mu*s*x*(c6 + x*(c2 + 2*c7) - 1) - x*(c1*(s
        - c7) + c2) - 1) - 1))
    )


@kernel
def nesterov_lag_3(*, mu: ArrayLike, x: ArrayLike, s: ArrayLike) -> Array:
    r"""variance, from stationary-variance.

    mu : momentum [1]
    x : dimensionless stiffness per step, x = eta*K [1]
    s : stale share K_s/K of the stiffness [1]
    """
    c0 = 2*s
    c1 = x*(c0 - 1)
    c2 = c1 + 2
    c3 = 3*s
    c4 = -c3
    c5 = s*x
    c6 = c3 - 1
    c7 = c0 - 3
    c8 = s - 1
    c9 = x*(c7*s + 1)
    c10 = 3*c9
    c11 = -c10
    c12 = 4*s
    c13 = 3 - c12
    c14 = s - 2
    c15 = c11 + 5
    c16 = -s
    return (
        (c5*(2 - x*(c16 + c2)) + mu*(x*(c5*(x*(c9 - s*(s + 1)) - c16 - 2) + c6) + 1 -
        c5*mu*(mu*(mu*(1 - x*(c13 + x*(x*(c12*c8 + 1) - c12*c14 - 3))) + x*(5*s - x*(c0*(7 - c3) +
        c10 - 7) - 5) + 1) + x*(x*(c12*c14 + c15) - c4 - 2))) + 1)/(x*(c2 + 2*mu*(c1 +
        1))*(c5*(x*(c2 + c4) - 2) + mu*(mu*s*x*(mu*(mu*(x*(c7 + x*(c1 + c13)) + 1) + x*(c6 +
        x*(6*c14*s + c15)) - 1) + x*(x*(c0*(c3 - 4) + c11 + 3) - s)) - x*(c5*(s - x*(c6*s +
        x*(-c7*s - 1))) + c8) - 1) + 1))
    )
