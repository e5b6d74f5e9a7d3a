r"""Balls proved to hold the first x at which an eigenvalue is on the unit circle.

Every contact is a root of a polynomial with rational coefficients, and python-flint isolates the
real roots of such a polynomial in balls. A small x is stable, and no eigenvalue leaves the disc
without touching the circle, so the least contact is where stability is first lost.

Constant or random lag: roots in c = cos w of ``Im(A conj F)/sin w``, as in `first_contact`.
Sawtooth: roots in x of det(I - M)/x, det(I + M) and 1 - det M. (Extension.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from typing import Any

from numerics.exact import Configuration

__all__ = ["least_of_force", "least_of_sawtooth", "precision", "rational"]

_ACCURATE = 64  # bits of a contact, more than a float has
_BITS = (128, 512, 2048, 8192)  # of the balls: more where they do not tell a sign


def least_of_force(mu: Fraction, force: Sequence[Fraction]) -> Any:
    r"""Return the ball of a map whose force is ``x sum_k force[k] z**-k``, gain included."""
    from flint import fmpq_poly

    c, pull, momentum = fmpq_poly([0, 1]), [rational(each) for each in force], rational(mu)
    # F = real + i beside sin w and A = -(1 + mu)(1 - c) + i (1 - mu) sin w.
    real, beside = fmpq_poly([pull[0]]), fmpq_poly([0])
    cosine, sine = (fmpq_poly([1]), c), (fmpq_poly([0]), fmpq_poly([1]))  # of k w, and the next
    for each in pull[1:]:
        real, beside = real + each * cosine[1], beside - each * sine[1]
        cosine, sine = ((one[1], 2 * c * one[1] - one[0]) for one in (cosine, sine))
    inward, along = (1 + momentum) * (1 - c), 1 - momentum
    contact = along * real + inward * beside
    shared = real.gcd(beside)
    while shared.degree() > 0:  # where F is 0, x is infinite
        contact //= shared
        shared = contact.gcd(shared)
    while contact(-1) == 0:  # that is a flip
        contact //= c + 1
    at_minus_one = sum(each * (-1) ** k for k, each in enumerate(pull))
    flip = fmpq_poly([-2 * (1 + momentum), at_minus_one])

    def x_at(cosine: Any) -> Any:
        height = 1 - cosine * cosine
        size = _value(real, cosine) ** 2 + height * _value(beside, cosine) ** 2
        product = along * height * _value(beside, cosine) - _value(inward * real, cosine)
        # Outside (-1, 1) there is no angle; no contact has c = 1 or, the flip put aside, c = -1.
        return _where(height, -product / size)

    return _least([(flip, lambda x: x), (contact, x_at)])


def least_of_sawtooth(c: Configuration) -> Any:
    """Return the ball of a run with sawtooth lag."""
    from flint import fmpq_poly

    x = fmpq_poly([0, 1])
    mu, intake, _, passed = map(rational, c.recurrence)
    g0, _ = map(rational, c.recurrence.gain)
    share = rational(c.share)
    step = (1 - g0 * (1 - share) * x, passed * mu, -intake * (1 - share) * x, mu + 0 * x)
    push = (-g0 * share * x, -intake * share * x)
    # The images of q, v and the stale sample after the steps so far.
    of_q, of_v, of_sample = (1 + 0 * x, 0 * x), (0 * x, 1 + 0 * x), (0 * x, 0 * x)
    for _ in range(c.delay):
        of_q, of_v, of_sample = (
            (step[0] * q + step[1] * v, step[2] * q + step[3] * v)
            for q, v in (of_q, of_v, of_sample)
        )
        of_sample = (of_sample[0] + push[0], of_sample[1] + push[1])
    first = (of_q[0] + of_sample[0], of_q[1] + of_sample[1])
    trace, det = first[0] + of_v[1], first[0] * of_v[1] - first[1] * of_v[0]
    conditions = ((1 - trace + det) // x, 1 + trace + det, 1 - det)
    return _least([(condition, lambda x: x) for condition in conditions])


def _least(sources: Sequence[tuple[Any, Callable[[Any], Any]]]) -> Any:
    """Return the least positive of the values at all real roots of the polynomials."""
    for bits in _BITS:
        with precision(bits):
            found = [
                value(root)
                for polynomial, value in sources
                if polynomial.degree() > 0
                for root in _real_roots(polynomial)
            ]
            positive = [ball for ball in found if ball is not None and not ball < 0]
            if positive and all(b > 0 and b.rel_accuracy_bits() > _ACCURATE for b in positive):
                return reduce(lambda one, other: one.min(other), positive)
    raise ArithmeticError("no contact could be enclosed; please report it")


def _real_roots(polynomial: Any) -> Iterator[Any]:
    for root, _ in polynomial.numer().complex_roots():
        if root.imag.is_zero():
            yield root.real


def _where(condition: Any, ball: Any) -> Any:
    """Return the ball, None where the condition is surely not positive, or what tells nothing."""
    if condition > 0:
        return ball
    return None if condition < 0 else condition


def _value(polynomial: Any, ball: Any) -> Any:
    result = 0 * ball
    for coefficient in reversed(polynomial.coeffs()):
        result = result * ball + coefficient
    return result


def rational(value: Fraction) -> Any:
    """Return python-flint's rational."""
    from flint import fmpq

    return fmpq(value.numerator, value.denominator)


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the bits of balls for the enclosed block."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before
