"""What every numerical function checks before it does any work."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

#: A float, a `fractions.Fraction` or an array of either: whatever has the arithmetic of a field.
Values: TypeAlias = Any


class InvalidInput(ValueError):
    """An argument outside its domain; the message says what was given and what is allowed."""


class UnknownName(InvalidInput):
    """A name that is not one of the published conventions; the message has the nearest one."""


def known_name(what: str, name: object, allowed: Iterable[str]) -> str:
    """Return `name` if it is allowed, else raise `UnknownName` with the nearest allowed one."""
    choices = list(allowed)
    if isinstance(name, str) and name in choices:
        return name
    near = difflib.get_close_matches(str(name).lower().replace("_", "-"), choices, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    raise UnknownName(f"{what} {name!r} is unknown{hint}: use one of {', '.join(choices)}")


def whole_number(what: str, value: object, *, least: int) -> int:
    """Return `value` as an `int` that is at least `least`; a bool or a float is refused."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | np.integer):
        raise InvalidInput(f"{what} is {value!r}: give a whole number >= {least}")
    if value < least:
        raise InvalidInput(f"{what} is {value}: it must be >= {least}")
    return int(value)


def whole_numbers(what: str, values: object, *, least: int) -> tuple[int, ...]:
    """Return several values as `whole_number` does one; a single one is refused."""
    if not isinstance(values, Iterable):
        raise InvalidInput(f"{what} is {values!r}: give a sequence of whole numbers >= {least}")
    return tuple(whole_number(f"an entry of {what}", value, least=least) for value in values)


def exact_number(what: str, value: object) -> Fraction:
    """Return a finite real number as exactly the rational it is; text and bools are refused."""
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, Real) or isinstance(value, bool):
        raise InvalidInput(f"{what} is {value!r}: give a real number")
    if isinstance(value, int):
        return Fraction(value)
    if not math.isfinite(value):
        raise InvalidInput(f"{what} is {value!r}: give a finite number")
    return Fraction(float(value))


def check_type(what: str, value: object, kinds: type | tuple[type, ...], give: str) -> None:
    """Refuse a value of another type; `give` says what to give instead."""
    if not isinstance(value, kinds):
        raise InvalidInput(f"{what} is {value!r}: give {give}")


def rectangular(what: str, value: Values) -> NDArray[Any]:
    """Return `value` as an array; rows of different lengths make none."""
    try:
        return np.asarray(value)
    except ValueError:
        raise InvalidInput(
            f"{what} has rows of different lengths: give a number or a rectangular array"
        ) from None


def numbers(**named: Values) -> dict[str, NDArray[Any]]:
    r"""Bring all arguments to one arithmetic, exact or floating point.

    If one argument is a `Fraction` (or an array of them), all must be integers or fractions and
    the run is exact: object arrays of `Fraction`. Otherwise all become float64. A mixture is
    refused, because one float would silently make an exact run inexact.

    Raises
    ------
    InvalidInput
        Not real numbers, not finite, rows of different lengths, or a float beside a `Fraction`.
    """
    arrays = {name: rectangular(name, value) for name, value in named.items()}
    exact = any(
        isinstance(value, Fraction)
        for array in arrays.values()
        if array.dtype == object
        for value in array.flat
    )
    convert = _as_fractions if exact else _as_floats
    return {name: convert(name, array) for name, array in arrays.items()}


def floats(**named: Values) -> dict[str, NDArray[np.float64]]:
    """Like `numbers`, for measurements that are made in floating point whatever is given."""
    return {name: np.asarray(array, dtype=np.float64) for name, array in numbers(**named).items()}


def common_shape(**named: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape that all shapes broadcast to, or raise `InvalidInput` listing them."""
    try:
        return np.broadcast_shapes(*named.values())
    except ValueError:
        shapes = ", ".join(f"{name} {shape}" for name, shape in named.items() if shape)
        raise InvalidInput(f"shapes do not broadcast: {shapes}") from None


def check_momentum(mu: NDArray[Any]) -> None:
    """Refuse momentum outside [0, 1)."""
    if not np.all((mu >= 0) & (mu < 1)):
        raise InvalidInput(f"mu is {_show(mu)}: momentum must lie in [0, 1)")


def check_positive(what: str, value: NDArray[Any]) -> None:
    """Refuse a step size or a dimensionless stiffness that is not positive."""
    if not np.all(value > 0):
        raise InvalidInput(f"{what} is {_show(value)}: it must be positive")


def _as_floats(name: str, array: NDArray[Any]) -> NDArray[np.float64]:
    if array.dtype.kind not in "iuf":
        raise InvalidInput(f"{name} is {_show(array)}: give real numbers")
    result = array.astype(np.float64)
    if not np.isfinite(result).all():
        raise InvalidInput(f"{name} is {_show(array)}: every value must be finite")
    return result


def _as_fractions(name: str, array: NDArray[Any]) -> NDArray[Any]:
    result = np.empty(array.shape, dtype=object)
    # astype(object) turns NumPy integers into Python's, so that no Fraction inherits 64 bits.
    for index, value in np.ndenumerate(array.astype(object)):
        if isinstance(value, Fraction | int) and not isinstance(value, bool):
            result[index] = Fraction(value)
        else:
            raise InvalidInput(
                f"{name} holds {value!r} beside a Fraction: an exact run takes only "
                "integers and fractions, a floating-point run no fractions"
            )
    return result


def _show(array: NDArray[Any]) -> str:
    return " ".join(
        str(array[()] if array.ndim == 0 else np.array2string(array, threshold=6)).split()
    )
