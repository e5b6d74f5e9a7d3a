"""Where oscillation begins, and the regime on either side."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt
from typing import Any

import pytest
from exact_cases import configurations, constant, sawtooth
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.exact import Configuration, dominant_root, onset, regime, threshold

# theory.md, section 4: mu, d, exact onset.
TABLE = [
    (0, 0, "1"),
    (0, 1, "0.25"),
    (0, 4, "0.08192"),
    (Fraction(1, 2), 2, "0.0481125224325"),
    (Fraction(9, 10), 0, "0.00263340389897"),
    (Fraction(9, 10), 1, "0.0025"),
    (Fraction(9, 10), 8, "0.00180455877953"),
]


@pytest.mark.parametrize(("mu", "d", "printed"), TABLE)
def test_the_table_to_all_printed_digits(mu: Any, d: int, printed: str) -> None:
    found = onset(constant(mu, d))
    assert found is not None
    assert f"{found:.12g}" == printed


@pytest.mark.parametrize("mu", [0, 1e-6, 0.3, 0.9, 0.9999])
@pytest.mark.parametrize("d", [1, 2, 7, 60, 400])
def test_the_closed_form_for_a_delayed_gradient(mu: float, d: int) -> None:
    """Theory section 3.4."""
    z = (d * (1 + mu) + sqrt(d * d * (1 - mu) ** 2 + 4 * mu)) / (2 * (d + 1))
    # 1 - z without cancellation: the roots of the same quadratic in 1 - z.
    b = 2 * (d + 1) - d * (1 + mu)
    y = 2 * (1 - mu) / (b + sqrt(b * b - 4 * (d + 1) * (1 - mu)))
    expected = y * (1 - mu - y) * z ** (d - 1)
    assert onset(constant(mu, d)) == pytest.approx(expected, rel=1e-11)
    ema = onset(constant(mu, d, optimizer="ema"))
    assert ema == pytest.approx(expected / (1 - mu), rel=1e-11)


@pytest.mark.parametrize("mu", [0, 0.3, 0.9, 0.9999])
def test_zero_lag_under_either_lag_model_and_any_share(mu: float) -> None:
    for s in (1, 0.5, -2, 3):
        for c in (constant(mu, 0, s=s), sawtooth(mu, 1, s=s)):
            assert onset(c) == pytest.approx((1 - sqrt(mu)) ** 2, rel=1e-11)


@pytest.mark.parametrize(("mu", "n"), [(0.9, 2), (0.9, 9), (0.5, 3), (0.99, 40)])
def test_the_sawtooth_onset_at_share_one_is_a_root_of_a_quadratic(mu: float, n: int) -> None:
    m = Fraction(mu)
    r = (1 - m**n) / (1 - m)
    s = (n - m * r) / (1 - m)
    # (trace)^2 = 4 det with trace 1 + mu^N - x S and det mu^N + x (mu r^2 - mu^N S).
    a, half_b = s * s, -((1 + m**n) * s + 2 * (m * r * r - m**n * s))
    c = (1 - m**n) ** 2
    root = sqrt(float(half_b * half_b - a * c))
    assert onset(sawtooth(mu, n)) == pytest.approx(float(c) / (-float(half_b) + root), rel=1e-11)


@settings(deadline=None, max_examples=100)
@given(configurations(longest=16), st.floats(1e-6, 1, exclude_max=True))
@example(constant(0.9, 7, s=-1), 0.999)
@example(constant(0, 4, s=-1), 0.999)
@example(constant(0.9, 1, s=1e6), 0.5)
@example(sawtooth(0.9, 12, s=-1, optimizer="nesterov"), 0.999)
def test_the_dominant_eigenvalue_is_real_and_positive_up_to_the_onset(
    c: Configuration, part: float
) -> None:
    start, border = onset(c), threshold(c).value
    assert start is None or 0 < start < border
    end = border if start is None else start
    for x in (end * part, end * (1 - 1e-12)):
        root = dominant_root(c, x)
        assert root.imag == 0
        assert root.real > 0
        assert regime(c, x) == "overdamped"
    if start is not None:
        assert regime(c, start) == "overdamped"
        # A multiplier that is an even power leaves 0 upwards again.
        if not (c.share == 0 and c.momentum == 0 and c.delay % 2 == 0 and not c.constant):
            assert regime(c, start * (1 + 1e-12)) == "oscillatory"
    assert regime(c, threshold(c).stable_intervals[-1][1] * (1 + 1e-12)) == "unstable"


def test_another_root_may_overtake_before_any_meeting() -> None:
    """mu = 0, lag 4, s = -1: the real root only goes down to a pole, and -1 comes up outside."""
    c = constant(0, 4, s=-1)
    x = onset(c)
    assert x is not None
    before, after = dominant_root(c, x * (1 - 1e-9)), dominant_root(c, x * (1 + 1e-9))
    assert before.imag == 0
    assert before.real > 0
    assert not (after.imag == 0 and after.real > 0)
    assert abs(before) == pytest.approx(abs(after), rel=1e-8)
    assert abs(before - after) > 0.1


def test_an_onset_may_not_exist_under_a_sawtooth() -> None:
    c = sawtooth(0, 4, s=-1)
    assert onset(c) is None
    assert threshold(c).kind == "real"
    assert regime(c, threshold(c).value * 0.999) == "overdamped"


def test_the_regime_at_a_double_root_is_decided_exactly() -> None:
    c = constant(Fraction(9, 10), 1)
    assert regime(c, Fraction(1, 400)) == "overdamped"
    assert regime(c, Fraction(1, 400) - Fraction(1, 10**30)) == "overdamped"
    assert regime(c, Fraction(1, 400) + Fraction(1, 10**17)) == "oscillatory"
    assert regime(c, Fraction(1, 10)) == "unstable"


def test_oscillating_and_unstable_are_different_questions() -> None:
    c = constant(0.9, 0)
    start = onset(c)
    assert start is not None
    assert threshold(c).value / start == pytest.approx(1443, rel=1e-3)


def test_a_narrow_window_of_complex_eigenvalues_is_not_stepped_over() -> None:
    c = Configuration("heavy-ball", "sawtooth", 1e-6, 1e-6, refresh=14)
    start = onset(c)
    assert start is not None
    before, after = dominant_root(c, start * (1 - 1e-9)), dominant_root(c, start * (1 + 1e-9))
    assert before.imag == 0
    assert before.real > 0
    assert after.imag != 0
