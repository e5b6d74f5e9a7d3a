"""Prop-9's rule: where theorem-7's damping vanishes, under sawtooth with N for d.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth", "nesterov_constant", "nesterov_sawtooth"]

@kernel
def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return (1 - mu)/(d*s)


@kernel
def heavy_ball_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return (1 - mu)/(N*s)


@kernel
def ema_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return 1/(d*s)


@kernel
def ema_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return 1/(N*s)


@kernel
def nesterov_constant(*, mu: ArrayLike, d: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return (mu - 1)/(mu - d*s)


@kernel
def nesterov_sawtooth(*, mu: ArrayLike, N: ArrayLike, s: ArrayLike) -> Array:
    r"""rule_threshold, from prop-9.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    s : stale share K_s/K of the stiffness [1]
    """
    return (mu - 1)/(mu - N*s)
