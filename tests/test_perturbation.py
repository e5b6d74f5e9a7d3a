"""Small deviations on the nonlinear map: growth, swings and the measured tangent."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from numerics.inputs import InvalidInput, Values
from numerics.simulation import (
    OPTIMIZERS,
    STALENESS,
    ConstantLag,
    Sawtooth,
    Schedule,
    growth_rate,
    linear_drift,
    two_arm_drift,
)
from numerics.simulation.perturbation import follow_deviation, tangent_propagator
from numerics.simulation.response import linear_response

SCHEDULES = [ConstantLag(0), ConstantLag(3), Sawtooth(1), Sawtooth(4)]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_on_a_linear_map_both_measure_its_growth(optimizer: str, schedule: Schedule) -> None:
    mu, share = np.array([[0.0], [0.6]]), 0.7
    x = np.array([0.02, 0.3, 0.9, 2.5])
    exact = growth_rate(optimizer, schedule, mu=mu, x=x, stale_share=share)
    drift = linear_drift(x=1.0, stale_share=share)
    found = follow_deviation(drift, optimizer, schedule, eta=x, mu=mu, point=0.0, steps=6000)
    assert_allclose(found.growth, np.log(exact), atol=3e-6)
    matrix = tangent_propagator(drift, optimizer, schedule, eta=x, mu=mu, point=0.0)
    size = np.abs(np.linalg.eigvals(matrix)).max(axis=-1) ** (1 / schedule.period)
    assert_allclose(size, exact, rtol=2e-6)


@pytest.mark.parametrize("staleness", STALENESS)
def test_on_the_bandit_the_run_and_the_tangent_agree(staleness: str) -> None:
    drift = two_arm_drift(staleness, beta=2.0, theta_ref=0.0)
    response = linear_response(drift, 0.0)
    eta = np.array([0.05, 0.3, 0.6]) / response.stiffness[0, 0]
    for schedule in (ConstantLag(2), Sawtooth(3)):
        where = {"eta": eta, "mu": 0.5, "point": response.point}
        run = follow_deviation(drift, "heavy-ball", schedule, steps=4000, **where)
        matrix = tangent_propagator(drift, "heavy-ball", schedule, **where)
        size = np.abs(np.linalg.eigvals(matrix)).max(axis=-1)
        assert_allclose(run.growth, np.log(size) / schedule.period, atol=1e-5)


def test_the_tangent_of_several_parameters_is_the_matrix_it_should_be() -> None:
    stiffness = np.array([[1.0, 0.4], [0.1, 2.0]])

    def drift(theta: Values, theta_old: Values) -> Values:
        return -np.sinh(theta) @ stiffness.T

    eta, mu = 0.3, 0.5
    matrix = tangent_propagator(
        drift, "heavy-ball", ConstantLag(0), eta=eta, mu=mu, point=np.zeros(2)
    )
    # The state is (theta, theta of the step before).
    block = (1 + mu) * np.eye(2) - eta * stiffness
    exact = np.block([[block, -mu * np.eye(2)], [np.eye(2), np.zeros((2, 2))]])
    assert_allclose(matrix, exact, atol=1e-11)


def test_swings_are_counted_and_an_overdamped_return_has_none() -> None:
    drift = linear_drift(x=1.0, stale_share=1.0)
    # mu = 0, lag 1: onset at x = 1/4, a period of 2 pi/angle beyond it, a flip only at lag 0.
    x = np.array([0.2, 0.2499, 0.3, 0.9])
    rest = {"mu": 0.0, "point": 0.0, "steps": 2000}
    found = follow_deviation(drift, "heavy-ball", ConstantLag(1), eta=x, **rest)
    assert found.crossings[0] == found.crossings[1] == 0
    for count, at in zip(found.crossings[2:], x[2:], strict=True):
        assert abs(count - 1000 * math.atan(math.sqrt(4 * at - 1)) / math.pi) <= 2
    flip = follow_deviation(drift, "heavy-ball", ConstantLag(0), eta=1.5, **rest)
    assert flip.crossings == 1000


def test_a_run_that_leaves_all_numbers_still_counts_as_growing() -> None:
    drift = two_arm_drift("stale-samples", beta=2.0, theta_ref=0.0)
    point = linear_response(drift, 0.0).point
    eta = np.array([1e3, 1e200])
    found = follow_deviation(
        drift, "heavy-ball", Sawtooth(32), eta=eta, mu=0.9, point=point, steps=640
    )
    assert np.all(found.growth > 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"eta": 0.0}, "eta is 0.0"),
        ({"mu": 1.0}, "mu is 1.0"),
        ({"point": math.inf}, "point is inf"),
        ({"direction": 0.0}, "direction is 0"),
        ({"steps": 10}, "steps is 10"),
        ({"eta": np.ones(2), "mu": np.zeros(3)}, "do not broadcast"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Values], message: str) -> None:
    given = {"eta": 0.1, "mu": 0.0, "point": 0.0, "steps": 100, **changed}
    drift = linear_drift(x=1.0, stale_share=1.0)
    with pytest.raises(InvalidInput, match=message):
        follow_deviation(drift, "heavy-ball", ConstantLag(1), **given)
