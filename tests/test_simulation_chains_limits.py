"""Chains that overflow, arguments that are refused, and lags that are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from numerics.simulation import (
    OPTIMIZERS,
    ChainRun,
    ConstantLag,
    GaussianNoise,
    GivenLags,
    InvalidInput,
    Measure,
    RandomLag,
    Sawtooth,
    Schedule,
    simulate,
    simulate_chains,
    simulate_linear_chains,
)

# ---- leaving the floating-point range ----------------------------------------------------------


@pytest.mark.parametrize("watched", [True, False])
def test_overflow_is_reported_with_its_step_and_leaves_other_chains_alone(watched: bool) -> None:
    # mu = 0, d = 0: q_k = (1 - x)^k, and 2^1024 is the first power of two beyond float64.
    changes: dict[str, Any] = {"record_every": 32, "measure": Measure(100)} if watched else {}
    run = simulate_linear_chains(
        "heavy-ball",
        ConstantLag(0),
        mu=0,
        x=[3.0, 0.5, 5.0],
        stale_share=1,
        initial=1,
        steps=1056,
        chains=3,
        **changes,
    )
    assert run.overflowed
    assert_array_equal(run.overflow_step, [1024, -1, 512])
    assert_array_equal(run.path[-1], [np.inf, 0.5**1056, np.inf])
    assert not np.isnan(run.path).any()
    if watched:
        assert_array_equal(np.isfinite(run.path[:, 2]), run.steps < 512)
        assert_array_equal(run.path[:16, 2], 4.0 ** run.steps[:16])
        assert run.statistics is not None
        assert_array_equal(np.isinf(run.statistics.variance), [True, False, True])
        assert_array_equal(np.isinf(run.statistics.mean), [True, False, True])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    "schedule",
    [ConstantLag(0), ConstantLag(2), Sawtooth(3), GivenLags((0, 2, 1)), RandomLag((0.5, 0.5))],
    ids=str,
)
def test_overflow_is_found_at_the_same_step_watched_or_not(
    optimizer: str, schedule: Schedule | RandomLag
) -> None:
    def run(**changes: Any) -> ChainRun:
        return simulate_linear_chains(
            optimizer,
            schedule,
            mu=0.5,
            x=[0.01, 60.0, 1e3, 1e150, 1e308],
            stale_share=0.4,
            initial=[1.0, 1.0, 1.0, 1e300, 1e-300],
            steps=900,
            chains=5,
            noise=GaussianNoise(1, "recurrence"),
            seed=1,
            lane=4,
            **changes,
        )

    every = run(record_every=1, measure=Measure(autocovariance_lags=(2,)))
    left = every.overflow_step
    assert left[0] == -1
    assert np.all(left[1:] > 0)
    assert left[3] == 1
    assert_array_equal(np.isfinite(every.path), (every.steps[:, None] < left) | (left < 0))
    assert not np.isnan(every.path).any()
    last = run()
    assert_array_equal(last.overflow_step, left)
    assert_array_equal(last.path[-1], every.path[-1])
    statistics = every.statistics
    assert statistics is not None
    for part in (statistics.mean, statistics.variance, statistics.autocovariance[0]):
        assert_array_equal(np.isfinite(part), [True, False, False, False, False])
        assert np.all(part[1:] == np.inf)


def test_chains_that_are_gone_before_anything_was_measured_are_marked() -> None:
    run = simulate_linear_chains(
        "heavy-ball",
        ConstantLag(0),
        mu=0,
        x=1e100,
        stale_share=1,
        initial=[1.0, -1.0],
        steps=500,
        chains=2,
        measure=Measure(100, (3,)),
        record_every=100,
    )
    assert run.statistics is not None
    assert_array_equal(run.overflow_step, [4, 4])
    assert_array_equal(run.path, [[1, -1]] + 5 * [[np.inf, np.inf]])
    assert_array_equal(run.statistics.mean, [np.inf, np.inf])
    assert_array_equal(run.statistics.autocovariance, [[np.inf, np.inf]])


def test_overflow_of_any_drift_is_that_of_the_recorded_run() -> None:
    def drift(theta: np.ndarray, theta_old: np.ndarray) -> np.ndarray:
        return theta * theta_old

    given: dict[str, Any] = {"eta": 0.5, "mu": 0.1, "initial": [1.0, 0.0, 3.0], "steps": 40}
    run = simulate_chains(drift, "ema", ConstantLag(1), **given, chains=3)
    recorded = simulate(drift, "ema", ConstantLag(1), **given)
    assert_array_equal(run.overflow_step, recorded.overflow_step)
    assert_array_equal(run.path[-1], recorded.path[-1])
    assert_array_equal(run.overflow_step >= 0, [True, False, True])


# ---- bad input ---------------------------------------------------------------------------------

GOOD: dict[str, Any] = {
    "mu": 0.5,
    "x": 0.1,
    "stale_share": 1,
    "initial": 0,
    "steps": 20,
    "chains": 3,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mu": 1.0}, r"mu is 1.0: momentum must lie in \[0, 1\)"),
        ({"x": [0.1, 0.0, 0.1]}, "x is .*: it must be positive"),
        ({"x": [0.1, 0.2]}, r"x has shape \(2,\): give a scalar or one number for each of the 3"),
        ({"initial": [[0.1]]}, r"initial has shape \(1, 1\): give a scalar"),
        ({"stale_share": float("nan")}, "stale_share is nan: every value must be finite"),
        ({"steps": 1}, "a lag of 2 is longer than the run of 1 steps"),
        ({"steps": 2.5}, "steps is 2.5: give a whole number"),
        ({"chains": 0}, "chains is 0: it must be >= 1"),
        ({"chains": range(3, 3)}, r"chains is range\(3, 3\): give range\(first, last \+ 1\)"),
        ({"chains": range(-1, 2)}, r"chains is range\(-1, 2\): give"),
        ({"chains": range(0, 6, 2)}, r"chains is range\(0, 6, 2\): give"),
        ({"lane": 0}, "lane is 0: it must be >= 1"),
        ({"record_every": 0}, "record_every is 0: it must be >= 1"),
        ({"noise": GaussianNoise(1, "gradient")}, "a random run needs a seed"),
        ({"noise": GaussianNoise([1, 2], "gradient"), "seed": 1}, r"std has shape \(2,\)"),
        ({"noise": GaussianNoise(1, "gradient"), "seed": -1}, "seed is -1: it must be >= 0"),
        ({"noise": GaussianNoise(1, "gradient"), "seed": 1.5}, "seed is 1.5: give a whole"),
        ({"measure": Measure(20)}, "a run of 20 steps is too short .* at least 21"),
        ({"measure": Measure(3, (17,))}, "a run of 20 steps is too short .* at least 21"),
    ],
)
def test_bad_arguments_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        simulate_linear_chains("heavy-ball", ConstantLag(2), **{**GOOD, **wrong})
    assert "\n" not in str(caught.value)


def test_other_bad_arguments_are_named() -> None:
    with pytest.raises(InvalidInput, match="std is -1: a standard deviation must be >= 0"):
        GaussianNoise(-1, "gradient")
    with pytest.raises(InvalidInput, match="did you mean 'gradient'"):
        GaussianNoise(1, "gradients")
    with pytest.raises(InvalidInput, match="a random run needs a seed"):
        simulate_linear_chains("ema", RandomLag((0.5, 0.5)), **GOOD)
    with pytest.raises(InvalidInput, match="schedule is 2: give ConstantLag"):
        simulate_linear_chains("ema", 2, **GOOD)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="a RandomLag has no lags yet"):
        simulate(lambda q, _: -q, "ema", RandomLag((1.0,)), eta=1, mu=0, initial=1, steps=3)  # type: ignore[arg-type]
    general: dict[str, Any] = {"eta": 1, "mu": 0, "initial": 1, "steps": 3, "chains": 9, "lane": 9}
    with pytest.raises(InvalidInput, match=r"eta is -1\.0: it must be positive"):
        simulate_chains(lambda q, _: -q, "ema", ConstantLag(0), **{**general, "eta": -1})
    for bad in (lambda q, _: q[:2], lambda q, _: q + np.ones(7)):
        with pytest.raises(InvalidInput, match=r"drift .* called with a lane of 9 chains"):
            simulate_chains(bad, "ema", ConstantLag(0), **general)


# ---- random lags -------------------------------------------------------------------------------


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6).filter(lambda p: sum(p) > 0.1), st.data())
@settings(deadline=None)
def test_lags_stand_for_uniform_numbers_as_their_law_says(
    weights: list[float], data: st.DataObject
) -> None:
    law = RandomLag(tuple(weight / sum(weights) for weight in weights))
    uniform = data.draw(st.floats(0, 1, exclude_max=True))
    lag = int(law.lags(np.array([uniform]))[0])
    below = sum(law.law[:lag])
    assert law.law[lag] > 0
    assert below - 1e-15 <= uniform < below + law.law[lag] + 1e-15
    assert 0 <= lag <= law.longest < len(law.law)


def test_a_drawn_random_lag_is_a_schedule() -> None:
    law = RandomLag((0.5, 0.0, 0.5, 0.0))
    assert (law.longest, law.period) == (2, 1)
    assert not isinstance(law, Schedule)
    drawn = law.drawn(1000, np.random.default_rng(1))
    assert isinstance(drawn, Schedule)
    assert drawn == law.drawn(1000, np.random.default_rng(1))
    assert {drawn.lag_at(k) for k in range(1000)} == {0, 2}
    assert (drawn.period, drawn.longest, drawn.lag_at(1000)) == (1000, 2, drawn.lag_at(0))
    assert abs(sum(drawn.lags) / 2 - 500) < 6.11 * 250**0.5  # z-test, false alarm 1e-9


@pytest.mark.parametrize(
    ("law", "message"),
    [
        ((), "law is .*: give the probabilities of lags 0, 1, ..., L"),
        ((0.5, 0.4), "law sums to 0.9: probabilities must sum to 1"),
        ((1.5, -0.5), "law holds -0.5: a probability must be >= 0"),
        ((float("nan"), 1.0), "law is .*nan.*: every value must be finite"),
        (0.5, "law is 0.5: give the probabilities"),
    ],
)
def test_a_law_is_a_law(law: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        RandomLag(law)
    with pytest.raises(InvalidInput, match="lags is empty"):
        GivenLags(())
    with pytest.raises(InvalidInput, match="an entry of lags is -1: it must be >= 0"):
        GivenLags((0, -1))
