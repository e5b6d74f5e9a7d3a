"""Fresh and stale slopes of the two-arm bandit.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["delayed_gradient", "stale_samples", "stale_samples_ratio"]

def delayed_gradient(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    beta, p_star = floats(beta, p_star)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p_star))
    c0 = p_star*(p_star - 1)
    c1 = (-2*beta*c0 - np.sqrt(-c0)*(2*p_star - 1))/2
    return (
        shaped(0, shape),
        shaped(c1, shape),
        shaped(c1, shape),
        shaped(1, shape),
    )


def stale_samples(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    beta, p_star = floats(beta, p_star)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p_star))
    c0 = p_star*(p_star - 1)
    c1 = beta*c0
    c2 = 2*p_star
    c3 = c2 - 1
    c4 = np.sqrt(-c0)
    c5 = c3*c4
    return (
        shaped(-c1 - c5, shape),
        shaped(c4*((2*p_star - 1)/2), shape),
        shaped((-2*c1 - c5)/2, shape),
        shaped(c3/(2*beta*c4 - c2 + 1), shape),
    )


def stale_samples_ratio(
    *,
    beta: ArrayLike,
    p_star: ArrayLike,
) -> tuple[Array, Array, Array, Array]:
    r"""fresh_slope, stale_slope, stiffness, stale_share, from staleness.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    beta, p_star = floats(beta, p_star)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p_star))
    c0 = p_star*(p_star - 1)
    c1 = beta*c0
    c2 = np.sqrt(-c0)
    c3 = 2*p_star
    c4 = c3 - 1
    return (
        shaped(-c1, shape),
        shaped(-c2*((2*p_star - 1)/2), shape),
        shaped((-2*c1 - c2*c4)/2, shape),
        shaped(-c4/(2*beta*c2 - c3 + 1), shape),
    )
