"""Shapes of kernel arguments and outputs (the only hand-written module of this package)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "ArrayLike", "floats", "shaped"]

Array = npt.NDArray[np.float64] | np.float64
ArrayLike = npt.ArrayLike


def floats(*values: ArrayLike) -> tuple[Any, ...]:
    """Return every value as a float64 array or scalar; exact rationals stay exact.

    A kernel without roots then computes exactly, if all its arguments are fractions or integers.
    """
    if all(isinstance(value, Fraction | int) for value in values):
        return values
    return tuple(np.asarray(value, dtype=np.float64)[()] for value in values)


def shaped(value: Any, shape: tuple[int, ...]) -> Any:
    """Return `value` with the full broadcast shape, also when the formula is constant in some axes."""
    if np.shape(value) == shape:
        return value
    return np.array(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))[()]
