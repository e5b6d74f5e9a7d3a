"""Fixed points of the two-arm bandit.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["k3_fixed_point", "k3_map", "reverse_map", "stiffness"]

@kernel
def reverse_map(*, beta: ArrayLike, p: ArrayLike, p_ref: ArrayLike, eps: ArrayLike) -> Array:
    r"""map, from fixed-point.

    beta : weight of the KL anchor [1]
    p : success probability [1]
    p_ref : success probability of the reference policy [1]
    eps : added to the variance (or the std) of rewards [reward^2]
    """
    return 1/(1 + (1 - p_ref)*np.exp(-1/(beta*np.sqrt(eps + p*(1 - p))))/p_ref)


@kernel
def k3_map(*, beta: ArrayLike, p: ArrayLike, p_ref: ArrayLike, eps: ArrayLike) -> Array:
    r"""map, from fixed-point.

    beta : weight of the KL anchor [1]
    p : success probability [1]
    p_ref : success probability of the reference policy [1]
    eps : added to the variance (or the std) of rewards [reward^2]
    """
    c0 = p*(p - 1)
    return p_ref - c0/(beta*np.sqrt(eps - c0))


@kernel
def k3_fixed_point(*, beta: ArrayLike, p_ref: ArrayLike) -> Array:
    r"""p_star, from fixed-point.

    beta : weight of the KL anchor [1]
    p_ref : success probability of the reference policy [1]
    """
    c0 = beta*beta
    c1 = c0*p_ref
    return (2*c1 + np.sqrt(1 - 4*c1*(p_ref - 1)) + 1)/(c0 + 1)/2


@kernel
def stiffness(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array]:
    r"""stiffness, contraction, from lemma-3.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    c0 = p_star*(p_star - 1)
    c1 = np.sqrt(-c0)
    c2 = (2*p_star - 1)/2
    return (
        -beta*c0 - c1*c2,
        c2/(beta*c1),
    )
