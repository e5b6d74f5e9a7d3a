"""A lag drawn afresh at every step: against the fixed point of all second moments, and chains."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest
from exact_cases import OPTIMIZER
from hypothesis import example, given, settings
from hypothesis import strategies as st
from linear_noise import Noisy, run

from numerics.dynamics._linear_map import linear_map
from numerics.dynamics._mean_stability import stable_in_the_mean
from numerics.dynamics._winding import stable_at
from numerics.dynamics.model import model
from numerics.dynamics.moments import autocovariance, stationary_variance
from numerics.dynamics.random_moments import random_lag_variance
from numerics.exact import OPTIMIZERS, Configuration, UnstableError, threshold
from numerics.inputs import InvalidInput

NOISE = ("recurrence", "gradient")
FALSE_ALARM = 6.11  # |z| above it has probability 1e-9


class Moments(NamedTuple):
    """Growth of the mean and of the second moments per step; r(0), r(1), ... if they settle."""

    mean: float
    square: float
    r: list[float]


def second_moments(noisy: Noisy, law: Any, lags: int) -> Moments:
    """Return the moments by one linear system.

    The state is q now and back to the longest lag, v, and what is carried of kicks of q itself.
    """
    optimizer, mu, x, s, enters = noisy
    memory, intake, direct, passed = {
        "heavy-ball": (mu, 1.0, 0.0, 1.0),
        "ema": (mu, 1 - mu, 0.0, 1.0),
        "nesterov": (mu, 1.0, 1.0, mu),
    }[optimizer]
    held = len(law)
    size = held + 2
    mean, square = np.zeros((size, size)), np.zeros((size**2, size**2))
    for lag, chance in enumerate(law):
        force, v = np.zeros(size), np.zeros(size)
        force[0] -= (1 - s) * x
        force[lag] -= s * x
        v[held] = memory
        v += intake * force
        step = np.eye(size, k=-1)
        step[0] = direct * force + passed * v
        step[0, 0] += 1
        step[0, -1] = step[-1, -1] = mu
        step[held], step[-1, held] = v, 0
        mean += chance * step
        square += chance * np.kron(step, step)
    kick = np.zeros(size)
    if enters == "recurrence":
        kick[0] = kick[-1] = 1
    else:
        kick[0], kick[held] = direct + passed * intake, intake
    mean_growth, growth = (float(np.abs(np.linalg.eigvals(m)).max()) for m in (mean, square))
    if growth > 1 - 1e-9:
        return Moments(mean_growth, growth, [])
    solution = np.linalg.solve(np.eye(size**2) - square, np.kron(kick, kick))
    covariance, r = solution.reshape(size, size), []
    for _ in range(lags + 1):
        r.append(float(covariance[0, 0]))
        covariance = mean @ covariance
    return Moments(mean_growth, growth, r)


@settings(deadline=None, max_examples=80)
@given(
    OPTIMIZER,
    st.sampled_from([0.0, 0.5, 0.9]),
    st.floats(-3, 0.5),
    st.sampled_from([1.0, 0.5, -1.0, 2.0]),
    st.sampled_from(NOISE),
    st.lists(st.integers(0, 9), min_size=1, max_size=5).filter(any),
)
@example("ema", 0.0, 0.0, 2.0, "recurrence", [1, 1])
@example("heavy-ball", 0.0, 0.0, -1.0, "gradient", [0, 0, 1, 1])
def test_all_second_moments(
    optimizer: str, mu: float, exponent: float, s: float, enters: str, weights: list[int]
) -> None:
    """Stable in mean square or not, and if it is, every moment."""
    noisy = Noisy(optimizer, mu, 10**exponent, s, enters)
    law = np.array(weights) / sum(weights)
    mean, growth, expected = second_moments(noisy, law, 7)
    if min(abs(mean - 1), abs(growth - 1)) < 1e-6:
        return  # on a border the answer is either
    found = autocovariance(lag_law=law, lags=7, unstable="nan", **noisy.given)
    parts = random_lag_variance(lag_law=law, unstable="nan", **noisy.given)
    assert np.isnan(found[0]) == (growth > 1)
    assert np.isnan(parts.variance) == (growth > 1)
    if growth > 1:
        assert not parts.margin > 0
        return
    np.testing.assert_allclose(found, expected, atol=1e-9 * expected[0])
    assert parts.variance == pytest.approx(found[0], rel=1e-14)
    assert parts.ratio == pytest.approx(parts.variance / parts.of_mean_map, rel=1e-14)
    assert parts.ratio >= 1
    assert 0 < parts.margin <= 1


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
def test_a_certain_lag_is_constant(optimizer: str, noise_enters: str) -> None:
    kept: dict[str, Any] = {"mu": [0.3, 0.9], "x": [0.02, 1e-12], "stale_share": 0.9}
    for lag in (0, 1, 4):
        law = np.eye(6)[lag]
        found, expected = (
            autocovariance(optimizer, lags=9, noise_enters=noise_enters, **kept, **delay)
            for delay in ({"lag_law": law}, {"lag": lag})
        )
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        parts = random_lag_variance(optimizer, lag_law=law, noise_enters=noise_enters, **kept)
        np.testing.assert_allclose(parts.ratio, 1, rtol=1e-14)
        np.testing.assert_allclose(parts.margin, 1, rtol=1e-14)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("lag", [0, 1, 2, 5, 16])
def test_two_roads_to_stability(optimizer: str, lag: int) -> None:
    """Roots and the phase along the circle, from the slowest runs to far beyond the border."""
    rng = np.random.default_rng(lag)
    count = 2000
    mu = rng.choice([0.0, 0.5, 0.9, 0.9999, 0.999999, float(rng.random())], count)
    share = np.where(rng.random(count) < 0.5, rng.choice([0, 0.5, 1, -0.5, 2], count),
                     rng.normal(0.5, 2, count))  # fmt: skip
    family = model(optimizer, mu=mu, stale_share=share, lag=np.full(count, lag))
    x = 10 ** rng.uniform(-16, 1, count)
    border = np.array([
        threshold(Configuration(optimizer, "constant", *one, lag=lag)).value
        for one in zip(mu[:60], share[:60], strict=True)
    ])  # fmt: skip
    x[:60] = border * (1 + rng.choice([-1e-7, 1e-7], 60))
    linear = linear_map(family, x)
    expected = stable_at(linear, np.full(count, lag))
    assert np.array_equal(expected[:60], x[:60] < border)
    law = np.eye(lag + 3)[np.full(count, lag)]
    assert np.array_equal(stable_in_the_mean(linear, law), expected)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("s", [1.0, 0.5, -0.3])
@pytest.mark.parametrize("lag", [0, 1, 2, 7])
def test_the_border_of_a_certain_lag(optimizer: str, s: float, lag: int) -> None:
    """One part in a million on either side, whatever the root does there."""
    for mu in (0.0, 0.9, 0.9999):
        border = threshold(Configuration(optimizer, "constant", mu, s, lag=lag)).value
        found = stationary_variance(
            optimizer, mu=mu, x=[border * (1 - 1e-6), border * (1 + 1e-6)], stale_share=s,
            lag_law=np.eye(9)[lag], noise_enters="gradient", unstable="nan",
        )  # fmt: skip
        assert np.array_equal(np.isnan(found), [False, True])


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
def test_plain_chains(optimizer: str, noise_enters: str) -> None:
    """40 000 chains of fixed seed, each drawing its own lags; false alarm 1e-9 each."""
    noisy = Noisy(optimizer, 0.5, 0.4 if optimizer == "ema" else 0.2, 0.8, noise_enters)
    law = [0.4, 0.1, 0.0, 0.2, 0.3]
    rng = np.random.default_rng(20260701)
    chains, burn_in, lags = 40_000, 240, 6
    noise = (rng.standard_normal(chains) for _ in range(burn_in + lags))
    path = run(
        noisy, noise, chains=chains, longest=4,
        lag_at=lambda k: rng.choice(5, size=chains, p=law),
    )  # fmt: skip
    last = list(itertools.islice(path, burn_in - 1, None))
    expected = autocovariance(lag_law=law, lags=lags, **noisy.given)
    for k in (0, 1, lags):
        products = last[0] * last[k]
        z = (products.mean() - expected[k]) / (products.std(ddof=1) / chains**0.5)
        assert abs(z) < FALSE_ALARM


def test_the_chains_can_tell_what_a_random_lag_adds() -> None:
    """What randomness adds is many standard errors of the test above."""
    found = random_lag_variance(
        "heavy-ball", mu=0.5, x=0.2, stale_share=0.8, lag_law=[0.4, 0.1, 0.0, 0.2, 0.3],
        noise_enters="gradient",
    )  # fmt: skip
    assert (found.ratio - 1) / (2 / 40_000) ** 0.5 > 2 * FALSE_ALARM


def test_what_it_adds_vanishes_with_x() -> None:
    """The force is random by x_s times differences of q, which stay finite: ratio - 1 = O(x**2)."""
    x = np.array([0.4, 0.2, 0.1, 0.05]) * 1e-4
    found = random_lag_variance(
        "nesterov", mu=0.6, x=x, stale_share=1, lag_law=[0.5, 0, 0.5], noise_enters="gradient"
    )
    added = found.ratio - 1
    assert np.all(np.abs(np.log2(added[:-1] / added[1:]) - 2) < 0.01)


def test_mean_square_stability_is_lost_first() -> None:
    """The mean map is stable at an x at which the second moments grow."""
    kept: dict[str, Any] = {"mu": 0.9, "stale_share": 1, "lag_law": [0.5, 0, 0, 0, 0, 0, 0, 0, 0.5]}
    x = np.linspace(0.001, 0.06, 300)
    found = random_lag_variance(
        "heavy-ball", x=x, noise_enters="recurrence", unstable="nan", **kept
    )
    mean_only = ~np.isnan(found.of_mean_map) & np.isnan(found.variance)
    assert mean_only.any()
    assert np.all(found.margin[mean_only] <= 0)
    found_mean, growth, _ = second_moments(
        Noisy("heavy-ball", 0.9, float(x[mean_only][-1]), 1, "recurrence"), kept["lag_law"], 0
    )
    assert found_mean < 1 < growth


def test_laws_broadcast() -> None:
    laws = np.array([[0.5, 0.5, 0], [0.1, 0.2, 0.7]])
    kept: dict[str, Any] = {"stale_share": 1, "noise_enters": "gradient"}
    found = stationary_variance("ema", mu=[[0.1], [0.5], [0.8]], x=0.1, lag_law=laws, **kept)
    assert found.shape == (3, 2)
    one = stationary_variance("ema", mu=0.5, x=0.1, lag_law=laws[1], **kept)
    assert one == pytest.approx(found[1, 1], rel=1e-13)


def test_bad_input() -> None:
    kept: dict[str, Any] = {"mu": 0.5, "stale_share": 1, "noise_enters": "gradient"}
    with pytest.raises(InvalidInput, match="sum to 1"):
        random_lag_variance("ema", x=0.1, lag_law=[0.5, 0.6], **kept)
    with pytest.raises(UnstableError, match="1 of 2 runs"):
        random_lag_variance("ema", x=[0.1, 30], lag_law=[0.5, 0.5], **kept)
