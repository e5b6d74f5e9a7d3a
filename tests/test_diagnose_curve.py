"""Change points, ramps, the kind of curve, and the noise of runs that differ in G."""

from __future__ import annotations

import numpy as np
import pytest
from diagnose_logs import make_log, make_run, red_noise, rise
from scipy.stats import binomtest

from numerics.diagnose import changes, diagnose, noise_exponent, noise_of_sweep
from numerics.inputs import InvalidInput


def test_noise_has_no_changes() -> None:
    """300 white series, fixed seed: the 95 % upper confidence limit of the rate is below 1.6 %."""
    random = np.random.default_rng(50)
    called = sum(
        bool(changes(np.arange(float(rows)), random.standard_normal(rows)))
        for rows in (20, 60, 200) for _ in range(100)
    )  # fmt: skip
    assert binomtest(called, 300).proportion_ci(0.9, method="exact").high < 0.016


@pytest.mark.parametrize(("correlation", "height"), [(0.0, 3.0), (0.5, 6.0)])
def test_a_jump_is_found_and_its_interval_holds_it(correlation: float, height: float) -> None:
    random = np.random.default_rng(51)
    held = seen = 0
    for _ in range(40):
        noise = red_noise(random, 120, correlation)
        found = changes(np.arange(120.0), noise + height * (np.arange(120) >= 70))
        seen += len(found) == 1
        held += any(change.low <= 70 <= change.high for change in found)
        assert all(abs(c.after - c.before - height) < 2 for c in found)
    assert seen >= 36
    assert held >= 0.9 * seen


def test_a_kink_is_a_change_of_line() -> None:
    random = np.random.default_rng(52)
    step = np.arange(200.0)
    value = np.maximum(0, step - 120) * 0.1 + 0.3 * random.standard_normal(200)
    found = changes(step, value, pieces="line")
    assert len(found) == 1
    assert abs(found[0].step - 120) < 12


def test_pieces_and_shapes_are_checked() -> None:
    with pytest.raises(InvalidInput, match="pieces"):
        changes(np.arange(9.0), np.arange(9.0), pieces="curve")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="shapes"):
        changes(np.arange(9.0), np.arange(8.0))


def summary(level: np.ndarray, size: float = 0.05, seed: int = 53) -> str:
    reward = level + size * np.random.default_rng(seed).standard_normal(len(level))
    return diagnose(make_log(make_run(reward=reward)))[0].summary


@pytest.mark.parametrize(
    ("level", "said"),
    [
        (np.full(100, 0.4), "no trend distinguishable from noise"),
        (rise(200, 20), "healthy, saturated"),
        (np.linspace(0.2, 0.8, 200), "still rising"),
        (rise(200, 20) + rise(200, 20, low=-0.6, high=0.0)[::-1], "reward falls"),
        (
            0.3 * np.tanh(np.arange(400) / 30) + 0.6 / (1 + np.exp(-(np.arange(400) - 220) / 12)),
            "two-stage",
        ),
        (np.r_[np.full(40, 0.1), rise(160, 25)], "healthy, saturated"),
        (np.full(30, 0.4), "no trend distinguishable from noise"),
        (np.full(6, 0.4), "too few rows"),
    ],
)
def test_the_curve_is_named(level: np.ndarray, said: str) -> None:
    assert said in summary(level)


def test_one_rise_is_not_two_stages() -> None:
    """Exponential, sigmoid and a slow tail after a fast rise, each with 8 seeds."""
    t = np.arange(300.0)
    curves = [rise(300, 40), 1 / (1 + np.exp(-(t - 100) / 20)), rise(300, 8) + 0.001 * t]
    named = [summary(curve, seed=seed) for curve in curves for seed in range(8)]
    assert sum("two-stage" in name for name in named) == 0


def test_zero_loss_with_a_rising_reward_is_healthy() -> None:
    """The loss is 0 because the ratio is 1; the gradient is not."""
    random = np.random.default_rng(54)
    reward = rise(200, 30) + 0.05 * random.standard_normal(200)
    run = make_run(reward=reward, loss=np.zeros(200), gradient_norm=0.3 + random.random(200))
    assert diagnose(make_log(run))[0].summary == "healthy, saturated"


def test_the_noise_of_runs_falls_with_the_group_size() -> None:
    random = np.random.default_rng(55)
    sizes = [2, 4, 16, 64]
    rewards = [random.binomial(4 * size, 0.4, 200) / (4 * size) for size in sizes]
    found = noise_exponent(sizes, rewards)
    assert found.low < -0.5 < found.high
    assert found.high < -0.4
    runs = [make_run(name=str(size), reward=value)
            for size, value in zip(sizes, rewards, strict=True)]  # fmt: skip
    told = {run.name: {"group_size": int(run.name), "model": "m"} for run in runs}
    assert noise_of_sweep(make_log(*runs, runs=told)) == found
    assert noise_of_sweep(make_log(*runs)) is None
    with pytest.raises(InvalidInput, match="different group sizes"):
        noise_exponent([4, 4, 8], rewards[:3])
    with pytest.raises(InvalidInput, match="constant"):
        noise_exponent([2, 4, 8], [*rewards[:2], np.ones(50)])


@pytest.mark.parametrize("outlier", [1.25, 2.0, -10.0, 1e6])
def test_one_outlier_is_no_trend(outlier: float) -> None:
    """Noise of 0.05 about 0.5; the outlier is 15 standard deviations off, or far more."""
    random = np.random.default_rng(56)
    for at in (0, 30, 57, 98, 99):
        reward = 0.5 + 0.05 * random.standard_normal(100)
        reward[at] = outlier
        found = diagnose(make_log(make_run(reward=reward)))[0]
        assert found.summary == "healthy, no trend distinguishable from noise"


def test_a_dip_that_is_made_good_is_no_rise() -> None:
    random = np.random.default_rng(57)
    reward = 0.5 + 0.05 * random.standard_normal(100)
    reward[60:64] -= 0.8
    found = diagnose(make_log(make_run(reward=reward)))[0]
    assert len(found.shape.changes) == 2
    assert found.shape.name == "flat"


def test_a_run_that_overshoots_and_settles_does_not_fall() -> None:
    random = np.random.default_rng(58)
    t = np.arange(200)
    swing = np.exp(-t / 60) * np.cos(2 * np.pi * t / 40)
    settles = 0.7 - 0.3 * swing + 0.02 * random.standard_normal(200)
    found = diagnose(make_log(make_run(reward=settles)))[0]
    assert found.shape.name == "saturated"
    assert found.verdict == "warning"
    assert "decaying oscillation" in found.summary
    half_lost = np.r_[rise(100, 15), np.full(100, 0.5)] + 0.02 * random.standard_normal(200)
    assert diagnose(make_log(make_run(reward=half_lost)))[0].shape.name == "falling"
