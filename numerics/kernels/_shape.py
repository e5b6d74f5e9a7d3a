r"""What all kernels have in common (hand-written, like `_blocks`; the rest is generated).

A kernel's source is its formula and nothing else. Here its arguments become float64 or stay exact,
its outputs get the broadcast shape, and many points are evaluated in blocks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from numerics.kernels._blocks import BLOCK, in_blocks

__all__ = ["Array", "ArrayLike", "kernel"]

Array = npt.NDArray[np.float64] | np.float64
ArrayLike = npt.ArrayLike

_Arguments = ParamSpec("_Arguments")
_Outputs = TypeVar("_Outputs")


def kernel(formula: Callable[_Arguments, _Outputs]) -> Callable[_Arguments, _Outputs]:
    """Evaluate `formula` over whatever its keyword arguments broadcast to.

    If all arguments are integers or fractions they are passed on as they are, so that a formula
    without roots is computed exactly. Otherwise each becomes float64, which neither overflows nor
    refuses negative powers as integers do. An output has the full shape, also where the formula is
    constant along some axes, and never shares its memory with an argument.
    """

    call: Callable[..., Any] = formula

    @functools.wraps(formula)
    def evaluated(**arguments: Any) -> Any:
        if all(isinstance(value, Fraction | int) for value in arguments.values()):
            return call(**arguments)
        values = {k: np.asarray(v, dtype=np.float64)[()] for k, v in arguments.items()}
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
        if math.prod(shape) > BLOCK:
            return in_blocks(call, values, shape)
        outputs = call(**values)
        if isinstance(outputs, tuple):
            return tuple(_full(output, values, shape) for output in outputs)
        return _full(outputs, values, shape)

    return evaluated  # type: ignore[return-value]  # the formula's own signature


def _full(output: Any, values: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """Return an output of its own, with the full shape."""
    if not shape:
        return np.float64(output)
    if np.shape(output) == shape and not any(output is value for value in values.values()):
        return output
    full = np.empty(shape)
    full[...] = output
    return full
