"""Certified answers: decided for exactly the numbers given, brackets that hold and are narrow."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import reference
from exact_cases import configurations, constant, plain, sawtooth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.dynamics import (
    Enclosure,
    RandomLag,
    certified_stable,
    enclose_spectral_radius,
    enclose_threshold,
    mean_square_threshold,
    spectral_radius,
)
from numerics.dynamics import threshold as threshold_in_floats
from numerics.exact import Configuration, ConfigurationError, stable, threshold
from numerics.inputs import InvalidInput

LAG_ONE = constant(Fraction(1, 2), 1)
LAW = (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2))


def test_the_border_itself_is_not_stable() -> None:
    assert not certified_stable(LAG_ONE, Fraction(1, 2))
    assert certified_stable(LAG_ONE, Fraction(1, 2) - Fraction(1, 10**40))
    assert not certified_stable(LAG_ONE, Fraction(1, 2) + Fraction(1, 10**40))


@settings(deadline=None, max_examples=120)
@given(configurations(longest=12), st.floats(-12, 1))
def test_the_certificate_agrees_with_the_spectrum(c: Configuration, power: float) -> None:
    x = 10.0**power
    assert certified_stable(c, x) == stable(c, x)


def neighbours(found: Enclosure) -> bool:
    """Whether the ends are one float, two neighbours, or have one float between them."""
    return found.upper <= math.nextafter(math.nextafter(found.lower, math.inf), math.inf)


@settings(deadline=None, max_examples=150)
@given(configurations(longest=16))
@example(constant(0.9, 64))
@example(sawtooth(0.9, 40, s=0.37))
@example(sawtooth(0, 4, s=0.5))  # -1 is touched at x = 2, and left again
@example(constant(0.5, 3, s=0.5))  # the force itself is 0 somewhere on the circle
def test_a_threshold_is_enclosed_by_neighbours(c: Configuration) -> None:
    found = enclose_threshold(c)
    expected = threshold(c)
    assert found.lower <= expected.value <= found.upper
    assert neighbours(found)
    if found.lower < found.upper:
        assert certified_stable(c, found.lower)
    first = expected.stable_intervals[0]
    touches = len(expected.stable_intervals) > 1 and expected.stable_intervals[1][0] == first[1]
    assert touches or not certified_stable(c, math.nextafter(found.upper, math.inf))


def test_thresholds_that_are_floats_are_found_as_such() -> None:
    assert enclose_threshold(constant(0, 0)) == (2.0, 2.0)
    lower, upper = enclose_threshold(LAG_ONE)
    assert lower <= 0.5 <= upper


@settings(deadline=None, max_examples=80)
@given(configurations(longest=8), st.floats(-14, 0.5))
def test_a_spectral_radius_is_enclosed(c: Configuration, power: float) -> None:
    x = 10.0**power
    found = enclose_spectral_radius(c, x)
    assert neighbours(found)
    with mp.workdps(reference.DIGITS):
        rate = reference.rate(plain(c), x) * (1 if c.constant else c.delay)
        radius = mp.exp(rate)
        assert found.lower <= radius * (1 + mp.mpf(10) ** -20)
        assert radius <= found.upper * (1 + mp.mpf(10) ** -20)


def test_a_random_lag_is_certified_too() -> None:
    run = RandomLag("nesterov", Fraction(3, 4), Fraction(1, 2), LAW)
    lower, upper = enclose_threshold(run)
    assert certified_stable(run, lower)
    assert not certified_stable(run, upper)
    law = [float(p) for p in LAW]
    family = {"mu": 0.75, "stale_share": 0.5, "lag_law": law}
    found = threshold_in_floats("nesterov", **family).value
    assert found == pytest.approx(lower, rel=1e-14)
    assert mean_square_threshold("nesterov", **family) < upper
    radius = enclose_spectral_radius(run, Fraction(1, 10))
    expected = spectral_radius("nesterov", x=0.1, **family)
    assert radius.lower == pytest.approx(expected, rel=1e-14)
    certain = RandomLag("ema", 0.9, 1, tuple(np.eye(9)[8].tolist()))
    assert enclose_threshold(certain) == enclose_threshold(constant(0.9, 8, optimizer="ema"))


def test_a_law_of_floats_is_taken_with_its_exact_sum() -> None:
    tenths = RandomLag("heavy-ball", 0, 1, (0.1,) * 10)
    exact = RandomLag("heavy-ball", 0, 1, (Fraction(1, 10),) * 10)
    assert enclose_threshold(tenths) == enclose_threshold(exact)


@pytest.mark.parametrize(
    ("law", "reason"),
    [((), "probabilities"), ((0.5, 0.4), "sum to 1"), ((1.5, -0.5), "probabilities")],
)
def test_bad_laws_are_refused(law: tuple[float, ...], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        RandomLag("heavy-ball", 0.5, 1, law)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="must be above 0"):
        certified_stable(LAG_ONE, 0)
    with pytest.raises(ConfigurationError, match="momentum"):
        RandomLag("heavy-ball", 1, 1, (1.0,))
    with pytest.raises(InvalidInput, match="give a finite number"):
        RandomLag("heavy-ball", 0, 1, (float("nan"), 1.0))
