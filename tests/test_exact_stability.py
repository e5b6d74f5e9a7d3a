"""Thresholds, their kinds, and where stability returns."""

from __future__ import annotations

from fractions import Fraction
from math import pi, sin
from typing import Any

import numpy as np
import pytest
import reference
from exact_cases import configurations, constant, plain, sawtooth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.exact import (
    Configuration,
    characteristic_polynomial,
    dominant_root,
    spectral_radius,
    stable,
    threshold,
)

TINY = Fraction(1, 10**20)

# theory.md, section 4: mu, d, constant-lag threshold, refresh d + 1 threshold and its kind.
TABLE = [
    (0, 0, "2", "2", "flip"),
    (0, 1, "1", "1", "flip"),
    (0, 4, "0.347296355334", "0.4", "flip"),
    (Fraction(1, 2), 2, "0.280776406404", "0.692307692308", "flip"),
    (Fraction(9, 10), 0, "3.8", "3.8", "flip"),
    (Fraction(9, 10), 1, "0.1", "0.211111111111", "neimark-sacker"),
    (Fraction(9, 10), 8, "0.01394199458", "0.0302294749313", "neimark-sacker"),
]


@pytest.mark.parametrize(("mu", "d", "fixed_lag", "refreshed", "kind"), TABLE)
def test_the_table_to_all_printed_digits(
    mu: Any, d: int, fixed_lag: str, refreshed: str, kind: str
) -> None:
    assert f"{threshold(constant(mu, d)).value:.12g}" == fixed_lag
    assert threshold(constant(mu, d)).kind == ("neimark-sacker" if d else "flip")
    found = threshold(sawtooth(mu, d + 1))
    assert f"{found.value:.12g}" == refreshed
    assert found.kind == kind
    assert found.stable_intervals == ((0, found.value),)


@pytest.mark.parametrize("d", [1, 2, 3, 10, 64, 500])
def test_levin_and_may(d: int) -> None:
    assert threshold(constant(0, d)).value == pytest.approx(
        2 * sin(pi / (2 * (2 * d + 1))), rel=1e-14
    )


@pytest.mark.parametrize("mu", [0, 0.3, 0.9, 0.9999])
@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_one_equation_gives_the_constant_lag_threshold(mu: float, d: int) -> None:
    """Theory section 3.1, solved by bisection."""
    low, high = 0.0, pi
    for _ in range(200):
        w = (low + high) / 2
        phase = w * (d + 0.5) + np.arctan2(mu * sin(w), 1 - mu * np.cos(w))
        low, high = (w, high) if phase < pi / 2 else (low, w)
    modulus = np.hypot(1 - mu, 2 * np.sqrt(mu) * sin(w / 2))
    assert threshold(constant(mu, d)).value == pytest.approx(2 * sin(w / 2) * modulus, rel=1e-11)


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
def test_zero_lag_is_lost_by_a_flip(optimizer: str) -> None:
    mu = Fraction(9, 10)
    expected = {
        "heavy-ball": 2 * (1 + mu),
        "ema": 2 * (1 + mu) / (1 - mu),
        "nesterov": 2 * (1 + mu) / (1 + 2 * mu),
    }[optimizer]
    for c in (constant(mu, 0, optimizer=optimizer), sawtooth(mu, 1, optimizer=optimizer)):
        assert threshold(c).value == float(expected)
        assert threshold(c).kind == "flip"


@settings(deadline=None, max_examples=60)
@given(st.floats(0.0, 0.9999), st.integers(1, 60))
def test_the_sawtooth_threshold_at_share_one(mu: float, n: int) -> None:
    """Theory section 3.2, in exact arithmetic."""
    m = Fraction(mu)
    r = (1 - m**n) / (1 - m)
    s = (n - m * r) / (1 - m)
    flip = 2 * (1 + m**n) / (s * (1 + m**n) - m * r * r)
    circle = m * r * r - m**n * s
    expected = min(flip, (1 - m**n) / circle) if circle > 0 else flip
    found = threshold(sawtooth(mu, n))
    assert found.value == pytest.approx(float(expected), rel=3e-16, abs=0)
    assert found.kind == ("flip" if expected == flip else "neimark-sacker")


@settings(deadline=None, max_examples=120)
@given(configurations(longest=16))
@example(constant(0.9, 1, s=0))
@example(sawtooth(0.9, 2, s=-1))
@example(sawtooth(0.1, 8, s=0.5))
@example(sawtooth(0.01, 40, s=Fraction(1, 2)))
@example(sawtooth(0.9, 7, s=1 - 1e-12))
@example(constant(1 - 1e-12, 5, s=-1e6, optimizer="nesterov"))
def test_stability_changes_at_the_ends_of_the_intervals_and_nowhere_else(c: Configuration) -> None:
    found = threshold(c)
    assert found.value == found.stable_intervals[0][1]
    ends = [0.0]
    for low, high in found.stable_intervals:
        assert ends[-1] <= low < high
        width = high - low
        assert stable(c, low + 0.5 * width)
        assert stable(c, high - 1e-6 * width)
        if low:
            assert stable(c, low + 1e-6 * width)
            gap = low - ends[-1]
            if gap:  # 0 where an eigenvalue touches the circle and turns back
                assert not stable(c, low - 1e-6 * gap)
                assert not stable(c, ends[-1] + 1e-6 * gap)
                assert not stable(c, low - 0.5 * gap)
        ends.append(high)
    assert not stable(c, ends[-1] * (1 + 1e-6))
    assert not stable(c, ends[-1] * 3)


@settings(deadline=None, max_examples=60)
@given(configurations(longest=16), st.floats(-3.0, 1.0))
def test_the_radius_and_the_intervals_agree_everywhere(c: Configuration, scale: float) -> None:
    found = threshold(c)
    x = found.stable_intervals[-1][1] * 10.0**scale
    inside = any(low < x < high for low, high in found.stable_intervals)
    assert inside is (_plain_radius(c, x) < 1) or abs(_plain_radius(c, x) - 1) < 1e-6


def _plain_radius(c: Configuration, x: float) -> float:
    """The spectral radius from eigenvalues in floats, good to 1e-6 or so."""
    if c.constant:
        return float(
            abs(np.append(np.roots([float(v) for v in characteristic_polynomial(c, x)]), 0)).max()
        )
    return float(abs(reference.monodromy_eigenvalues(plain(c), x)[0])) ** (1 / c.delay)


@settings(deadline=None, max_examples=60)
@given(configurations(longest=16))
def test_the_kind_is_where_the_eigenvalue_is(c: Configuration) -> None:
    found = threshold(c)
    root = dominant_root(c, found.value)
    assert spectral_radius(c, found.value) == pytest.approx(1, abs=1e-9)
    # Where two roots meet on the circle a float of x moves them by half a float's digits.
    nearest = {"real": 1, "flip": -1}.get(found.kind)
    if nearest is None:
        assert root.imag > 0
    else:
        assert root == pytest.approx(nearest, abs=1e-6)


def test_stability_returns_for_shares_other_than_one() -> None:
    found = threshold(constant(0.9, 7, s=0.3))
    assert found.kind == "neimark-sacker"
    (_, lost), (back, again) = found.stable_intervals
    assert lost == pytest.approx(0.0783703570829968, rel=1e-13)
    assert 0 < lost < back < again
    assert stable(constant(0.9, 7, s=0.3), (back + again) / 2)


def test_a_touch_of_the_circle_splits_an_interval() -> None:
    """Without momentum, s = 1/2: the multiplier is 2 (1 - x/2)^N - 1, and -1 at x = 2."""
    even, odd = (threshold(sawtooth(0, n, s=Fraction(1, 2))) for n in (8, 7))
    assert (even.value, even.kind, even.stable_intervals) == (2, "flip", ((0, 2), (2, 4)))
    assert (odd.value, odd.kind, odd.stable_intervals) == (2, "flip", ((0, 2),))


@pytest.mark.parametrize(
    ("share", "touch", "end"), [(Fraction(1, 9), 15 / 8, 63 / 16), (Fraction(-1), 5 / 4, 7 / 4)]
)
def test_a_touch_is_told_from_two_crossings_and_from_a_miss(
    share: Fraction, touch: float, end: float
) -> None:
    r"""Refresh 2: with x_f = (1 - s) x, ``det(I + M)`` vanishes with
    ``x_f^2 - 2 (1 + mu (1-s)) x_f + 2 (1-s)(1 + mu^2)``, which at mu = 3/4 has a double root for
    s = 1/9 and s = -1.
    """
    mu = Fraction(3, 4)
    found = threshold(sawtooth(mu, 2, s=share))
    assert (found.kind, found.stable_intervals) == ("flip", ((0, touch), (touch, end)))
    crossing, missing = sorted(
        (threshold(sawtooth(mu, 2, s=share + step)) for step in (-TINY, TINY)),
        key=lambda one: one.value,
    )
    (_, lost), (back, _) = crossing.stable_intervals
    assert lost < touch < back < lost * (1 + 1e-9)
    assert missing.value == pytest.approx(end)
    assert len(missing.stable_intervals) == 1


def test_the_map_is_not_immune_where_lag_adds_damping() -> None:
    """Theory section 3.7: mu = 0.9, x_f = 0.1, x_s = -0.05, so x = 0.05 and s = -1."""
    x = Fraction(1, 20)
    assert [stable(constant(Fraction(9, 10), d, s=-1), x) for d in range(1, 14)] == [
        d <= 10 for d in range(1, 14)
    ]


def test_an_even_refresh_hides_a_flip_of_the_step() -> None:
    """All fresh, the step's eigenvalue -1 is the monodromy's (-1)^N."""
    assert threshold(sawtooth(0.9, 2, s=0)).kind == "real"
    assert threshold(sawtooth(0.9, 3, s=0)).kind == "flip"
    assert threshold(sawtooth(0.9, 2, s=0)).value == pytest.approx(3.8, rel=1e-15)


@pytest.mark.parametrize("c", [constant(0.9, 2000), sawtooth(0.9, 2000), constant(0.5, 500, s=0.4)])
def test_long_lags(c: Configuration) -> None:
    x = threshold(c).value
    assert spectral_radius(c, x * (1 - 1e-6)) < 1 < spectral_radius(c, x * (1 + 1e-6))
