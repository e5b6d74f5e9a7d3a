r"""Assertions about GRPO dynamics; each failure says what was claimed and what was found.

They are plain functions that raise `AssertionError`, for pytest, hypothesis or a notebook. Bad
arguments raise `numerics.inputs.InvalidInput`, so that a mistake in a test is not taken for a
refutation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from numerics.exact import Configuration, spectral_radius, stable, threshold
from numerics.exact import Number as ExactNumber
from numerics.inputs import InvalidInput, check_type, exact_number, floats, whole_number

__all__ = [
    "FALSE_ALARM",
    "assert_bound",
    "assert_equal",
    "assert_mean",
    "assert_order",
    "assert_same_law",
    "assert_stable",
    "assert_unstable",
]

#: Probability with which a statistical assertion fails although the claim is true.
FALSE_ALARM = 1e-9


def assert_stable(configuration: Configuration, x: ExactNumber, *, claim: str = "") -> None:
    """Assert that the exact linear map is stable at stiffness per step `x`.

    Raises
    ------
    AssertionError
        With the configuration, its spectral radius and its threshold.
    """
    _stability(configuration, x, claim, wanted=True)


def assert_unstable(configuration: Configuration, x: ExactNumber, *, claim: str = "") -> None:
    """Assert that the exact linear map is not stable at `x`; the border itself is not stable."""
    _stability(configuration, x, claim, wanted=False)


def _stability(configuration: Configuration, x: ExactNumber, claim: str, *, wanted: bool) -> None:
    check_type("configuration", configuration, Configuration, "a numerics.exact.Configuration")
    if stable(configuration, x) == wanted:
        return
    said, is_ = ("stable", "not stable") if wanted else ("unstable", "stable")
    raise AssertionError(
        _message(
            claim or f"{said} at x = {x}",
            f"{is_}: spectral radius {spectral_radius(configuration, x):.12g} a step, "
            f"threshold x = {threshold(configuration).value}",
            configuration,
        )
    )


def assert_equal(
    claimed: Any, actual: Any, *, claim: str, at: object = "", relative: float = 0.0
) -> None:
    """Assert that two numbers are equal: exactly for rationals, to `relative` for floats.

    Parameters
    ----------
    claimed, actual
        Numbers. Two of `int` or `fractions.Fraction` are compared exactly.
    claim
        What is claimed, in words or as a formula.
    at
        The configuration or the point at which they are compared.
    relative
        Largest relative difference; 0 asks for equality.
    """
    for name, given in (("claimed", claimed), ("actual", actual)):
        check_type(name, given, Number, "a number")
    exact = isinstance(claimed, int | Fraction) and isinstance(actual, int | Fraction)
    if relative < 0 or not math.isfinite(relative):
        raise InvalidInput(f"relative is {relative}: give a tolerance >= 0")
    gap = abs(claimed - actual)
    if gap == 0 if exact else gap <= relative * abs(actual):
        return
    raise AssertionError(_message(claim, f"claimed {claimed}, is {actual}", at))


def assert_bound(claimed: Any, actual: Any, *, side: str, claim: str, at: object = "") -> None:
    """Assert that `claimed` is an ``"upper"`` or a ``"lower"`` bound of `actual`."""
    if side not in ("upper", "lower"):
        raise InvalidInput(f"side is {side!r}: give 'upper' or 'lower'")
    for name, given in (("claimed", claimed), ("actual", actual)):
        check_type(name, given, Number, "a number")
    if (claimed >= actual) if side == "upper" else (claimed <= actual):
        return
    factor = _ratio(actual, claimed)
    found = f"claimed {side} bound {claimed}, is {actual}: off by a factor {factor}"
    raise AssertionError(_message(claim, found, at))


def assert_order(
    error: Callable[[float], float],
    order: float,
    *,
    claim: str,
    start: float = 2.0**-4,
    halvings: int = 8,
    slack: float = 0.05,
) -> None:
    r"""Assert that ``error(h)`` falls like ``h**order`` as h is halved.

    Asymptotic claims are tested by the order at which their error vanishes, never by a tolerance:
    the last two halvings must divide the error by at least ``2**(order - slack)``; those before
    may be pre-asymptotic. With the default, an error of h\*ln(1/h) is not of order 1.

    Parameters
    ----------
    error
        Error of the claim at a small parameter h > 0; its modulus is used.
    order
        The claimed order, above 0.
    start, halvings
        The first h, and how often it is halved.
    slack
        By how much the observed order may fall short.

    Raises
    ------
    AssertionError
        With the table of h, error and observed order.
    """
    halvings = whole_number("halvings", halvings, least=2)
    order, start, slack = (
        float(exact_number(name, given))
        for name, given in (("order", order), ("start", start), ("slack", slack))
    )
    if not order > 0 or not start > 0 or not 0 <= slack < order:
        raise InvalidInput(
            f"order is {order:g}, start {start:g} and slack {slack:g}: order and start must be "
            "positive, slack at least 0 and below the order"
        )
    steps = [start / 2**power for power in range(halvings + 1)]
    errors = [abs(float(error(h))) for h in steps]
    if not all(map(math.isfinite, errors)):
        raise InvalidInput(f"error is not finite at every h of {steps}")
    orders = [
        math.inf if after == 0 else (-math.inf if before == 0 else math.log2(before / after))
        for before, after in pairwise(errors)
    ]
    if all(observed >= order - slack for observed in orders[-2:]):
        return
    rows = "\n".join(
        f"    h = {h:.3g}  error {e:.3g}" + (f"  order {o:.2f}" if o is not None else "")
        for h, e, o in zip(steps, errors, [None, *orders], strict=True)
    )
    raise AssertionError(_message(claim, f"claimed order {order:g}, observed\n{rows}", ""))


def assert_mean(
    samples: npt.ArrayLike, expected: float, *, claim: str, false_alarm: float = FALSE_ALARM
) -> None:
    """Assert that independent samples have the mean `expected`, by a z-test.

    Parameters
    ----------
    samples
        Independent, of finite variance, at least 30: means of whole chains, say.
    expected
        The claimed mean.
    false_alarm
        Probability of failure although the claim is true, if means are Gaussian.
    """
    values = floats(samples=samples)["samples"].ravel()
    if values.size < 30:
        raise InvalidInput(f"samples has {values.size} values: a z-test needs at least 30")
    limit = _quantile(false_alarm)
    spread = float(values.std(ddof=1)) / math.sqrt(values.size)
    gap = float(values.mean()) - expected
    if abs(gap) <= limit * spread:
        return
    sigmas = math.inf if spread == 0 else gap / spread
    raise AssertionError(
        _message(
            claim,
            f"claimed mean {expected:.9g}, measured {values.mean():.9g} +- {spread:.2g} on "
            f"{values.size} samples: {sigmas:+.1f} standard errors (limit {limit:.2f})",
            "",
        )
    )


def assert_same_law(
    one: npt.ArrayLike, other: npt.ArrayLike, *, claim: str, false_alarm: float = FALSE_ALARM
) -> None:
    """Assert that two sets of independent samples have one distribution (Kolmogorov-Smirnov).

    Parameters
    ----------
    one, other
        Independent samples.
    false_alarm
        Probability of failure although the claim is true.
    """
    from scipy.stats import ks_2samp

    first, second = (
        floats(**{name: each})[name].ravel() for name, each in (("one", one), ("other", other))
    )
    if min(first.size, second.size) < 30:
        raise InvalidInput("each set of samples needs at least 30 values")
    found = ks_2samp(first, second)
    if found.pvalue >= _probability(false_alarm):
        return
    raise AssertionError(
        _message(
            claim,
            f"two laws: their distribution functions differ by {found.statistic:.3g} near "
            f"{found.statistic_location:.6g} (p = {found.pvalue:.2g}); means {first.mean():.6g} "
            f"and {second.mean():.6g}, standard deviations {first.std():.6g} and "
            f"{second.std():.6g}",
            "",
        )
    )


def _probability(value: float) -> float:
    if not 0 < value < 1:
        raise InvalidInput(f"false_alarm is {value}: give a probability between 0 and 1")
    return value


def _quantile(false_alarm: float) -> float:
    from scipy.special import ndtri

    return float(-ndtri(_probability(false_alarm) / 2))


def _ratio(actual: Any, claimed: Any) -> str:
    return "infinite" if claimed == 0 else f"{float(np.divide(actual, claimed)):.6g}"


def _message(claim: str, found: str, at: object) -> str:
    where = f"\n  at      {at}" if at != "" else ""
    return f"the claim does not hold\n  claim   {claim}\n  found   {found}{where}"
