"""Whole runs: against a plain loop and the mean field, chain by chain, and what is recorded."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit, run, two_arms
from numpy.testing import assert_allclose, assert_array_equal
from plain_bandit import plain_run

from numerics.simulation import (
    OPTIMIZERS,
    STALENESS,
    ConstantLag,
    Sawtooth,
    Schedule,
    simulate,
    success_probability,
    two_arm_drift,
)
from numerics.simulation.bandit import (
    Adam,
    Bandit,
    BanditRun,
    gradient,
    preset,
)
from numerics.simulation.noise import Lane
from numerics.simulation.schedule import GivenLags, RandomLag

ADAM = Adam(beta2=0.99, adam_eps=1e-3, weight_decay=0.01, bias_correction=True)


def assert_same(one: BanditRun, other: BanditRun) -> None:
    """Equal to the last bit, in everything recorded."""
    for field in fields(BanditRun):
        assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


# The plain loop


@pytest.mark.parametrize("schedule", [ConstantLag(0), ConstantLag(3), Sawtooth(4)])
@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, ADAM], ids=str)
@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"clip": (0.2, 0.2), "ddof": 1, "eps": 1e-4, "kl": "k3", "over_prompts": "mean"},
    ],
    ids=["printed", "trainer"],
)
def test_the_run_is_the_plain_loop(
    changed: dict[str, Any], optimizer: str | Adam, schedule: Schedule
) -> None:
    bandit = Bandit(
        rewards=[[1, 0, 0, 1], [0.3, 0.1, -2, 0.3], [0, 0, 0, 0.1]],
        reference_logits=free_bandit(3, 4, seed=1).reference,
        coordinates="free-logits",
    )
    how = conventions(**changed)
    settings = {"eta": 0.3, "mu": 0.6, "beta": 0.2, "group_size": 6, "steps": 25, "seed": 3}
    found = run(bandit, how, optimizer, schedule, chains=2, **settings)
    for chain in range(2):
        expected = plain_run(bandit, how, optimizer, schedule, chain=chain, **settings)  # type: ignore[arg-type]
        assert_allclose(found.final[chain], expected, rtol=1e-10, atol=1e-12)


# The mean field


@pytest.mark.parametrize("schedule", [ConstantLag(0), ConstantLag(2), Sawtooth(3)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("staleness", STALENESS)
def test_large_groups_are_the_mean_field_map(
    staleness: str, optimizer: str, schedule: Schedule
) -> None:
    eta, beta = np.array([0.05, 0.4, 1.0]), np.array([2.0, 3.0, 4.0])
    found = run(
        two_arms(0.5),
        conventions(staleness=staleness),
        optimizer,
        schedule,
        eta=eta,
        beta=beta,
        initial=[1.0],
        group_size=None,
    )
    expected = simulate(
        two_arm_drift(staleness, beta=beta, theta_ref=0.5),
        optimizer,
        schedule,
        eta=eta,
        mu=0.5,
        initial=1.0,
        steps=30,
    )
    assert found.parameters is not None
    assert_allclose(found.parameters[..., 0], expected.path[:-1], rtol=1e-11, atol=1e-12)
    assert_allclose(found.final[:, 0], expected.path[-1], rtol=1e-11, atol=1e-12)
    assert_allclose(found.reward, success_probability(expected.path[:-1]), rtol=1e-11)


def test_two_free_logits_are_one_logit_at_half_the_step() -> None:
    one = run(two_arms(0.5), conventions(), schedule=ConstantLag(2), group_size=None, eta=0.2)
    pair = Bandit(rewards=[[1, 0]], reference_logits=[[0.5, 0]], coordinates="free-logits")
    two = run(pair, conventions(), schedule=ConstantLag(2), group_size=None, eta=0.1)
    assert_allclose(two.reward, one.reward, rtol=1e-12)
    assert_allclose(two.final[..., 0, 0] - two.final[..., 0, 1], one.final[..., 0], rtol=1e-12)


# Lags


@pytest.mark.parametrize("group_size", [4, None])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Sawtooth(1), ConstantLag(0)),
        (RandomLag((1.0,)), ConstantLag(0)),
        (RandomLag((0.0, 0.0, 1.0)), ConstantLag(2)),
        (GivenLags((0, 1, 2)), Sawtooth(3)),
    ],
)
def test_schedules_that_agree(
    one: Schedule | RandomLag, other: Schedule, group_size: int | None
) -> None:
    bandit, how = free_bandit(2, 3, seed=4), conventions(clip=(0.2, 0.2), kl="k3")
    runs = [run(bandit, how, ADAM, schedule, group_size=group_size) for schedule in (one, other)]
    assert_same(*runs)


def test_without_lag_staleness_and_clip_change_nothing() -> None:
    bandit = free_bandit(2, 3, seed=5)
    runs = [
        run(bandit, conventions(staleness=staleness, clip=clip))
        for staleness, clip in (
            ("delayed-gradient", None),
            ("stale-samples", None),
            ("stale-samples-ratio", None),
            ("stale-samples-ratio", (0.01, 0.01)),
        )
    ]
    for other in runs[1:]:
        assert_same(runs[0], other)


@pytest.mark.parametrize("staleness", STALENESS)
def test_a_random_lag_is_drawn_for_every_chain_and_step(staleness: str) -> None:
    law = RandomLag((0.25, 0.25, 0.0, 0.5))
    found = run(
        two_arms(0.5), conventions(staleness=staleness), schedule=law, group_size=None, beta=2.0
    )
    lags = [
        law.drawn(30, Lane(chain, 1, np.random.SeedSequence(7)).generator(1)) for chain in range(3)
    ]
    assert len(set(lags)) == 3
    for chain, schedule in enumerate(lags):
        expected = run(
            two_arms(0.5),
            conventions(staleness=staleness),
            schedule=schedule,
            group_size=None,
            beta=2.0,
        )
        assert_allclose(found.final[chain], expected.final[0], rtol=1e-12)


# Chains

BANDITS = {
    "1x2": two_arms(0.3),
    "1x9": free_bandit(1, 9, seed=6),
    "3x9": free_bandit(3, 9, seed=6),
}


@pytest.mark.parametrize("group_size", [4, 100])  # drawn one by one, and by multinomial
@pytest.mark.parametrize("schedule", [ConstantLag(1), RandomLag((0.5, 0.5))], ids=str)
@pytest.mark.parametrize("bandit", BANDITS.values(), ids=BANDITS)
def test_a_chain_is_the_same_among_any_others(
    bandit: Bandit, schedule: Schedule | RandomLag, group_size: int
) -> None:
    how = preset("verl-0.9").conventions
    shared = {"group_size": group_size, "schedule": schedule, "beta": 0.1}
    eta = 0.05 * np.arange(1, 8)
    whole = run(bandit, how, ADAM, chains=7, eta=eta, **shared)
    for part in (range(1), range(1, 4), range(6, 7)):
        found = run(bandit, how, ADAM, chains=part, eta=eta[part.start : part.stop], **shared)
        for field in fields(BanditRun):
            expected = getattr(whole, field.name)
            if field.name in ("final", "overflow_step"):
                expected = expected[part.start : part.stop]
            elif field.name != "steps":
                expected = expected[:, part.start : part.stop]
            assert_array_equal(getattr(found, field.name), expected, field.name)
    assert len(np.unique(whole.final)) == whole.final.size


def test_a_longer_or_less_recorded_run_is_the_same_run() -> None:
    bandit, how = free_bandit(3, 4, seed=8), conventions()
    short = run(bandit, how, steps=700, record_every=100)
    longer = run(bandit, how, steps=1500, record_every=50)
    assert_array_equal(short.steps, np.arange(0, 700, 100))
    assert short.parameters is not None
    assert longer.parameters is not None
    assert_array_equal(longer.parameters[:14:2], short.parameters)
    assert_array_equal(longer.parameters[14], short.final)


def test_seed_sequences_and_numbers_are_the_same_seed() -> None:
    bandit, how = free_bandit(1, 3, seed=9), conventions()
    assert_same(run(bandit, how), run(bandit, how, seed=np.random.SeedSequence(7)))
    assert np.all(run(bandit, how).final != run(bandit, how, seed=8).final)


def test_the_mean_over_prompts_is_a_smaller_step() -> None:
    bandit = free_bandit(4, 3, seed=10)
    total = run(bandit, conventions(over_prompts="sum"), eta=0.05)
    mean = run(bandit, conventions(over_prompts="mean"), eta=0.2)
    assert_allclose(mean.final, total.final, rtol=1e-12)


# Symmetries


@pytest.mark.parametrize("optimizer", [*OPTIMIZERS, ADAM], ids=str)
def test_permuting_arms_and_prompts_permutes_the_run(optimizer: str | Adam) -> None:
    rng = np.random.default_rng(13)
    bandit = free_bandit(3, 4, seed=14)
    order = np.ix_(rng.permutation(3), rng.permutation(4))
    permuted = Bandit(
        rewards=bandit.rewards[order],
        reference_logits=bandit.reference[order],
        coordinates="free-logits",
    )
    how = conventions(normaliser="batch-std", clip=(0.2, 0.2), kl="k3")
    one, other = (
        run(b, how, optimizer, Sawtooth(3), group_size=None, chains=1) for b in (bandit, permuted)
    )
    assert_allclose(other.final[0], one.final[0][order], rtol=1e-10)
    assert_allclose(other.reward, one.reward, rtol=1e-10)


# Adam


def test_adams_first_step_is_the_sign_of_the_gradient() -> None:
    bandit, how = free_bandit(2, 3, seed=15), conventions()
    start = bandit.reference
    plain = Adam(beta2=0.999, adam_eps=0.0, weight_decay=0.0, bias_correction=True)
    found = run(bandit, how, plain, eta=0.01, mu=0.9, group_size=None, steps=1)
    slope = gradient(bandit, how, start, start, beta=0.1, counts=None)
    assert_allclose(found.final[0] - start, 0.01 * np.sign(slope), rtol=1e-9)


def test_adam_without_eps_stays_where_there_is_no_gradient() -> None:
    bandit = Bandit(rewards=[[1, 1]], reference_logits=0.4, coordinates="one-logit")
    plain = Adam(beta2=0.9, adam_eps=0.0, weight_decay=0.0, bias_correction=True)
    assert_array_equal(run(bandit, conventions(), plain, beta=0).final, np.full((3, 1), 0.4))
