"""Linear response: fixed points, slopes, modes and noise, held against what is known of them."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from numerics.inputs import InvalidInput, Values
from numerics.kernels import staleness as slopes
from numerics.simulation import STALENESS, two_arm_drift
from numerics.simulation.bandit import Bandit, Conventions, mean_gradient, sample_gradient
from numerics.simulation.fixed_point import NoFixedPoint
from numerics.simulation.gradient_noise import noise_strength
from numerics.simulation.response import SeveralFixedPoints, fixed_points, linear_response
from numerics.simulation.scalar_map import Drift


def conventions(staleness: str) -> Conventions:
    return Conventions(
        baseline="group-mean", normaliser="group-std", ddof=0, eps=0.0, eps_in="std",
        group_of_one="refuse", staleness=staleness, clip=None, dual_clip=None,
        log_ratio_clamp=None, kl="reverse", over_prompts="sum",
    )  # fmt: skip


def reference_logit(p_star: float, beta: float) -> float:
    """The reference that puts the fixed point of exact reverse KL at p_star (theory 3.8)."""
    return math.log(p_star / (1 - p_star)) - 1 / (beta * math.sqrt(p_star * (1 - p_star)))


@settings(deadline=None, max_examples=60)
@given(st.floats(0.01, 0.99), st.floats(0.05, 50), st.sampled_from(STALENESS), st.floats(-0.3, 0.3))
def test_slopes_are_those_of_theory_3_7(
    p_star: float, beta: float, staleness: str, off: float
) -> None:
    assume((p_star - 0.5) / (beta * math.sqrt(p_star * (1 - p_star))) < 0.9)  # attracting
    drift = two_arm_drift(staleness, beta=beta, theta_ref=reference_logit(p_star, beta))
    theta = math.log(p_star / (1 - p_star))
    found = linear_response(drift, theta + off * 0.1)
    fresh, stale, stiffness, share = getattr(slopes, staleness.replace("-", "_"))(
        beta=beta, p_star=p_star
    )
    scale = float(beta * p_star * (1 - p_star) + 1)
    assert abs(found.point[0] - theta) <= 1e-12 * (1 + abs(theta)) * scale / float(stiffness)
    assert found.error <= 1e-9 * scale
    for measured, error, exact in (
        (found.fresh, found.fresh_error, fresh),
        (found.stale, found.stale_error, stale),
    ):
        # The slopes are taken at the point found, which is off by rounding.
        assert abs(measured[0, 0] - exact) <= 4 * error[0, 0] + 1e-11 * scale / float(stiffness)
    assert found.attracting
    mode = found.only_mode
    assert_allclose(mode.rate, stiffness, atol=1e-9 * scale)
    assert_allclose(mode.stale_share * mode.rate, share * stiffness, atol=1e-9 * scale)
    assert mode.leakage == 0
    assert found.commutator == 0


def test_a_slow_run_is_followed_from_the_reference_and_newton_finds_what_repels() -> None:
    ref = reference_logit(0.3, 0.5)
    drift = two_arm_drift("delayed-gradient", beta=0.5, theta_ref=ref)
    assert_allclose(linear_response(drift, ref).point, math.log(0.3 / 0.7), rtol=1e-12)
    low, high = fixed_points(drift, np.array([[ref], [2.5]]))
    assert low.attracting
    assert not high.attracting
    assert high.point[0] > low.point[0]
    assert abs(drift(high.point[0], high.point[0])) < 1e-15


@pytest.mark.parametrize(
    ("beta", "start"),
    [(0.0, 0.0), (0.5, 3.0)],  # no interior fixed point; beyond the repelling one
)
def test_a_run_to_certainty_is_no_fixed_point(beta: float, start: float) -> None:
    drift = two_arm_drift("delayed-gradient", beta=beta, theta_ref=reference_logit(0.3, 0.5))
    with pytest.raises(NoFixedPoint, match=r"^from \[.*give a guess nearer to a fixed point$"):
        linear_response(drift, start)


def test_a_flat_end_is_not_taken_for_balance() -> None:
    """Below beta_c the wrong arm dies out; what then still moves is balanced, but it is no rest."""
    bandit = Bandit(
        rewards=np.array([[1.0, 1, 0]]),
        reference_logits=np.array([[2.0, -2, 1]]),
        coordinates="free-logits",
    )
    with pytest.raises(NoFixedPoint, match="flattens out"):
        linear_response(_flat(bandit, "stale-samples", 2.0), bandit.reference.ravel())


def test_starts_that_lead_to_different_points_are_refused_by_listing_them() -> None:
    def drift(theta: Values, theta_old: Values) -> Values:
        return np.sin(theta_old)

    with pytest.raises(SeveralFixedPoints, match=r"2 fixed points, \[3\.14.*\]; \[-3\.14.*\]"):
        linear_response(drift, np.array([[2.0], [-2.0]]))
    assert_allclose(linear_response(drift, np.array([[2.0], [4.0]])).stale, [[1.0]], rtol=1e-11)


def test_a_kink_shows_in_the_error() -> None:
    def drift(theta: Values, theta_old: Values) -> Values:
        return -np.where(theta > 1, 2.0, 1.0) * (theta - 1)

    found = linear_response(drift, 1.0)
    assert_allclose(found.fresh, [[1.5]])
    assert found.fresh_error[0, 0] < 1e-9  # a central difference cannot see it just there
    for distance in (0.003, 0.05):
        beside = linear_response(lambda q, old, at=distance: drift(q, old) - at, 0.0)
        assert abs(beside.fresh[0, 0] - 1) <= 10 * beside.fresh_error[0, 0]
        assert beside.fresh_error[0, 0] > 1e-5
    clear = linear_response(lambda q, old: drift(q, old) - 0.05, 0.0, displacement=0.04)
    assert_allclose(clear.fresh, [[1.0]], rtol=1e-9)
    assert clear.fresh_error[0, 0] < 1e-9


matrices = st.lists(st.floats(-1, 1), min_size=9, max_size=9).map(
    lambda v: np.array(v).reshape(3, 3)
)


@settings(deadline=None, max_examples=40)
@given(matrices, matrices, st.lists(st.floats(-3, 3), min_size=3, max_size=3).map(np.array))
def test_matrices_of_a_linear_drift_are_recovered(
    fresh: np.ndarray, stale: np.ndarray, point: np.ndarray
) -> None:
    fresh = fresh + 6 * np.eye(3)

    def drift(theta: Values, theta_old: Values) -> Values:
        return -(theta - point) @ fresh.T - (theta_old - point) @ stale.T

    found = linear_response(drift, np.zeros(3))
    assert_allclose(found.point, point, atol=1e-13)
    assert_allclose(found.fresh, fresh, atol=2e-13)
    assert_allclose(found.stale, stale, atol=2e-13)
    assert np.all(np.abs(found.fresh - fresh) <= 10 * found.fresh_error + 1e-14)
    rates = np.array([mode.rate for mode in found.modes])
    assert_allclose(sum(rates), np.trace(fresh + stale), rtol=1e-9)
    assert np.all(np.diff(rates.real) >= 0)
    assert_allclose([m.fresh + m.stale for m in found.modes], rates, atol=1e-7)
    both = fresh @ stale - stale @ fresh
    assert_allclose(
        found.commutator, np.linalg.norm(both) / np.linalg.norm(fresh + stale) ** 2, atol=1e-12
    )


def test_modes_shared_and_not_shared() -> None:
    stiff = np.diag([1.0, 3.0])
    for stale, shared in ((np.diag([0.5, 0.6]), True), (np.array([[0.5, 0.2], [0.2, 0.6]]), False)):
        found = linear_response(
            lambda q, old, stale=stale: -q @ (stiff - stale).T - old @ stale.T, np.ones(2)
        )
        assert (found.commutator < 1e-12) == shared
        assert (max(mode.leakage for mode in found.modes) < 1e-12) == shared
        if shared:
            assert_allclose([mode.stale_share for mode in found.modes], [0.5, 0.2], atol=1e-12)
    with pytest.raises(InvalidInput, match="2 modes that are not neutral"):
        _ = found.only_mode


def _flat(bandit: Bandit, staleness: str, beta: float) -> Drift:
    gradient = partial(mean_gradient, bandit, conventions(staleness), beta=beta)

    def drift(theta: Values, theta_old: Values) -> Values:
        theta, theta_old = np.broadcast_arrays(theta, theta_old)
        shape = (*theta.shape[:-1], *bandit.parameter_shape)
        return gradient(theta.reshape(shape), theta_old.reshape(shape)).reshape(theta.shape)

    return drift


@pytest.mark.parametrize("staleness", STALENESS)
def test_two_free_logits_are_one_logit_twice_as_stiff(staleness: str) -> None:
    ref = reference_logit(0.8, 2.0)
    one, free = (
        Bandit(
            rewards=np.array([[1.0, 0]]), reference_logits=np.array(logits), coordinates=coordinates
        )
        for logits, coordinates in (([ref], "one-logit"), ([[ref, 0.0]], "free-logits"))
    )
    single = linear_response(_flat(one, staleness, 2.0), ref).only_mode
    double = linear_response(_flat(free, staleness, 2.0), free.reference.ravel())
    assert [mode.neutral for mode in double.modes] == [True, False]
    assert_allclose(double.only_mode.rate, 2 * single.rate, rtol=1e-11)
    assert_allclose(double.only_mode.stale, 2 * single.stale, rtol=1e-11)
    assert double.commutator < 1e-13
    kernel = getattr(slopes, staleness.replace("-", "_"))(beta=2.0, p_star=0.8)
    assert_allclose([single.fresh, single.stale], kernel[:2], atol=1e-12)


def test_permuting_the_arms_permutes_the_response() -> None:
    order = np.array([2, 0, 3, 1])
    rewards, logits = np.array([1.0, 1, 0, 0]), np.array([1.0, -2, 1, -1])
    found = [
        linear_response(_flat(bandit, "stale-samples-ratio", 2.0), bandit.reference.ravel())
        for bandit in (
            Bandit(rewards=r[None], reference_logits=z[None], coordinates="free-logits")
            for r, z in ((rewards, logits), (rewards[order], logits[order]))
        )
    ]
    assert_allclose(found[1].point, found[0].point[order], atol=1e-12)
    assert_allclose(found[1].stale, found[0].stale[np.ix_(order, order)], atol=1e-12)
    assert found[0].commutator > 0.01  # the mean field is no scalar here
    assert_allclose(found[1].commutator, found[0].commutator, rtol=1e-9)


@pytest.mark.parametrize(
    ("guess", "displacement", "message"),
    [
        ([[[0.0]]], 0.1, "guess has shape"),
        ([], 0.1, "guess has shape"),
        (math.nan, 0.1, "guess is nan"),
        (0.0, 0.0, "displacement is 0.0"),
        (0.0, -1.0, "displacement is -1.0"),
    ],
)
def test_bad_input_is_refused(guess: Values, displacement: float, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        linear_response(lambda q, old: -q, np.array(guess), displacement=displacement)


def test_a_drift_of_another_shape_or_not_finite_is_refused() -> None:
    with pytest.raises(InvalidInput, match="it must keep the shape"):
        linear_response(lambda q, old: -np.sum(q, axis=-1), np.ones(2))
    with pytest.raises(NoFixedPoint, match="not finite near"):
        linear_response(lambda q, old: -np.log(q), -1.0)
    with pytest.raises(NoFixedPoint, match="lower displacement"):
        linear_response(lambda q, old: -np.log(q / 0.1), 0.1)


@pytest.mark.parametrize("group_size", [2, 8])
def test_noise_strength_is_the_binomial_one(group_size: int) -> None:
    """Against the sum over all counts: z-tests with a false-alarm rate of 1e-9 each."""
    p, beta = 0.3, 0.5
    ref, theta = reference_logit(p, beta), math.log(p / (1 - p))
    bandit = Bandit(
        rewards=np.array([[1.0, 0]]), reference_logits=np.array([ref]), coordinates="one-logit"
    )

    def sample(count: int, rng: np.random.Generator) -> Values:
        at = np.full((count, 1), theta)
        return sample_gradient(
            bandit, conventions("delayed-gradient"), at, at,
            beta=beta, group_size=group_size, rng=rng,
        )  # fmt: skip

    found = noise_strength(sample, blocks=64, per_block=4000, rng=np.random.default_rng(7))
    counts = np.arange(group_size + 1)
    ways = np.array([math.comb(group_size, k) for k in counts])
    weight = ways * p**counts * (1 - p) ** (group_size - counts)
    force = np.sqrt(counts * (group_size - counts)) / group_size
    mean = weight @ force
    assert found.draws == 256_000
    assert abs(found.mean[0] - (mean - math.sqrt(p * (1 - p)))) < 6.11 * found.mean_error[0]
    variance = weight @ (force - mean) ** 2
    assert abs(found.covariance[0, 0] - variance) < 6.11 * found.covariance_error[0, 0]
    assert found.covariance_error[0, 0] < 0.01 * variance


def test_noise_of_several_parameters_has_a_covariance() -> None:
    mixing = np.array([[1.0, 0.0], [2.0, 0.5]])
    found = noise_strength(
        lambda count, rng: rng.standard_normal((count, 2)) @ mixing.T + [1.0, -1.0],
        blocks=50, per_block=500, rng=np.random.default_rng(3),
    )  # fmt: skip
    assert np.all(np.abs(found.mean - [1.0, -1.0]) < 6.11 * found.mean_error)
    assert np.all(np.abs(found.covariance - mixing @ mixing.T) < 6.11 * found.covariance_error)


def test_bad_samples_are_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InvalidInput, match="shape \\(5,\\)"):
        noise_strength(lambda n, rng: np.zeros(n), blocks=2, per_block=5, rng=rng)
    with pytest.raises(InvalidInput, match="finite"):
        noise_strength(lambda n, rng: np.full((n, 1), np.nan), blocks=2, per_block=5, rng=rng)
    with pytest.raises(InvalidInput, match="blocks is 1"):
        noise_strength(lambda n, rng: np.zeros((n, 1)), blocks=1, per_block=5, rng=rng)
    with pytest.raises(InvalidInput, match="default_rng"):
        noise_strength(lambda n, rng: np.zeros((n, 1)), blocks=2, per_block=5, rng=7)  # type: ignore[arg-type]
