"""Finite groups: against enumeration of every group, 50 digits, printed numbers, leading orders."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import beta

from numerics.dynamics.groups import beta_mixture, group_moments
from numerics.inputs import InvalidInput, UnknownName
from numerics.kernels import group_size as leading

STD: dict[str, Any] = {"baseline": "group-mean", "normaliser": "group-std", "ddof": 0, "eps": 0}
STD_1 = STD | {"ddof": 1}
MEAN: dict[str, Any] = {"baseline": "group-mean", "normaliser": "none"}
OTHERS: dict[str, Any] = {"baseline": "leave-one-out", "normaliser": "none"}


def test_the_printed_drift_factors() -> None:
    """Theory section 4."""
    found = group_moments(p=[[0.1], [0.5]], correlation=0, group_size=[4, 8, 16, 64], **STD)
    printed = [[0.507084, 0.698307, 0.854344, 0.976432], [0.808013, 0.927828, 0.967061, 0.992093]]
    np.testing.assert_allclose(found.drift_factor, printed, rtol=0, atol=6e-7)
    assert found.drift_factor[0, 0] / found.drift_factor[0, 2] == pytest.approx(0.594, abs=5e-4)


def test_the_printed_dead_groups() -> None:
    """Theory section 4, one prompt and Beta-mixed prompts."""
    found = group_moments(p=0.1819, correlation=[[0.0], [0.217]], group_size=[2, 4, 8, 16], **STD)
    np.testing.assert_allclose(found.dead[0], [0.7024, 0.4490, 0.2007, 0.0403], atol=6e-5)
    np.testing.assert_allclose(found.dead[1], [0.767, 0.575, 0.415, 0.287], atol=6e-4)
    assert np.all(found.dead[1] > found.dead[0])


def advantages(rewards: Any, convention: dict[str, Any]) -> Any:
    """Return the advantages of one group as the conventions word them."""
    if convention["baseline"] == "leave-one-out":
        size = len(rewards)
        return np.array([r - (rewards.sum() - r) / (size - 1) for r in rewards])
    apart = rewards - rewards.mean()
    if convention["normaliser"] == "none":
        return apart
    std = rewards.std(ddof=convention["ddof"])
    return 0 * apart if rewards.min() == rewards.max() else apart / (std + convention["eps"])


@pytest.mark.parametrize("convention", [STD, STD_1, STD_1 | {"eps": 0.3}, MEAN, OTHERS])
@pytest.mark.parametrize("size", [2, 3, 6])
@pytest.mark.parametrize("p", [0.07, 0.5, 0.8])
def test_every_group_enumerated(convention: dict[str, Any], size: int, p: float) -> None:
    """The mean of A_i times the slope (r_i - p) of the log-probability, over all 2**G groups."""
    drifts, chances, dead = [], [], 0.0
    for group in itertools.product((0.0, 1.0), repeat=size):
        rewards = np.array(group)
        chance = float(np.prod(np.where(rewards == 1, p, 1 - p)))
        drifts.append((advantages(rewards, convention) * (rewards - p)).mean())
        chances.append(chance)
        dead += chance if rewards.min() == rewards.max() else 0.0
    mean = np.dot(chances, drifts)
    found = group_moments(p=p, correlation=0, group_size=size, **convention)
    assert found.drift == pytest.approx(mean, rel=1e-13)
    assert found.variance == pytest.approx(np.dot(chances, (drifts - mean) ** 2), rel=1e-12)
    assert (found.dead, found.live) == pytest.approx((dead, 1 - dead), rel=1e-13)


def in_fifty_digits(
    p: float, correlation: float, size: int, drift: Callable[[Any], Any]
) -> tuple[Any, Any, Any, Any]:
    """Return mean and variance of `drift` of the success rate, dead and live, by rising products.

    P(k) = C(G, k) (a)_k (b)_{G-k}/(a+b)_G; at correlation 0 the binomial.
    """
    t = mp.mpf(correlation) / (1 - mp.mpf(correlation))

    def rising(start: Any) -> list[Any]:
        products = [mp.mpf(1)]
        for i in range(size):
            products.append(products[-1] * (start + i * t))
        return products

    success, failure, either = rising(mp.mpf(p)), rising(1 - mp.mpf(p)), rising(mp.mpf(1))
    chances = [
        mp.binomial(size, k) * success[k] * failure[size - k] / either[size]
        for k in range(size + 1)
    ]
    values = [drift(mp.mpf(k) / size) for k in range(size + 1)]
    mean = mp.fdot(chances, values)
    variance = mp.fsum(c * (v - mean) ** 2 for c, v in zip(chances, values, strict=True))
    return mean, variance, chances[0] + chances[-1], mp.fsum(chances[1:-1])


@settings(deadline=None, max_examples=40)
@given(
    st.one_of(st.sampled_from([1e-12, 1e-3, 0.5, 1 - 1e-9]), st.floats(1e-6, 1 - 1e-6)),
    st.one_of(st.sampled_from([0.0, 1e-12, 0.217, 0.99]), st.floats(0, 0.999)),
    st.integers(2, 200),
    st.sampled_from([0, 1]),
    st.sampled_from([0.0, 1e-6, 1e-4]),
)
@example(1e-12, 0.0, 4096, 1, 0.0)
@example(0.5, 0.0, 4096, 0, 0.0)
@example(0.1819, 0.217, 4096, 1, 1e-4)
@example(1e-12, 2.2e-309, 2, 0, 0.0)
def test_fifty_digits(p: float, correlation: float, size: int, ddof: int, eps: float) -> None:
    with mp.workdps(50):

        def drift(rate: Any) -> Any:
            spread = rate * (1 - rate)
            return spread / (mp.sqrt(spread * size / (size - ddof)) + eps) if spread else mp.mpf(0)

        expected = [float(value) for value in in_fifty_digits(p, correlation, size, drift)]
    found = group_moments(
        p=p, correlation=correlation, group_size=size, **STD | {"ddof": ddof, "eps": eps}
    )
    values = (found.drift, found.variance, found.dead, found.live)
    assert values == pytest.approx(expected, rel=3e-13, abs=1e-300)


@pytest.mark.parametrize(("a", "b"), [(0.656, 2.952), (0.3, 0.2), (4.0, 7.0)])
@pytest.mark.parametrize("convention", [STD_1, MEAN])
def test_a_mixture_is_the_integral_over_prompts(
    a: float, b: float, convention: dict[str, Any]
) -> None:
    mean, correlation = beta_mixture(a=a, b=b)
    found = group_moments(p=mean, correlation=correlation, group_size=5, **convention)

    def mixed(of_prompt: Callable[[float], float]) -> float:
        value, _ = quad(
            lambda u: of_prompt(float(beta.ppf(u, a, b))), 0, 1, epsabs=1e-11, limit=400
        )
        return float(value)

    def one(p: float) -> Any:
        return group_moments(p=p, correlation=0, group_size=5, **convention)

    drift = mixed(lambda p: float(one(p).drift))
    assert found.drift == pytest.approx(drift, rel=1e-7)
    assert found.dead == pytest.approx(mixed(lambda p: float(one(p).dead)), rel=1e-7)
    square = mixed(lambda p: float(one(p).variance + one(p).drift ** 2))
    assert found.variance == pytest.approx(square - drift**2, rel=1e-6)
    infinite = mixed(lambda p: (p * (1 - p)) ** (0.5 if convention is STD_1 else 1))
    assert found.drift_factor == pytest.approx(drift / infinite, rel=1e-7)


@pytest.mark.parametrize("correlation", [0, 1e-9, 0.3])
def test_the_mean_only_factor_is_the_same_for_every_p(correlation: float) -> None:
    """(G-1)/G, and nothing is lost to a baseline that leaves the sample out."""
    p = np.array([[1e-12], [0.1], [0.5], [0.999]])
    size = np.array([2, 7, 64])
    found = group_moments(p=p, correlation=correlation, group_size=size, **MEAN)
    expected = np.broadcast_to((size - 1) / size, found.drift.shape)
    np.testing.assert_allclose(found.drift_factor, expected, rtol=1e-12)
    unbiased = group_moments(p=p, correlation=correlation, group_size=size, **OTHERS)
    np.testing.assert_allclose(unbiased.drift_factor, 1, rtol=1e-12)


def test_ddof_rescales() -> None:
    size = np.array([2, 5, 30])
    by_g, by_g_1 = (
        group_moments(p=0.3, correlation=0.1, group_size=size, **kind) for kind in (STD, STD_1)
    )
    np.testing.assert_allclose(by_g_1.drift, by_g.drift * np.sqrt((size - 1) / size), rtol=1e-14)
    np.testing.assert_allclose(by_g_1.variance, by_g.variance * (size - 1) / size, rtol=1e-14)


@pytest.mark.parametrize(
    ("convention", "kernel"),
    [(STD, leading.std_ddof_0), (STD_1, leading.std_ddof_1), (MEAN, leading.mean_ddof_0)],
)
@pytest.mark.parametrize("p", [0.2, 0.5, 0.65])
def test_the_kernels_are_the_leading_order(
    convention: dict[str, Any], kernel: Callable[..., Any], p: float
) -> None:
    """What they leave out falls by four or more when G doubles: O(G**-2)."""
    size = np.array([512, 1024, 2048, 4096])
    found = group_moments(p=p, correlation=0, group_size=size, **convention)
    drift, variance = kernel(p=p, G=size)
    missing = np.abs(found.variance - variance)
    assert np.all(np.log2(missing[:-1] / missing[1:]) > 1.98)
    missing = np.abs(found.drift - drift)
    if convention is MEAN:
        assert np.all(missing < 1e-14)  # there the first order is all of it
    else:
        assert np.all(np.abs(np.log2(missing[:-1] / missing[1:]) - 2) < 0.02)


@pytest.mark.parametrize("p", [0.01, 0.2, 0.5])
def test_the_dead_group_kernel_is_exact(p: float) -> None:
    size = np.array([2, 3, 8, 64])
    found = group_moments(p=p, correlation=0, group_size=size, **STD)
    np.testing.assert_allclose(found.dead, leading.dead_groups(p=p, G=size), rtol=1e-13)


def test_larger_groups_are_quieter() -> None:
    """c times the group is 1/c of the leading variance; c times the groups exactly so."""
    small, large = (group_moments(p=0.2, correlation=0, group_size=g, **STD) for g in (500, 2000))
    assert small.variance / large.variance == pytest.approx(4, rel=0.02)
    assert small.noise_strength(12) == small.noise_strength(3) / 4 == small.variance / 12


def test_eps_takes_the_drift_of_weak_groups() -> None:
    plain, damped = (
        group_moments(p=0.3, correlation=0, group_size=8, **STD | {"eps": eps}) for eps in (0, 0.1)
    )
    assert damped.drift < plain.drift
    assert damped.live == plain.live


def test_certain_prompts_teach_nothing() -> None:
    found = group_moments(p=[0, 1.0], correlation=[[0.0], [0.5]], group_size=5, **STD)
    assert np.all(found.drift == 0)
    assert np.all(found.variance == 0)
    assert np.all(found.dead == 1)
    assert np.all(np.isnan(found.drift_factor))


def test_shapes() -> None:
    found = group_moments(p=np.full((3, 1), 0.4), correlation=0, group_size=[2, 3], **STD)
    assert found.drift.shape == found.dead.shape == (3, 2)
    assert isinstance(group_moments(p=0.4, correlation=0, group_size=2, **STD).drift, np.float64)
    assert group_moments(p=[], correlation=0, group_size=2, **STD).live.shape == (0,)
    p = np.linspace(0.1, 0.9, 1500)
    many = group_moments(p=p, correlation=0, group_size=2000, **STD)
    one = group_moments(p=p[-1], correlation=0, group_size=2000, **STD)
    assert many.variance[-1] == pytest.approx(one.variance, rel=1e-13)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"p": 1.5}, "p is"),
        ({"p": float("nan")}, "finite"),
        ({"correlation": 1}, "correlation is"),
        ({"correlation": -0.1}, "correlation is"),
        ({"group_size": 1}, "from 2"),
        ({"group_size": 4.0}, "whole numbers"),
        ({"group_size": 10**7}, "100000"),
        ({"ddof": 2}, "ddof is 2"),
        ({"ddof": None}, "needs ddof"),
        ({"eps": None}, "needs ddof"),
        ({"eps": -1e-6}, "eps is"),
        ({"baseline": "leave-one-out"}, "normaliser 'none'"),
        ({"normaliser": "none"}, "leave them out"),
        ({"p": [0.1, 0.2], "correlation": [0, 0, 0]}, "broadcast"),
    ],
)
def test_bad_input(changed: dict[str, Any], said: str) -> None:
    given = {"p": 0.3, "correlation": 0, "group_size": 4} | STD | changed
    with pytest.raises(InvalidInput, match=said):
        group_moments(**given)


def test_unknown_conventions() -> None:
    with pytest.raises(UnknownName, match="group-std"):
        group_moments(p=0.3, correlation=0, group_size=4, **STD | {"normaliser": "group_std"})
    with pytest.raises(UnknownName, match="baseline"):
        group_moments(p=0.3, correlation=0, group_size=4, **STD | {"baseline": "mean"})
    with pytest.raises(InvalidInput, match="a is"):
        beta_mixture(a=0, b=1)
    with pytest.raises(InvalidInput, match="groups is 0"):
        group_moments(p=0.3, correlation=0, group_size=4, **STD).noise_strength(0)
