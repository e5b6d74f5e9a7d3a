r"""The eigenvalue that outlives the others: where it is, how fast it decays, whether it grows.

Under constant lag the eigenvalues are the roots of the characteristic polynomial, per step; under
sawtooth lag those of the monodromy matrix, per refresh interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np

from numerics.exact.arithmetic import Complex, decimal, digits_for, working
from numerics.exact.border import deciding_digits, on_border
from numerics.exact.configuration import Configuration, Number, exact_stiffness
from numerics.exact.polynomial import (
    Polynomial,
    characteristic,
    complex_value,
    derivative,
    positive_roots,
    rounded,
)
from numerics.exact.refresh import invariants
from numerics.exact.starts import float_roots

__all__ = ["Dominant", "dominant", "dominant_root", "relaxation_time", "spectral_radius", "stable"]

_WINDOW = Decimal("1e-5")  # float roots this close to the largest modulus are refined and compared
_OFF_AXIS = Decimal("1e-7")  # a refinement that starts on the real axis could never leave it
_REFINEMENTS = 1000
_RESOLVED = 25  # significant digits left of what may be rounding


@dataclass(frozen=True)
class Dominant:
    """The eigenvalue of largest modulus, of a conjugate pair the upper one."""

    value: Complex
    rate: Decimal
    """Logarithm of the modulus per step: below 0 stable, 0 exactly on the border."""

    @property
    def real_positive(self) -> bool:
        """Whether it is real and positive, so that nothing oscillates in the long run."""
        return self.value.im == 0 and self.value.re > 0


def dominant_root(c: Configuration, x: Number) -> complex:
    r"""Return the characteristic root (sawtooth: monodromy eigenvalue) of largest modulus.

    Of a conjugate pair, the one in the upper half plane. At lag 0 without momentum and x = 1 all
    is over in one step and the root is 0.

    Parameters
    ----------
    c, x
        The run and its stiffness per step, above 0.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.

    Notes
    -----
    Roots of chi(z), theory section 1 (extension for sections 3.1 to 3.6); correct to the last
    digit or two, slow and double roots included.
    """
    return complex(dominant(c, exact_stiffness(x)).value)


def spectral_radius(c: Configuration, x: Number) -> float:
    """Return the modulus per step of the dominant eigenvalue (sawtooth: its `refresh`-th root).

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    rate = dominant(c, exact_stiffness(x)).rate
    return float(rate.exp()) if rate.is_finite() else 0.0


def relaxation_time(c: Configuration, x: Number) -> float | None:
    r"""Return ``-1/ln(spectral radius)``, in steps; None if the run is not stable.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    rate = dominant(c, exact_stiffness(x)).rate
    if rate >= 0:
        return None
    return float(-1 / rate) if rate.is_finite() else 0.0


def stable(c: Configuration, x: Number) -> bool:
    """Whether the spectral radius is below 1; exactly on the border is not stable.

    The numbers given are taken as exactly what they are, and so is the border.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    """
    return dominant(c, exact_stiffness(x)).rate < 0


@lru_cache(maxsize=1024)
def dominant(c: Configuration, x: Fraction) -> Dominant:
    """Return the dominant eigenvalue; it and its rate are resolved or known to be exactly 0."""
    digits = digits_for(c, x)
    while True:
        with working(digits):
            value = _largest_root(c, x) if c.constant else _largest_eigenvalue(c, x)
            noise = Decimal(1).scaleb(_RESOLVED - digits)
            # Trace and determinant of a matrix that forgets everything are 0 but for rounding.
            rounded_off = not c.constant and value.squared <= noise
            if rounded_off and digits > 2 * deciding_digits(c, x):
                return Dominant(Complex(Decimal(0)), Decimal("-Infinity"))
            rate = value.squared.ln() / (2 if c.constant else 2 * c.delay)
            if abs(rate) > noise and not rounded_off:
                return Dominant(value, rate)
        if not rounded_off and on_border(c, x, digits):
            return Dominant(value, Decimal(0))
        digits *= 2


def _largest_eigenvalue(c: Configuration, x: Fraction) -> Complex:
    found = invariants(c)(decimal(x))
    half = found.trace / 2
    square = half * half - found.det
    if abs(square) <= (half * half).scaleb(10 - getcontext().prec):
        return Complex(half)  # a double eigenvalue, split by rounding
    if square < 0:
        return Complex(half, (-square).sqrt())
    return Complex(half + square.sqrt().copy_sign(half))


def _largest_root(c: Configuration, x: Fraction) -> Complex:
    r"""Return the characteristic root of largest modulus, to nearly the working precision.

    Real roots, double ones too, come from a sign analysis. The others start from floats; near a
    double root those are only good to half a float's digits, and may lie on the wrong side of it.
    """
    poly = rounded(characteristic(c, x))
    mirrored = {power: -value if power % 2 else value for power, value in poly.items()}
    real = positive_roots(poly) + [-z for z in positive_roots(mirrored)]
    unit, floats = float_roots(poly)
    for root in real:
        floats = np.delete(floats, np.abs(floats - float(root / unit)).argmin())
    points = [Complex(Decimal(z.real) * unit, Decimal(z.imag) * unit) for z in floats]
    sizes = [z.squared for z in (*points, *map(Complex, real))]
    if not sizes:
        return Complex(Decimal(0))
    found = [Complex(root) for root in real]
    slope = derivative(poly)
    for point in points:
        offset = _OFF_AXIS * (abs(point.re) + abs(point.im))
        if point.squared >= max(sizes) * (1 - _WINDOW) and point.im >= -offset:
            start = Complex(point.re, max(point.im, offset))
            found.append(_refined(poly, slope, start, real))
    return max(found, key=lambda z: z.squared)


def _refined(poly: Polynomial, slope: Polynomial, z: Complex, real: list[Decimal]) -> Complex:
    """Newton's method for a root that is not real: the real roots are divided out."""
    one = Complex(Decimal(1))
    tolerance = Decimal(1).scaleb(2 * (10 - getcontext().prec))
    half_settled = Decimal(1).scaleb(-getcontext().prec)
    last = Decimal("Infinity")
    for _ in range(_REFINEMENTS):
        height = complex_value(poly, z)
        if height.squared == 0:
            return z
        inverse = complex_value(slope, z) / height
        for root in real:
            inverse = inverse - one / (z - Complex(root))
        step = one / inverse
        z = z - step
        size = step.squared / z.squared
        if size <= tolerance or last / 4 <= size <= half_settled:  # done, or down to the noise
            return Complex(z.re, abs(z.im))
        last = size
    raise ArithmeticError(f"Newton's method did not settle near {complex(z)}; please report it")
