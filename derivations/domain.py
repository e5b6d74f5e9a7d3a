"""One declaration of a legal domain: it validates, draws, bounds the solver and documents."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import count

__all__ = ["Domain", "DomainError", "rational"]

#: An exponent beyond this would make an integer of as many digits as it says.
_EXPONENT = re.compile(r"[eE][+-]?0*([1-9]\d{3}|[3-9]\d\d)")

#: Beyond any quantity a claim names; keeps drawn points of unbounded domains finite.
_FAR = Fraction(64)


class DomainError(ValueError):
    """A value outside the domain its quantity is declared on."""


def rational(value: object) -> Fraction:
    """Return `value` as an exact rational.

    Decimals are read as printed (``0.1`` is 1/10), because a bound written in a file means the
    decimal and not its nearest binary float.

    Raises
    ------
    DomainError
        If `value` is not a finite number.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise DomainError(f"{value!r} is not a number; write a decimal or a fraction like 1/3")
    if isinstance(value, float):
        if not math.isfinite(value):
            raise DomainError(f"{value} is not a finite number")
        value = repr(value)
    if isinstance(value, str) and (len(value) > 80 or _EXPONENT.search(value)):
        raise DomainError(f"{value[:40]!r} is too long or too large a number to be read exactly")
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError) as error:
        raise DomainError(
            f"{value!r} is not a number; write a decimal or a fraction like 1/3"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Domain:
    """An interval of rationals or integers, each end open, closed or absent.

    Parameters
    ----------
    low, high
        Ends; ``None`` is unbounded.
    low_open, high_open
        Whether the end itself is excluded.
    integer
        Whether only integers belong.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    low_open: bool = False
    high_open: bool = False
    integer: bool = False

    def __contains__(self, value: object) -> bool:
        number = rational(value)
        if self.integer and number.denominator != 1:
            return False
        if self.low is not None and (number < self.low or (self.low_open and number == self.low)):
            return False
        return self.high is None or not (
            number > self.high or (self.high_open and number == self.high)
        )

    def validate(self, name: str, value: object) -> Fraction:
        """Return `value` as a rational, or raise saying what is allowed.

        Raises
        ------
        DomainError
            If `value` is not a number or lies outside the domain.
        """
        try:
            number = rational(value)
        except DomainError as error:
            raise DomainError(f"{name}: {error}") from error
        if number not in self:
            raise DomainError(f"{name} = {value} is outside its domain; give {name} in {self}")
        return number

    def intersect(self, other: Domain) -> Domain:
        """Return the common part of both domains, integers if either is."""
        low, low_open = max((self._low_key(), self.low_open), (other._low_key(), other.low_open))
        high, high_closed = min(
            (self._high_key(), not self.high_open), (other._high_key(), not other.high_open)
        )
        return Domain(
            low=None if low == -math.inf else Fraction(low),
            high=None if high == math.inf else Fraction(high),
            low_open=low_open,
            high_open=not high_closed,
            integer=self.integer or other.integer,
        )

    def _low_key(self) -> Fraction | float:
        return -math.inf if self.low is None else self.low

    def _high_key(self) -> Fraction | float:
        return math.inf if self.high is None else self.high

    @property
    def empty(self) -> bool:
        """Whether no number belongs."""
        if self.integer:
            return next(self.integers(), None) is None
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def integers(self) -> Iterator[int]:
        """Iterate over the integers of the domain, from the end nearest zero outwards."""
        if self.low is None and self.high is None:
            yield 0
            for n in count(1):
                yield from (n, -n)
        elif self.low is not None:
            n = math.ceil(self.low)
            n += int(self.low_open and n == self.low)
            while Fraction(n) in self:
                yield n
                n += 1
        else:
            assert self.high is not None
            n = math.floor(self.high)
            n -= int(self.high_open and n == self.high)
            while True:
                yield n
                n -= 1

    @property
    def finite(self) -> bool:
        """Whether the domain is a finite set of integers."""
        return self.integer and self.low is not None and self.high is not None

    def simple(self, height: int) -> list[Fraction]:
        """Return the members with numerator and denominator at most `height`, simplest first.

        The order (denominator plus numerator, then value) is what makes the first counterexample
        found the smallest one: a person would try 0, 1, 1/2, 2, 1/3 in this order.
        """
        denominators = range(1, 2 if self.integer else height + 1)
        found = {
            Fraction(sign * numerator, denominator)
            for denominator in denominators
            for numerator in range(height + 1)
            for sign in (1, -1)
        }
        return sorted(
            (value for value in found if value in self),
            key=lambda v: (v.denominator + abs(v.numerator), v.denominator, v < 0),
        )

    def draw(self, source: random.Random, bits: int = 12) -> Fraction:
        """Draw one member: an end, a point close to an end, or one in between."""
        high = self.high
        if high is None:
            high = _FAR if self.low is None else self.low + _FAR
        low = self.low if self.low is not None else high - 2 * _FAR
        if self.integer:
            return Fraction(source.randint(math.ceil(low), math.floor(high)))
        kind = source.random()
        scale = 2**bits
        if kind < 0.1 and low in self:
            return low
        if kind < 0.2 and high in self:
            return high
        step = Fraction(source.randint(1, scale - 1), scale)
        if kind < 0.4:  # close to an end: formulas differ most there
            step = step / 2 ** source.randint(4, 20)
            if source.random() < 0.5:
                step = 1 - step
        return low + (high - low) * step

    def some(self) -> Fraction:
        """Return one member: the simplest that is easily found, or one drawn."""
        simple = self.simple(8)
        return simple[0] if simple else self.draw(random.Random(0))

    def just_outside(self) -> list[Fraction]:
        """Return the points an off-by-one or a wrong strictness would let in."""
        step = Fraction(1) if self.integer else Fraction(1, 10**6)
        ends = []
        if self.low is not None:
            ends.append(self.low if self.low_open else self.low - step)
        if self.high is not None:
            ends.append(self.high if self.high_open else self.high + step)
        return [end for end in ends if end not in self]

    def closed(self) -> Domain:
        """Return the domain with its finite ends included."""
        return replace(self, low_open=False, high_open=False)

    def __str__(self) -> str:
        left = "(" if self.low_open or self.low is None else "["
        right = ")" if self.high_open or self.high is None else "]"
        low = "-inf" if self.low is None else str(self.low)
        high = "inf" if self.high is None else str(self.high)
        return f"{'integers in ' if self.integer else ''}{left}{low}, {high}{right}"
