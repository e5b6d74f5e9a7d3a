"""Drift and noise of finite groups, to leading order in 1/G.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["dead_groups", "mean_ddof_0", "mean_ddof_1", "std_ddof_0", "std_ddof_1"]

@kernel
def std_ddof_0(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    c0 = 1 - p
    c1 = 1/G
    c2 = 2*p - 1
    c3 = c2*c2
    return (
        np.sqrt(c0*p)*((8 - c1/(c0*p))/8),
        c1*c3/4,
    )


@kernel
def std_ddof_1(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    c0 = 1 - p
    c1 = 1/G
    c2 = 1 - c1
    c3 = 2*p - 1
    c4 = c3*c3
    return (
        np.sqrt(c2)*np.sqrt(c0*p)*((8 - c1/(c0*p))/8),
        c1*c2*c4/4,
    )


@kernel
def mean_ddof_0(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    c0 = 1/G
    c1 = p*(1 - p)
    c2 = 2*p - 1
    c3 = c2*c2
    return (
        c1*(1 - c0),
        c0*c1*c3,
    )


@kernel
def mean_ddof_1(*, p: ArrayLike, G: ArrayLike) -> tuple[Array, Array]:
    r"""drift, drift_variance, from prop-10.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    c0 = 1/G
    c1 = p*(1 - p)
    c2 = 2*p - 1
    c3 = c2*c2
    return (
        c1*(1 - c0),
        c0*c1*c3,
    )


@kernel
def dead_groups(*, p: ArrayLike, G: ArrayLike) -> Array:
    r"""dead_groups, from dead-groups.

    p : success probability [1]
    G : group_size: completions per prompt [1]
    """
    return p**G + (1 - p)**G
