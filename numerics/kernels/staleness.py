"""Fresh and stale slopes of the two-arm bandit.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["delayed_gradient", "stale_samples", "stale_samples_ratio"]

@kernel
def delayed_gradient(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    c0 = p_star*(1 - p_star)
    c1 = beta*c0 + np.sqrt(c0)*((1 - 2*p_star)/2)
    return (
        0,
        c1,
        c1,
        1,
    )


@kernel
def stale_samples(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    c0 = p_star*(1 - p_star)
    c1 = beta*c0
    c2 = 2*p_star
    c3 = c2 - 1
    c4 = np.sqrt(c0)
    c5 = (2*p_star - 1)/2
    return (
        c1 - c3*c4,
        c4*c5,
        c1 - c4*c5,
        c3/(2*beta*c4 + 1 - c2),
    )


@kernel
def stale_samples_ratio(
    *,
    beta: ArrayLike,
    p_star: ArrayLike,
) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    c0 = p_star*(1 - p_star)
    c1 = beta*c0
    c2 = np.sqrt(c0)
    c3 = c2*((1 - 2*p_star)/2)
    c4 = 2*p_star
    return (
        c1,
        c3,
        c1 + c3,
        (1 - c4)/(2*beta*c2 + 1 - c4),
    )
