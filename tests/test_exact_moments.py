"""Stationary variances against printed values, 50 digits, Lyapunov's equation and plain running."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import reference
from exact_cases import configurations, constant, plain, sawtooth
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.linalg import solve_discrete_lyapunov

from numerics.exact import (
    Configuration,
    UnstableError,
    characteristic_polynomial,
    stationary_variance,
    threshold,
)


@pytest.mark.parametrize(
    ("mu", "x", "d", "printed"),
    [
        ("0.5", "0.01", 0, "100.334448160535"),
        ("0.5", "0.1", 1, "12.9032258064516"),
        ("0.9", "0.01", 3, "712.216076112741"),
        ("0.9", "0.02", 3, "605.506966045938"),
    ],
)
def test_the_printed_variances(mu: str, x: str, d: int, printed: str) -> None:
    found = stationary_variance(constant(Fraction(mu), d), Fraction(x))
    assert f"{found:.15g}" == printed


@settings(deadline=None, max_examples=50)
@given(
    st.fractions(0, Fraction(99, 100), max_denominator=100),
    st.fractions(Fraction(1, 100), Fraction(99, 100), max_denominator=100),
)
def test_closed_forms_at_lag_0_and_1(mu: Fraction, part: Fraction) -> None:
    """Theory section 3.5."""
    x = part * 2 * (1 + mu)
    expected = (1 + mu) / ((1 - mu) * x * (2 * (1 + mu) - x))
    assert stationary_variance(constant(mu, 0), x) == pytest.approx(float(expected), rel=3e-16)
    x = part * (1 - mu)
    expected = (1 + mu + x) / ((1 - mu - x) * x * (2 * (1 + mu) + x))
    assert stationary_variance(constant(mu, 1), x) == pytest.approx(float(expected), rel=3e-16)


@pytest.mark.parametrize("d", [0, 1, 2, 8, 24, 64])
@pytest.mark.parametrize("mu", [0, 0.9, 0.9999])
@pytest.mark.parametrize("x", [1e-12, 1e-16])
def test_a_slow_root_costs_no_digits(mu: float, d: int, x: float) -> None:
    c = constant(mu, d)
    with mp.workdps(reference.DIGITS):
        expected = float(reference.variance_by_yule_walker(plain(c), x))
    assert stationary_variance(c, x) == pytest.approx(expected, rel=4e-16, abs=0)


@settings(deadline=None, max_examples=50)
@given(configurations(longest=8, lag_models=("constant",)), st.floats(1e-9, 0.9999))
@example(constant(0, 0), 0.5)
@example(constant(0.9, 8, s=-0.5, optimizer="nesterov"), 1 - 1e-9)
def test_yule_and_walker(c: Configuration, part: float) -> None:
    x = threshold(c).value * part
    with mp.workdps(reference.DIGITS):
        expected = float(reference.variance_by_yule_walker(plain(c), x))
    assert stationary_variance(c, x) == pytest.approx(expected, rel=4e-16, abs=0)


@settings(deadline=None, max_examples=60)
@given(configurations(longest=16, lag_models=("constant",)), st.floats(0.2, 0.9))
def test_lyapunov(c: Configuration, part: float) -> None:
    x = threshold(c).value * part
    poly = np.array([float(value) for value in characteristic_polynomial(c, x)])
    size = len(poly) - 1
    if size:
        companion = np.eye(size, k=-1)
        companion[0] = -poly[1:]
        noise = np.zeros((size, size))
        noise[0, 0] = 1
        expected = solve_discrete_lyapunov(companion, noise, method="bilinear")[0, 0]
        # The equation in floats loses digits with the gap 1 - radius and the momentum's.
        if expected < 1e6:
            assert stationary_variance(c, x) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
@pytest.mark.parametrize("mu", [0, 0.5, 0.9])
@pytest.mark.parametrize("s", [1, 0.5, -0.3, 1.4])
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_running_the_recurrence(optimizer: str, mu: float, s: float, steps: int) -> None:
    for c in (
        constant(mu, steps, s=s, optimizer=optimizer),
        sawtooth(mu, steps, s=s, optimizer=optimizer),
    ):
        x = threshold(c).value * 0.4
        expected = reference.variance_by_kicks(plain(c), x, 3000)
        assert stationary_variance(c, x) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("mu", [0, 0.9])
@pytest.mark.parametrize("s", [1, 0.5, -2])
def test_lag_0_and_refresh_1_are_the_same_run(mu: float, s: float) -> None:
    one, other = constant(mu, 0, s=s), sawtooth(mu, 1, s=s)
    assert stationary_variance(one, 1e-9) == stationary_variance(other, 1e-9)


def test_a_slow_sawtooth_keeps_its_digits() -> None:
    """Without lag effects the variance is 1/(2 x (1 - mu)), to relative order x."""
    found = stationary_variance(sawtooth(Fraction(9, 10), 16, s=0.7), Fraction(1, 10**16))
    assert found == pytest.approx(5e16, rel=1e-13)


def test_the_variance_diverges_at_the_border() -> None:
    """At lag 1 it is 19/(38 + x) ... over the distance to it, here 1e-30."""
    mu, distance = Fraction(9, 10), Fraction(1, 10**30)
    x = 1 - mu - distance
    expected = (1 + mu + x) / (distance * x * (2 * (1 + mu) + x))
    assert stationary_variance(constant(mu, 1), x) == pytest.approx(float(expected), rel=3e-16)


@pytest.mark.parametrize(
    ("c", "x"),
    [(constant(Fraction(9, 10), 1), Fraction(1, 10)), (constant(0.9, 1), 5), (sawtooth(0, 2), 1)],
)
def test_there_is_none_without_stability(c: Configuration, x: Any) -> None:
    with pytest.raises(UnstableError, match="not stable"):
        stationary_variance(c, x)


@pytest.mark.parametrize("c", [constant(0.9, 2000, s=0.5), sawtooth(0.9, 2000, s=0.5)])
def test_long_lags(c: Configuration) -> None:
    """Lemma 6 holds to relative order x times the lag: 1/(2 x (1 - mu - x_s d)), d its mean."""
    mean = 2000 if c.constant else 1999 / 2
    x = 1e-8
    expected = 1 / (2 * x * (0.1 - 0.5 * x * mean))
    assert stationary_variance(c, x) == pytest.approx(expected, rel=1e-4)
