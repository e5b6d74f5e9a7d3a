"""Temperature against lemma-6 and its printed error; growth of fluctuations towards thresholds."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
import reference

from numerics.dynamics.groups import group_moments
from numerics.dynamics.moments import stationary_variance
from numerics.dynamics.temperature import noise_temperature, variance_growth
from numerics.exact import OPTIMIZERS, Configuration, UnstableError, threshold

NOISE = ("recurrence", "gradient")


@pytest.mark.parametrize("s", [1.0, 0.4, -0.5])
@pytest.mark.parametrize("d", [0, 1, 6])
def test_the_relative_error_of_lemma_6(s: float, d: int) -> None:
    """x/(2 (1+mu)) + O(x**2) at any share and lag (theory, lemma-6)."""
    mu, x = 0.8, 1e-4 / 2.0 ** np.arange(5)
    found = noise_temperature(
        "heavy-ball", mu=mu, x=x, stale_share=s, lag=d, noise_enters="gradient"
    )
    np.testing.assert_allclose(found.lemma_6, 1 / (2 * ((1 - mu) - s * x * d)), rtol=1e-13)
    rest = np.abs(found.ratio - 1 - x / (2 * (1 + mu)))
    order = np.log2(rest[:-1] / rest[1:])
    assert np.all(order > 1.98)
    variance = stationary_variance(
        "heavy-ball", mu=mu, x=x, stale_share=s, lag=d, noise_enters="gradient"
    )
    np.testing.assert_allclose(found.exact, x * variance, rtol=1e-14)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
@pytest.mark.parametrize(
    ("delay", "mean"),
    [({"lag": 3}, 3), ({"refresh": 7}, 3), ({"lag_law": [0.25, 0, 0, 0, 0.75]}, 3)],
)
def test_lemma_6_is_the_leading_order(
    optimizer: str, noise_enters: str, delay: dict[str, Any], mean: int
) -> None:
    """For the lag's mean and every optimizer: twice the damping, and the gain at z = 1 squared."""
    mu, s, x = 0.7, 0.6, 1e-5 / 2.0 ** np.arange(6)
    found = noise_temperature(
        optimizer, mu=mu, x=x, stale_share=s, noise_enters=noise_enters, **delay
    )
    gain = 1 - mu if optimizer == "ema" else 1
    damping = (1 - mu) - gain * s * x * mean + (mu * x if optimizer == "nesterov" else 0)
    passed = gain**2 if noise_enters == "gradient" else 1
    np.testing.assert_allclose(found.lemma_6, passed / (2 * gain * damping), rtol=1e-13)
    error = np.abs(found.ratio - 1)
    assert np.all(np.log2(error[:-1] / error[1:]) > 0.98)
    assert error[-1] < 1e-3


def test_beyond_its_rule_lemma_6_has_no_answer() -> None:
    """At lag 8 the rule's border is 0.0125 and the map's 0.0139."""
    found = noise_temperature(
        "heavy-ball", mu=0.9, x=[0.012, 0.013], stale_share=1, lag=8, noise_enters="gradient"
    )
    assert np.isfinite(found.exact).all()
    assert np.isfinite(found.lemma_6[0])
    assert np.isinf(found.lemma_6[1])
    assert found.ratio[1] == 0


def test_group_size_is_a_temperature() -> None:
    """c times the group cools by c at leading order, whatever the dynamics."""
    small, large = (
        group_moments(
            p=0.3, correlation=0, group_size=size, baseline="group-mean", normaliser="group-std",
            ddof=1, eps=0,
        )
        for size in (256, 1024)
    )  # fmt: skip
    assert small.noise_strength(8) / large.noise_strength(8) == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
@pytest.mark.parametrize("delay", [{"lag": 4}, {"refresh": 5}, {"lag_law": [0.5, 0.5]}])
def test_slow_runs_do_not_grow(optimizer: str, noise_enters: str, delay: dict[str, Any]) -> None:
    found = variance_growth(
        optimizer, mu=[0.0, 0.9, 0.9999], x=1e-16, stale_share=1, noise_enters=noise_enters, **delay
    )
    np.testing.assert_allclose(found, 1, rtol=1e-9)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize(
    "delay", [{"lag": 0}, {"lag": 1}, {"lag": 8}, {"refresh": 1}, {"refresh": 6}]
)
@pytest.mark.parametrize("s", [1.0, -0.3])
def test_growth_towards_the_threshold(optimizer: str, delay: dict[str, Any], s: float) -> None:
    """As one over the distance: half of it, twice the variance, up to the first order."""
    model = "constant" if "lag" in delay else "sawtooth"
    border = threshold(Configuration(optimizer, model, 0.8, s, **delay)).value
    distance = 1e-3 / 2.0 ** np.arange(6)
    growth = variance_growth(
        optimizer, mu=0.8, x=border * (1 - distance), stale_share=s, noise_enters="gradient",
        **delay,
    )  # fmt: skip
    assert np.all(np.diff(growth) > 0)
    error = np.abs(np.log2(growth[1:] / growth[:-1]) - 1)
    assert error[0] < 0.1
    assert np.all(error[1:] < 0.6 * error[:-1] + 1e-8)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("noise_enters", NOISE)
@pytest.mark.parametrize(("d", "s", "mu"), [(0, 1, 0.5), (1, 1, 0.9), (5, 1, 0.9), (4, -0.5, 0.3)])
def test_the_constant_of_the_divergence(
    optimizer: str, noise_enters: str, d: int, s: float, mu: float
) -> None:
    """(x_c - x) Var(q) against the residue of the root that reaches the circle."""
    border = threshold(Configuration(optimizer, "constant", mu, s, lag=d)).value
    case = reference.Run(optimizer, "constant", mu, s, d)
    with mp.workdps(reference.DIGITS):
        g0, g1 = reference.gain(case)

        def chi(z: Any) -> Any:
            force = (1 - s) * border + s * border * z**-d
            return (z - 1) * (1 - mu / z) + (g0 + g1 / z) * force

        z = mp.findroot(chi, reference.dominant_root(case, border))
        speed = (z - 1) * (1 - mu / z) * mp.conj(z * mp.diff(chi, z))
        constant = border / ((1 if abs(z.imag) > 0.1 else 2) * speed.real)
        if noise_enters == "gradient":
            constant *= abs(g0 + g1 / z) ** 2
    x = border * (1 - np.array([1e-3, 1e-4, 1e-5]))
    found = (border - x) * stationary_variance(
        optimizer, mu=mu, x=x, stale_share=s, lag=d, noise_enters=noise_enters
    )
    error = np.abs(found / float(constant) - 1)
    assert error[2] < 1e-3
    assert np.all(error[1:] < 0.2 * error[:-1])


def test_unstable_runs() -> None:
    kept: dict[str, Any] = {"mu": 0.9, "x": [0.01, 0.2], "stale_share": 1, "lag": 1}
    for measure in (noise_temperature, variance_growth):
        with pytest.raises(UnstableError, match="1 of 2 runs"):
            measure("heavy-ball", noise_enters="gradient", **kept)
    growth = variance_growth("heavy-ball", noise_enters="gradient", unstable="nan", **kept)
    assert np.array_equal(np.isnan(growth), [False, True])
    found = noise_temperature("heavy-ball", noise_enters="gradient", unstable="nan", **kept)
    assert np.array_equal(np.isnan(found.exact), [False, True])
    single = variance_growth("heavy-ball", noise_enters="gradient", **kept | {"x": 0.01})
    assert isinstance(single, np.float64)
