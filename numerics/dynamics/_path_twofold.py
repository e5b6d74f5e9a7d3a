r"""Arrays of numbers with twice the digits of a float: each the unevaluated sum of two floats.

106 bits, a relative rounding error of about 1e-32. A path of 1e9 steps multiplies the rounding
error of one step by its length, so at 53 bits nothing would be left of the promised twelve digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.exact.oscillator import exact_product, halves

__all__ = ["Factor", "SumOfProducts", "Twofold"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Twofold:
    """``high + low``, with `low` at most half a unit in the last place of `high`."""

    high: FloatArray
    low: FloatArray

    @classmethod
    def of(cls, value: ArrayLike) -> Twofold:
        """Return floats as they are."""
        high = np.asarray(value, dtype=np.float64)
        return cls(high, np.zeros_like(high))

    @classmethod
    def rows(cls, values: Sequence[Twofold]) -> Twofold:
        """Stack along a new first axis."""
        high = np.broadcast_arrays(*(value.high for value in values))
        low = np.broadcast_arrays(*(value.low for value in values))
        return cls(np.stack(high), np.stack(low))

    def __getitem__(self, key: Any) -> Twofold:
        return Twofold(self.high[key], self.low[key])

    def __neg__(self) -> Twofold:
        return Twofold(-self.high, -self.low)

    def __add__(self, other: Twofold) -> Twofold:
        # Accurate also where the high parts cancel.
        high, error = _two_sum(self.high, other.high)
        low, rest = _two_sum(self.low, other.low)
        high, error = _fast_two_sum(high, error + low)
        return Twofold(*_fast_two_sum(high, error + rest))

    def __sub__(self, other: Twofold) -> Twofold:
        return self + -other

    def __mul__(self, other: Twofold) -> Twofold:
        high, error = exact_product(self.high, other.high)
        cross = self.high * other.low + self.low * other.high
        return Twofold(*_fast_two_sum(high, error + cross))

    def times_power_of_two(self, exponent: NDArray[np.integer[Any]] | int) -> Twofold:
        """Return ``self * 2**exponent``, exact unless it leaves the range of floats."""
        power = np.asarray(exponent, dtype=np.int32)
        return Twofold(np.ldexp(self.high, power), np.ldexp(self.low, power))


class Factor(NamedTuple):
    """A `Twofold` ready to be multiplied often: its high part also split into halves."""

    high: FloatArray
    upper: FloatArray
    lower: FloatArray
    low: FloatArray

    @classmethod
    def of(cls, value: Twofold) -> Factor:
        """Split."""
        return cls(value.high, *halves(value.high), value.low)

    def part(self, key: Any) -> Factor:
        """Return the chosen elements."""
        return Factor(*(array[key] for array in self))

    def signed(self, sign: FloatArray | float) -> Factor:
        """Return the product with a power of two, or with its negative."""
        return Factor(*(sign * array for array in self))


class SumOfProducts:
    r"""A sum of products, rounded once: its error is 1e-32 of the sum of their moduli."""

    def __init__(self, start: Twofold) -> None:
        self.high, self.low = start.high.copy(), start.low.copy()

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> SumOfProducts:
        """Return the empty sum."""
        return cls(Twofold.of(np.zeros(shape)))

    def add(self, where: Any, a: Factor, b: Factor) -> None:
        """Add ``a*b`` to the elements `where`."""
        product = a.high * b.high
        error = ((a.upper * b.upper - product) + a.upper * b.lower + a.lower * b.upper) + (
            a.lower * b.lower
        )
        error += a.high * b.low
        error += a.low * b.high
        self.high[where], rest = _two_sum(self.high[where], product)
        error += rest
        self.low[where] += error

    def value(self, where: Any = ...) -> Twofold:
        """Return the sum so far."""
        return Twofold(*_fast_two_sum(self.high[where], self.low[where]))


def _two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded sum and its rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _fast_two_sum(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the rounded sum and its rounding error where ``|a| >= |b|`` (Dekker)."""
    total = a + b
    return total, b - (total - a)
