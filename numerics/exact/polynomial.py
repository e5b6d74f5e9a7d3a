r"""The characteristic polynomial under constant lag, and what can be read off its coefficients.

However long the lag, the polynomial has at most six terms. Everything here uses that: values cost
O(log lag), real roots are isolated through the few derivatives a few-term polynomial has, and the
Schur-Cohn recursion costs O(lag) instead of O(lag**2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, getcontext
from fractions import Fraction
from itertools import pairwise
from typing import TypeVar

from numerics.exact.arithmetic import Complex, decimal
from numerics.exact.configuration import Configuration, ConfigurationError, Number, exact_stiffness

__all__ = [
    "Polynomial",
    "characteristic",
    "characteristic_polynomial",
    "combined",
    "complex_value",
    "derivative",
    "positive_roots",
    "product",
    "reflections",
    "rounded",
    "trimmed",
    "value",
]

T = TypeVar("T", Decimal, Fraction)

#: Power to coefficient; absent powers have coefficient 0.
Polynomial = dict[int, Decimal]


def trimmed(poly: Mapping[int, Fraction]) -> dict[int, Fraction]:
    """Return `poly` without zero terms and without its roots at 0."""
    terms = {power: value for power, value in poly.items() if value}
    lowest = min(terms)
    return {power - lowest: value for power, value in terms.items()}


def characteristic(c: Configuration, x: Fraction) -> dict[int, Fraction]:
    r"""Return ``z**d [(z-1)(z-mu) + x_f (g0 z + g1)] + x_s (g0 z + g1)``, trimmed.

    It is chi(z) of the theory times a power of z (section 1; stated for heavy ball, extension for
    the gain ``G = g0 + g1/z`` of the other optimizers). Its roots at 0, if any, are left out.
    """
    if not c.constant:
        raise ConfigurationError(
            "the sawtooth lag model has a monodromy matrix, not a characteristic polynomial;"
            " ask for monodromy"
        )
    g0, g1 = c.recurrence.gain
    fresh, stale = (1 - c.share) * x, c.share * x
    now = {2: Fraction(1), 1: fresh * g0 - 1 - c.momentum, 0: fresh * g1 + c.momentum}
    before = {1: stale * g0, 0: stale * g1}
    return trimmed(combined(product({c.delay: Fraction(1)}, now), before))


def characteristic_polynomial(c: Configuration, x: Number) -> tuple[Fraction, ...]:
    """Return the monic characteristic polynomial of least degree, highest power first, exactly.

    Roots at 0 are divided out, so at lag 0 without momentum and x = 1 it is the constant 1.

    Raises
    ------
    ConfigurationError
        If `x` is not above 0, or the lag is not constant.
    """
    poly = characteristic(c, exact_stiffness(x))
    return tuple(poly.get(power, Fraction(0)) for power in range(max(poly), -1, -1))


def rounded(poly: Mapping[int, Fraction]) -> Polynomial:
    """Return `poly` at the working precision, without zero terms."""
    return {power: decimal(value) for power, value in poly.items() if value}


def derivative(poly: Mapping[int, T]) -> dict[int, T]:
    """Return the derivative."""
    return {power - 1: value * power for power, value in poly.items() if power}


def combined(one: Mapping[int, T], other: Mapping[int, T]) -> dict[int, T]:
    """Return the sum of two polynomials."""
    result = dict(one)
    for power, value in other.items():
        result[power] = result[power] + value if power in result else value
    return result


def product(one: Mapping[int, T], other: Mapping[int, T]) -> dict[int, T]:
    """Return the product of two polynomials."""
    result: dict[int, T] = {}
    for i, a in one.items():
        result = combined(result, {i + j: a * b for j, b in other.items()})
    return result


def value(poly: Polynomial, z: Decimal) -> Decimal:
    """Return the value of `poly` at a real point."""
    return sum((c * z**power for power, c in poly.items()), Decimal(0))


def complex_value(poly: Polynomial, z: Complex) -> Complex:
    """Return the value of `poly` at a complex point, by Horner's rule over the gaps."""
    powers = sorted(poly, reverse=True)
    total = Complex(Decimal(0))
    for power, lower in zip(powers, [*powers[1:], 0], strict=True):
        total = (total + Complex(poly[power])) * z ** (power - lower)
    return total


def reflections(poly: Polynomial) -> Iterator[Decimal]:
    r"""Yield the reflection coefficients of the Schur-Cohn (Jury, backward Levinson) recursion.

    All roots lie inside the unit circle iff all coefficients have modulus below 1; the iteration
    ends after the first that has not. The recursion takes ``a_i`` to
    ``(a_i - k a_{m-i})/(1 - k**2)``, ``k = a_m``. A polynomial with few terms at its two ends keeps
    that shape, so a step costs O(1).
    """
    degree = max(poly)
    a = {degree - power: c / poly[degree] for power, c in poly.items()}
    for m in range(degree, 0, -1):
        k = a.get(m, Decimal(0))
        yield k
        if abs(k) >= 1:
            return
        if k:
            scale = 1 / (1 - k * k)
            places = {i for j in a for i in (j, m - j) if i < m}
            zero = Decimal(0)
            a = {i: (a.get(i, zero) - k * a.get(m - i, zero)) * scale for i in places}


def positive_roots(
    poly: Polynomial, lo: Decimal | None = None, hi: Decimal | None = None
) -> list[Decimal]:
    r"""Return the roots in (lo, hi), ascending; a root without change of sign is listed twice.

    By Rolle's theorem the roots are separated by those of the derivative, which, divided by its
    lowest power, has one term fewer. A critical point decides a double root: its value is either
    0 to the working precision or its sign says on which side of the axis the polynomial turns.

    The default interval is all of the positive axis.
    """
    if len(poly) < 2:
        return []
    lowest, highest = min(poly), max(poly)
    poly = {power - lowest: c for power, c in poly.items()}
    sizes = [abs(c) for c in poly.values()]
    if lo is None:
        lo = abs(poly[0]) / (2 * max(sizes))  # Cauchy's bounds, with a margin
    if hi is None:
        hi = 2 * max(sizes) / abs(poly[highest - lowest])
    slope = derivative(poly)
    turns = sorted(set(positive_roots(slope, lo, hi)))
    ends = [lo, *turns, hi]
    signs = [_sign(poly, z) for z in ends]
    roots = []
    for (left, right), (before, after) in zip(pairwise(ends), pairwise(signs), strict=True):
        if before * after < 0:
            roots.append(_bracketed(poly, slope, left, right, before))
    for turn, before, sign, after in zip(turns, signs, signs[1:], signs[2:], strict=False):
        if sign == 0:
            roots += [turn] if before * after < 0 else [turn, turn]
    return sorted(roots)


def _sign(poly: Polynomial, z: Decimal) -> int:
    """Return the sign of the value at `z`, 0 if rounding could have made it."""
    terms = [c * z**power for power, c in poly.items()]
    total = sum(terms, Decimal(0))
    noise = max(map(abs, terms)).scaleb(8 - getcontext().prec)
    return 0 if abs(total) <= noise else (1 if total > 0 else -1)


def _bracketed(
    poly: Polynomial, slope: Polynomial, lo: Decimal, hi: Decimal, sign_lo: int
) -> Decimal:
    """Newton's method kept inside a bracket of positive numbers, on which `poly` is monotone."""
    tolerance = Decimal(1).scaleb(4 - getcontext().prec)
    z = (lo * hi).sqrt()
    last = hi - lo
    while True:
        height = value(poly, z)
        if height * sign_lo > 0:
            lo = z
        else:
            hi = z
        steep = value(slope, z)
        step = height / steep if steep else last
        if 2 * abs(step) > abs(last) or not lo <= z - step <= hi:
            step = z - (lo * hi).sqrt()  # Newton is not converging: halve the logarithmic bracket
        z, last = z - step, step
        if abs(step) <= tolerance * z or height == 0:
            return z
