"""What a family of curves is: data, so that one mechanism fits them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import exp, log
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Basis", "Coordinate", "Family", "Readings"]

FloatArray = NDArray[np.float64]

#: Durations shorter than this many rows are not looked for.
_BETWEEN_ROWS = 0.3

#: Basis functions, shape (rows, linear), and their derivatives in each coordinate, shape
#: (coordinates, rows, linear).
Basis: TypeAlias = tuple[FloatArray, FloatArray]

#: Quantities of a fitted curve by name; times are since the origin.
Readings: TypeAlias = dict[str, float]


@dataclass(frozen=True)
class Coordinate:
    """One nonlinear parameter: where it may lie and where a search starts.

    With `unit` ``"span"``, `low`, `high` and `starts` are in units of the time of the last row.
    Logarithmic coordinates are searched in their logarithm.
    """

    name: str
    meaning: str
    unit: str
    logarithmic: bool
    low: float
    high: float
    starts: tuple[float, ...]

    def inner(self, share: float) -> float:
        """Return where the search sees a value given in units of the span."""
        return log(share) if self.logarithmic else share

    def outer(self, inner: float, span: float) -> float:
        """Return the value in the units it is reported in."""
        value = exp(inner) if self.logarithmic else inner
        return value * span if self.unit == "span" else value

    def slope(self, inner: float, span: float) -> float:
        """Return the derivative of `outer` in the inner coordinate."""
        if self.logarithmic:
            return self.outer(inner, span)
        return span if self.unit == "span" else 1.0


@dataclass(frozen=True, eq=False)
class Family:
    r"""A family of curves, linear in amplitudes and nonlinear in a few coordinates.

    Attributes
    ----------
    name, law, source
        Its name, its formula, and where that comes from, with provenance.
    coordinates
        The nonlinear parameters.
    basis
        From times (rows,) and coordinates to `Basis`. Derivatives are in the logarithm of a
        logarithmic coordinate and in the value of another. The first function is 1.
    plateau
        What times the amplitudes is R_inf, shape (linear,).
    read
        From coordinates by name and amplitudes to quantities.
    starts_at_low
        Whether the first amplitude is the reward of failure: where the bounds of the reward are
        known it is then the lower one.
    """

    name: str
    law: str
    source: str
    coordinates: tuple[Coordinate, ...]
    basis: Callable[[FloatArray, tuple[float, ...]], Basis]
    plateau: tuple[float, ...]
    read: Callable[[Mapping[str, float], FloatArray], Readings]
    starts_at_low: bool = False

    @property
    def linear(self) -> int:
        """Number of amplitudes."""
        return len(self.plateau)

    @property
    def size(self) -> int:
        """Number of parameters of the curve."""
        return len(self.coordinates) + self.linear

    def box(self) -> tuple[FloatArray, FloatArray]:
        """Return the ends of every inner coordinate."""
        low = [c.inner(c.low) for c in self.coordinates]
        high = [c.inner(c.high) for c in self.coordinates]
        return np.array(low), np.array(high)

    def starts(self) -> list[FloatArray]:
        """Return the grid of starts, inner coordinates."""
        axes = ([c.inner(start) for start in c.starts] for c in self.coordinates)
        return [np.array(point) for point in product(*axes)]

    def resolved(self, rows: int) -> Family:
        """Return the family without what happens between two of so many rows."""
        least = _BETWEEN_ROWS / rows
        return replace(
            self,
            coordinates=tuple(
                replace(c, low=max(c.low, least)) if c.logarithmic and c.unit == "span" else c
                for c in self.coordinates
            ),
        )

    def values(self, inner: FloatArray, span: float) -> dict[str, float]:
        """Return the coordinates in the units they are reported in."""
        pairs = zip(self.coordinates, inner.tolist(), strict=True)
        return {coordinate.name: coordinate.outer(a, span) for coordinate, a in pairs}

    def at(self, time: FloatArray, inner: FloatArray, span: float) -> Basis:
        """Return basis and derivatives in the inner coordinates, 0 where one is held at its end."""
        asked = inner.tolist()
        held = [
            min(max(a, low), high) for a, low, high in zip(asked, *self._ends, strict=True)
        ]
        values = tuple(c.outer(a, span) for c, a in zip(self.coordinates, held, strict=True))
        phi, slopes = self.basis(time, values)
        for j, coordinate in enumerate(self.coordinates):
            if held[j] != asked[j]:
                slopes[j] = 0.0
            elif not coordinate.logarithmic:
                slopes[j] *= coordinate.slope(held[j], span)
        return phi, slopes

    @cached_property
    def _ends(self) -> tuple[list[float], list[float]]:
        low, high = self.box()
        return low.tolist(), high.tolist()
