"""The gradient of a batch: against the objective's complex step, the mean field, and sums."""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit, two_arms
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from numerics.inputs import InvalidInput
from numerics.simulation import STALENESS, two_arm_drift
from numerics.simulation.bandit import (
    COORDINATES,
    KL_ESTIMATORS,
    OVER_PROMPTS,
    Bandit,
    Conventions,
    gradient,
    mean_gradient,
    objective,
)

# Cases: rewards 1/0, theta_old = 0, G to infinity.


@pytest.mark.parametrize(
    ("theta", "no_ratio", "ratio", "clipped"),
    [(0.5, 0.5, 0.470007, 0), (1, 0.5, 0.393224, 0), (-0.5, 0.5, 0.470007, 0.470007)],
)
def test_forces_of_the_stale_bandit(
    theta: float, no_ratio: float, ratio: float, clipped: float
) -> None:
    for changed, expected in (
        ({"staleness": "stale-samples"}, no_ratio),
        ({"staleness": "stale-samples-ratio"}, ratio),
        ({"staleness": "stale-samples-ratio", "clip": (0.2, 0.2)}, clipped),
        ({"staleness": "delayed-gradient", "clip": (0.2, 0.2)}, 0.5),
    ):
        found = mean_gradient(two_arms(), conventions(**changed), [theta], [0.0], beta=0)
        assert_allclose(found, [expected], atol=5e-7 if expected else 0)


# The exact formula against the objective it is the gradient of.

PAIRS = [
    ("group-mean", "group-std"),
    ("group-mean", "batch-std"),
    ("group-mean", "none"),
    ("leave-one-out", "group-std"),
    ("leave-one-out", "batch-std"),
    ("leave-one-out", "others-std"),
    ("leave-one-out", "none"),
    ("none", "group-std"),
    ("none", "batch-std"),
    ("none", "none"),
]
CLIPS: dict[str, list[dict[str, Any]]] = {
    staleness: [
        {"clip": clip, "dual_clip": dual, "log_ratio_clamp": clamp}
        for clip, dual, clamp in itertools.product(
            (None, (0.2, 0.3)), (None, 1.5), (None, 0.3, 2.0)
        )
        if staleness != "stale-samples" or (clip, dual, clamp) == (None, None, None)
    ]
    for staleness in STALENESS
}


def complex_step(
    bandit: Bandit, how: Conventions, theta: np.ndarray, theta_old: np.ndarray, **batch: Any
) -> np.ndarray:
    """Differentiate the objective in every parameter at once: one leading index a parameter."""
    size = theta.size
    step = 1e-30
    displaced = theta + 1j * step * np.eye(size).reshape(size, *theta.shape)
    values = objective(bandit, how, displaced, theta_old, **batch)
    return values.imag.reshape(theta.shape) / step


@pytest.mark.parametrize("over_prompts", OVER_PROMPTS)
@pytest.mark.parametrize("coordinates", COORDINATES)
@pytest.mark.parametrize("staleness", STALENESS)
def test_gradient_is_the_derivative_of_the_objective_for_all_conventions(
    staleness: str, coordinates: str, over_prompts: str
) -> None:
    rng = np.random.default_rng(11)
    arms = 2 if coordinates == "one-logit" else 4
    shape = (3,) if coordinates == "one-logit" else (3, arms)
    bandit = Bandit(
        rewards=rng.normal(size=(3, arms)),
        reference_logits=rng.normal(size=shape),
        coordinates=coordinates,
    )
    counts = rng.multinomial(9, np.full(arms, 1 / arms), size=3)
    heard, silent = 0, 0
    for number, (pair, clips, kl, drawn) in enumerate(
        itertools.product(PAIRS, CLIPS[staleness], KL_ESTIMATORS, (None, counts))
    ):
        how = conventions(
            baseline=pair[0],
            normaliser=pair[1],
            ddof=number % 2,
            eps=0.1,
            eps_in=("std", "variance")[number // 2 % 2],
            staleness=staleness,
            kl=kl,
            over_prompts=over_prompts,
            **clips,
        )
        theta_old = rng.normal(size=shape)
        theta = theta_old + rng.normal(size=shape)
        batch = {"beta": 0.4, "counts": drawn}
        found = gradient(bandit, how, theta, theta_old, **batch)  # type: ignore[arg-type]
        where = theta_old if staleness == "delayed-gradient" else theta
        expected = complex_step(bandit, how, where, theta_old, **batch)
        assert_allclose(found, expected, rtol=1e-11, atol=1e-13)
        if staleness == "stale-samples-ratio":
            unclipped = conventions(**(vars(how) | dict.fromkeys(clips)))
            same = np.array_equal(
                found,
                gradient(bandit, unclipped, theta, theta_old, **batch),  # type: ignore[arg-type]
            )
            heard, silent = heard + same, silent + (not same)
    if staleness == "stale-samples-ratio":
        assert silent > 100  # the clips were at work
        assert heard > 100


def sample_loss(
    log_pi: float, log_old: float, log_reference: float, advantage: float, how: Conventions
) -> tuple[float, float]:
    """Loss and KL estimate of one sample, as trainers write them: a loss, to be lowered."""
    log_ratio = log_pi - log_old
    ratio = math.exp(log_ratio)
    if how.staleness == "stale-samples":
        loss = -advantage * log_pi
    else:
        if how.log_ratio_clamp is not None:
            log_ratio = min(max(log_ratio, -how.log_ratio_clamp), how.log_ratio_clamp)
        loss = -advantage * math.exp(log_ratio)
        if how.clip is not None:
            low, high = how.clip
            inside = min(max(math.exp(log_ratio), 1 - low), 1 + high)
            loss = max(loss, -advantage * inside)
        if how.dual_clip is not None and advantage < 0:
            loss = min(loss, -advantage * how.dual_clip)
    to_reference = log_pi - log_reference
    k3 = math.exp(-to_reference) + to_reference - 1
    estimate = {"k1": to_reference, "k2": to_reference**2 / 2, "k3": k3, "k3-ratio": ratio * k3}
    return loss, estimate.get(how.kl, math.nan)


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("kl", KL_ESTIMATORS)
def test_the_objective_is_minus_the_mean_loss_of_the_samples(staleness: str, kl: str) -> None:
    rng = np.random.default_rng(15)
    bandit, size = free_bandit(3, 4, seed=16), 12
    counts = rng.multinomial(size, np.full(4, 0.25), size=3)
    for clips in CLIPS[staleness]:
        how = conventions(staleness=staleness, kl=kl, **clips)
        theta, theta_old = rng.normal(size=(2, 3, 4))
        log_pi, log_old, log_reference = (
            logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
            for logits in (theta, theta_old, bandit.reference)
        )
        expected = 0.0
        for prompt, row in enumerate(counts):
            arms = np.repeat(np.arange(4), row)
            advantages = bandit.rewards[prompt, arms] - bandit.rewards[prompt, arms].mean()
            advantages /= bandit.rewards[prompt, arms].std()
            for arm, advantage in zip(arms, advantages, strict=True):
                at = (log[prompt, arm] for log in (log_pi, log_old, log_reference))
                loss, estimate = sample_loss(*at, advantage, how)
                expected -= loss / size
                if kl != "reverse":
                    expected -= 0.4 * estimate / size
            if kl == "reverse":
                surprise = log_pi[prompt] - log_reference[prompt]
                expected -= 0.4 * (np.exp(log_pi[prompt]) * surprise).sum()
        found = objective(bandit, how, theta, theta_old, beta=0.4, counts=counts)
        assert_allclose(found, expected, rtol=1e-12)


def test_the_ratio_is_literally_one_without_lag() -> None:
    bandit, rng = free_bandit(3, 4, seed=1), np.random.default_rng(2)
    theta = rng.normal(size=(3, 4))
    counts = rng.multinomial(8, np.full(4, 0.25), size=3)
    plain, clipped, no_ratio = (
        gradient(bandit, conventions(**changed), theta, theta, beta=0.2, counts=counts)
        for changed in (
            {},
            {"clip": (1e-16, 1e-16), "dual_clip": 1 + 1e-15, "log_ratio_clamp": 1e-300},
            {"staleness": "stale-samples"},
        )
    )
    assert_array_equal(plain, clipped)
    assert_array_equal(plain, no_ratio)


@settings(deadline=None)
@given(
    st.floats(-30, 30),
    st.floats(-30, 30),
    st.floats(0, 10),
    st.floats(-5, 5),
    st.sampled_from(STALENESS),
)
def test_two_arms_and_large_groups_are_the_mean_field(
    theta: float, theta_old: float, beta: float, theta_ref: float, staleness: str
) -> None:
    expected = two_arm_drift(staleness, beta=beta, theta_ref=theta_ref)(theta, theta_old)
    how = conventions(staleness=staleness)
    found = mean_gradient(two_arms(theta_ref), how, [theta], [theta_old], beta=beta)
    # The KL force is exact to the rounding of log pi; the advantages go up to exp(|theta_old|/2).
    assert_allclose(found, expected, rtol=1e-12, atol=1e-15 * 100 * beta)
    # Two free logits move their difference twice as fast.
    free = Bandit(rewards=[[1, 0]], reference_logits=[[theta_ref, 0]], coordinates="free-logits")
    pair = mean_gradient(free, how, [[theta, 0]], [[theta_old, 0]], beta=beta)[0]
    rounding = 1e-15 * (100 * beta + math.exp(abs(theta_old) / 2))
    assert_allclose(pair, [found[0], -found[0]], rtol=1e-12, atol=rounding)


@pytest.mark.parametrize("staleness", STALENESS)
def test_a_nearly_certain_policy_keeps_its_digits(staleness: str) -> None:
    for theta in (200.0, -200.0):
        found = mean_gradient(
            two_arms(), conventions(staleness=staleness), [theta], [theta], beta=0
        )
        assert_allclose(found, math.exp(-100), rtol=1e-12)


# Symmetries


@pytest.mark.parametrize("normaliser", ["group-std", "batch-std", "none"])
@pytest.mark.parametrize("kl", KL_ESTIMATORS)
def test_permuting_arms_and_prompts_permutes_the_gradient(normaliser: str, kl: str) -> None:
    rng = np.random.default_rng(31)
    bandit = free_bandit(4, 5, seed=30)
    theta, theta_old = rng.normal(size=(2, 4, 5))
    counts = rng.multinomial(7, np.full(5, 0.2), size=4)
    how = conventions(normaliser=normaliser, kl=kl, clip=(0.2, 0.2))
    order = np.ix_(rng.permutation(4), rng.permutation(5))
    permuted = Bandit(
        rewards=bandit.rewards[order],
        reference_logits=bandit.reference[order],
        coordinates="free-logits",
    )
    for drawn in (None, counts):
        found = gradient(bandit, how, theta, theta_old, beta=0.3, counts=drawn)
        moved = gradient(
            permuted,
            how,
            theta[order],
            theta_old[order],
            beta=0.3,
            counts=None if drawn is None else drawn[order],
        )
        assert_allclose(moved, found[order], rtol=1e-12, atol=1e-15)


def test_a_constant_in_the_rewards_and_their_scale_cancel() -> None:
    rng = np.random.default_rng(41)
    bandit = free_bandit(3, 4, seed=40)
    theta, theta_old = rng.normal(size=(2, 3, 4))
    changed = Bandit(
        rewards=7 + 1e-3 * bandit.rewards,
        reference_logits=bandit.reference,
        coordinates="free-logits",
    )
    for baseline in ("group-mean", "leave-one-out"):
        found, moved = (
            mean_gradient(b, conventions(baseline=baseline), theta, theta_old, beta=0.1)
            for b in (bandit, changed)
        )
        assert_allclose(moved, found, rtol=1e-10)


def test_free_logits_never_move_together() -> None:
    rng = np.random.default_rng(51)
    theta, theta_old = rng.normal(size=(2, 100, 3, 4))
    found = mean_gradient(free_bandit(3, 4, seed=50), conventions(), theta, theta_old, beta=0.3)
    assert_allclose(found.sum(axis=-1), 0, atol=1e-14)


def test_leading_axes_broadcast() -> None:
    rng = np.random.default_rng(61)
    bandit, how = free_bandit(2, 3, seed=60), conventions(normaliser="batch-std")
    theta, theta_old = rng.normal(size=(4, 1, 2, 3)), rng.normal(size=(5, 2, 3))
    beta = rng.random((4, 5))
    counts = rng.multinomial(6, np.full(3, 1 / 3), size=(5, 2))
    found = gradient(bandit, how, theta, theta_old, beta=beta, counts=counts)
    values = objective(bandit, how, theta, theta_old, beta=beta, counts=counts)
    assert found.shape == (4, 5, 2, 3)
    assert values.shape == (4, 5)
    for i, j in np.ndindex(4, 5):
        at = (theta[i, 0], theta_old[j])
        batch = {"beta": beta[i, j], "counts": counts[j]}
        assert_allclose(found[i, j], gradient(bandit, how, *at, **batch), rtol=1e-13, atol=1e-16)
        assert_allclose(values[i, j], objective(bandit, how, *at, **batch), rtol=1e-13)


def test_the_drift_of_a_prompt_does_not_depend_on_the_others() -> None:
    bandit, how = free_bandit(3, 4, seed=70), conventions()
    theta = np.random.default_rng(71).normal(size=(3, 4))
    together = mean_gradient(bandit, how, theta, theta, beta=0.2)
    for prompt in range(3):
        alone = Bandit(
            rewards=bandit.rewards[[prompt]],
            reference_logits=bandit.reference[[prompt]],
            coordinates="free-logits",
        )
        single = mean_gradient(alone, how, theta[[prompt]], theta[[prompt]], beta=0.2)
        assert_allclose(together[[prompt]], single, rtol=1e-13)


# Hostile input


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"theta": np.zeros((2, 4))},
            "theta has shape \\(2, 4\\): its last axes must be \\(2, 3\\)",
        ),
        ({"theta_old": np.zeros(3)}, "theta_old has shape"),
        ({"theta": np.zeros((4, 2, 3)), "theta_old": np.zeros((5, 2, 3))}, "do not broadcast"),
        ({"theta": np.full((2, 3), math.nan)}, "every value must be finite"),
        ({"theta": np.zeros((2, 3), dtype=complex)}, "theta is complex"),
        ({"theta_old": np.full((2, 3), math.inf)}, "every value must be finite"),
        ({"beta": -0.1}, "beta is -0.1"),
        ({"beta": np.ones(3), "theta": np.zeros((4, 2, 3))}, "do not broadcast"),
        ({"counts": [[1, 2, 3]]}, "its last axes must be \\(prompts, arms\\)"),
        ({"counts": [[1, 0, 0], [0, 1, 0]]}, "group_of_one is 'refuse'"),
        ({"bandit": conventions()}, "give a Bandit"),
        ({"conventions": "paper"}, "give Conventions"),
    ],
)
def test_gradient_refuses(changed: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {
        "bandit": free_bandit(2, 3, seed=0),
        "conventions": conventions(),
        "theta": np.zeros((2, 3)),
        "theta_old": np.zeros((2, 3)),
        "beta": 0.1,
        "counts": None,
    }
    with pytest.raises(InvalidInput, match=message):
        gradient(**given | changed)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"rewards": [1, 0]}, "give \\(prompts, arms\\)"),
        ({"rewards": [[1], [0]]}, "at least two arms"),
        ({"rewards": [[1, math.nan]]}, "every value must be finite"),
        ({"rewards": [[1, 0, 0]]}, "it takes two arms"),
        ({"reference_logits": [0, 1]}, "it must broadcast to the parameters'"),
        ({"reference_logits": math.inf}, "every value must be finite"),
        ({"coordinates": "logit"}, "coordinates 'logit' is unknown"),
    ],
)
def test_bandit_refuses(changed: dict[str, Any], message: str) -> None:
    given = {"rewards": [[1, 0]], "reference_logits": 0, "coordinates": "one-logit"}
    with pytest.raises(InvalidInput, match=message):
        Bandit(**given | changed)


def test_a_bandit_does_not_share_its_arrays() -> None:
    rewards = np.array([[1.0, 0.0]])
    bandit = Bandit(rewards=rewards, reference_logits=0, coordinates="one-logit")
    rewards[0, 0] = 5
    assert bandit.rewards[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        bandit.rewards[0, 0] = 5


def test_extreme_logits_do_not_warn() -> None:
    drift = partial(mean_gradient, two_arms(), conventions(kl="k3", clip=(0.2, 0.2)), beta=1)
    with np.errstate(all="raise"):
        for theta, theta_old in itertools.product((-1e4, -700.0, 0.0, 1e4), repeat=2):
            drift([theta], [theta_old])
