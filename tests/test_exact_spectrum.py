"""Dominant roots, radii and relaxation times against 50 digits, and decisions on the border."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import reference
from exact_cases import STIFFNESS, configurations, constant, plain, sawtooth
from hypothesis import example, given, settings

from numerics.exact import (
    Configuration,
    characteristic_polynomial,
    dominant_root,
    exact_monodromy,
    monodromy,
    relaxation_time,
    spectral_radius,
    stable,
)

ROUNDING = 4e-16  # two roundings of a float


@settings(deadline=None, max_examples=150)
@given(configurations(longest=12), STIFFNESS)
@example(constant(0.9, 0), 1e-15)
@example(constant(0.9999, 3, s=-0.5), 1e-16)
@example(sawtooth(0.9999, 12), 1e-16)
@example(constant(0, 0), 1.0)
@example(sawtooth(0, 1, s=0.5), 1.0)
def test_radius_and_relaxation_have_every_digit(c: Configuration, x: float) -> None:
    with mp.workdps(reference.DIGITS):
        rate = reference.rate(plain(c), x)
        assert stable(c, x) == (rate < 0)
        assert spectral_radius(c, x) == pytest.approx(float(mp.exp(rate)), rel=ROUNDING, abs=0)
        found = relaxation_time(c, x)
        if rate < 0:
            assert found == pytest.approx(float(-1 / rate), rel=ROUNDING, abs=0)
        else:
            assert found is None


@settings(deadline=None, max_examples=60)
@given(configurations(longest=12, lag_models=("constant",)), STIFFNESS)
def test_the_dominant_root_is_a_root_and_no_other_is_larger(c: Configuration, x: float) -> None:
    poly = [float(value) for value in characteristic_polynomial(c, x)]
    companion = np.append(np.roots(poly), 0)
    root = dominant_root(c, x)
    assert root.imag >= 0
    # Companion eigenvalues are good to half a float's digits at worst (a double root).
    assert abs(companion).max() == pytest.approx(abs(root), rel=1e-6)
    assert abs(companion - root).min() < 1e-6 * max(1, abs(root))


@settings(deadline=None, max_examples=60)
@given(configurations(longest=12, lag_models=("sawtooth",)), STIFFNESS)
def test_the_monodromy_matrix_is_the_recurrence_run_once_around(c: Configuration, x: float) -> None:
    exact_c = Configuration(
        c.optimizer, c.lag_model, c.momentum, c.share, lag=c.lag, refresh=c.refresh
    )
    columns = [
        reference.run_refresh(plain(exact_c), Fraction(x), Fraction(q), Fraction(v))
        for q, v in ((1, 0), (0, 1))
    ]
    expected = tuple(zip(*columns, strict=True))
    assert exact_monodromy(c, x) == expected
    assert monodromy(c, x).tolist() == [[float(entry) for entry in row] for row in expected]
    (a, b), (p, q) = expected
    root = dominant_root(c, x)
    eigenvalues = np.linalg.eigvals([[float(a), float(b)], [float(p), float(q)]])
    assert abs(root) == pytest.approx(abs(eigenvalues).max(), rel=1e-6, abs=1e-6)


def test_the_monodromy_matrix_of_the_theory() -> None:
    mu, x, n = Fraction(9, 10), Fraction(1, 50), 5
    r = (1 - mu**n) / (1 - mu)
    s = (n - mu * r) / (1 - mu)
    assert exact_monodromy(sawtooth(mu, n), x) == ((1 - x * s, mu * r), (-x * r, mu**n))


@pytest.mark.parametrize(
    ("c", "x", "is_stable"),
    [
        (constant(Fraction(9, 10), 1), Fraction(1, 10), False),
        (constant(Fraction(9, 10), 1), Fraction(1, 10) - Fraction(1, 10**40), True),
        (constant(Fraction(9, 10), 1), Fraction(1, 10) + Fraction(1, 10**40), False),
        (constant(0.9, 1), 0.1, False),  # as floats, 0.1 + 0.9 exceeds 1 by 2.8e-17
        (constant(0.9, 1), 0.1 - 1e-16, True),
        (constant(Fraction(9, 10), 0), Fraction(38, 10), False),
        (constant(0, 1), 1, False),
        (constant(0, 4), Fraction(347296355334, 10**12), False),
        (constant(0, 4), Fraction(347296355333, 10**12), True),
        (constant(Fraction(3, 5), 1, s=Fraction(1, 10)), 4, False),  # a double root at -1
        (constant(0, 7, s=Fraction(1, 2)), 2, False),  # every root on the circle
        (constant(0, 7, s=Fraction(1, 2)), 2 - Fraction(1, 10**30), True),
        (constant(Fraction(9, 10), 64, s=Fraction(1, 4)), Fraction(38, 10), False),
        (constant(Fraction(9, 10), 1, optimizer="ema"), 1, False),
        (sawtooth(0, 8, s=Fraction(1, 2)), 2, False),  # touches -1
        (sawtooth(0, 8, s=Fraction(1, 2)), Fraction(201, 100), True),
        (sawtooth(0, 8, s=Fraction(1, 2)), 4, False),
        (sawtooth(Fraction(9, 10), 1), Fraction(38, 10), False),
        (sawtooth(Fraction(9, 10), 1), Fraction(38, 10) - Fraction(1, 10**40), True),
        (sawtooth(Fraction(9, 10), 2), Fraction(19, 90), False),
        (sawtooth(Fraction(1, 10), 1000, s=Fraction(1, 2)), 4, True),
    ],
)
def test_decisions_on_and_beside_the_border(c: Configuration, x: Any, is_stable: bool) -> None:
    assert stable(c, x) is is_stable
    assert (relaxation_time(c, x) is not None) is is_stable


def test_the_border_agrees_with_schur_and_cohn_in_exact_arithmetic() -> None:
    for lag in range(5):
        for mu in (Fraction(0), Fraction(1, 2), Fraction(9, 10)):
            for s in (Fraction(-1), Fraction(1, 3), Fraction(1, 2), Fraction(1), Fraction(2)):
                for x in (Fraction(k, 20) for k in range(1, 90, 4)):
                    c = constant(mu, lag, s=s)
                    assert stable(c, x) is _schur_cohn(characteristic_polynomial(c, x)), (c, x)


def _schur_cohn(poly: tuple[Fraction, ...]) -> bool:
    a = list(poly)
    while len(a) > 1:
        k = a[-1] / a[0]
        if abs(k) >= 1:
            return False
        a = [one - k * other for one, other in zip(a, reversed(a), strict=True)][:-1]
    return True


@pytest.mark.parametrize("distance", [0, 1e-9, -1e-9, 1e-20, -1e-20, 1e-30, -1e-30])
def test_a_double_root_keeps_its_digits(distance: float) -> None:
    """At mu = 9/10, lag 1, the roots are 0.95 +- sqrt(0.0025 - x)."""
    shift = Fraction(distance)
    root = dominant_root(constant(Fraction(9, 10), 1), Fraction(1, 400) - shift)
    spread = float(abs(shift)) ** 0.5
    assert root.real == pytest.approx(0.95 + (spread if shift > 0 else 0), rel=ROUNDING, abs=0)
    assert root.imag == pytest.approx(spread if shift < 0 else 0, rel=1e-14, abs=0)


def test_a_slow_root_keeps_its_digits() -> None:
    """The obvious way, 1/ln of a rounded root, is 18 per cent off here."""
    obvious = -1 / np.log(abs(np.roots([1, 1e-15 - 1.9, 0.9])).max())
    found = relaxation_time(constant(Fraction(9, 10), 0), Fraction(1, 10**15))
    assert found == pytest.approx(1e14 - 9.5, rel=1e-13)
    assert abs(obvious / found - 1) > 0.05


@pytest.mark.parametrize(
    "c",
    [
        constant(0.9, 2000),
        constant(0.99, 2000, s=-0.5, optimizer="nesterov"),
        sawtooth(0.9, 2000),
        sawtooth(0.9, 5000, s=0.3),
    ],
)
def test_long_lags(c: Configuration) -> None:
    x = 3e-5
    root = dominant_root(c, x)
    assert abs(root) < 1
    if c.constant:
        run = plain(c)
        with mp.workdps(reference.DIGITS):
            poly = reference.coefficients(run, x)
            exact = mp.mpc(root)
            for _ in range(8):
                height, slope = mp.polyval(poly, exact, derivative=1)
                exact -= height / slope
            assert root == pytest.approx(complex(exact), rel=ROUNDING)
    else:
        assert spectral_radius(c, x) == pytest.approx(abs(root) ** (1 / c.delay), rel=1e-12)


def test_a_dead_beat_run_is_over_at_once() -> None:
    for c, x in (
        (constant(0, 0), 1),
        (sawtooth(0, 1), 1),
        (sawtooth(0, 3), Fraction(1, 3)),
        (sawtooth(0, 5, s=Fraction(1, 32)), Fraction(16, 31)),
        (constant(0.9, 0, optimizer="nesterov"), 1),
        (sawtooth(0.9, 1, optimizer="nesterov"), 1),
    ):
        assert dominant_root(c, x) == 0
        assert spectral_radius(c, x) == 0
        assert relaxation_time(c, x) == 0
        assert stable(c, x)


def test_a_run_that_forgets_almost_everything_is_not_taken_for_one_that_forgets_all() -> None:
    """All fresh, the eigenvalues of 1000 steps are those of one to the power 1000."""
    radius = spectral_radius(sawtooth(Fraction(1, 10), 1000, s=0), 1)
    assert radius == pytest.approx(spectral_radius(constant(Fraction(1, 10), 0), 1), rel=ROUNDING)


@pytest.mark.parametrize("s", [Fraction(1, 2), -1, 3])
def test_lag_0_and_refresh_1_do_not_know_the_stale_share(s: Any) -> None:
    assert dominant_root(constant(0.9, 0, s=s), 0.3) == dominant_root(constant(0.9, 0), 0.3)
    assert dominant_root(sawtooth(0.9, 1, s=s), 0.3) == pytest.approx(
        dominant_root(constant(0.9, 0), 0.3), rel=ROUNDING
    )
