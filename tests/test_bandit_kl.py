"""The KL term: forces of the estimators, and the fixed points they lead to."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from bandit_cases import conventions, free_bandit, two_arms
from numpy.testing import assert_allclose

from numerics.simulation import STALENESS, ConstantLag, success_probability
from numerics.simulation.bandit import (
    KL_ESTIMATORS,
    Adam,
    Bandit,
    gradient,
    mean_gradient,
    simulate_bandit,
)

# Derivative in the logit at p_ref = 1/2.
FORCES = {
    0.75: {"reverse": 0.205990, "k1": 0.0, "k2": 0.205990, "k3": 0.25, "k3-ratio": 0.205990},
    0.9: {"reverse": 0.197750, "k1": 0.0, "k2": 0.197750, "k3": 0.4, "k3-ratio": 0.197750},
}


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def force(bandit: Bandit, kl: str, theta: np.ndarray, theta_old: np.ndarray) -> np.ndarray:
    """Gradient of the KL term alone, its weight 1."""
    drift = partial(mean_gradient, bandit, conventions(kl=kl))
    return drift(theta, theta_old, beta=0) - drift(theta, theta_old, beta=1)


@pytest.mark.parametrize("kl", KL_ESTIMATORS)
@pytest.mark.parametrize("p", FORCES)
def test_forces_of_the_case_file(p: float, kl: str) -> None:
    theta = np.array([logit(p)])
    found = force(two_arms(), kl, theta, theta)
    assert_allclose(found, FORCES[p][kl], atol=5e-7 if FORCES[p][kl] else 1e-15)


def test_k3_in_the_loss_is_twice_reverse_kl_at_nine_tenths() -> None:
    theta = np.array([logit(0.9)])
    ratio = force(two_arms(), "k3", theta, theta) / force(two_arms(), "reverse", theta, theta)
    assert_allclose(ratio, 2.02, atol=5e-3)


def test_on_policy_k3_is_the_other_kl_on_many_arms() -> None:
    bandit, theta = free_bandit(3, 5, seed=3), np.random.default_rng(4).normal(size=(3, 5))

    def softmax(logits: np.ndarray) -> np.ndarray:
        return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)

    pi, reference = softmax(theta), softmax(bandit.reference)
    # d KL(ref || pi)/d logits = pi - ref
    assert_allclose(force(bandit, "k3", theta, theta), pi - reference, atol=1e-14)
    surprise = np.log(pi / reference)
    reverse = pi * (surprise - (pi * surprise).sum(axis=-1, keepdims=True))
    for kl in ("reverse", "k2", "k3-ratio"):
        assert_allclose(force(bandit, kl, theta, theta), reverse, atol=1e-14)
    assert_allclose(force(bandit, "k1", theta, theta), 0, atol=1e-15)


def test_stale_samples_change_the_estimators_but_not_reverse_kl_nor_k3_with_ratio() -> None:
    bandit, rng = free_bandit(2, 4, seed=6), np.random.default_rng(7)
    theta, theta_old = rng.normal(size=(2, 2, 4))
    fresh = force(bandit, "reverse", theta, theta)
    for kl in ("reverse", "k3-ratio"):
        assert_allclose(force(bandit, kl, theta, theta_old), fresh, atol=1e-14)
    for kl in ("k1", "k2", "k3"):
        assert np.abs(force(bandit, kl, theta, theta_old) - fresh).max() > 1e-3


def test_exact_reverse_kl_does_not_depend_on_the_samples() -> None:
    bandit, theta = free_bandit(1, 3, seed=8), np.array([[0.3, -0.2, 0.9]])
    how = conventions(kl="reverse", normaliser="none")
    dead = [
        gradient(bandit, how, theta, theta, beta=0.7, counts=counts)
        for counts in ([[4, 0, 0]], [[0, 0, 4]])
    ]
    assert_allclose(dead[0], dead[1], atol=0)
    estimated = [
        gradient(bandit, conventions(kl="k2"), theta, theta, beta=0.7, counts=counts)
        for counts in ([[4, 0, 0]], [[0, 0, 4]])
    ]
    assert np.abs(estimated[0] - estimated[1]).max() > 1e-2


# Theory 3.8: where the run comes to rest.


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize(("beta", "p_ref"), [(2.0, 0.5), (4.0, 0.3)])
def test_reverse_kl_comes_to_rest_at_mrouehs_fixed_point(
    staleness: str, beta: float, p_ref: float
) -> None:
    p = rest(staleness, "reverse", beta, p_ref)
    assert_allclose(logit(p), logit(p_ref) + 1 / (beta * math.sqrt(p * (1 - p))), rtol=1e-9)
    assert (p - 0.5) / (beta * math.sqrt(p * (1 - p))) < 1  # the attracting one of the two


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize(("beta", "p_ref"), [(2.0, 0.5), (1.0, 0.5), (4.0, 0.3)])
def test_k3_comes_to_rest_at_the_binary_fixed_point(
    staleness: str, beta: float, p_ref: float
) -> None:
    p = rest(staleness, "k3", beta, p_ref)
    assert_allclose(p - math.sqrt(p * (1 - p)) / beta, p_ref, rtol=1e-9)


def rest(staleness: str, kl: str, beta: float, p_ref: float) -> float:
    """Success probability after a long run without noise, a lag of one step included."""
    bandit = two_arms(logit(p_ref))
    run = simulate_bandit(
        bandit,
        conventions(staleness=staleness, kl=kl),
        "heavy-ball",
        ConstantLag(1),
        eta=0.1,
        mu=0.5,
        beta=beta,
        group_size=None,
        initial=bandit.reference,
        steps=3000,
        chains=1,
        seed=0,
        record_every=3000,
    )
    return float(success_probability(run.final[0, 0]))


@pytest.mark.parametrize(
    ("kl", "beta", "settles"),
    [("reverse", 1.50, False), ("reverse", 1.52, True), ("k3", 1.50, True), ("k3", 0.2, True)],
)
def test_only_reverse_kl_loses_its_fixed_point_below_beta_c(
    kl: str, beta: float, settles: bool
) -> None:
    run = simulate_bandit(  # beta_c(1/2) = 1.5089
        two_arms(),
        conventions(kl=kl),
        "heavy-ball",
        ConstantLag(0),
        eta=1.0,
        mu=0.5,
        beta=beta,
        group_size=None,
        initial=[0.0],
        steps=3000,
        chains=1,
        seed=0,
        record_every=1,
        keep=("parameters",),
    )
    assert run.parameters is not None
    theta = run.parameters[:, 0, 0]
    assert (theta[-1] < 5) == settles
    assert (abs(theta[-1] - theta[-1000]) < 1e-6) == settles


def test_weight_decay_pulls_to_zero_not_to_the_reference() -> None:
    bandit = two_arms(reference=2.0)
    run = simulate_bandit(
        bandit,
        conventions(normaliser="none"),
        Adam(beta2=0.9, adam_eps=1.0, weight_decay=0.5, bias_correction=False),
        ConstantLag(0),
        eta=0.05,
        mu=0.0,
        beta=0.0,
        group_size=None,
        initial=bandit.reference,
        steps=2000,
        chains=1,
        seed=0,
        record_every=2000,
    )
    theta = run.final[0, 0]
    p = success_probability(theta)
    push = p * (1 - p)
    assert_allclose(0.5 * theta, push / (push + 1), rtol=1e-6)
