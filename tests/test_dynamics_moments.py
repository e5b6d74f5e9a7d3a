"""Stationary moments: against 50 digits, the scalar reference, responses to kicks, plain chains."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import reference
from exact_cases import MOMENTUM, OPTIMIZER, SHARE, STIFFNESS, configurations
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from linear_noise import Noisy, correlations, run

from numerics import exact
from numerics.dynamics.moments import (
    autocovariance,
    phase_autocovariance,
    stationary_covariance,
    stationary_variance,
)
from numerics.exact import OPTIMIZERS, Configuration, UnstableError, threshold
from numerics.inputs import InvalidInput, UnknownName

NOISE = ("recurrence", "gradient")
RECURRENCE: dict[str, Any] = {"stale_share": 1, "noise_enters": "recurrence"}
FALSE_ALARM = 6.11  # |z| above it has probability 1e-9


def test_the_printed_variances() -> None:
    """Theory section 4."""
    found = stationary_variance(
        "heavy-ball", mu=[0.5, 0.5, 0.9, 0.9], x=[0.01, 0.1, 0.01, 0.02], lag=[0, 1, 3, 3],
        **RECURRENCE,
    )  # fmt: skip
    printed = [100.334448160535, 12.9032258064516, 712.216076112741, 605.506966045938]
    np.testing.assert_allclose(found, printed, rtol=1e-14)


@pytest.mark.parametrize("mu", [0.0, 0.9, 0.9999])
@pytest.mark.parametrize("x", [1e-12, 1e-9])
def test_lag_64_keeps_its_digits(mu: float, x: float) -> None:
    """Where the companion form loses 2e-3."""
    with mp.workdps(reference.DIGITS):
        case = reference.Run("heavy-ball", "constant", mu, 1, 64)
        expected = float(reference.variance_by_yule_walker(case, x))
    found = stationary_variance("heavy-ball", mu=mu, x=x, lag=64, **RECURRENCE)
    assert found == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("s", [1.0, 0.5, -0.3, 1.4])
@pytest.mark.parametrize("d", [0, 1, 2, 3, 16, 64])
def test_from_the_slowest_run_to_the_border(optimizer: str, s: float, d: int) -> None:
    for mu in (0.0, 0.9, 0.9999):
        c = Configuration(optimizer, "constant", mu, s, lag=d)
        border = threshold(c).value
        x = [1e-16, 1e-12, *(border * part for part in (1e-6, 0.01, 0.5, 0.9, 0.999))]
        expected = [exact.stationary_variance(c, value) for value in x]
        kept: dict[str, Any] = {"mu": mu, "x": x, "lag": d} | RECURRENCE | {"stale_share": s}
        found = stationary_variance(optimizer, **kept)
        np.testing.assert_allclose(found, expected, rtol=1e-10)
        np.testing.assert_allclose(found[:4], expected[:4], rtol=1e-13)
        # The dense system, which the autocovariance is solved from, is another road.
        found = autocovariance(optimizer, lags=0, **kept)[:, 0]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
        np.testing.assert_allclose(found[:3], expected[:3], rtol=1e-13)


def blurred(c: Configuration, x: float, by: float = 1e-15) -> float:
    """Return how far the variance moves, relatively, when an input is rounded."""
    middle = exact.stationary_variance(c, x)
    delay = {"lag": c.lag, "refresh": c.refresh}
    share, mu = float(c.stale_share), float(c.mu)
    moved = [
        Configuration(c.optimizer, c.lag_model, mu, share * (1 + by), **delay),
        Configuration(c.optimizer, c.lag_model, mu, share * (1 - by), **delay),
        Configuration(c.optimizer, c.lag_model, mu * (1 - by), share, **delay),
    ]
    try:
        near = [exact.stationary_variance(other, x) for other in moved]
        near.append(exact.stationary_variance(c, x * (1 + by)))
    except UnstableError:
        return float("inf")
    return max(abs(value / middle - 1) for value in near)


@settings(deadline=None, max_examples=120)
@given(configurations(longest=24), st.floats(-12, -0.001))
@example(Configuration("nesterov", "constant", 0.98, -1.32, lag=19), -0.3)
@example(Configuration("heavy-ball", "sawtooth", 0.9999, 1.0, refresh=1), -0.001)
@example(Configuration("heavy-ball", "constant", 0.0, 1.24, lag=1), -0.0001)
def test_the_scalar_reference(c: Configuration, exponent: float) -> None:
    # The reference takes decimals as exactly what they are; the floats are what is given here.
    c = Configuration(
        c.optimizer, c.lag_model, float(c.mu), float(c.stale_share), lag=c.lag, refresh=c.refresh
    )
    x = threshold(c).value * 10**exponent
    blur = blurred(c, x)
    assume(blur < 1e-6)
    found = stationary_variance(
        c.optimizer, mu=float(c.mu), x=x, stale_share=float(c.stale_share), lag=c.lag,
        refresh=c.refresh, noise_enters="recurrence",
    )  # fmt: skip
    assert found == pytest.approx(exact.stationary_variance(c, x), rel=1e-10 + 100 * blur)


def test_where_the_short_road_has_a_hole() -> None:
    """Doubling divides by 2e-4 here, and would lose half of the digits."""
    mu, x, s, d = 0.9799557280112965, 0.08437158359024689, -1.3197416499042471, 19
    found = stationary_variance(
        "nesterov", mu=mu, x=x, stale_share=s, lag=d, noise_enters="recurrence"
    )
    expected = exact.stationary_variance(Configuration("nesterov", "constant", mu, s, lag=d), x)
    assert found == pytest.approx(expected, rel=1e-11)


@settings(deadline=None, max_examples=150)
@given(configurations(longest=24), STIFFNESS)
def test_there_is_one_where_the_run_is_stable(c: Configuration, x: float) -> None:
    rate = exact.spectral_radius(c, x) - 1
    assume(abs(rate) > 1e-13)
    found = stationary_variance(
        c.optimizer, mu=float(c.mu), x=x, stale_share=float(c.stale_share), lag=c.lag,
        refresh=c.refresh, noise_enters="recurrence", unstable="nan",
    )  # fmt: skip
    assert np.isnan(found) == (not exact.stable(c, x))
    assert not found <= 0


def test_stability_returns_and_is_lost_again() -> None:
    """A negative stale force: stable up to d = 10, unstable at 11 (theory section 3, point 7)."""
    found = stationary_variance(
        "heavy-ball", mu=0.9, x=0.05, stale_share=-1, lag=np.arange(8, 14),
        noise_enters="recurrence", unstable="nan",
    )  # fmt: skip
    stable = [exact.stable(Configuration("heavy-ball", "constant", Fraction(9, 10), -1, lag=d),
                           Fraction(1, 20)) for d in range(8, 14)]  # fmt: skip
    assert np.array_equal(~np.isnan(found), stable)
    assert stable[:4] == [True, True, True, False]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
@pytest.mark.parametrize("s", [1.0, -0.4])
@pytest.mark.parametrize("mu", [0.0, 0.8])
def test_responses_to_kicks(optimizer: str, noise_enters: str, s: float, mu: float) -> None:
    """Every moment, as the sum over the kicks that made it."""
    lags = 12
    for steps in (0, 1, 3, 5):
        x = 0.3 * threshold(Configuration(optimizer, "constant", mu, s, lag=steps)).value
        noisy = Noisy(optimizer, mu, x, s, noise_enters)
        expected = correlations(noisy, 1500, lags, lag=steps)[0]
        found = autocovariance(lag=steps, lags=lags, **noisy.given)
        np.testing.assert_allclose(found, expected, atol=1e-11 * expected[0])
        variance = stationary_variance(lag=steps, **noisy.given)
        assert variance == pytest.approx(expected[0], rel=1e-11)
    for steps in (1, 2, 5):
        x = 0.3 * threshold(Configuration(optimizer, "sawtooth", mu, s, refresh=steps)).value
        noisy = Noisy(optimizer, mu, x, s, noise_enters)
        by_phase = correlations(noisy, 3000, lags, refresh=steps)
        found = phase_autocovariance(refresh=steps, lags=lags, **noisy.given)
        np.testing.assert_allclose(found, by_phase, atol=1e-11 * by_phase[0, 0])
        found = autocovariance(refresh=steps, lags=lags, **noisy.given)
        np.testing.assert_allclose(found, by_phase.mean(axis=0), atol=1e-11 * by_phase[0, 0])
        variance = stationary_variance(refresh=steps, **noisy.given)
        assert variance == pytest.approx(by_phase[:, 0].mean(), rel=1e-11)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("x", [1e-12, 1e-3])
def test_autocovariance_in_fifty_digits(optimizer: str, x: float) -> None:
    """Yule and Walker's equations as they stand, and the recurrence beyond them."""
    mu, d, lags = 0.99, 6, 40
    with mp.workdps(reference.DIGITS):
        a = reference.coefficients(reference.Run(optimizer, "constant", mu, 1, d), x)
        size = len(a)
        system, right = mp.matrix(size, size), mp.matrix(size, 1)
        right[0] = 1
        for k in range(size):
            for j, value in enumerate(a):
                system[k, abs(k - j)] += value
        r = list(mp.lu_solve(system, right))
        for k in range(size, lags + 1):
            r.append(-mp.fsum(a[j] * r[k - j] for j in range(1, size)))
        expected = [float(value) for value in r]
    found = autocovariance(optimizer, mu=mu, x=x, lag=d, lags=lags, **RECURRENCE)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("noise_enters", NOISE)
@pytest.mark.parametrize("delay", [{"lag": 5}, {"refresh": 4}])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_plain_chains(optimizer: str, delay: dict[str, Any], noise_enters: str) -> None:
    """Variance and autocovariance over 40 000 chains of fixed seed; false alarm 1e-9 each."""
    noisy = Noisy(optimizer, 0.5, 0.1, 0.8, noise_enters)
    rng = np.random.default_rng(20260630)
    chains, burn_in, lags = 40_000, 240, 6
    refresh = delay.get("refresh")
    noise = (rng.standard_normal(chains) for _ in range(burn_in + lags + 4))
    path = run(
        noisy, noise, chains=chains, longest=5,
        lag_at=lambda k: k % refresh if refresh else delay["lag"],
    )  # fmt: skip
    last = list(itertools.islice(path, burn_in - 1, None))  # from step burn_in on, a refresh
    if refresh:
        expected = phase_autocovariance(refresh=refresh, lags=lags, **noisy.given)
    else:
        expected = autocovariance(lags=lags, **delay, **noisy.given)[None]
    for phase, moments in enumerate(expected):
        for k in (0, 1, lags):
            products = last[phase] * last[phase + k]
            z = (products.mean() - moments[k]) / (products.std(ddof=1) / chains**0.5)
            assert abs(z) < FALSE_ALARM


@settings(deadline=None, max_examples=60)
@given(OPTIMIZER, MOMENTUM, SHARE, st.sampled_from(NOISE), st.floats(-12, -1))
def test_no_lag_has_many_names(
    optimizer: str, mu: Any, s: Any, noise_enters: str, exponent: float
) -> None:
    """Lag 0, refresh 1, a certain lag of 0, a stale share of 0: one run."""
    mu, s, x = float(mu), float(s), 10**exponent

    def moments(share: float, **delay: Any) -> Any:
        return autocovariance(
            optimizer, mu=mu, x=x, stale_share=share, lags=9, noise_enters=noise_enters, **delay
        )

    expected = moments(s, lag=0)
    for found in (moments(s, refresh=1), moments(s, lag_law=[1.0]), moments(0.0, lag=3),
                  moments(0.0, refresh=4), moments(0.0, lag_law=[0.3, 0.7])):  # fmt: skip
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10 * expected[0])


def test_an_averaged_gradient_is_a_slower_run() -> None:
    """EMA is heavy ball at (1 - mu) x; noise in its gradient is (1 - mu) of that of q."""
    mu, x = np.array([0.0, 0.5, 0.99]), 0.01
    delay: dict[str, Any] = {"lag": 4, "stale_share": 0.7}
    slower = stationary_variance(
        "heavy-ball", mu=mu, x=(1 - mu) * x, noise_enters="recurrence", **delay
    )
    ema = stationary_variance("ema", mu=mu, x=x, noise_enters="recurrence", **delay)
    np.testing.assert_allclose(ema, slower, rtol=1e-14)
    ema = stationary_variance("ema", mu=mu, x=x, noise_enters="gradient", **delay)
    np.testing.assert_allclose(ema, (1 - mu) ** 2 * slower, rtol=1e-14)


def test_heavy_ball_takes_noise_one_way() -> None:
    for delay in ({"lag": 3}, {"refresh": 3}, {"lag_law": [0.5, 0.5]}):
        one, other = (
            autocovariance(
                "heavy-ball", mu=0.8, x=0.03, stale_share=1, lags=5, noise_enters=way, **delay
            )
            for way in NOISE
        )
        np.testing.assert_allclose(one, other, rtol=1e-13)


def test_the_state_is_as_uncertain_as_the_autocovariance_says() -> None:
    kept: dict[str, Any] = {"mu": [0.5, 0.9], "x": 0.02, "lag": [2, 3]} | RECURRENCE
    found = stationary_covariance("nesterov", size=5, **kept)
    r = autocovariance("nesterov", lags=4, **kept)
    assert found.shape == (2, 5, 5)
    assert np.array_equal(found[:, 0], r)
    assert np.array_equal(found, np.swapaxes(found, 1, 2))
    assert np.array_equal(found[:, 1:, 1:], found[:, :-1, :-1])
    assert np.all(np.linalg.eigvalsh(found) > 0)


def test_arrays_are_what_their_members_are() -> None:
    rng = np.random.default_rng(7)
    mu, lag = rng.random((40, 1)), rng.integers(0, 9, 30)
    x = 0.5 * (1 - mu) / np.maximum(lag, 1)
    kept: dict[str, Any] = {"stale_share": 1, "noise_enters": "gradient"}
    found = stationary_variance("nesterov", mu=mu, x=x, lag=lag, **kept)
    dense = autocovariance("nesterov", mu=mu, x=x, lag=lag, lags=2, **kept)
    teeth = stationary_variance("nesterov", mu=mu, x=x, refresh=lag + 1, **kept)
    assert (found.shape, dense.shape) == ((40, 30), (40, 30, 3))
    for i, j in ((0, 0), (17, 4), (39, 29)):
        one: dict[str, Any] = {"mu": mu[i, 0], "x": x[i, j]} | kept
        single = stationary_variance("nesterov", lag=lag[j], **one)
        assert isinstance(single, np.float64)
        assert single == pytest.approx(found[i, j], rel=1e-13)
        assert dense[i, j, 0] == pytest.approx(single, rel=1e-12)
        single = stationary_variance("nesterov", refresh=lag[j] + 1, **one)
        assert single == pytest.approx(teeth[i, j], rel=1e-13)
    none = stationary_variance("ema", mu=[], x=0.1, lag=1, **kept)
    assert none.shape == (0,)
    assert autocovariance("ema", mu=[], x=0.1, refresh=2, lags=3, **kept).shape == (0, 4)


@pytest.mark.parametrize("x", [1e-300, 1e-150])
@pytest.mark.parametrize("delay", [{"lag": 64}, {"refresh": 64}, {"lag_law": [0.5, 0.5]}])
def test_the_slowest_runs(x: float, delay: dict[str, Any]) -> None:
    found = stationary_variance("heavy-ball", mu=0.9, x=x, **delay, **RECURRENCE)
    assert found * x == pytest.approx(5, rel=1e-13)


@pytest.mark.parametrize("delay", [{"lag": 64}, {"refresh": 64}, {"lag_law": [0.5, 0.5]}])
def test_unstable_runs(delay: dict[str, Any]) -> None:
    kept: dict[str, Any] = {"mu": 0.9, "x": [1e-3, 50.0, 1e15]} | RECURRENCE | delay
    with pytest.raises(UnstableError, match=r"2 of 3 runs, the first at mu = 0\.9, x = 50"):
        stationary_variance("heavy-ball", **kept)
    found = autocovariance("heavy-ball", lags=2, unstable="nan", **kept)
    assert np.array_equal(np.isnan(found).any(axis=1), [False, True, True])
    assert np.array_equal(np.isnan(found), np.isnan(found[:, :1]) | np.zeros((1, 3), bool))


def test_a_very_long_lag() -> None:
    """Lemma 6 holds to relative order x times the lag."""
    x, d = 1e-12, 10**9
    found = stationary_variance("heavy-ball", mu=0.9, x=x, lag=d, **RECURRENCE)
    assert found == pytest.approx(1 / (2 * x * (0.1 - x * d)), rel=1e-3)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"x": 0}, "x is"),
        ({"x": float("inf")}, "finite"),
        ({"mu": 1}, "mu is"),
        ({"lag": None}, "exactly one"),
        ({"refresh": 3}, "exactly one"),
        ({"lag": 2.5}, "lag is"),
        ({"lag": 5000}, "2000"),
        ({"lags": -1}, "lags is -1"),
        ({"lags": 2.0}, "lags is"),
        ({"mu": [0.1, 0.2], "x": [1, 2, 3]}, "broadcast"),
    ],
)
def test_bad_input(changed: dict[str, Any], said: str) -> None:
    given = {"mu": 0.5, "x": 0.1, "lag": 2, "lags": 3} | RECURRENCE | changed
    with pytest.raises(InvalidInput, match=said):
        autocovariance("heavy-ball", **given)


def test_conventions_are_named() -> None:
    given: dict[str, Any] = {"mu": 0.5, "x": 0.1, "stale_share": 1, "lag": 2}
    with pytest.raises(TypeError, match="noise_enters"):
        stationary_variance("heavy-ball", **given)
    with pytest.raises(UnknownName, match="did you mean 'gradient'"):
        stationary_variance("heavy-ball", noise_enters="gradients", **given)
    with pytest.raises(UnknownName, match="raise, nan"):
        stationary_variance("heavy-ball", noise_enters="gradient", unstable="skip", **given)
    with pytest.raises(InvalidInput, match="size is 0"):
        stationary_covariance("heavy-ball", noise_enters="gradient", size=0, **given)
    with pytest.raises(InvalidInput, match="refresh is 0"):
        phase_autocovariance(
            "ema", mu=0.5, x=0.1, stale_share=1, refresh=0, lags=1, noise_enters="gradient"
        )
