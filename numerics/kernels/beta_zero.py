"""Rate and acceleration of the success probability at beta = 0.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, floats, shaped

__all__ = ["mean", "std"]

def std(*, eta: ArrayLike, p: ArrayLike) -> tuple[Array, Array]:
    r"""rate, acceleration, from no-kl.

    eta : step size (learning rate) [1]
    p : success probability [1]
    """
    eta, p = floats(eta, p)
    shape = np.broadcast_shapes(np.shape(eta), np.shape(p))
    c0 = p - 1
    return (
        shaped(eta*(-c0*p)**(3/2), shape),
        shaped(-3*c0**2*eta**2*p**2*(2*p - 1)/2, shape),
    )


def mean(*, eta: ArrayLike, p: ArrayLike) -> tuple[Array, Array]:
    r"""rate, acceleration, from no-kl.

    eta : step size (learning rate) [1]
    p : success probability [1]
    """
    eta, p = floats(eta, p)
    shape = np.broadcast_shapes(np.shape(eta), np.shape(p))
    c0 = p - 1
    return (
        shaped(c0**2*eta*p**2, shape),
        shaped(2*c0**3*eta**2*p**3*(2*p - 1), shape),
    )
