r"""Enclosures that are proved: stability decided, thresholds bracketed, in exact arithmetic.

Numbers are taken as exactly what they are, floats included. Stability of a polynomial is decided by
the Schur-Cohn recursion: all roots are inside the unit circle exactly if every reflection
coefficient is. It is run in ball arithmetic of growing precision and, where balls cannot tell, on
rationals; so there is always an answer, also on a border, which is not stable. Extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from numerics.exact import (
    Configuration,
    Number,
    characteristic_polynomial,
    exact_monodromy,
    exact_stiffness,
    spectral_radius,
    threshold,
)

__all__ = ["Enclosure", "certified_stable", "enclose_spectral_radius", "enclose_threshold"]

_PRECISIONS = (64, 256, 1024)  # bits of the balls, before exact rationals decide
_STEPS = 60
_FAR = Fraction(1, 2**20)  # of the threshold: the widest bracket looked at


class Enclosure(NamedTuple):
    """Two floats between which, ends included, the value is proved to lie."""

    lower: float
    upper: float


def certified_stable(c: Configuration, x: Number) -> bool:
    r"""Return whether every root is inside the unit circle, decided for exactly these numbers.

    Parameters
    ----------
    c
        Optimizer, lag model, momentum and share.
    x
        Stiffness per step eta*K > 0.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    ImportError
        If python-flint is not installed.
    """
    return _inside(_polynomial(c, exact_stiffness(x)))


def enclose_threshold(c: Configuration) -> Enclosure:
    r"""Return floats proved to enclose the x at which stability is first lost.

    At the lower end the run is certified to be stable, at the upper end not to be; where stability
    is lost at a float itself, both are that float. That it is the *first* loss rests on
    `numerics.exact.threshold`, which locates every contact with the unit circle.

    Raises
    ------
    ArithmeticError
        If no bracket within a millionth of the threshold can be certified, as where an eigenvalue
        only touches the circle.
    """
    value = threshold(c).value
    exact = Fraction(value)
    if not _inside(_polynomial(c, exact)):
        below = _beside(c, value, down=True)
        return Enclosure(below, value)
    return Enclosure(value, _beside(c, value, down=False))


def enclose_spectral_radius(c: Configuration, x: Number) -> Enclosure:
    r"""Return floats proved to enclose the spectral radius per step (sawtooth: per refresh).

    All roots are inside a circle of radius r exactly if those of the polynomial scaled by r are
    inside the unit circle.
    """
    polynomial = _polynomial(c, exact_stiffness(x))
    radius = spectral_radius(c, x) ** (1 if c.constant else c.delay)
    return Enclosure(_scaled(polynomial, radius, up=False), _scaled(polynomial, radius, up=True))


def _polynomial(c: Configuration, x: Fraction) -> list[Fraction]:
    """Return the polynomial of the modes, highest power first, roots at 0 divided out."""
    if c.constant:
        dense = list(characteristic_polynomial(c, x))
    else:
        (a, b), (p, r) = exact_monodromy(c, x)
        dense = [Fraction(1), -(a + r), a * r - b * p]
    while dense[-1] == 0:
        dense.pop()
    return dense


def _inside(polynomial: Sequence[Fraction]) -> bool:
    """Whether all roots are strictly inside the unit circle."""
    from flint import arb, ctx, fmpq

    rationals = [fmpq(each.numerator, each.denominator) for each in polynomial]
    before = ctx.prec
    try:
        for bits in _PRECISIONS:
            ctx.prec = bits
            answer = _reflected([arb(each) for each in rationals])
            if answer is not None:
                return answer
    finally:
        ctx.prec = before
    decided = _reflected(rationals)
    assert decided is not None  # rational arithmetic always tells
    return decided


def _reflected(polynomial: list[Any]) -> bool | None:
    """Run the Schur-Cohn recursion; None where the arithmetic cannot tell."""
    while len(polynomial) > 1:
        lead, last = polynomial[0], polynomial[-1]
        small, large = abs(last), abs(lead)
        if small >= large:
            return False
        if not small < large:
            return None
        k = last / lead
        polynomial = [
            one - k * other for one, other in zip(polynomial[:-1], polynomial[:0:-1], strict=True)
        ]
    return True


def _beside(c: Configuration, value: float, *, down: bool) -> float:
    """Return the float next to `value` on one side at which stability is as it must be there."""
    width = np.spacing(value)
    for _ in range(_STEPS):
        candidate = float(value - width if down else value + width)
        if width > float(_FAR) * value:
            break
        if _inside(_polynomial(c, Fraction(candidate))) == down:
            return candidate
        width *= 2
    raise ArithmeticError(
        f"no side of x = {value!r} within a millionth is certified for {c}; stability may only "
        "touch its border there"
    )


def _scaled(polynomial: Sequence[Fraction], radius: float, *, up: bool) -> float:
    width = max(np.spacing(radius), 5e-324)
    for _ in range(_STEPS):
        circle = float(radius + width if up else max(radius - width, 0.0))
        if circle == 0.0:
            return 0.0
        exact = Fraction(circle)
        degree = len(polynomial) - 1
        shrunk = [each * exact ** (degree - place) for place, each in enumerate(polynomial)]
        if _inside(shrunk) == up:
            return circle
        width *= 2
    raise ArithmeticError("the spectral radius could not be enclosed; please report it")
