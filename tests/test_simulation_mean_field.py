"""The nonlinear two-arm mean field: forces, slopes, fixed points, and its border."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from numerics.simulation import (
    OPTIMIZERS,
    STALENESS,
    ConstantLag,
    Sawtooth,
    Schedule,
    simulate,
    simulate_linear,
    simulated_border,
    success_probability,
    two_arm_drift,
)


@pytest.mark.parametrize(
    ("theta", "no_ratio", "unclipped_ratio"),
    [(0.5, 0.5, 0.470007), (1.0, 0.5, 0.393224), (-0.5, 0.5, 0.470007)],
)
def test_stale_bandit_forces(theta: float, no_ratio: float, unclipped_ratio: float) -> None:
    for staleness, expected in (
        ("stale-samples", no_ratio),
        ("stale-samples-ratio", unclipped_ratio),
        ("delayed-gradient", 0.5),
    ):
        drift = two_arm_drift(staleness, beta=0, theta_ref=0)
        assert_allclose(drift(theta, 0.0), expected, atol=5e-7)


logits = st.floats(-30, 30)


@settings(deadline=None)
@given(logits, logits, st.floats(0, 10), st.floats(-5, 5))
def test_expectation_over_the_arms_is_the_drift_of_theory_3_7(
    theta: float, old: float, beta: float, theta_ref: float
) -> None:
    p, p_old = success_probability(theta), success_probability(old)
    slope, slope_old = p * success_probability(-theta), p_old * success_probability(-old)
    spread_old = math.sqrt(slope_old)
    expected = {
        "delayed-gradient": spread_old - beta * slope_old * (old - theta_ref),
        "stale-samples": spread_old - beta * slope * (theta - theta_ref),
        "stale-samples-ratio": slope * (1 / spread_old - beta * (theta - theta_ref)),
    }
    for staleness in STALENESS:
        found = two_arm_drift(staleness, beta=beta, theta_ref=theta_ref)(theta, old)
        scale = spread_old + slope / spread_old + beta * (slope + slope_old) * 40
        assert abs(found - expected[staleness]) <= 1e-14 * scale


def test_drift_keeps_its_digits_where_the_policy_is_nearly_certain() -> None:
    for theta in (200.0, -200.0):  # here p rounds to 1, or 1 - p does
        for staleness in STALENESS:
            drift = two_arm_drift(staleness, beta=0, theta_ref=0)
            assert_allclose(drift(theta, theta), math.exp(-100), rtol=1e-12)


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("schedule", [ConstantLag(2), Sawtooth(3)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_mean_field_comes_to_rest_at_the_fixed_point(
    staleness: str, schedule: Schedule, optimizer: str
) -> None:
    beta, theta_ref = np.array([2.0, 3.0, 8.0]), np.array([0.0, -0.5, 1.0])
    run = simulate(
        two_arm_drift(staleness, beta=beta, theta_ref=theta_ref),
        optimizer,
        schedule,
        eta=0.05,
        mu=0.5,
        initial=theta_ref,
        steps=4000,
        record_every=4000,
    )
    theta = run.path[-1]
    sigma = np.sqrt(success_probability(theta) * success_probability(-theta))
    assert_allclose(theta, theta_ref + 1 / (beta * sigma), atol=1e-12)


def test_below_the_smallest_beta_there_is_no_fixed_point() -> None:
    # beta_c = 1.5089 at p_ref = 1/2: just above it the run stops, just below it creeps on.
    run = simulate(
        two_arm_drift("delayed-gradient", beta=np.array([1.52, 1.50]), theta_ref=0),
        "heavy-ball",
        ConstantLag(0),
        eta=0.5,
        mu=0,
        initial=0.0,
        steps=20_000,
        record_every=10_000,
    )
    assert abs(run.path[2, 0] - run.path[1, 0]) < 1e-12
    assert run.path[2, 0] < 2.5
    assert run.path[2, 1] > run.path[1, 1] > 5


@pytest.mark.parametrize(("beta", "theta_ref"), [(3.0, 0.0), (3.0, -2.0), (1.8, -0.5)])
def test_fresh_and_stale_slopes_of_theory_3_7(beta: float, theta_ref: float) -> None:
    start = two_arm_drift("delayed-gradient", beta=beta, theta_ref=theta_ref)
    rest = simulate(
        start, "heavy-ball", ConstantLag(0), eta=0.5, mu=0, initial=theta_ref, steps=3000
    ).path[-1]
    p = float(success_probability(rest))
    sigma = math.sqrt(p * (1 - p))
    contraction = (p - 0.5) / (beta * sigma)
    total = beta * sigma**2 * (1 - contraction)
    slopes = {
        "delayed-gradient": (0.0, total),
        "stale-samples": (beta * sigma**2 - (2 * p - 1) * sigma, (p - 0.5) * sigma),
        "stale-samples-ratio": (beta * sigma**2, -(p - 0.5) * sigma),
    }
    h = 1e-5
    for staleness in STALENESS:
        drift = two_arm_drift(staleness, beta=beta, theta_ref=theta_ref)
        fresh = -(drift(rest + h, rest) - drift(rest - h, rest)) / (2 * h)
        stale = -(drift(rest, rest + h) - drift(rest, rest - h)) / (2 * h)
        assert_allclose((fresh, stale), slopes[staleness], atol=1e-9)
        assert_allclose(fresh + stale, total, atol=1e-9)


@pytest.mark.parametrize("staleness", STALENESS)
def test_small_deviations_of_the_mean_field_follow_the_linear_map(staleness: str) -> None:
    beta, theta_ref, eta, mu, schedule = 3.0, -2.0, 0.3, 0.5, ConstantLag(2)
    drift = two_arm_drift(staleness, beta=beta, theta_ref=theta_ref)
    rest = simulate(
        drift, "heavy-ball", ConstantLag(0), eta=0.5, mu=0, initial=theta_ref, steps=3000
    ).path[-1]
    h = 1e-5
    fresh = -(drift(rest + h, rest) - drift(rest - h, rest)) / (2 * h)
    stale = -(drift(rest, rest + h) - drift(rest, rest - h)) / (2 * h)
    x, share = eta * (fresh + stale), stale / (fresh + stale)
    linear = simulate_linear("nesterov", schedule, mu=mu, x=x, stale_share=share, steps=40).path
    error = []
    for size in (1e-2, 5e-3):
        run = simulate(drift, "nesterov", schedule, eta=eta, mu=mu, initial=rest + size, steps=40)
        error.append(np.abs((run.path - rest) / size - linear).max())
    assert_allclose(math.log2(error[0] / error[1]), 1, atol=0.05)  # first order in the size


def test_delayed_gradient_loses_stability_at_the_border_of_the_linear_map() -> None:
    beta, mu, schedule = 3.0, 0.5, ConstantLag(2)
    drift = two_arm_drift("delayed-gradient", beta=beta, theta_ref=0)
    rest = simulate(drift, "heavy-ball", ConstantLag(0), eta=0.5, mu=0, initial=0, steps=3000).path[
        -1
    ]
    h = 1e-5
    stiffness = -(drift(rest + h, rest + h) - drift(rest - h, rest - h)) / (2 * h)
    border = simulated_border("heavy-ball", schedule, mu=mu, stale_share=1) / stiffness
    run = simulate(
        drift,
        "heavy-ball",
        schedule,
        eta=np.array([0.97, 1.03]) * border,
        mu=mu,
        initial=rest + 1e-3,
        steps=3000,
    )
    swing = np.abs(run.path[-100:] - rest).max(axis=0)
    assert swing[0] < 1e-6
    assert swing[1] > 1e-2


def test_without_kl_the_map_tends_to_the_closed_form_in_the_step_size() -> None:
    # cot(2 phi) = cot(2 phi_0) - eta t / 4, p = sin^2 phi (std-normalised, beta = 0).
    time, p_start = 12.0, 0.1
    phi = math.asin(math.sqrt(p_start))
    cotangent = 1 / math.tan(2 * phi) - time / 4
    p_end = math.sin(math.atan2(1, cotangent) / 2) ** 2
    drift = two_arm_drift("stale-samples-ratio", beta=0, theta_ref=0)
    errors = []
    for steps in (200, 400):
        run = simulate(
            drift,
            "heavy-ball",
            ConstantLag(0),
            eta=time / steps,
            mu=0,
            initial=math.log(p_start / (1 - p_start)),
            steps=steps,
        )
        errors.append(abs(success_probability(run.path[-1]) - p_end))
    assert_allclose(math.log2(errors[0] / errors[1]), 1, atol=0.05)
