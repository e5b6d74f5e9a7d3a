"""What a run records, how it overflows, and what it refuses."""

from __future__ import annotations

import math
import tracemalloc
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit, run, two_arms
from numpy.testing import assert_allclose, assert_array_equal

from numerics.inputs import InvalidInput
from numerics.simulation import ConstantLag, success_probability
from numerics.simulation.bandit import Adam, Bandit, BanditRun
from numerics.simulation.schedule import RandomLag

#: A standard normal exceeds this in size once in 1e9.
Z = 6.11


def test_rows_hold_the_policy_before_the_update() -> None:
    bandit, how = free_bandit(2, 3, seed=11), conventions()
    found = run(bandit, how, record_every=10)
    assert_array_equal(found.steps, [0, 10, 20])
    assert found.parameters is not None
    assert found.prompt_reward is not None
    assert_array_equal(found.parameters[0], np.broadcast_to(bandit.reference, (3, 2, 3)))
    weights = np.exp(found.parameters)
    pi = weights / weights.sum(axis=-1, keepdims=True)
    reference = np.exp(bandit.reference)
    reference /= reference.sum(axis=-1, keepdims=True)
    entropy = -(pi * np.log(pi)).sum(axis=-1)
    assert_allclose(found.prompt_reward, (pi * bandit.rewards).sum(axis=-1), rtol=1e-13)
    assert_allclose(found.reward, found.prompt_reward.mean(axis=-1), rtol=1e-13)
    assert_allclose(found.entropy, entropy.mean(axis=-1), rtol=1e-12)
    assert_allclose(found.effective_arms, np.exp(entropy).mean(axis=-1), rtol=1e-12)
    divergence = (pi * np.log(pi / reference)).sum(axis=-1).mean(axis=-1)
    assert_allclose(found.kl_to_reference, divergence, rtol=1e-9, atol=1e-15)
    assert run(bandit, how, keep=()).parameters is None


def test_the_recorded_batch_is_the_one_that_moved_the_policy() -> None:
    bandit = two_arms(0.2)
    size, eta = 8, 0.3
    found = run(
        bandit, conventions(kl="reverse"), eta=eta, mu=0, beta=0, group_size=size, steps=200
    )
    assert found.parameters is not None
    moved = np.diff(found.parameters[..., 0], axis=0) / eta
    share = found.sampled_reward[:-1]  # of successes: the on-policy gradient is its std
    assert_allclose(moved, np.sqrt(share * (1 - share)), atol=1e-12)
    assert_allclose(found.group_std[:-1], moved, atol=1e-12)
    assert_array_equal(found.dead_fraction == 1, (found.sampled_reward % 1) == 0)
    live = found.dead_fraction == 0
    odds = found.sampled_reward[live] / (1 - found.sampled_reward[live])
    assert_allclose(found.advantage_max[live], odds**-0.5, rtol=1e-12)
    assert_allclose(found.advantage_min[live], -(odds**0.5), rtol=1e-12)
    assert_array_equal(found.advantage_max[~live], 0)
    assert 0 < live.mean() < 1


def test_dead_groups_and_sampled_rewards_are_as_frequent_as_they_must_be() -> None:
    rng = np.random.default_rng(12)
    p = rng.uniform(0.05, 0.6, size=5)
    bandit = Bandit(
        rewards=np.tile([1, 0], (5, 1)),
        reference_logits=np.log(p / (1 - p)),
        coordinates="one-logit",
    )
    size, steps, chains = 6, 2000, 4
    found = run(bandit, conventions(), eta=1e-12, group_size=size, steps=steps, chains=chains)
    for rows, mean, variance in (
        (found.dead_fraction, dead := p**size + (1 - p) ** size, dead * (1 - dead)),
        (found.sampled_reward, p, p * (1 - p) / size),
    ):
        error = math.sqrt(variance.sum() / 25 / rows.size)
        assert abs(rows.mean() - mean.mean()) / error < Z


def test_the_clip_fraction_is_measured() -> None:
    bandit = two_arms()
    how = conventions(clip=(0.2, 0.2))
    for schedule, some in ((ConstantLag(0), False), (ConstantLag(4), True)):
        found = run(bandit, how, schedule=schedule, eta=0.5, beta=0)
        assert np.any(found.clip_fraction > 0) == some
        assert np.all((found.clip_fraction >= 0) & (found.clip_fraction <= 1))
    # theta = 1 on samples of theta_old = 0: both ratios, 1.46 and 0.54, are out of range.
    far = run(
        bandit,
        how,
        schedule=ConstantLag(1),
        group_size=None,
        eta=2.0,
        mu=0,
        beta=0,
        initial=[0.0],
        steps=2,
    )
    assert_allclose(far.clip_fraction[:, 0], [0, 1])
    assert_allclose(far.final[0], 1.0)
    without = run(bandit, conventions(), schedule=ConstantLag(4), eta=0.5, beta=0)
    assert np.all(without.clip_fraction == 0)


@pytest.mark.parametrize("size", [2, 5, 16])
def test_advantages_stay_within_their_largest_value(size: int) -> None:
    found = run(two_arms(), conventions(ddof=1), group_size=size, eta=0.01, steps=300)
    largest = (size - 1) / math.sqrt(size)
    assert found.advantage_max.max() <= largest * (1 + 1e-12)
    assert found.advantage_min.min() >= -largest * (1 + 1e-12)


def test_overflow_is_reported_with_its_step_and_leaves_the_other_chains_alone() -> None:
    bandit = Bandit(rewards=[[1e200, 0], [0, 1]], reference_logits=0.0, coordinates="one-logit")
    how = conventions(normaliser="none")
    eta = np.array([1e-201, 1e150, 1e-201])
    shared: dict[str, Any] = {"schedule": ConstantLag(1), "mu": 0.9, "beta": 0.0}
    with np.errstate(all="raise"):
        found = run(bandit, how, eta=eta, **shared)
    assert_array_equal(found.overflow_step >= 0, [False, True, False])
    assert found.overflowed
    left = found.overflow_step[1]
    assert left == 1
    for field in fields(BanditRun):
        rows = getattr(found, field.name)
        if field.name not in ("steps", "overflow_step", "final"):
            assert np.all(np.isfinite(rows[:left]))
            assert np.all(np.isnan(rows[left:, 1]))
            assert np.all(np.isfinite(rows[:, [0, 2]]))
    assert np.all(np.isnan(found.final[1]))
    alone = run(bandit, how, eta=1e-201, **shared)
    assert_array_equal(alone.final[[0, 2]], found.final[[0, 2]])
    all_gone = run(bandit, how, eta=1e150, steps=10**6, record_every=10**5, **shared)
    assert np.all(all_gone.overflow_step == 1)


def test_a_slow_overflow_has_the_step_of_a_plain_calculation() -> None:
    # Without KL and with a constant pull the coordinate grows until it is out of range.
    bandit = Bandit(rewards=[[1e300, 0]], reference_logits=0.0, coordinates="one-logit")
    how = conventions(normaliser="none", staleness="stale-samples-ratio")
    settings = {"eta": 1e7, "mu": 0.999, "beta": 0.0}
    found = run(
        bandit, how, group_size=None, steps=3000, record_every=3000, initial=[0.0], **settings
    )
    theta, before, step = 0.0, 0.0, 0
    while math.isfinite(theta):
        p = float(success_probability(np.float64(theta)))
        theta, before = theta + 1e307 * (p * (1 - p)) + 0.999 * (theta - before), theta
        step += 1
    assert_array_equal(found.overflow_step, step)
    assert 10 < step < 3000


def test_memory_does_not_grow_with_steps() -> None:
    bandit, how = free_bandit(4, 5, seed=16), conventions()
    peaks = []
    for steps in (100, 1000):
        tracemalloc.start()
        run(bandit, how, schedule=ConstantLag(3), steps=steps, record_every=steps)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"schedule": ConstantLag(31)}, "a lag of 31 is longer than the run of 30 steps"),
        ({"schedule": RandomLag((0.5,) + (0,) * 30 + (0.5,))}, "a lag of 31 is longer"),
        ({"schedule": 3}, "give ConstantLag"),
        ({"optimizer": "adamw"}, "give Adam\\(beta2"),
        ({"optimizer": "sgd"}, "optimizer 'sgd' is unknown"),
        ({"group_size": 1}, "group_of_one is 'refuse'"),
        ({"group_size": 0}, "group_size is 0"),
        ({"group_size": 2.5}, "give a whole number"),
        ({"eta": 0}, "eta is 0"),
        ({"eta": [0.1, 0.2]}, "eta has shape \\(2,\\): give \\(\\), or \\(3,\\)"),
        ({"mu": 1}, "momentum must lie in"),
        ({"beta": -1}, "beta is -1"),
        ({"beta": math.nan}, "every value must be finite"),
        ({"initial": [0.0, 0.0]}, "initial has shape \\(2,\\)"),
        ({"initial": np.zeros((2, 2, 3))}, "initial has shape \\(2, 2, 3\\)"),
        ({"initial": np.full((2, 3), math.inf)}, "every value must be finite"),
        ({"steps": 0}, "steps is 0"),
        ({"chains": 0}, "chains is 0"),
        ({"chains": range(3, 1)}, "chains is range"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": None}, "seed is None"),
        ({"record_every": 0}, "record_every is 0"),
        ({"keep": ("theta",)}, "keep 'theta' is unknown"),
        ({"how": "paper"}, "give Conventions"),
    ],
)
def test_runs_refuse(changed: dict[str, Any], message: str) -> None:
    given = {
        "bandit": free_bandit(2, 3, seed=0),
        "how": conventions(),
        "initial": np.zeros((2, 3)),
    }
    with pytest.raises(InvalidInput, match=message):
        run(**given | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"beta2": 1.0}, "beta2 is 1.0: it must lie in"),
        ({"adam_eps": -1e-8}, "adam_eps is -1e-08"),
        ({"weight_decay": math.nan}, "every value must be finite"),
        ({"bias_correction": 1}, "give True or False"),
    ],
)
def test_adam_refuses(changed: dict[str, Any], message: str) -> None:
    given = {"beta2": 0.9, "adam_eps": 1e-8, "weight_decay": 0.0, "bias_correction": True}
    with pytest.raises(InvalidInput, match=message):
        Adam(**given | changed)
