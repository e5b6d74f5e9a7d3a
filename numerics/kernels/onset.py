"""The x at which the exact map turns oscillatory, whole force stale.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["ema_constant", "ema_sawtooth", "heavy_ball_constant", "heavy_ball_sawtooth"]

@kernel
def heavy_ball_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    c0 = d + 1
    c1 = d*d
    c2 = d*mu + d + np.sqrt(c1*(mu*(mu - 2) + 1) + 4*mu)
    c3 = c2/c0/2
    c4 = -c3
    return -2*c0*c3**d*(c4 + 1)*(c4 + mu)/c2


@kernel
def heavy_ball_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    c0 = mu - 1
    c1 = mu**N - 1
    c2 = np.sqrt(N) + np.sqrt(mu)*np.sqrt(c1/c0)
    c3 = c2*c2
    return c0*c1/c3


@kernel
def ema_constant(*, mu: ArrayLike, d: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    d : lag: age in steps of the policy the stale force is computed on [step]
    """
    c0 = d + 1
    c1 = d*d
    c2 = d*mu + d + np.sqrt(c1*(mu*(mu - 2) + 1) + 4*mu)
    c3 = c2/c0/2
    c4 = -c3
    return 2*c0*c3**d*(c4 + 1)*(c4 + mu)/(c2*(mu - 1))


@kernel
def ema_sawtooth(*, mu: ArrayLike, N: ArrayLike) -> Array:
    r"""onset, from oscillation-onset.

    mu : momentum [1]
    N : refresh: steps between refreshes of the sampling policy [step]
    """
    c0 = mu**N - 1
    c1 = np.sqrt(N) + np.sqrt(mu)*np.sqrt(c0/(mu - 1))
    c2 = c1*c1
    return -c0/c2
