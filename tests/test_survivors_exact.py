"""Tests that a mutant of `numerics/exact/` asked for: see docs/reliability.md."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import reference
from exact_cases import constant, plain, sawtooth

from numerics.exact import (
    Configuration,
    characteristic_polynomial,
    dominant_root,
    onset,
    spectral_radius,
    stable,
)
from numerics.exact.arithmetic import digits_for, working
from numerics.exact.sawtooth_border import grid


@pytest.mark.parametrize("x", [Fraction(11, 5), Fraction(5, 2), Fraction(14, 5)])
def test_the_border_is_seen_where_nothing_is_remembered(x: Fraction) -> None:
    """At lag 1 without momentum chi is z**2 - (1 - x_f) z + x_s, whatever x_f between -1 and 3."""
    share = 1 / x  # x_s = 1, and x_f above 1
    assert not stable(constant(0, 1, share), x)
    assert stable(constant(0, 1, share), x * (1 - Fraction(1, 10**30)))
    assert spectral_radius(constant(0, 1, share), x) == 1


def test_steps_are_named() -> None:
    with pytest.raises(TypeError):
        Configuration("heavy-ball", "constant", 0.5, 1, 3)  # type: ignore[misc]


@pytest.mark.parametrize("power", [1, 20, 300])
def test_digits_grow_with_what_cancels(power: int) -> None:
    near = 1 - Fraction(1, 10**power)
    assert digits_for(constant(0, 0)) == 52
    assert digits_for(constant(near, 0)) >= 50 + 2 * 0.9 * power
    assert digits_for(constant(0, 0), 1 - near) >= 50 + 2 * 0.9 * power


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
@pytest.mark.parametrize("share", [Fraction(-1, 2), Fraction(1, 2), Fraction(1), Fraction(2)])
@pytest.mark.parametrize("refresh", [1, 2, 7])
def test_the_grid_ascends(optimizer: str, share: Fraction, refresh: int) -> None:
    with working(60):
        points = grid(sawtooth(Fraction(9, 10), refresh, share, optimizer))
    assert all(a < b for a, b in pairwise(points))


@pytest.mark.parametrize("lag", [32, 41, 60])
def test_circles_of_roots_far_apart_are_told_apart(lag: int) -> None:
    """The slow root is 1 - x/(1-mu), the others are about x**(1/lag) in size."""
    c = constant(Fraction(1, 2), lag, 1, "nesterov")
    assert 1 - spectral_radius(c, 1e-10) == pytest.approx(2e-10, rel=1e-5, abs=0)


def test_the_onset_is_where_another_root_overtakes_beyond_x_1() -> None:
    """For EMA, mu 1/2, s -7/5, lag 1 the roots sum to 3/2 - 6 x/5 and have a negative product."""
    assert onset(constant(Fraction(1, 2), 1, Fraction(-7, 5), "ema")) == 1.25


def test_the_onset_is_the_first_of_two_meetings() -> None:
    c = constant(0.619, 5, Fraction(-1, 10), "ema")
    found = onset(c)
    assert found is not None
    for x, swings in ((found * (1 - 1e-6), False), (found * (1 + 1e-6), True)):
        roots = np.roots([float(value) for value in characteristic_polynomial(c, x)])
        largest = max(roots, key=abs)
        assert (abs(largest.imag) > 1e-5) == swings
        assert (dominant_root(c, x).imag > 0) == swings
        assert abs(reference.dominant_root(plain(c), x)) == pytest.approx(abs(largest), rel=1e-6)
