r"""Exactly on the stability border, or merely near it: decided, not rounded.

Only asked when an eigenvalue agrees with the unit circle to dozens of digits. A number made of the
given rationals that is not 0 cannot be smaller than its denominators allow; evaluating it with more
digits than that decides whether it is 0.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import lcm

from numerics.exact.arithmetic import Complex, decimal, working
from numerics.exact.configuration import Configuration
from numerics.exact.polynomial import characteristic, complex_value, rounded
from numerics.exact.refresh import invariants

__all__ = ["deciding_digits", "on_border"]


def on_border(c: Configuration, x: Fraction, digits: int) -> bool:
    """Whether an eigenvalue lies exactly on the unit circle.

    `digits` is a first precision to look with; it settles all but true borders.
    """
    return _root_on_circle(c, x, digits) if c.constant else _eigenvalue_on_circle(c, x, digits)


def _root_on_circle(c: Configuration, x: Fraction, glance: int) -> bool:
    r"""Whether the characteristic polynomial has a root of modulus 1.

    It is ``z**d a(z) + b(z)``. On the circle 1/z is the conjugate, a root too, so
    ``a(z) a(1/z) = b(z) b(1/z)``: whatever the lag, a quadratic in C = z + 1/z, which leaves two
    candidate pairs to try (extension).
    """
    poly = characteristic(c, x)
    if sum(coefficient * (-1) ** power for power, coefficient in poly.items()) == 0:
        return True
    g0, g1 = c.recurrence.gain
    fresh, stale = (1 - c.share) * x, c.share * x
    p, r = fresh * g0 - 1 - c.momentum, fresh * g1 + c.momentum
    quadratic = (
        r,
        p * (1 + r) - stale * stale * g0 * g1,
        (1 - r) ** 2 + p * p - stale * stale * (g0 * g0 + g1 * g1),
    )
    if not any(quadratic):
        return True  # the polynomial is its own reciprocal: no root can be inside alone
    # Clearing denominators makes P(z) an algebraic integer of degree 4 at most. Its norm is 1 at
    # least, so P(z) is at least the inverse of the other conjugates, each below 10**(2 size) per
    # degree.
    size = _size(*quadratic, *poly.values())
    enough = 8 * (max(poly) + 3) * size
    return any(
        all(_vanishes_at(poly, quadratic, branch, digits) for digits in (glance, enough))
        for branch in (1, -1)
    )


def _vanishes_at(
    poly: dict[int, Fraction],
    quadratic: tuple[Fraction, Fraction, Fraction],
    branch: int,
    digits: int,
) -> bool:
    """Whether the polynomial is below 10**-digits at a point the quadratic puts on the circle."""
    with working(2 * digits):
        a, b, c = map(decimal, quadratic)
        discriminant = b * b - 4 * a * c
        if discriminant < 0 or (a == 0 and b == 0):
            return False
        # The root from the sum, then the other from the product: neither cancels.
        larger = -(b + discriminant.sqrt().copy_sign(b)) / 2
        if branch > 0:
            half = c / larger / 2 if larger else Decimal(0)
        elif a == 0:
            return False
        else:
            half = larger / a / 2
        if abs(half) >= 1:
            return False
        at = complex_value(rounded(poly), Complex(half, (1 - half * half).sqrt()))
        return at.squared < Decimal(1).scaleb(-2 * digits)


def _eigenvalue_on_circle(c: Configuration, x: Fraction, glance: int) -> bool:
    r"""Whether a Jury condition of the monodromy matrix is exactly 0."""
    for digits in (glance, deciding_digits(c, x)):
        with working(2 * digits):
            found = invariants(c)(decimal(x))
            smallest = min(abs(found.real), abs(found.flip), abs(found.circle))
            if smallest >= Decimal(1).scaleb(-digits):
                return False
    return True


def deciding_digits(c: Configuration, x: Fraction) -> int:
    r"""Return digits below which an invariant of the monodromy matrix is exactly 0.

    Times (1 - s), each is a polynomial with integer coefficients in the inputs, of degree
    refresh + 2 at most in those that enter the step.
    """
    g0, g1 = c.recurrence.gain
    fresh = (1 - c.share) * x
    return (c.delay + 4) * 4 * _size(*c.recurrence, g0 * fresh, g1 * fresh, c.share, x)


def _size(*values: Fraction) -> int:
    """Return the decimal digits of the largest integer once `values` have a common denominator."""
    common = lcm(*(value.denominator for value in values))
    return max(common, *(abs(int(value * common)) for value in values)).bit_length() * 3 // 10 + 2
