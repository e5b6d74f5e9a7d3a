r"""The success probability without a KL term: the nonlinear mean path at beta = 0.

Two arms with rewards 1 and 0, logit theta, on-policy, groups so large that means are expectations.
There is no interior fixed point and no stiffness: p goes to 1, and by a power law.

In the logit both normalisers have one form. With ``std``, ``dp/dt = eta (p (1-p))^(3/2)`` makes
``S = sinh(theta/2)`` grow at the constant rate eta/4, which is ``cot(2 phi) = cot(2 phi_0) -
eta t/4`` with ``p = sin(phi)^2``, since ``-S`` is that cotangent. With ``mean``,
``dp/dt = eta (p (1-p))^2`` makes ``theta + sinh(theta)`` grow at the rate eta/2, which is
``2 logit p + (2p-1)/(p (1-p)) = its value at 0 + eta t``, halved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.dynamics._path_twofold import Twofold
from numerics.inputs import (
    InvalidInput,
    check_positive,
    common_shape,
    floats,
    known_name,
)

__all__ = ["NORMALISERS", "SuccessPath", "no_kl_path"]

FloatArray = NDArray[np.float64]

#: What the advantage is divided by: the standard deviation of the group, or nothing.
NORMALISERS = ("std", "mean")

_LN2 = Twofold(np.asarray(0.6931471805599453), np.asarray(2.3190468138462996e-17))
_ONE = Twofold.of(1.0)
_LATEST = 1e300  # of eta*t
_ALONE = 1e18  # beyond this sinh(theta), theta beside it is lost in rounding
_STEPS = 8  # of Newton, which is at the last digit after 5 or 6


@dataclass(frozen=True, eq=False)
class SuccessPath:
    r"""A success probability that keeps its digits at both ends.

    Attributes
    ----------
    success, failure
        p and 1 - p, each to a few units in its last place; 0 below the range of floats.
    logit
        ln(p/(1 - p)), to as many units or to 1e-16, whichever is more.
    """

    success: Any
    failure: Any
    logit: Any


def no_kl_path(normaliser: str, *, eta: ArrayLike, p: ArrayLike, t: ArrayLike) -> SuccessPath:
    r"""Return the success probability after time t at beta = 0.

    Parameters
    ----------
    normaliser
        ``"std"`` (equation 1) or ``"mean"``: advantages r - mean r, not normalised.
    eta
        Step size > 0 of the logit; with two free logits, of which theta is the difference, 2 eta.
    p
        Success probability at t = 0, strictly between 0 and 1; not a subnormal float.
    t
        Time in steps, >= 0; eta*t up to 1e300.

    Returns
    -------
    SuccessPath
        float64 scalars or arrays of the shape to which `eta`, `p` and `t` broadcast.

    Raises
    ------
    InvalidInput
        A value outside its domain, or shapes that do not broadcast.
    UnknownName
        `normaliser` is neither.

    Notes
    -----
    Theory 3.10, extension. In the end ``1 - p ~ 4/(eta t)^2`` with ``std`` and ``1/(eta t)`` with
    ``mean``. What cancels is kept with 106 bits, so a start at p = 1e-300 loses nothing.
    """
    known_name("normaliser", normaliser, NORMALISERS)
    given = floats(eta=eta, p=p, t=t)
    check_positive("eta", given["eta"])
    least = np.finfo(np.float64).tiny
    if not np.all((given["p"] >= least) & (given["p"] < 1)):
        raise InvalidInput(
            f"p is {given['p']}: give probabilities between 0 and 1, not below {least:.2g}"
        )
    if not np.all(given["t"] >= 0):
        raise InvalidInput(f"t is {given['t']}: time must be >= 0")
    shape = common_shape(**{name: array.shape for name, array in given.items()})
    rate, start, time = (np.broadcast_to(array, shape) for array in given.values())
    with np.errstate(over="ignore", under="ignore"):  # p comes nearer to 1 than any float
        if not np.all(rate * time <= _LATEST):
            raise InvalidInput(f"eta*t reaches {(rate * time).max()}: give up to {_LATEST}")
        passed = _scaled_product(rate, time)
        if normaliser == "std":
            place = _half_sinh_of_logit(start) + passed.times_power_of_two(-2)
            sinh, power = place.high + place.low, 2
            logit = 2 * np.arcsinh(sinh)
        else:
            place = _logit(start) + _sinh_of_logit(start) + passed.times_power_of_two(-1)
            logit, sinh = _solve_mean(place.high + place.low)
            power = 1
        success, failure = _probabilities(sinh, power)
        return SuccessPath(success[()], failure[()], logit[()])


def _probabilities(sinh: FloatArray, power: int) -> tuple[FloatArray, FloatArray]:
    """Return p and 1 - p with odds ``exp(power * arcsinh(sinh))``."""
    size = np.abs(sinh)
    root = np.hypot(1.0, size)
    # 1/(1 + odds) at odds above 1; with 1 + (r + S)^2 = 2 r (r + S) where r^2 = 1 + S^2
    less = 0.5 / root / (root + size) if power == 2 else 1 / (1 + (root + size))
    more = 1 - less
    return np.where(sinh < 0, less, more), np.where(sinh < 0, more, less)


def _solve_mean(place: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return theta and sinh(theta) where ``theta + sinh(theta)`` is `place`."""
    size = np.abs(place)
    near = np.minimum(size, _ALONE)
    # Convex above 0, and both starts are above the root: Newton comes down to it monotonically.
    theta = np.minimum(near / 2, np.arcsinh(near))
    for _ in range(_STEPS):
        theta = theta - (theta + np.sinh(theta) - near) / (1 + np.cosh(theta))
    alone = size > _ALONE
    theta, sinh = np.where(alone, np.arcsinh(size), theta), np.where(alone, size, size - theta)
    return np.copysign(theta, place), np.copysign(sinh, place)


def _half_sinh_of_logit(p: FloatArray) -> Twofold:
    """Return ``sinh(logit(p)/2) = (2p - 1)/(2 sqrt(p (1 - p)))``."""
    part, exponent = np.frexp(p)
    odd = exponent % 2
    part, half = np.ldexp(part, odd), (exponent - odd) // 2
    spread = _square_root(Twofold.of(part) * (_ONE - Twofold.of(p)))
    return _quotient(Twofold.of(2 * p) - _ONE, spread).times_power_of_two(-half - 1)


def _sinh_of_logit(p: FloatArray) -> Twofold:
    """Return ``sinh(logit(p)) = (2p - 1)/(2 p (1 - p))``."""
    part, exponent = np.frexp(p)
    spread = Twofold.of(part) * (_ONE - Twofold.of(p))
    return _quotient(Twofold.of(2 * p) - _ONE, spread).times_power_of_two(-exponent - 1)


def _logit(p: FloatArray) -> Twofold:
    """Return ``ln(p/(1 - p))`` to 1e-16 absolutely, and relatively about p = 1/2."""
    middle = np.abs(p - 0.5) <= 0.25
    centred = Twofold.of(2 * np.arctanh(np.where(middle, 2 * p - 1, 0.0)))
    ends = _logarithm(p) - _logarithm(1 - p)
    return Twofold(
        np.where(middle, centred.high, ends.high), np.where(middle, centred.low, ends.low)
    )


def _logarithm(value: FloatArray) -> Twofold:
    """Return the logarithm to 1e-16, however small the value."""
    part, exponent = np.frexp(value)
    return Twofold.of(exponent) * _LN2 + Twofold.of(np.log(part))


def _scaled_product(a: FloatArray, b: FloatArray) -> Twofold:
    """Return ``a*b`` of any sizes."""
    (a, a_exponent), (b, b_exponent) = np.frexp(a), np.frexp(b)
    return (Twofold.of(a) * Twofold.of(b)).times_power_of_two(a_exponent + b_exponent)


def _quotient(a: Twofold, b: Twofold) -> Twofold:
    first = Twofold.of(a.high / b.high)
    rest = a - first * b
    return first + Twofold.of(rest.high / b.high)


def _square_root(a: Twofold) -> Twofold:
    first = Twofold.of(np.sqrt(a.high))
    rest = a - first * first
    return first + Twofold.of(rest.high / (2 * first.high))
