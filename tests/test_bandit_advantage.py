"""Rewards to advantages: the cases people met, the definition, exact zeros, hostile input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from numerics.inputs import InvalidInput, UnknownName
from numerics.simulation.bandit import (
    AdvantageConventions,
    advantages,
    count_advantages,
    gradient,
    preset,
    sample_gradient,
)


def rule(**changed: Any) -> AdvantageConventions:
    return conventions(**changed)


# Cases


def test_one_success_in_five_is_the_logged_1_789() -> None:
    rewards = [1, 0, 0, 0, 0]
    assert_allclose(advantages(rewards, rule(ddof=1))[0], 4 / math.sqrt(5), rtol=1e-15)
    assert_allclose(advantages(rewards, rule(ddof=0))[0], 2, rtol=1e-15)


@pytest.mark.parametrize("size", [2, 4, 8, 64])
def test_the_largest_advantage_of_one_success_with_ddof_1(size: int) -> None:
    rewards = np.eye(size)[0]
    assert_allclose(advantages(rewards, rule(ddof=1))[0], (size - 1) / math.sqrt(size))


def test_std_of_three_equal_rewards_and_one_other() -> None:
    found = advantages([-18, -18, -18, -15], rule(ddof=1))
    assert_allclose(found, np.array([-0.75, -0.75, -0.75, 2.25]) / 1.5, rtol=1e-15)


@pytest.mark.parametrize(("eps", "expected"), [(1e-4, 0.7795), (1e-6, 0.9972)])
def test_eps_damps_rewards_of_a_small_scale(eps: float, expected: float) -> None:
    rewards = 1e-3 * np.eye(8)[0]
    damped = advantages(rewards, rule(ddof=1, eps=eps))[0]
    undamped = advantages(rewards, rule(ddof=1))[0]
    assert_allclose(damped / undamped, expected, atol=5e-5)


def test_eps_in_the_variance_is_under_the_root() -> None:
    found = advantages([1, 0, 0, 0], rule(eps=0.01, eps_in="variance"))
    assert_allclose(found[0], 0.75 / math.sqrt(0.1875 + 0.01), rtol=1e-15)


def test_a_group_of_one_is_refused_or_its_reward() -> None:
    with pytest.raises(InvalidInput, match="group_size is 1 and group_of_one is 'refuse'"):
        advantages([1], rule())
    for normaliser in ("group-std", "none"):
        assert advantages([0.7], rule(group_of_one="raw", normaliser=normaliser)) == 0.7
    verl = preset("verl-0.9").conventions  # mean 0, std 1, and eps as always
    assert advantages([0.7], verl) == 0.7 / (1 + 1e-6)


def test_nan_is_refused() -> None:
    with pytest.raises(InvalidInput, match="every value must be finite"):
        advantages([1, math.nan, 0, 1], rule())


def test_leaving_one_out_normalised_by_the_others() -> None:
    nemo = rule(baseline="leave-one-out", normaliser="others-std", ddof=1)
    found = advantages([1, 0, 0, 1], nemo)
    others = np.std([1, 0, 0], ddof=1)
    assert_allclose(found, np.array([1, -1, -1, 1]) * (2 / 3) / others, rtol=1e-14)
    assert abs(advantages([1, 2, 4, 0], nemo).sum()) > 0.1
    # The others of the one success all agree, so that its advantage is not divided.
    assert advantages([1, 0, 0, 0], nemo)[0] == 1


# Groups that agree


@pytest.mark.parametrize("normaliser", ["group-std", "batch-std", "none"])
@pytest.mark.parametrize("baseline", ["group-mean", "leave-one-out"])
@pytest.mark.parametrize("eps_in", ["std", "variance"])
@pytest.mark.parametrize("eps", [0.0, 1e-9])
@pytest.mark.parametrize("reward", [0.1, 1 / 3, -1e300, 5e-324, 0.0])
def test_rewards_that_agree_have_advantages_of_exactly_zero(
    normaliser: str, baseline: str, eps_in: str, eps: float, reward: float
) -> None:
    how = rule(normaliser=normaliser, baseline=baseline, eps=eps, eps_in=eps_in, ddof=1)
    for size in (2, 3, 7, 10, 64):
        assert_array_equal(advantages([reward] * size, how), np.zeros(size))
    counts = np.array([[3, 0, 4, 0]])  # two arms with this reward, and one that was not drawn
    assert_array_equal(count_advantages([[reward, 1, reward, 2]], counts, how), np.zeros((1, 4)))


def test_the_case_is_one_that_numpy_gets_wrong() -> None:
    assert np.std([0.1, 0.1, 0.1]) > 0


def test_others_that_agree_with_the_sample_too() -> None:
    nemo = rule(baseline="leave-one-out", normaliser="others-std", ddof=1)
    assert_array_equal(advantages([0.1, 0.1, 0.1], nemo), np.zeros(3))


def test_a_dead_group_in_a_live_batch_is_zero() -> None:
    batch = rule(normaliser="batch-std", ddof=1, eps=1e-9)
    found = advantages([[0.1, 0.1, 0.1], [0.3, 0.1, 0.2]], batch)
    assert_array_equal(found[0], np.zeros(3))
    rewards = np.array([0.1, 0.1, 0.1, 0.3, 0.1, 0.2])
    assert_allclose(found[1, 0], 0.1 / np.std(rewards, ddof=1), rtol=1e-7)


def test_nearly_equal_rewards_keep_their_digits() -> None:
    # 1 and the next number: the mean of the three is no float, their differences are.
    step = np.spacing(1.0)
    found = advantages([1, 1, 1 + step, 1], rule())
    assert_allclose(found, np.array([-1, -1, 3, -1]) / math.sqrt(3), rtol=1e-14)


# The definition


def by_definition(batch: np.ndarray, how: AdvantageConventions) -> np.ndarray:
    """Advantages of ``(prompts, group)`` one sample at a time, in exact sums."""
    result = np.empty(batch.shape)
    everything = [Fraction(r) for r in batch.flat]
    for prompt, row in enumerate(batch):
        group = [Fraction(r) for r in row]
        for sample, reward in enumerate(group):
            others = group[:sample] + group[sample + 1 :]
            base = {"group-mean": group, "leave-one-out": others, "none": [Fraction(0)]}
            top = reward - sum(base[how.baseline]) / len(base[how.baseline])
            spread = {"group-std": group, "batch-std": everything, "others-std": others}
            if how.normaliser == "none":
                result[prompt, sample] = top
                continue
            over = spread[how.normaliser]
            mean = sum(over) / len(over)
            variance = float(sum((r - mean) ** 2 for r in over) / (len(over) - how.ddof))
            inside = how.eps if how.eps_in == "variance" else 0.0
            outside = how.eps if how.eps_in == "std" else 0.0
            std = math.sqrt(variance + inside) + outside
            unit = 1.0 if how.normaliser == "others-std" else 0.0
            undivided = variance == 0 and how.baseline != "none"
            result[prompt, sample] = float(top) * (unit if undivided else 1 / std)
    return result


ALLOWED = [
    (baseline, normaliser)
    for baseline in ("group-mean", "leave-one-out", "none")
    for normaliser in ("group-std", "batch-std", "others-std", "none")
    if normaliser != "others-std" or baseline == "leave-one-out"
]


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(ALLOWED),
    st.integers(0, 1),
    st.sampled_from([1e-6, 1e-2]),
    st.sampled_from(["std", "variance"]),
    st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 0.1, -2.5, 1 / 3]), min_size=5, max_size=5),
        min_size=3,
        max_size=3,
    ),
)
def test_advantages_are_their_definition(
    pair: tuple[str, str], ddof: int, eps: float, eps_in: str, rewards: list[list[float]]
) -> None:
    how = rule(baseline=pair[0], normaliser=pair[1], ddof=ddof, eps=eps, eps_in=eps_in)
    batch = np.array(rewards)
    assert_allclose(advantages(batch, how), by_definition(batch, how), rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(ALLOWED),
    st.integers(0, 1),
    st.sampled_from([1e-9, 0.1]),
    st.integers(0, 2**32 - 1),
)
def test_counts_give_the_advantages_of_their_samples(
    pair: tuple[str, str], ddof: int, eps: float, seed: int
) -> None:
    how = rule(baseline=pair[0], normaliser=pair[1], ddof=ddof, eps=eps)
    rng = np.random.default_rng(seed)
    rewards = rng.integers(-2, 3, size=(3, 4)) / 7
    counts = rng.multinomial(6, rng.dirichlet(np.ones(4), size=3))
    per_arm = count_advantages(rewards, counts, how)
    assert_array_equal(per_arm[counts == 0], 0)
    drawn = [np.repeat(np.arange(4), row) for row in counts]
    samples = np.array([rewards[i, arms] for i, arms in enumerate(drawn)])
    expected = advantages(samples, how)
    for prompt, arms in enumerate(drawn):
        assert_allclose(per_arm[prompt, arms], expected[prompt], rtol=1e-12, atol=1e-14)


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.integers(-5, 5), min_size=2, max_size=9),
    st.integers(-300, 300),
    st.sampled_from(["group-mean", "leave-one-out"]),
)
def test_rewards_can_be_shifted_and_scaled(
    rewards: list[int], exponent: int, baseline: str
) -> None:
    plain = np.array(rewards, dtype=float)
    expected = advantages(plain, rule(baseline=baseline))
    assert_allclose(
        advantages(plain * 10.0**exponent, rule(baseline=baseline)), expected, atol=1e-13
    )
    for normaliser in ("group-std", "batch-std", "none"):
        how = rule(baseline=baseline, normaliser=normaliser, eps=1e-3)
        assert_allclose(advantages(plain + 64, how), advantages(plain, how), atol=1e-13)


def test_group_advantages_sum_to_zero_with_unit_variance() -> None:
    rewards = np.random.default_rng(5).normal(size=(50, 7))
    found = advantages(rewards, rule())
    assert_allclose(found.sum(axis=-1), 0, atol=1e-14)
    assert_allclose(found.std(axis=-1), 1, rtol=1e-14)


# Dead groups in a batch


@pytest.mark.parametrize("over_prompts", ["sum", "mean"])
def test_dead_groups_keep_their_kl_force_and_their_share(over_prompts: str) -> None:
    bandit = free_bandit(3, 4, seed=1)
    theta = np.random.default_rng(2).normal(size=(3, 4))
    counts = np.array([[8, 0, 0, 0], [3, 2, 2, 1], [0, 0, 8, 0]])
    how = conventions(over_prompts=over_prompts, eps=1e-9)
    with_kl, without, live = (
        gradient(bandit, how, theta, theta, beta=beta, counts=c)
        for beta, c in ((0.3, counts), (0.0, counts), (0.0, counts[[1, 1, 1]]))
    )
    assert_array_equal(without[[0, 2]], 0)
    assert_array_equal(without[1], live[1])  # the same share, dead neighbours or not
    assert np.all(np.abs(with_kl[[0, 2]]).max(axis=-1) > 1e-3)
    share = 3 if over_prompts == "mean" else 1
    alone = free_bandit(3, 4, seed=1)
    alone = type(alone)(
        rewards=alone.rewards[1:2],
        reference_logits=alone.reference_logits[1:2],
        coordinates="free-logits",
    )
    single = gradient(alone, how, theta[1:2], theta[1:2], beta=0.3, counts=counts[1:2])
    assert_allclose(with_kl[1] * share, single[0], rtol=1e-14)


# Hostile input


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"baseline": "group_mean"}, "did you mean 'group-mean'"),
        ({"normaliser": "std"}, "normaliser 'std' is unknown"),
        ({"eps": -1e-4}, "eps is -0.0001: it must be >= 0"),
        ({"eps": math.nan}, "every value must be finite"),
        ({"eps": [1e-4, 1e-6]}, "give one number"),
        ({"ddof": 0.5}, "ddof is 0.5: give a whole number"),
        ({"ddof": -1}, "it must be >= 0"),
        ({"eps_in": "sqrt"}, "eps_in 'sqrt' is unknown"),
        ({"group_of_one": "zero"}, "group_of_one 'zero' is unknown"),
        ({"normaliser": "others-std"}, "goes with the baseline 'leave-one-out'"),
        ({"baseline": "none"}, "divides by zero"),
        ({"clip": (0, 0.2)}, "clip low is 0: a clip range must be > 0"),
        ({"clip": (0.2, math.inf)}, "every value must be finite"),
        ({"clip": 0.2}, "give \\(low, high\\)"),
        ({"dual_clip": 1}, "dual_clip is 1: it must be > 1"),
        ({"log_ratio_clamp": 0}, "log_ratio_clamp is 0: it must be > 0"),
        ({"staleness": "stale-samples", "clip": (0.2, 0.2)}, "it has no ratio to clip"),
        ({"staleness": "stale"}, "staleness 'stale' is unknown"),
        ({"kl": "k4"}, "kl 'k4' is unknown"),
        ({"over_prompts": "max"}, "over_prompts 'max' is unknown"),
    ],
)
def test_conventions_refuse(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        conventions(**changed)
    assert "\n" not in str(caught.value)


def test_every_convention_must_be_given() -> None:
    with pytest.raises(TypeError, match="missing 12 required keyword-only arguments"):
        type(conventions())()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("changed", "size"),
    [
        ({"ddof": 2}, 2),
        ({"baseline": "leave-one-out", "normaliser": "others-std", "ddof": 1}, 2),
        ({"ddof": 1}, 1),
        ({"normaliser": "batch-std", "ddof": 3}, 3),
        ({"normaliser": "batch-std", "ddof": 1, "group_of_one": "raw"}, 1),
    ],
)
def test_a_group_too_small_for_its_std_is_refused(changed: dict[str, Any], size: int) -> None:
    with pytest.raises(InvalidInput):
        advantages(np.arange(size), rule(**changed))
    with pytest.raises(InvalidInput):
        sample_gradient(
            free_bandit(1, 3, seed=0),
            conventions(**changed),
            np.zeros((1, 3)),
            np.zeros((1, 3)),
            beta=0,
            group_size=size,
            rng=np.random.default_rng(0),
        )


@pytest.mark.parametrize("rewards", [3.0, [], [[], []], ["a", "b"], [True, False], [1, math.inf]])
def test_rewards_that_are_none_are_refused(rewards: Any) -> None:
    with pytest.raises(InvalidInput):
        advantages(rewards, rule())


@pytest.mark.parametrize(
    "counts",
    [
        [[0.5, 1.5]],
        [[-1, 3]],
        [[0, 0]],
        [[1, 1], [1, 2]],
        [[1, 1, 1]],
        5,
    ],
)
def test_counts_that_are_none_are_refused(counts: Any) -> None:
    with pytest.raises(InvalidInput):
        count_advantages([[1, 0]], counts, rule())


def test_unknown_names_are_a_kind_of_invalid_input() -> None:
    with pytest.raises(UnknownName):
        rule(baseline="median")


def test_huge_rewards_overflow_to_infinity_without_a_warning() -> None:
    found = advantages([1.5e308, -1.5e308], rule())
    assert_allclose(found, [1, -1])
    unscaled = advantages([1.5e308, -1.5e308, 1.5e308, 1.5e308], rule(normaliser="none"))
    assert np.isinf(unscaled[1])
