"""Exact thresholds under a sawtooth refresh, whole force stale.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_sawtooth", "heavy_ball_sawtooth", "nesterov_sawtooth"]

@kernel
def heavy_ball_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> tuple[Array, Array]:
    r"""flip, neimark_sacker, from sawtooth-threshold.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    c0 = mu - 1
    c1 = mu**N
    c2 = c1 + 1
    c3 = c1 - 1
    c4 = c3*mu/c0
    return (
        -2*c0*c2/(N*c2 - 2*c4),
        c0*c3/(c4 - N*c1),
    )


@kernel
def ema_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> tuple[Array, Array]:
    r"""flip, neimark_sacker, from sawtooth-threshold.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    c0 = mu**N
    c1 = c0 + 1
    c2 = c0 - 1
    c3 = c2*mu/(mu - 1)
    return (
        2*c1/(N*c1 - 2*c3),
        c2/(N*c0 - c3),
    )


@kernel
def nesterov_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> tuple[Array, Array]:
    r"""flip, neimark_sacker, from sawtooth-threshold.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    c0 = mu - 1
    c1 = mu**N
    c2 = c1 + 1
    c3 = c1 - 1
    c4 = mu*mu
    c5 = c3*c4/c0
    return (
        -2*c0*c2/(N*c2 - 2*c5),
        c0*c3/(c5 - N*c1),
    )
