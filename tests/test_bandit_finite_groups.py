"""Finite groups: the exact expectation over what can be drawn, and what is drawn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit, two_arms
from numpy.testing import assert_allclose

from numerics.simulation.bandit import Conventions, gradient, sample_gradient

#: A standard normal exceeds this in size once in 1e9.
Z = 6.11


def binomial(size: int, p: float) -> np.ndarray:
    return np.array([math.comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)])


def two_arm_expectation(size: int, p: float, how: Conventions) -> float:
    """Expected on-policy gradient over all success counts."""
    counts = np.array([[[k, size - k]] for k in range(size + 1)])
    theta = [math.log(p / (1 - p))]
    found = gradient(two_arms(), how, theta, theta, beta=0, counts=counts)
    return float(binomial(size, p) @ found[:, 0])


DRIFT_FACTORS = {
    0.1: {4: 0.507084, 8: 0.698307, 16: 0.854344, 64: 0.976432},
    0.5: {4: 0.808013, 8: 0.927828, 16: 0.967061, 64: 0.992093},
}


@pytest.mark.parametrize("p", DRIFT_FACTORS)
@pytest.mark.parametrize("size", [4, 8, 16, 64])
def test_drift_of_a_finite_group(p: float, size: int) -> None:
    sigma = math.sqrt(p * (1 - p))
    factor = two_arm_expectation(size, p, conventions()) / sigma
    assert_allclose(factor, DRIFT_FACTORS[p][size], atol=5e-7)
    corrected = two_arm_expectation(size, p, conventions(ddof=1)) / sigma
    assert_allclose(corrected, factor * math.sqrt((size - 1) / size), rtol=1e-12)


@pytest.mark.parametrize("p", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("size", [2, 5, 16])
def test_without_std_the_group_mean_costs_one_sample_and_leaving_one_out_none(
    p: float, size: int
) -> None:
    exact = p * (1 - p)
    for baseline, factor in (("group-mean", (size - 1) / size), ("leave-one-out", 1)):
        how = conventions(baseline=baseline, normaliser="none")
        assert_allclose(two_arm_expectation(size, p, how), factor * exact, rtol=1e-12)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"clip": (0.2, 0.2), "kl": "k3", "ddof": 1, "eps": 1e-4},
        {"staleness": "stale-samples", "kl": "k2", "baseline": "leave-one-out"},
        {"staleness": "delayed-gradient", "normaliser": "none", "kl": "k1"},
        {"baseline": "none", "normaliser": "none", "kl": "k3-ratio", "over_prompts": "mean"},
    ],
)
@pytest.mark.parametrize("size", [3, 150])  # drawn one by one, and by multinomial
def test_sampled_gradients_average_to_their_expectation(changed: dict[str, Any], size: int) -> None:
    bandit, rng = free_bandit(2, 3, seed=21), np.random.default_rng(22)
    how = conventions(**changed)
    theta_old = rng.normal(size=(2, 3))
    theta = theta_old + 0.5 * rng.normal(size=(2, 3))
    counts = np.array([(i, j, size - i - j) for i in range(size + 1) for j in range(size + 1 - i)])
    weights = np.exp(theta_old)
    probabilities = weights / weights.sum(axis=-1, keepdims=True)
    log_ways = np.array(
        [math.lgamma(size + 1) - sum(math.lgamma(k + 1) for k in c) for c in counts]
    )
    pmf = np.exp(log_ways[:, None] + counts @ np.log(probabilities).T)  # (draws, prompts)
    each = gradient(
        bandit, how, theta, theta_old, beta=0.3, counts=np.stack([counts, counts], axis=1)
    )
    expected = np.einsum("dp,dpa->pa", pmf, each)
    variance = np.einsum("dp,dpa->pa", pmf, (each - expected) ** 2)
    number = 20_000
    found = sample_gradient(
        bandit,
        how,
        np.broadcast_to(theta, (number, 2, 3)),
        theta_old,
        beta=0.3,
        group_size=size,
        rng=np.random.default_rng(23),
    )
    z = (found.mean(axis=0) - expected) / np.sqrt(variance / number)
    assert np.abs(z).max() < Z
