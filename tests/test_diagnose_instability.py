"""Oscillation against noise: how often it cries wolf, how often it misses, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from diagnose_logs import make_run, red_noise, rise, trend
from scipy.stats import binomtest

from numerics.diagnose import (
    FAULT,
    HEALTHY,
    NOT_OBSERVABLE,
    WARNING,
    Context,
    Finding,
    instability,
)


def judged(reward: np.ndarray, **told: object) -> Finding:
    return instability(make_run(reward=reward), Context(**told))  # type: ignore[arg-type]


def test_pure_noise_is_called_an_oscillation_in_less_than_one_log_in_a_hundred() -> None:
    """White and AR(1) noise under monotone trends, 480 logs from a fixed seed.

    What is asserted is the 95 % upper confidence limit of the rate, so at most one log is called.
    """
    random = np.random.default_rng(20)
    called = total = 0
    for rows in (40, 60, 120, 240):
        for correlation in (0.0, 0.5, 0.8, 0.9):
            for kind in range(30):
                reward = red_noise(random, rows, correlation) + trend(rows, kind)
                called += judged(reward).kind == "oscillation"
                total += 1
    upper = binomtest(called, total).proportion_ci(0.9, method="exact").high  # one-sided 95 %
    assert upper < 0.01, f"{called} of {total}"


def test_an_oscillation_three_times_the_noise_is_found() -> None:
    """At least four periods; 120 logs, the 95 % lower confidence limit of recall above 95 %."""
    random = np.random.default_rng(21)
    found = total = 0
    for rows in (60, 120, 300):
        for kind in range(40):
            cycles = random.uniform(4, (6, rows / 8, rows / 4)[kind % 3])
            wave = 3 * np.sin(2 * np.pi * cycles * np.arange(rows) / rows + random.uniform(0, 6.3))
            noise = red_noise(random, rows, (0.0, 0.5)[kind % 2])
            finding = judged(wave + noise + trend(rows, kind))
            found += finding.kind == "oscillation" and finding.verdict == FAULT
            total += 1
    assert binomtest(found, total).proportion_ci(0.9, method="exact").low > 0.95, (found, total)


@pytest.mark.parametrize(("rows", "period"), [(120, 12.0), (200, 37.0), (400, 9.3)])
def test_period_amplitude_and_modulus_come_with_intervals(rows: int, period: float) -> None:
    random = np.random.default_rng(22)
    t = np.arange(rows)
    finding = judged(1 + 0.3 * np.sin(2 * np.pi * t / period) + 0.1 * random.standard_normal(rows))
    assert finding.verdict == FAULT
    found = finding.measures["period"]
    assert found.low <= period <= found.high
    assert found.high - found.low < 0.2 * period
    assert finding.measures["amplitude"].low < 0.3 < finding.measures["amplitude"].high
    assert finding.measures["modulus"].low < 1 < finding.measures["modulus"].high


def test_a_growing_swing_has_a_modulus_above_one() -> None:
    random = np.random.default_rng(23)
    t = np.arange(240)
    reward = 0.02 * 1.02**t * np.sin(2 * np.pi * t / 16) + 0.1 * random.standard_normal(240)
    finding = judged(reward)
    assert (finding.verdict, finding.kind) == (FAULT, "oscillation")
    assert finding.measures["modulus"].low > 1
    assert "grows" in finding.evidence[1]


def test_noise_that_a_resonance_keeps_going_is_an_oscillation() -> None:
    """q_k = 2 r cos w q_{k-1} - r^2 q_{k-2} + noise, modulus 0.97, period 20."""
    random = np.random.default_rng(24)
    r, w = 0.97, 2 * np.pi / 20
    q = np.zeros(600)
    for k in range(2, 600):
        q[k] = 2 * r * np.cos(w) * q[k - 1] - r * r * q[k - 2] + random.standard_normal()
    finding = judged(q)
    assert finding.kind == "oscillation"
    assert finding.measures["period"].value == pytest.approx(20, rel=0.1)
    assert finding.measures["modulus"].low < 0.97 < finding.measures["modulus"].high + 0.03


def test_white_noise_around_a_level_is_not_an_oscillation() -> None:
    random = np.random.default_rng(25)
    finding = judged(0.6 + 0.1 * random.standard_normal(200))
    assert (finding.verdict, finding.kind) == (HEALTHY, "")
    assert "No oscillation is distinguishable from noise" in finding.evidence[0]


def test_alternation_from_row_to_row_is_an_oscillation_of_period_two() -> None:
    random = np.random.default_rng(26)
    finding = judged(0.5 + 0.3 * (-1.0) ** np.arange(100) + 0.1 * random.standard_normal(100))
    assert finding.kind == "oscillation"
    assert finding.measures["period"].value == pytest.approx(2, rel=0.01)


def test_averaged_logs_are_refused_because_they_fold_periods() -> None:
    """Means of 10: period 11 shows as period 110 at about a tenth, period 10 not at all."""
    t = np.arange(1000)
    for period, left in ((11, 0.0986), (10, 0.0)):
        rows = np.sin(2 * np.pi * t / period).reshape(-1, 10).mean(axis=1)
        assert np.sqrt(2 * np.mean(rows**2)) == pytest.approx(left, abs=0.015)
        run = make_run(reward=rows, step=10.0 * np.arange(1, 101), averaged=True)
        finding = instability(run, Context())
        assert finding.verdict == NOT_OBSERVABLE
        assert "mean over the steps" in finding.evidence[0]
        assert any("logging_steps=1" in key for key in finding.missing)
    eleven = np.sin(2 * np.pi * t / 11).reshape(-1, 10).mean(axis=1)
    spectrum = np.abs(np.fft.rfft(eleven))
    assert 1000 / np.argmax(spectrum) == pytest.approx(110, rel=0.02)


@pytest.mark.parametrize(
    ("step", "averaged", "source", "why"),
    [
        (np.r_[np.arange(1.0, 40), np.arange(45.0, 80)], False, "logged", "not evenly spaced"),
        (5.0 * np.arange(1, 75), None, "logged", "not known whether"),
        (np.arange(1.0, 75), None, "counted", "not known whether"),
        (np.arange(1.0, 30), False, "logged", "too few for dynamics"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    step: np.ndarray, averaged: bool | None, source: str, why: str
) -> None:
    reward = np.sin(np.arange(len(step)))
    run = make_run(reward=reward, step=step, averaged=averaged, step_source=source)
    finding = instability(run, Context())
    assert finding.verdict == NOT_OBSERVABLE
    assert why in " ".join(finding.evidence)


def test_sparse_reward_rows_are_a_spacing_and_not_zeros() -> None:
    """Reward on rows 1, 5, 9, ...: the period is told in steps."""
    random = np.random.default_rng(27)
    reward = np.full(400, np.nan)
    rows = np.arange(0, 400, 4)
    reward[rows] = 0.5 + 0.3 * np.sin(2 * np.pi * rows / 48) + 0.05 * random.standard_normal(100)
    run = make_run(reward=reward, loss=np.zeros(400))
    finding = instability(run, Context())
    assert finding.kind == "oscillation"
    assert finding.measures["period"].value == pytest.approx(48, rel=0.03)


def test_the_swing_is_set_against_the_noise_of_the_groups() -> None:
    random = np.random.default_rng(28)
    reward = random.binomial(4 * 8, 0.5, 300) / 32
    finding = judged(reward, group_size=4, prompts=8)
    assert finding.verdict == HEALTHY
    assert finding.value is not None
    assert finding.value.value == pytest.approx(0.5, rel=0.15)  # sqrt(1/G) of the most there can be
    blocks = np.where(np.arange(300) % 2 < 1, random.random(300) < 0.5, random.random(300) < 0.5)
    loud = judged(blocks.astype(float), group_size=4, prompts=8)
    assert (loud.verdict, loud.kind) == (WARNING, "excess noise")


def test_noise_that_grows_at_a_level_reward_is_an_early_warning() -> None:
    random = np.random.default_rng(29)
    size = np.geomspace(0.02, 0.2, 400)
    finding = judged(0.5 + size * random.standard_normal(400))
    assert (finding.verdict, finding.kind) == (WARNING, "growing noise")
    assert finding.measures["noise variance, end over start"].low > 3


def test_the_lag_is_set_against_the_relaxation_time() -> None:
    random = np.random.default_rng(30)
    reward = rise(400, 50) + 0.02 * random.standard_normal(400)
    near = judged(reward, lag=(80.0, 160.0))
    assert (near.verdict, near.kind) == (WARNING, "lag margin")
    tau = near.measures["relaxation time"]
    assert tau.low < 50 < tau.high
    assert tau.high - tau.low < 10
    far = judged(reward, lag=(1.5, 3.0))
    assert far.verdict == HEALTHY
    assert far.measures["relaxation time without lag, over lag"].low > 20
    flat = judged(0.5 + 0.02 * random.standard_normal(400), lag=(1.5, 3.0))
    assert "not determined by this log" in flat.evidence[-1]


def test_constant_rewards_have_no_dynamics() -> None:
    assert judged(np.full(100, 0.5)).verdict == NOT_OBSERVABLE


@pytest.mark.parametrize("period", [7.0, 2500.0])
def test_long_logs_are_looked_at_whole_and_at_their_end(period: float) -> None:
    random = np.random.default_rng(31)
    t = np.arange(20_000)
    finding = judged(np.sin(2 * np.pi * t / period) + 0.5 * random.standard_normal(20_000))
    assert finding.kind == "oscillation"
    assert finding.measures["period"].value == pytest.approx(period, rel=0.02)
    assert judged(random.standard_normal(20_000)).verdict == HEALTHY


def test_a_swing_that_dies_away_is_a_warning() -> None:
    random = np.random.default_rng(32)
    t = np.arange(200)
    swing = 0.4 * np.exp(-t / 60) * np.sin(2 * np.pi * t / 25)
    finding = judged(0.5 + swing + 0.02 * random.standard_normal(200))
    assert (finding.verdict, finding.kind) == (WARNING, "decaying oscillation")
    assert finding.measures["modulus"].high < 1
    assert "the swing decays" in finding.evidence[1]
