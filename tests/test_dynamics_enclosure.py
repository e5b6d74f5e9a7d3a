"""Certified answers: decided for exactly the numbers given, brackets that hold."""

from __future__ import annotations

from fractions import Fraction

import pytest
from exact_cases import configurations
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics.dynamics import certified_stable, enclose_spectral_radius, enclose_threshold
from numerics.exact import Configuration, ConfigurationError, spectral_radius, stable, threshold

LAG_ONE = Configuration("heavy-ball", "constant", Fraction(1, 2), 1, lag=1)


def test_the_border_itself_is_not_stable() -> None:
    assert not certified_stable(LAG_ONE, Fraction(1, 2))
    assert certified_stable(LAG_ONE, Fraction(1, 2) - Fraction(1, 10**40))
    assert not certified_stable(LAG_ONE, Fraction(1, 2) + Fraction(1, 10**40))


@settings(deadline=None, max_examples=120)
@given(configurations(longest=12), st.floats(-12, 1))
def test_the_certificate_agrees_with_the_spectrum(c: Configuration, power: float) -> None:
    x = 10.0**power
    assert certified_stable(c, x) == stable(c, x)


@settings(deadline=None, max_examples=60)
@given(configurations(longest=8, share=st.sampled_from([1.0, 0.5, Fraction(1, 3)])))
def test_a_threshold_is_enclosed_by_neighbours(c: Configuration) -> None:
    lower, upper = enclose_threshold(c)
    assert lower <= threshold(c).value <= upper
    assert upper - lower <= 1e-9 * upper
    assert certified_stable(c, lower)
    assert not certified_stable(c, upper)


@settings(deadline=None, max_examples=60)
@given(configurations(longest=8), st.floats(-6, 0))
def test_a_spectral_radius_is_enclosed(c: Configuration, power: float) -> None:
    x = 10.0**power
    lower, upper = enclose_spectral_radius(c, x)
    radius = spectral_radius(c, x) ** (1 if c.constant else c.delay)
    assert lower <= radius * (1 + 1e-15)
    assert radius <= upper * (1 + 1e-15)
    assert upper - lower <= 1e-5 * max(upper, 1e-300)


def test_bad_input_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="must be above 0"):
        certified_stable(LAG_ONE, 0)
