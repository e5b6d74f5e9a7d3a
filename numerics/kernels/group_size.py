"""Drift and noise of finite groups, to leading order in 1/G.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["dead_groups", "mean_ddof_0", "mean_ddof_1", "std_ddof_0", "std_ddof_1"]

def std_ddof_0(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    p, G = floats(p, G)
    shape = np.broadcast_shapes(np.shape(p), np.shape(G))
    c0 = p - 1
    c1 = 1/G
    return (
        shaped(np.sqrt(-c0*p)*((8 + c1/(c0*p))/8), shape),
        shaped(c1*(2*p - 1)**2/4, shape),
    )


def std_ddof_1(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    p, G = floats(p, G)
    shape = np.broadcast_shapes(np.shape(p), np.shape(G))
    c0 = p - 1
    c1 = 1/G
    c2 = 1 - c1
    return (
        shaped(np.sqrt(c2)*np.sqrt(-c0*p)*((8 + c1/(c0*p))/8), shape),
        shaped(c1*c2*(2*p - 1)**2/4, shape),
    )


def mean_ddof_0(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    p, G = floats(p, G)
    shape = np.broadcast_shapes(np.shape(p), np.shape(G))
    c0 = 1/G
    c1 = p*(p - 1)
    return (
        shaped(-c1*(1 - c0), shape),
        shaped(-c0*c1*(2*p - 1)**2, shape),
    )


def mean_ddof_1(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    p, G = floats(p, G)
    shape = np.broadcast_shapes(np.shape(p), np.shape(G))
    c0 = 1/G
    c1 = p*(p - 1)
    return (
        shaped(-c1*(1 - c0), shape),
        shaped(-c0*c1*(2*p - 1)**2, shape),
    )


def dead_groups(*, p: ArrayLike, G: ArrayLike) -> Array:
    r"""dead_groups, from dead-groups.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    p, G = floats(p, G)
    shape = np.broadcast_shapes(np.shape(p), np.shape(G))
    return shaped(p**G + (1 - p)**G, shape)
