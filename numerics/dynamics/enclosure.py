r"""Enclosures that are proved: stability decided, thresholds and radii bracketed by floats.

Numbers are taken as exactly what they are, floats included. Stability of a polynomial is decided by
the Schur-Cohn recursion: all roots are inside the unit circle exactly if every reflection
coefficient is. It is run in ball arithmetic of growing precision and, where balls cannot tell, on
rationals; so there is always an answer, also on a border, which is not stable. Thresholds and radii
come from roots of polynomials that python-flint isolates in balls. Extension.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

from numerics.dynamics._contact_balls import (
    least_of_force,
    least_of_sawtooth,
    precision,
    rational,
)
from numerics.exact import Configuration, Number, exact_monodromy, exact_stiffness
from numerics.inputs import InvalidInput, exact_number

__all__ = [
    "Enclosure",
    "RandomLag",
    "certified_stable",
    "enclose_spectral_radius",
    "enclose_threshold",
]

_PRECISIONS = (64, 256, 1024)  # bits of the balls, before exact rationals decide
_SUM = Fraction(1, 10**12)
_BITS = 256  # of a radius


class Enclosure(NamedTuple):
    """Two floats between which, ends included, the value is proved to lie."""

    lower: float
    upper: float


@dataclass(frozen=True)
class RandomLag:
    r"""A run whose lag is drawn afresh at every step; what is proved is about its mean.

    Parameters
    ----------
    optimizer, mu, stale_share
        As in `numerics.exact.Configuration`.
    lag_law
        Probabilities of the lags 0, 1, ..., L, floats or fractions; divided by their exact sum.

    Raises
    ------
    ConfigurationError, InvalidInput
        A value outside its domain, or a law that does not sum to 1 within 1e-12.
    """

    optimizer: str
    mu: Number
    stale_share: Number
    lag_law: tuple[Number, ...]

    def __post_init__(self) -> None:
        law = self.lag_law
        if isinstance(law, str) or not isinstance(law, Iterable):
            raise InvalidInput(f"lag_law is {law!r}: give probabilities >= 0 of lags 0..L")
        object.__setattr__(self, "lag_law", tuple(law))
        if not self.lag_law or not all(exact_number("lag_law", p) >= 0 for p in self.lag_law):
            raise InvalidInput(f"lag_law is {self.lag_law}: give probabilities >= 0 of lags 0..L")
        if abs(self.total - 1) > _SUM:
            raise InvalidInput(
                f"lag_law sums to {float(self.total)!r}: probabilities must sum to 1 within 1e-12"
            )
        _ = self.without_lag  # raises for the other arguments

    @property
    def total(self) -> Fraction:
        """The exact sum of the law."""
        return sum((exact_number("lag_law", p) for p in self.lag_law), Fraction(0))

    @property
    def without_lag(self) -> Configuration:
        """The same run at lag 0."""
        return Configuration(self.optimizer, "constant", self.mu, self.stale_share, lag=0)


def certified_stable(run: Configuration | RandomLag, x: Number) -> bool:
    r"""Return whether every root is inside the unit circle, decided for exactly these numbers.

    Parameters
    ----------
    run
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
    from flint import arb

    polynomial = [rational(each) for each in _polynomial(run, exact_stiffness(x))]
    for bits in _PRECISIONS:
        with precision(bits):
            answer = _reflected([arb(each) for each in polynomial])
        if answer is not None:
            return answer
    decided = _reflected(polynomial)
    assert decided is not None  # rational arithmetic always tells
    return decided


def enclose_threshold(run: Configuration | RandomLag) -> Enclosure:
    r"""Return floats proved to enclose the first x at which stability is lost.

    They are neighbours, or next but one where the threshold is a float itself. The proof covers
    that it is the first: all contacts of a root with the unit circle are isolated.

    Raises
    ------
    ImportError
        If python-flint is not installed.

    Notes
    -----
    The work grows with the cube of the lag or faster: milliseconds up to 16, seconds at 64.
    """
    if isinstance(run, Configuration) and not run.constant:
        return _outward(least_of_sawtooth(run))
    momentum = run.momentum if isinstance(run, Configuration) else run.without_lag.momentum
    return _outward(least_of_force(momentum, _force(run)))


def enclose_spectral_radius(run: Configuration | RandomLag, x: Number) -> Enclosure:
    r"""Return floats proved to enclose the spectral radius per step (sawtooth: per refresh).

    Parameters and errors as in `certified_stable`.
    """
    from flint import arb, fmpq_poly

    polynomial = fmpq_poly([rational(each) for each in _polynomial(run, exact_stiffness(x))][::-1])
    with precision(_BITS):
        sizes = [abs(root) for root, _ in polynomial.numer().complex_roots()]
        return _outward(reduce(lambda one, other: one.max(other), sizes, arb(0)))


def _force(run: Configuration | RandomLag) -> list[Fraction]:
    """Return the coefficients of G(z) (1 - s + s E z**-D) by the powers 0, -1, ..."""
    if isinstance(run, RandomLag):
        base, law = run.without_lag, [Fraction(each) / run.total for each in run.lag_law]
    else:
        base, law = run, [Fraction(0)] * run.delay + [Fraction(1)]
    g0, g1 = base.recurrence.gain
    seen = [base.share * each for each in law]
    seen[0] += 1 - base.share
    end = [Fraction(0)]
    return [g0 * now + g1 * before for now, before in zip(seen + end, end + seen, strict=True)]


def _polynomial(run: Configuration | RandomLag, x: Fraction) -> list[Fraction]:
    """Return the polynomial of the modes, highest power first, roots at 0 divided out."""
    if isinstance(run, Configuration) and not run.constant:
        (a, b), (p, r) = exact_monodromy(run, x)
        dense = [Fraction(1), -(a + r), a * r - b * p]
    else:
        momentum = run.momentum if isinstance(run, Configuration) else run.without_lag.momentum
        dense = [Fraction(1), *(x * each for each in _force(run))]
        dense[1] -= 1 + momentum
        dense[2] += momentum
    while dense[-1] == 0:
        dense.pop()
    return dense


def _reflected(polynomial: Sequence[Any]) -> bool | None:
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


def _outward(ball: Any) -> Enclosure:
    """Return the floats next to a ball on both sides, or the one it is."""
    from flint import arb

    lower, upper = float(ball.lower()), float(ball.upper())
    while not arb(lower) <= ball:
        lower = math.nextafter(lower, -math.inf)
    while not arb(upper) >= ball:
        upper = math.nextafter(upper, math.inf)
    return Enclosure(lower, upper)
