"""The x at which theorem-7's damping vanishes (prop-9).

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth", "nesterov_constant", "nesterov_sawtooth"]

def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, d, s = floats(mu, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d), np.shape(s))
    return shaped(-(mu - 1)/(d*s), shape)


def heavy_ball_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, N, s = floats(mu, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(N), np.shape(s))
    return shaped(-(mu - 1)/(N*s), shape)


def ema_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, d, s = floats(mu, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d), np.shape(s))
    return shaped(1/(d*s), shape)


def ema_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, N, s = floats(mu, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(N), np.shape(s))
    return shaped(1/(N*s), shape)


def nesterov_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, d, s = floats(mu, d, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(d), np.shape(s))
    return shaped(-(mu - 1)/(d*s - mu), shape)


def nesterov_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    mu, N, s = floats(mu, N, s)
    shape = np.broadcast_shapes(np.shape(mu), np.shape(N), np.shape(s))
    return shaped(-(mu - 1)/(N*s - mu), shape)
