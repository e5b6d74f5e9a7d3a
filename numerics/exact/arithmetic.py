r"""Arithmetic with as many digits as a question needs.

Slow roots, double roots and stability borders each cost a float half its digits or all of them.
Scalar questions are therefore answered in decimal arithmetic whose precision is chosen from the
exact inputs, and rounded once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction

from numerics.exact.configuration import Configuration

__all__ = ["Complex", "close", "decimal", "digits_for", "magnitude", "power", "working"]


@contextmanager
def working(digits: int) -> Iterator[None]:
    """Compute with `digits` significant decimal digits, and with exponents that never overflow."""
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        yield


def decimal(value: Fraction | int) -> Decimal:
    """Return `value` rounded to the working precision."""
    return Decimal(value.numerator) / Decimal(value.denominator)


def magnitude(value: Fraction) -> int:
    """Return ``|log10 |value||`` to within one, and 0 for 0."""
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    return abs(bits) * 3 // 10 if value else 0


def digits_for(c: Configuration, x: Fraction = Fraction(1)) -> int:
    r"""Return the digits after which 50 are left, whatever cancels.

    A slow root is 1 - O(x), the other root may be as close as 1 - mu, the fresh stiffness is
    (1 - s) x; each may be subtracted from a number near 1, and products of two of them occur.
    """
    scales = (x, c.momentum, 1 - c.momentum, c.share, 1 - c.share)
    return 50 + 2 * sum(map(magnitude, scales)) + 2 * len(str(c.delay))


def close(a: Decimal, b: Decimal, digits: int) -> bool:
    """Whether two numbers agree to that many significant digits."""
    return abs(a - b) <= max(abs(a), abs(b)).scaleb(-digits)


def power(trace: Decimal, det: Decimal, n: int) -> tuple[Decimal, Decimal]:
    r"""Return ``(alpha, beta)`` with ``S**n = alpha S + beta I`` for 2 x 2 S of that trace and det.

    By Cayley and Hamilton ``S**2 = trace S - det``, so powers stay in the span of S and I; repeated
    squaring needs O(log n) products. alpha is the Lucas sequence U_n(trace, det).
    """
    alpha, beta = Decimal(0), Decimal(1)
    for bit in bin(n)[2:]:
        alpha, beta = alpha * (alpha * trace + 2 * beta), beta * beta - det * alpha * alpha
        if bit == "1":
            alpha, beta = alpha * trace + beta, -det * alpha
    return alpha, beta


@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number with decimal parts."""

    re: Decimal
    im: Decimal = Decimal(0)

    def __add__(self, other: Complex) -> Complex:
        return Complex(self.re + other.re, self.im + other.im)

    def __sub__(self, other: Complex) -> Complex:
        return Complex(self.re - other.re, self.im - other.im)

    def __mul__(self, other: Complex) -> Complex:
        a, b, c, d = self.re, self.im, other.re, other.im
        return Complex(a * c - b * d, a * d + b * c)

    def __truediv__(self, other: Complex) -> Complex:
        a, b, c, d, size = self.re, self.im, other.re, other.im, other.squared
        return Complex((a * c + b * d) / size, (b * c - a * d) / size)

    def __pow__(self, n: int) -> Complex:
        result = Complex(Decimal(1))
        for bit in bin(n)[2:]:
            result = result * result
            if bit == "1":
                result = result * self
        return result

    @property
    def squared(self) -> Decimal:
        """The squared modulus."""
        return self.re * self.re + self.im * self.im

    def __complex__(self) -> complex:
        return complex(float(self.re), float(self.im))
