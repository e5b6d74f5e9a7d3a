"""Streaming statistics against two passes in exact arithmetic, and against the exact moments."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from numerics.dynamics.moments import (
    autocovariance,
    phase_autocovariance,
    stationary_variance,
)
from numerics.exact import Configuration
from numerics.exact import stationary_variance as exact_variance
from numerics.simulation import (
    OPTIMIZERS,
    ChainStatistics,
    ConstantLag,
    GaussianNoise,
    InvalidInput,
    Measure,
    RandomLag,
    Sawtooth,
    Schedule,
    simulate_chains,
    simulate_linear_chains,
)
from numerics.simulation.statistics import Accumulator

#: Two-sided, for a false-alarm rate of 1e-9; every seed below is fixed.
Z = 6.11

every_optimizer = pytest.mark.parametrize("optimizer", OPTIMIZERS)


# ---- the arithmetic ----------------------------------------------------------------------------


def exactly(path: np.ndarray, measure: Measure, period: int, lag: int, phase: int) -> Fraction:
    """The (co)variance of one chain, ``path[k]`` the coordinate after step k, by its definition."""
    phases = measure.phases(period)
    numbers = [k for k in range(measure.burn_in + 1, len(path) - lag) if (k - phase) % phases == 0]
    x = [Fraction(path[k]) for k in numbers]
    y = [Fraction(path[k + lag]) for k in numbers]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum(((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)), Fraction()) / len(
        x
    )


@settings(deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 30),
    st.lists(st.integers(1, 25), max_size=3, unique=True),
    st.one_of(st.none(), st.integers(1, 5)),
    st.integers(1, 40),
    st.sampled_from([0.0, 1.0, -1e8, 1e-200]),
)
def test_one_pass_is_two_passes_in_exact_arithmetic(
    seed: int, burn_in: int, lags: list[int], phases: int | None, block: int, level: float
) -> None:
    measure = Measure(burn_in, tuple(lags), phases is not None)
    steps, period, width = burn_in + measure.longest + 40, phases or 1, 3
    scale = level if level == 1e-200 else 1.0
    rng = np.random.default_rng(seed)
    path = level + scale * rng.standard_normal((steps + 1, width)).cumsum(axis=0)
    found = Accumulator(measure, period, width, block)
    for first in range(0, steps, block):
        found.add(path[first + 1 : first + block + 1].copy(), first)
    mean, variance, correlated = found.results()
    assert correlated.shape == (len(lags), period, width)
    for chain, phase in np.ndindex(width, period):
        numbers = range(burn_in + 1, steps + 1)
        own = [path[k, chain] for k in numbers if (k - phase) % period == 0]
        assert_allclose(mean[phase, chain], np.mean(own), rtol=1e-13, atol=1e-12 * scale)
        truth = float(exactly(path[:, chain], measure, period, 0, phase))
        # At a level of 1e8 the numbers themselves are spaced by 1.5e-8, and taken as they are.
        assert_allclose(variance[phase, chain], truth, rtol=1e-12)
        for index, lag in enumerate(lags):
            truth = float(exactly(path[:, chain], measure, period, lag, phase))
            spread = float(np.var(path[:, chain]))
            assert_allclose(correlated[index, phase, chain], truth, rtol=0, atol=1e-12 * spread)


def test_a_small_fluctuation_on_a_large_level_is_measured() -> None:
    # theta - 1e9 is the noise of this step: variance 1e-4, a hundred thousand times finer than
    # what a sum of squares of 1e18 could show.
    run = simulate_chains(
        lambda theta, theta_old: 1e9 - theta,
        "heavy-ball",
        ConstantLag(0),
        eta=1,
        mu=0,
        initial=1e9,
        steps=2000,
        chains=50,
        noise=GaussianNoise(0.01, "recurrence"),
        seed=1,
        measure=Measure(autocovariance_lags=(1,)),
        record_every=1,
    )
    assert run.statistics is not None
    around = run.path[1:] - 1e9
    assert_allclose(run.statistics.variance, around.var(axis=0), rtol=1e-9)
    assert_allclose(run.statistics.mean - 1e9, around.mean(axis=0), rtol=0, atol=2e-7)
    assert np.all(abs(run.statistics.autocovariance) < Z * 1e-4 / 2000**0.5)


@pytest.mark.parametrize(("by_phase", "burn_in"), [(False, 0), (True, 0), (True, 4), (True, 5)])
def test_samples_are_counted_by_phase(by_phase: bool, burn_in: int) -> None:
    run = simulate_linear_chains(
        "ema",
        Sawtooth(3),
        mu=0,
        x=0.1,
        stale_share=1,
        initial=1,
        steps=20,
        chains=2,
        measure=Measure(burn_in, by_phase=by_phase),
    )
    assert run.statistics is not None
    numbers = np.arange(burn_in + 1, 21)
    expected = np.bincount(numbers % 3, minlength=3) if by_phase else numbers.size
    assert_array_equal(run.statistics.samples, expected)
    shape = (3, 2) if by_phase else (2,)
    assert run.statistics.mean.shape == run.statistics.variance.shape == shape
    assert run.statistics.autocovariance.shape == (0, *shape)


def test_what_cannot_be_measured_is_refused() -> None:
    with pytest.raises(InvalidInput, match="an entry of autocovariance_lags is 0: it must be >= 1"):
        Measure(autocovariance_lags=(0,))
    with pytest.raises(InvalidInput, match="burn_in is -1: it must be >= 0"):
        Measure(burn_in=-1)


# ---- against the exact moments -----------------------------------------------------------------


def measured(
    optimizer: str,
    schedule: Schedule | RandomLag,
    *,
    enters: str = "recurrence",
    seed: int = 2024,
    lags: tuple[int, ...] = (),
    by_phase: bool = False,
    **given: float,
) -> ChainStatistics:
    """Statistics of a thousand stationary chains."""
    run = simulate_linear_chains(
        optimizer,
        schedule,
        **given,
        initial=0,
        steps=1740,
        chains=1000,
        noise=GaussianNoise(1, enters),
        seed=seed,
        measure=Measure(300, lags, by_phase),
    )
    assert run.statistics is not None
    return run.statistics


def assert_mean_is(found: np.ndarray, expected: Any) -> None:
    """A z-test of the mean over the independent chains, along the last axis."""
    error = found.std(axis=-1, ddof=1) / found.shape[-1] ** 0.5
    assert np.all(error < 0.05 * abs(np.asarray(expected)).max())  # it can tell something
    assert np.all(abs(found.mean(axis=-1) - expected) < Z * error)


@every_optimizer
@pytest.mark.parametrize("lag", [0, 1, 3])
def test_variance_under_constant_lag_is_the_exact_one(optimizer: str, lag: int) -> None:
    x = 0.05 if optimizer != "ema" else 0.2
    found = measured(optimizer, ConstantLag(lag), mu=0.5, x=x, stale_share=0.8)
    c = Configuration(optimizer=optimizer, lag_model="constant", mu=0.5, stale_share=0.8, lag=lag)
    # The mean of q is known to be 0, and q^2 is what the variance is the mean of.
    assert_mean_is(found.variance + found.mean**2, exact_variance(c, x))
    assert_mean_is(1 + found.mean, 1.0)


@every_optimizer
def test_variance_under_a_sawtooth_is_the_exact_one(optimizer: str) -> None:
    found = measured(optimizer, Sawtooth(4), mu=0.6, x=0.06, stale_share=1)
    c = Configuration(optimizer=optimizer, lag_model="sawtooth", mu=0.6, stale_share=1, refresh=4)
    assert_mean_is(found.variance + found.mean**2, exact_variance(c, 0.06))


@every_optimizer
@pytest.mark.parametrize("enters", ["recurrence", "gradient"])
def test_autocovariance_is_the_exact_one(optimizer: str, enters: str) -> None:
    given = {"mu": 0.7, "x": 0.08, "stale_share": 0.5}
    found = measured(optimizer, ConstantLag(2), enters=enters, lags=(1, 2, 5, 11), **given)
    exact = autocovariance(optimizer, **given, lag=2, lags=11, noise_enters=enters)
    assert_mean_is(found.autocovariance + found.mean**2, exact[[1, 2, 5, 11]])


def test_every_phase_of_a_sawtooth_has_its_own_moments() -> None:
    given = {"mu": 0.3, "x": 0.25, "stale_share": 1.0}
    found = measured("nesterov", Sawtooth(4), lags=(1, 3), by_phase=True, **given)
    exact = phase_autocovariance("nesterov", **given, refresh=4, lags=3, noise_enters="recurrence")
    assert np.ptp(exact[:, 0]) > 0.1 * exact[0, 0]
    whole = found.mean.mean(axis=0)
    assert_mean_is(found.variance + found.mean**2, exact[:, 0])
    assert_mean_is(found.autocovariance + whole**2, exact[:, [1, 3]].T)


@every_optimizer
def test_variance_under_a_random_lag_is_the_exact_one(optimizer: str) -> None:
    law = (0.3, 0.0, 0.2, 0.0, 0.0, 0.5)
    given = {"mu": 0.4, "x": 0.12, "stale_share": 1.0}
    found = measured(optimizer, RandomLag(law), **given)
    exact = stationary_variance(optimizer, **given, lag_law=law, noise_enters="recurrence")
    assert_mean_is(found.variance + found.mean**2, exact)


@every_optimizer
def test_the_mean_under_a_random_lag_follows_the_mean_lag_of_the_force(optimizer: str) -> None:
    law, mu, x, share, steps = (0.25, 0.25, 0.0, 0.5), 0.6, 0.15, 0.9, 40
    run = simulate_linear_chains(
        optimizer,
        RandomLag(law),
        mu=mu,
        x=x,
        stale_share=share,
        initial=1,
        steps=steps,
        chains=20_000,
        seed=5,
        record_every=1,
    )
    memory, intake, direct, passed = {
        "heavy-ball": (mu, 1.0, 0.0, 1.0),
        "ema": (mu, 1 - mu, 0.0, 1.0),
        "nesterov": (mu, 1.0, 1.0, mu),
    }[optimizer]
    mean, v = [1.0], 0.0
    for k in range(steps):
        stale = sum(p * mean[max(k - lag, 0)] for lag, p in enumerate(law))
        force = -x * ((1 - share) * mean[k] + share * stale)
        v = memory * v + intake * force
        mean.append(mean[k] + direct * force + passed * v)
    found = run.path[2:]  # nothing is random before the second step
    error = found.std(axis=1, ddof=1) / 20_000**0.5
    assert np.all(error < 0.005)
    assert np.all(abs(found.mean(axis=1) - mean[2:]) < Z * error + 1e-13)
    assert_allclose(run.path[:2].mean(axis=1), mean[:2], rtol=1e-13)
