r"""The sawtooth lag: one refresh interval as a 2 x 2 matrix, and its stability conditions.

Between refreshes the stale sample Q = q(refresh) is constant, so a step of the state (q, v) is
affine, ``y -> S y + b Q``, with

    S = [[1 - g0 x_f, passed memory], [-intake x_f, memory]],   b = -x_s (g0, intake).

After N steps Q is renewed: ``M = S**N + (I + S + ... + S**(N-1)) b e_q^T``. With B = S**N and
det S = m = mu + g1 x_f, its invariants are, for s other than 1,

    trace M = (B11 - s)/(1 - s) + B22,      det M = (m**N - s B22)/(1 - s),

because the step's fixed point under constant Q is q = -(x_s/x_f) Q, v = 0 (extension; for heavy
ball at s = 1 the matrix is theory section 3.2's).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from numerics.exact.arithmetic import decimal, power
from numerics.exact.configuration import Configuration, ConfigurationError, Number, exact_stiffness

__all__ = ["Invariants", "exact_monodromy", "invariants", "monodromy"]

T = TypeVar("T", Decimal, Fraction)
Matrix = tuple[tuple[T, T], tuple[T, T]]


class Invariants(NamedTuple):
    r"""Trace and determinant of a 2 x 2 matrix M, and the three Jury conditions made of them.

    The eigenvalues lie inside the unit circle iff `real`, `flip` and `circle` are all above 0. The
    first to vanish says how stability is lost: an eigenvalue 1, -1, or a complex pair.
    """

    trace: Decimal
    det: Decimal
    real: Decimal
    """``det(I - M) = 1 - trace + det``."""
    flip: Decimal
    """``det(I + M) = 1 + trace + det``."""
    circle: Decimal
    """``1 - det``."""


def invariants(c: Configuration) -> Callable[[Decimal], Invariants]:
    r"""Return the invariants of the monodromy matrix as a function of x, at the working precision.

    The conditions are written so that nothing cancels where it decides: at s = 1/2, for one,
    ``det(I + M)`` is ``2 (B11 + m**N)``, however small, and not 1 plus a trace near -1.
    """
    n, share = c.delay, decimal(c.share)
    mu, intake, _, passed = map(decimal, c.recurrence)
    g0, g1 = map(decimal, c.recurrence.gain)
    fresh = 1 - share
    geometric = (1 - mu**n) / (1 - mu)

    def at_share_one(x: Decimal) -> Invariants:
        u1 = -x * (g0 * n + passed * mu * intake * (n - geometric) / (1 - mu))
        u2 = -x * intake * geometric
        trace = 1 + mu**n + u1
        det = mu**n + mu**n * u1 - passed * mu * geometric * u2
        real = x * (g0 + g1) * n * geometric
        return Invariants(trace, det, real, 1 + trace + det, 1 - det)

    def at_other_shares(x: Decimal) -> Invariants:
        x_f = fresh * x
        m = mu + g1 * x_f
        alpha, beta = power(1 + mu - g0 * x_f, m, n)
        b11, b22, det = alpha * (1 - g0 * x_f) + beta, alpha * mu + beta, m**n
        return Invariants(
            trace=(b11 - share) / fresh + b22,
            det=(det - share * b22) / fresh,
            real=(1 - b11 - b22 + det) / fresh,
            flip=((fresh - share) * (1 + b22) + b11 + det) / fresh,
            circle=(fresh - det + share * b22) / fresh,
        )

    return at_other_shares if fresh else at_share_one


def _times(a: Matrix[T], b: Matrix[T]) -> Matrix[T]:
    (p, q), (r, s) = a
    (t, u), (v, w) = b
    return (p * t + q * v, p * u + q * w), (r * t + s * v, r * u + s * w)


def _refresh(step: Matrix[T], push: tuple[T, T], steps: int) -> Matrix[T]:
    """Compose the affine step with itself by repeated squaring and close the interval."""
    linear, offset = step, push
    for bit in bin(steps)[3:]:
        linear, offset = _times(linear, linear), _applied(linear, offset, offset)
        if bit == "1":
            linear, offset = _times(step, linear), _applied(step, offset, push)
    (a, b), (c, d) = linear
    return (a + offset[0], b), (c + offset[1], d)


def _applied(linear: Matrix[T], to: tuple[T, T], offset: tuple[T, T]) -> tuple[T, T]:
    (a, b), (c, d) = linear
    return a * to[0] + b * to[1] + offset[0], c * to[0] + d * to[1] + offset[1]


def _step(c: Configuration, x: Fraction) -> tuple[Matrix[Fraction], tuple[Fraction, Fraction]]:
    if c.constant:
        raise ConfigurationError(
            "the constant lag model has a characteristic polynomial, not a monodromy matrix;"
            " ask for characteristic_polynomial"
        )
    mu, intake, _, passed = c.recurrence
    g0, _ = c.recurrence.gain
    fresh, stale = (1 - c.share) * x, c.share * x
    return ((1 - g0 * fresh, passed * mu), (-intake * fresh, mu)), (-g0 * stale, -intake * stale)


def exact_monodromy(c: Configuration, x: Number) -> Matrix[Fraction]:
    """Return the monodromy matrix of (q, v) over one refresh interval, exactly.

    The entries have some `refresh` times the digits of the inputs.

    Raises
    ------
    ConfigurationError
        If `x` is not above 0, or the lag is not a sawtooth.
    """
    return _refresh(*_step(c, exact_stiffness(x)), c.delay)


def monodromy(c: Configuration, x: Number) -> npt.NDArray[np.float64]:
    """Return the monodromy matrix of (q, v) over one refresh interval, shape (2, 2).

    Raises
    ------
    ConfigurationError
        If `x` is not above 0, or the lag is not a sawtooth.
    """
    return np.array([[_rounded(entry) for entry in row] for row in exact_monodromy(c, x)])


def _rounded(entry: Fraction) -> float:
    try:
        return float(entry)
    except OverflowError:  # a step so unstable that one refresh leaves the range of floats
        return math.inf if entry > 0 else -math.inf
