"""The two-arm bandit on sampled groups, against groups written out and exact binomial sums."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from numerics.simulation import (
    NORMALISERS,
    OPTIMIZERS,
    STALENESS,
    ConstantLag,
    GivenLags,
    InvalidInput,
    Measure,
    RandomLag,
    Sawtooth,
    Schedule,
    UnknownName,
    simulate,
    simulate_two_arm_chains,
    two_arm_drift,
)
from numerics.simulation.noise import Lane
from numerics.simulation.two_arm import advantage_table

#: Two-sided, for a false-alarm rate of 1e-9; every seed below is fixed.
Z = 6.11

GOOD: dict[str, Any] = {
    "group_size": 8,
    "normaliser": "std",
    "ddof": 0,
    "eps": 0.0,
    "beta": 0.5,
    "theta_ref": 0.2,
    "eta": 0.1,
    "mu": 0.5,
    "initial": -0.4,
    "steps": 25,
    "chains": 6,
    "seed": 1,
    "lane": 6,
}


# ---- advantages --------------------------------------------------------------------------------


@given(
    st.integers(2, 20),
    st.sampled_from(NORMALISERS),
    st.sampled_from([0, 1]),
    st.sampled_from([0.0, 1e-4, 0.3]),
)
def test_the_table_is_each_group_written_out(
    group_size: int, normaliser: str, ddof: int, eps: float
) -> None:
    table = advantage_table(group_size, normaliser=normaliser, ddof=ddof, eps=eps)
    assert table.shape == (group_size + 1,)
    for successes in range(group_size + 1):
        rewards = [1.0] * successes + [0.0] * (group_size - successes)
        mean = math.fsum(rewards) / group_size
        scale = 1.0
        if normaliser == "std":
            squares = math.fsum((reward - mean) ** 2 for reward in rewards)
            scale = math.sqrt(squares / (group_size - ddof)) + eps
        live = 0 < successes < group_size
        advantages = [(reward - mean) / scale if live else 0.0 for reward in rewards]
        for p in (0.1, 0.5):
            gradient = [a * (r - p) for a, r in zip(advantages, rewards, strict=True)]
            expected = math.fsum(gradient) / group_size
            assert_allclose(table[successes], expected, rtol=1e-13, atol=1e-15)
    assert table[0] == table[-1] == 0


@pytest.mark.parametrize(
    ("p", "group_size", "factor"),
    [
        (0.1, 4, 0.507084),
        (0.1, 8, 0.698307),
        (0.1, 16, 0.854344),
        (0.1, 64, 0.976432),
        (0.5, 4, 0.808013),
        (0.5, 8, 0.927828),
        (0.5, 16, 0.967061),
        (0.5, 64, 0.992093),
    ],
)
def test_drift_factors_of_theory_section_4(p: float, group_size: int, factor: float) -> None:
    table = advantage_table(group_size, normaliser="std", ddof=0, eps=0)
    weights = stats.binom.pmf(np.arange(group_size + 1), group_size, p)
    assert_allclose(weights @ table / math.sqrt(p * (1 - p)), factor, atol=5e-7)
    sample = advantage_table(group_size, normaliser="std", ddof=1, eps=0)
    assert_allclose(sample, table * math.sqrt((group_size - 1) / group_size), rtol=1e-14)
    mean_only = advantage_table(group_size, normaliser="mean", ddof=0, eps=0)
    assert_allclose(weights @ mean_only, p * (1 - p) * (group_size - 1) / group_size, rtol=1e-12)


# ---- runs --------------------------------------------------------------------------------------


def logistic(theta: np.ndarray) -> np.ndarray:
    return np.where(theta < 0, np.exp(theta) / (1 + np.exp(theta)), 1 / (1 + np.exp(-theta)))


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    "schedule",
    [ConstantLag(0), ConstantLag(2), Sawtooth(3), GivenLags((0, 2)), RandomLag((0.5, 0.0, 0.5))],
    ids=str,
)
def test_a_run_is_its_groups_written_out(
    staleness: str, optimizer: str, schedule: Schedule | RandomLag
) -> None:
    run = simulate_two_arm_chains(staleness, optimizer, schedule, **GOOD, record_every=1)
    width, steps, size = GOOD["chains"], GOOD["steps"], GOOD["group_size"]
    lane = Lane(0, width, np.random.SeedSequence(GOOD["seed"]))
    samples = lane.generator(2)
    if isinstance(schedule, RandomLag):
        lags = schedule.lags(lane.generator(1).random((steps, width)))
    else:
        lags = np.array([[schedule.lag_at(k)] * width for k in range(steps)])
    path, eta, mu = [np.full(width, GOOD["initial"])], GOOD["eta"], GOOD["mu"]
    memory, intake, direct, passed = {
        "heavy-ball": (mu, 1.0, 0.0, 1.0),
        "ema": (mu, 1 - mu, 0.0, 1.0),
        "nesterov": (mu, 1.0, 1.0, mu),
    }[optimizer]
    v = np.zeros(width)
    for k in range(steps):
        old = np.array([path[max(k - lag, 0)][i] for i, lag in enumerate(lags[k])])
        p_old, at = logistic(old), old if staleness == "delayed-gradient" else path[k]
        p = logistic(at)
        gradient = np.zeros(width)
        for chain, successes in enumerate(samples.binomial(size, p_old)):
            rewards = np.arange(size) < successes
            if 0 < successes < size:
                advantages = (rewards - rewards.mean()) / rewards.std()
                ratio = np.where(
                    rewards, p[chain] / p_old[chain], (1 - p[chain]) / (1 - p_old[chain])
                )
                if staleness != "stale-samples-ratio":
                    ratio = np.ones(size)
                gradient[chain] = np.mean(ratio * advantages * (rewards - p[chain]))
        gradient -= GOOD["beta"] * p * (1 - p) * (at - GOOD["theta_ref"])
        v = memory * v + intake * gradient
        path.append(path[-1] + eta * (direct * gradient + passed * v))
    assert_allclose(run.path, path, rtol=1e-11, atol=1e-12)
    assert len(set(run.path[-1].tolist())) > 1


@pytest.mark.parametrize("schedule", [ConstantLag(2), Sawtooth(3), RandomLag((0.5, 0.5))], ids=str)
def test_a_chain_is_the_same_however_the_chains_are_divided(
    schedule: Schedule | RandomLag,
) -> None:
    def run(chains: int | range) -> Any:
        given = {**GOOD, "chains": chains, "steps": 80, "measure": Measure(5, (2,))}
        return simulate_two_arm_chains("stale-samples", "ema", schedule, **given)

    whole = run(20)
    for part in (range(1), range(7), range(5, 7), range(7, 20), range(19, 20)):
        found = run(part)
        assert_array_equal(found.path, whole.path[:, part.start : part.stop])
        for name in ("mean", "variance", "autocovariance"):
            pieces = [getattr(each.statistics, name) for each in (found, whole)]
            assert_array_equal(pieces[0], pieces[1][..., part.start : part.stop])


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize(("normaliser", "ddof"), [("std", 0), ("std", 1), ("mean", 0)])
def test_the_mean_step_is_the_sum_over_the_binomial(
    staleness: str, normaliser: str, ddof: int
) -> None:
    # From rest at theta_0 the first step is the drift of one group, without any lag yet.
    given = {**GOOD, "normaliser": normaliser, "ddof": ddof, "eps": 1e-3, "lane": 1000}
    given |= {"steps": 1, "chains": 40_000, "mu": 0}
    run = simulate_two_arm_chains(staleness, "heavy-ball", Sawtooth(2), **given)
    drift = (run.path[0] - GOOD["initial"]) / GOOD["eta"]
    p = float(logistic(np.array(GOOD["initial"])))
    table = advantage_table(8, normaliser=normaliser, ddof=ddof, eps=1e-3)
    weights = stats.binom.pmf(np.arange(9), 8, p)
    pull = GOOD["beta"] * p * (1 - p) * (GOOD["initial"] - GOOD["theta_ref"])
    expected, variance = weights @ table - pull, weights @ table**2 - (weights @ table) ** 2
    assert abs(drift.mean() - expected) < Z * math.sqrt(variance / 40_000)
    fourth = weights @ (table - weights @ table) ** 4
    error = math.sqrt((fourth - variance**2) / 40_000)
    assert abs(drift.var() - variance) < Z * error


@pytest.mark.parametrize("staleness", STALENESS)
def test_large_groups_follow_the_mean_field(staleness: str) -> None:
    given = {**GOOD, "group_size": 10**6, "steps": 60, "chains": 4}
    run = simulate_two_arm_chains(staleness, "nesterov", ConstantLag(3), **given, record_every=1)
    drift = two_arm_drift(staleness, beta=GOOD["beta"], theta_ref=GOOD["theta_ref"])
    mean = simulate(drift, "nesterov", ConstantLag(3), eta=0.1, mu=0.5, initial=-0.4, steps=60).path
    # The force of a step fluctuates by less than 1e-3/2, and is multiplied by 0.1/(1 - 0.5).
    atol = Z * 1e-3 / 2 * 0.2 * 60**0.5
    assert_allclose(run.path, np.repeat(mean[:, None], 4, axis=1), rtol=0, atol=atol)
    assert np.ptp(mean) > 0.5


def test_without_kl_the_policy_saturates_and_stays_there() -> None:
    given = {**GOOD, "beta": 0, "eta": 30.0, "steps": 300, "group_size": 2}
    run = simulate_two_arm_chains("delayed-gradient", "ema", ConstantLag(1), **given)
    assert not run.overflowed
    assert np.all(run.path[0] > 5)


def test_saturated_policies_do_not_warn_or_overflow() -> None:
    for initial in (-800.0, 800.0):
        for staleness in STALENESS:
            given = {**GOOD, "initial": initial}
            run = simulate_two_arm_chains(staleness, "heavy-ball", ConstantLag(2), **given)
            assert_array_equal(run.path[0], initial)


# ---- bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"group_size": 1}, "group_size is 1: it must be >= 2"),
        ({"group_size": 10**9}, "group_size is 1000000000: it must be <= 1000000; two_arm_drift"),
        ({"group_size": 8.0}, "group_size is 8.0: give a whole number"),
        ({"ddof": 2}, r"ddof is 2: give 0 \(equation 1\) or 1"),
        ({"eps": -1e-6}, "eps is -1e-06: give one number >= 0"),
        ({"eps": [0, 1]}, r"eps is \[0, 1\]: give one number"),
        ({"normaliser": "sdt"}, "did you mean 'std'"),
        ({"beta": -1}, "beta is -1: the KL weight must be >= 0"),
        ({"beta": [0.5] * 6}, r"beta has shape \(6,\): give one number for all chains"),
        ({"initial": [0.5] * 6}, r"initial has shape \(6,\): give one number for all chains"),
        ({"eta": 0}, "eta is 0.0: it must be positive"),
        ({"mu": 1}, "mu is 1.0: momentum must lie in"),
        ({"seed": None}, "a random run needs a seed"),
        ({"steps": 1}, "a lag of 2 is longer than the run"),
    ],
)
def test_bad_arguments_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        simulate_two_arm_chains(
            "delayed-gradient", "heavy-ball", ConstantLag(2), **{**GOOD, **wrong}
        )
    assert "\n" not in str(caught.value)


def test_an_unknown_staleness_is_named() -> None:
    with pytest.raises(UnknownName, match="did you mean 'stale-samples'"):
        simulate_two_arm_chains("stale_samples", "heavy-ball", ConstantLag(2), **GOOD)
