"""Slopes, multipliers and borders of a stale policy under a KL term, as predicted."""

from __future__ import annotations

import math

import numpy as np
import pytest
from transformer_held import every_group

from numerics.exact import Configuration, threshold
from numerics.experiments.transformer.theory.anchored import Anchor, weight_for
from numerics.experiments.transformer.theory.staleness_theory import (
    drift,
    rule,
    rule_onset,
    slopes,
)
from numerics.experiments.transformer.theory.staleness_theory import multiplier as predicted
from numerics.inputs import UnknownName
from numerics.kernels import staleness as infinite_groups
from numerics.simulation import STALENESS, Sawtooth, simulate_linear, two_arm_drift


def logit(p: float) -> float:
    return math.log(p / (1 - p))


# Slopes


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize(("p_star", "p_ref"), [(0.1, 0.00075), (0.4, 0.2), (0.8, 0.45)])
def test_with_the_exact_kl_the_slopes_are_the_table(
    staleness: str, p_star: float, p_ref: float
) -> None:
    size = 50_000
    beta = weight_for(p_star, group_size=size, kl="reverse", p_ref=p_ref)
    found = slopes(
        staleness, group_size=size, beta=beta, p_ref=p_ref, p_star=p_star, kl="exact"
    )  # fmt: skip
    kernel = getattr(infinite_groups, staleness.replace("-", "_"))
    fresh, stale, stiffness, share = kernel(beta=beta, p_star=p_star)
    assert found.fresh == pytest.approx(fresh, abs=3e-4)
    assert found.stale == pytest.approx(stale, abs=3e-4)
    assert found.stiffness == pytest.approx(stiffness, abs=3e-4)
    assert found.share == pytest.approx(share, abs=3e-3)


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("kl", ["sampled", "exact"])
def test_the_slopes_add_up_to_the_stiffness(staleness: str, kl: str) -> None:
    anchor = Anchor(16, 0.9, "reverse", 0.3)
    rest = anchor.rests[0]
    found = slopes(staleness, group_size=16, beta=0.9, p_ref=0.3, p_star=rest.p, kl=kl)
    assert found.stiffness == pytest.approx(rest.stiffness, rel=1e-5)


@pytest.mark.parametrize(("p_star", "p_ref"), [(0.1, 0.00075), (0.3, 0.2), (0.8, 0.45), (0.6, 0.3)])
def test_without_the_ratio_a_sampled_kl_is_stale_too(p_star: float, p_ref: float) -> None:
    """K_s = sigma (u + v)/(2 (u - v)): its sign is that of p*(1 - p*) - p_ref (1 - p_ref)."""
    size = 50_000
    beta = weight_for(p_star, group_size=size, kl="reverse", p_ref=p_ref)
    found = slopes(
        "stale-samples", group_size=size, beta=beta, p_ref=p_ref, p_star=p_star, kl="sampled"
    )  # fmt: skip
    u, v = math.log(p_star / p_ref), math.log((1 - p_star) / (1 - p_ref))
    sigma = math.sqrt(p_star * (1 - p_star))
    assert found.stale == pytest.approx(sigma * (u + v) / (2 * (u - v)), abs=3e-4)
    assert (found.stale > 0) == (p_star * (1 - p_star) > p_ref * (1 - p_ref))


@pytest.mark.parametrize("staleness", STALENESS)
def test_at_large_groups_the_exact_drift_is_the_mean_field(staleness: str) -> None:
    ours = drift(staleness, group_size=50_000, beta=0.7, p_ref=0.3, kl="exact")
    theirs = two_arm_drift(staleness, beta=0.7, theta_ref=logit(0.3))
    now, old = np.array([-1.0, 0.5, 2.0]), np.array([0.3, 0.3, -0.5])
    np.testing.assert_allclose(ours(now, old), theirs(now, old), atol=3e-4)


@pytest.mark.parametrize("staleness", ["stale-samples", "stale-samples-ratio"])
def test_the_sampled_drift_is_the_mean_over_every_group(staleness: str) -> None:
    """Against the loss of every possible group of 6, differentiated by a difference."""
    now, old, beta, p_ref, step = -0.4, 0.3, 0.8, 0.25, 1e-6

    def force(right: np.ndarray) -> float:
        reward = right.astype(float)
        advantage = (reward - reward.mean()) / (reward.std(ddof=1) + 1e-4)
        held = np.log(np.where(right, p_ref, 1 - p_ref))

        def says(at: float) -> np.ndarray:
            p = 1 / (1 + math.exp(-at))
            return np.log(np.where(right, p, 1 - p))

        # Without the sampler's log-probabilities the trainer puts its own, held fixed.
        sampler = says(old if staleness == "stale-samples-ratio" else now)

        def loss(at: float) -> float:
            ratio, away = np.exp(says(at) - sampler), held - says(at)
            return float(np.mean(-ratio * advantage + beta * ratio * (np.exp(away) - away - 1)))

        return (loss(now - step) - loss(now + step)) / (2 * step)

    mean, _ = every_group(6, 1 / (1 + math.exp(-old)), force)
    ours = drift(staleness, group_size=6, beta=beta, p_ref=p_ref, kl="sampled")
    assert float(ours(now, old)) == pytest.approx(mean, abs=1e-7)


def test_names_are_checked() -> None:
    with pytest.raises(UnknownName, match="kl"):
        drift("stale-samples", group_size=8, beta=1.0, p_ref=0.2, kl="k3")
    with pytest.raises(UnknownName, match="staleness"):
        drift("stale", group_size=8, beta=1.0, p_ref=0.2, kl="exact")


# The linear map


@pytest.mark.parametrize(("share", "refresh"), [(1.0, 7), (0.66, 13), (-0.9, 24), (3.0, 4)])
def test_the_multiplier_without_momentum(share: float, refresh: int) -> None:
    fresh = 0.24 * (1 - share)
    power = (1 - fresh) ** refresh
    closed = 1 - 0.24 * refresh if share == 1 else (power - share) / (1 - share)
    assert predicted(0.24, share=share, refresh=refresh) == pytest.approx(closed, rel=1e-9)


def test_the_multiplier_is_the_growth_of_the_simulated_map() -> None:
    x, share, refresh, mu = 0.03, 1.0, 12, 0.9
    run = simulate_linear(
        "heavy-ball", Sawtooth(refresh), x=x, stale_share=share, mu=mu, initial=1.0,
        steps=100 * refresh,
    )  # fmt: skip
    # A complex pair: what grows is the envelope, over many intervals.
    path = np.abs(run.path[::refresh])
    growth = (path[80:100].max() / path[20:40].max()) ** (1 / 60)
    assert abs(predicted(x, share=share, refresh=refresh, mu=mu)) == pytest.approx(growth, rel=0.02)
    border = threshold(Configuration("heavy-ball", "sawtooth", 0.9, 1.0, refresh=9)).value
    assert abs(predicted(border, share=1.0, refresh=9, mu=0.9)) == pytest.approx(1, abs=1e-6)


def test_the_published_rule() -> None:
    assert rule(0.24) == pytest.approx(1 / 0.24)
    assert rule(0.03, 0.9) == pytest.approx(10 / 3)
    lag = rule_onset(0.24)
    assert (1 - 0.24 * lag) ** 2 == pytest.approx(4 * 0.24 * (1 + 0.24 * lag**2) / 2)


# What is measured on runs
