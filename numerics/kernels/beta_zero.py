"""Rate and acceleration of the success probability at beta = 0.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from __future__ import annotations

import numpy as np

from numerics.kernels._shape import Array, ArrayLike, kernel

__all__ = ["mean", "std"]

@kernel
def std(*, eta: ArrayLike, p: ArrayLike) -> tuple[Array, Array]:
    r"""rate, acceleration, from no-kl.

    eta : step size (learning rate) [1]
    p : success probability [1]
    """
    c0 = 1 - p
    c1 = c0*p
    c2 = np.sqrt(c1)
    c3 = c0*c0
    c4 = eta*eta
    c5 = p*p
    return (
        c1*c2*eta,
        3*c3*c4*c5*(1 - 2*p)/2,
    )


@kernel
def mean(*, eta: ArrayLike, p: ArrayLike) -> tuple[Array, Array]:
    r"""rate, acceleration, from no-kl.

    eta : step size (learning rate) [1]
    p : success probability [1]
    """
    c0 = p - 1
    c1 = c0*c0
    c2 = p*p
    c3 = c0*c1
    c4 = eta*eta
    c5 = c2*p
    return (
        c1*c2*eta,
        2*c3*c4*c5*(2*p - 1),
    )
