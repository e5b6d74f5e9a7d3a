"""Fixed points of the two-arm bandit.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["k3_fixed_point", "k3_map", "reverse_map", "stiffness"]

def reverse_map(*, beta: ArrayLike, p: ArrayLike, p_ref: ArrayLike, eps: ArrayLike) -> Array:
    r"""map, from fixed-point.

    beta : weight of the KL anchor [1]
    p : success probability [1]
    p_ref : success probability of the reference policy [1]
    eps : added to the variance (or the std) of rewards [reward^2]
    """
    beta, p, p_ref, eps = floats(beta, p, p_ref, eps)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p), np.shape(p_ref), np.shape(eps))
    return shaped(1/(1 - (p_ref - 1)*np.exp(-1/(beta*np.sqrt(eps - p*(p - 1))))/p_ref), shape)


def k3_map(*, beta: ArrayLike, p: ArrayLike, p_ref: ArrayLike, eps: ArrayLike) -> Array:
    r"""map, from fixed-point.

    beta : weight of the KL anchor [1]
    p : success probability [1]
    p_ref : success probability of the reference policy [1]
    eps : added to the variance (or the std) of rewards [reward^2]
    """
    beta, p, p_ref, eps = floats(beta, p, p_ref, eps)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p), np.shape(p_ref), np.shape(eps))
    c0 = p*(p - 1)
    return shaped(p_ref - c0/(beta*np.sqrt(-c0 + eps)), shape)


def k3_fixed_point(*, beta: ArrayLike, p_ref: ArrayLike) -> Array:
    r"""p_star, from fixed-point.

    beta : weight of the KL anchor [1]
    p_ref : success probability of the reference policy [1]
    """
    beta, p_ref = floats(beta, p_ref)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p_ref))
    c0 = beta**2
    c1 = 4*c0
    return shaped((2*c0*p_ref + np.sqrt(-c1*p_ref**2 + c1*p_ref + 1) + 1)/(c0 + 1)/2, shape)


def stiffness(*, beta: ArrayLike, p_star: ArrayLike) -> tuple[Array, Array]:
    r"""stiffness, contraction, from lemma-3.

    beta : weight of the KL anchor [1]
    p_star : success probability at the fixed point [1]
    """
    beta, p_star = floats(beta, p_star)
    shape = np.broadcast_shapes(np.shape(beta), np.shape(p_star))
    c0 = p_star*(p_star - 1)
    c1 = np.sqrt(-c0)
    c2 = (2*p_star - 1)/2
    return (
        shaped(-beta*c0 - c1*c2, shape),
        shaped(c2/(beta*c1), shape),
    )
