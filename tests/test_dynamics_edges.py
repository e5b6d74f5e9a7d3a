"""The ends of the domain of `numerics.dynamics`: huge shares, huge x, mu next to 1, no lag."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics import dynamics, exact
from numerics.dynamics import (
    OPTIMIZERS,
    autocovariance,
    certified_stable,
    dominant,
    enclose_spectral_radius,
    mean_square_radius,
    mean_square_threshold,
    model,
    path,
    spectral_radius,
    stable,
    stationary_covariance,
    stationary_variance,
    threshold,
    variance_growth,
)
from numerics.exact import Configuration
from numerics.inputs import InvalidInput

LARGE = [10.0, -10.0, 1e3, 1e6, -1e6, 1e8, 1e12, 1e15, -1e15]
NEXT_TO_ONE = 1 - 2.0**-53


@pytest.mark.parametrize("share", LARGE)
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_large_share_under_a_sawtooth(optimizer: str, share: float) -> None:
    """The reference is the enclosure; error 1e-12 where fresh and stale force cancel a million."""
    for mu, x, refresh in ((0.9, 1.0, 2), (0.5, 3e-2, 5), (0.0, 0.7, 4), (0.99, 2 / abs(share), 3)):
        run = Configuration(optimizer, "sawtooth", mu, share, refresh=refresh)
        at: dict[str, Any] = {"mu": mu, "x": x, "stale_share": share, "refresh": refresh}
        wanted = enclose_spectral_radius(run, x).lower ** (1 / refresh)
        assert spectral_radius(optimizer, **at) == pytest.approx(wanted, rel=1e-12)
        assert stable(optimizer, **at) == certified_stable(run, x)


def test_a_share_of_1e15_does_not_hide_that_a_run_explodes() -> None:
    run = Configuration("heavy-ball", "sawtooth", 0.9, 1e15, refresh=12)
    at: dict[str, Any] = {"mu": 0.9, "x": 1.0, "stale_share": 1e15, "refresh": 12}
    assert not certified_stable(run, 1.0)
    assert not stable("heavy-ball", **at)
    assert spectral_radius("heavy-ball", **at) > 1e13
    found = stationary_variance("heavy-ball", noise_enters="gradient", unstable="nan", **at)
    assert np.isnan(found)


@pytest.mark.parametrize("delay", [{"lag": 0}, {"refresh": 1}, {"lag_law": [1.0, 0.0]}])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_without_lag_the_share_decides_nothing(optimizer: str, delay: dict[str, Any]) -> None:
    shares = np.array([0.0, 1.0, -1e15, 1e12, 1e15])
    at: dict[str, Any] = {"mu": 0.9, "x": 0.3, "stale_share": shares, **delay}
    noisy = {**at, "noise_enters": "gradient"}
    for found in (
        dominant(optimizer, **at).rate,
        stable(optimizer, **at),
        stationary_variance(optimizer, **noisy),
        autocovariance(optimizer, lags=3, **noisy)[:, 3],
        path(optimizer, times=20, **at),
        threshold(optimizer, mu=0.9, stale_share=shares, **delay).value,
    ):
        assert np.array_equal(found, np.full(5, found[0]))
    assert stable("nesterov", mu=1 - 1e-9, x=3.547304344117598e-08, stale_share=1e12, **delay)


def test_without_lag_only_those_runs_lose_their_share() -> None:
    family = model("ema", mu=0.5, stale_share=[[0.25], [3.0]], lag=[0, 1, 0])
    assert family.stale_share.tolist() == [[1, 0.25, 1], [1, 3, 1]]
    assert family.shape == (2, 3)


@pytest.mark.parametrize("delay", [{"lag": 3}, {"refresh": 2}, {"lag_law": [0.5, 0, 0.5]}])
@pytest.mark.parametrize("x", [1.1e15, 1e200, 1e308])
def test_an_x_beyond_all_runs_is_refused(x: float, delay: dict[str, Any]) -> None:
    at: dict[str, Any] = {"mu": 0.0, "x": [0.1, x], "stale_share": 1e15, **delay}
    with pytest.raises(InvalidInput, match=r"^x reaches .* in size: it may be up to 1e\+15$"):
        spectral_radius("heavy-ball", **at)
    with pytest.raises(InvalidInput, match="x reaches"):
        stationary_variance("heavy-ball", noise_enters="gradient", **at)


@pytest.mark.parametrize("mu", [0.0, 0.9, NEXT_TO_ONE])
@pytest.mark.parametrize(
    "delay",
    [{"lag": 0}, {"lag": 12}, {"refresh": 2}, {"refresh": 12}, {"lag_law": [0.5, 0, 0.5]}],
)
def test_every_run_of_the_domain_has_a_spectrum(mu: float, delay: dict[str, Any]) -> None:
    x = np.geomspace(1e-300, 1e15, 64)[:, None]
    share = np.array([0.0, 1.0, -1.0, 0.5, 2.0, 1e15, -1e15])
    at: dict[str, Any] = {"mu": mu, "x": x, "stale_share": share, **delay}
    for optimizer in OPTIMIZERS:
        found = dominant(optimizer, **at)
        assert not np.isnan(found.modulus).any()
        assert not np.isnan(dynamics.relaxation_time(optimizer, **at)).any()
        assert (stable(optimizer, **at) == (found.rate < 0)).mean() > 0.98  # but on a border


@pytest.mark.parametrize("x", [1e-300, 1e-140, 1e-40, 1e-18, 1e-17])
@pytest.mark.parametrize("share", [0.5, 1.0, -1.0, 2.0])
def test_a_random_lag_at_mu_next_to_one(x: float, share: float) -> None:
    """The two slow roots meet within 1e-8 of 1, as a pair or on the real axis; both are inside."""
    at: dict[str, Any] = {"mu": NEXT_TO_ONE, "x": x, "stale_share": share, "lag_law": [0.5, 0, 0.5]}
    assert x < mean_square_threshold("heavy-ball", mu=NEXT_TO_ONE, stale_share=share,
                                     lag_law=[0.5, 0, 0.5])  # fmt: skip
    assert stable("heavy-ball", **at)
    assert stationary_variance("heavy-ball", noise_enters="gradient", **at) > 0


@pytest.mark.parametrize("friction", [1e-3, 1e-4, 1e-9])
@pytest.mark.parametrize("refresh", [1, 3])
def test_a_sawtooth_on_policy_loses_no_digits_at_mu_near_one(refresh: int, friction: float) -> None:
    share = 0.5 if refresh == 1 else 0.0
    at: dict[str, Any] = {"mu": 1 - friction, "x": [1e-3, 3.2, 3.7], "stale_share": share}
    found = stationary_variance("heavy-ball", refresh=refresh, noise_enters="gradient", **at)
    without = stationary_variance("heavy-ball", lag=0, noise_enters="gradient", **at)
    run = Configuration("heavy-ball", "sawtooth", 1 - friction, share, refresh=refresh)
    wanted = [exact.stationary_variance(run, x) for x in at["x"]]
    assert np.array_equal(found, without)
    assert found == pytest.approx(wanted, rel=5e-14)


SINGLE = st.tuples(
    st.sampled_from(OPTIMIZERS),
    st.one_of(st.floats(0, 0.999), st.sampled_from([0.0, 0.9, 1 - 1e-9, NEXT_TO_ONE])),
    st.one_of(st.floats(-3, 3), st.sampled_from([0.0, 1.0, 0.5, 1e6, 1e15, -1e15])),
    st.one_of(st.integers(0, 12), st.integers(13, 10**6)),
    st.floats(-12, 0.5),
    st.sampled_from(["recurrence", "gradient"]),
)


@given(SINGLE)
@example(("heavy-ball", 1 - 1e-9, 1.0, 667669, 0.0, "recurrence"))
@settings(max_examples=300, deadline=None)
def test_a_single_run_is_what_it_is_among_others(drawn: tuple[Any, ...]) -> None:
    """One run is computed in plain floats, two as arrays; x runs up to three times the border."""
    optimizer, mu, share, lag, decades, noise_enters = drawn
    border = (1 - mu) / (1 + abs(share) * (1 + lag))
    x = border * 10**decades
    at: dict[str, Any] = {"mu": mu, "stale_share": share, "lag": lag, "unstable": "nan"}
    at["noise_enters"] = noise_enters
    among = stationary_variance(optimizer, x=[x, x], **at)
    alone = stationary_variance(optimizer, x=x, **at)
    growth = np.fmax(0, variance_growth(optimizer, x=[x, x], **at)[0])  # as the border comes near
    # Each turns z around the whole lag in its own order, half a rounding a step; the variance takes
    # an error of x up by its growth, the relative slope in x (8754 in the example).
    rounding = (1e-12 + 1e-16 * lag) * (1 + growth)
    assert alone == pytest.approx(among[0], rel=rounding + 1e-15 * growth**2, nan_ok=True)


def test_refreshes_of_one_stand_among_others() -> None:
    at: dict[str, Any] = {"mu": 0.9, "x": 0.02, "noise_enters": "recurrence"}
    found = stationary_variance("ema", refresh=[1, 4, 1, 2], stale_share=[1, 1, 0, 0], **at)
    alone = [
        stationary_variance("ema", refresh=n, stale_share=s, **at)
        for n, s in ((1, 1), (4, 1), (1, 0), (2, 0))
    ]
    assert found.tolist() == pytest.approx(alone, rel=1e-15)


@pytest.mark.parametrize(
    ("optimizer", "mu", "lag", "noise_enters", "size"),
    [
        ("heavy-ball", 0.5, 0, "gradient", 2),
        ("heavy-ball", 0.0, 0, "gradient", 1),
        ("heavy-ball", 0.5, 1, "gradient", 2),
        ("ema", 0.5, 3, "recurrence", 4),
        ("nesterov", 0.5, 3, "recurrence", 5),
        ("nesterov", 0.5, 3, "gradient", None),
    ],
)
def test_how_many_deviations_tell_what_is_to_come(
    optimizer: str, mu: float, lag: int, noise_enters: str, size: int | None
) -> None:
    """The error of the best prediction of the next one no longer falls, or never stops falling."""
    error = []
    for known in range(1, 9):
        c = stationary_covariance(
            optimizer, mu=mu, x=0.1, stale_share=1, lag=lag, size=known + 1,
            noise_enters=noise_enters,
        )  # fmt: skip
        error.append(c[0, 0] - c[0, 1:] @ np.linalg.solve(c[1:, 1:], c[1:, 0]))
    fall = -np.diff(error) / error[-1]
    if size is None:
        assert (fall > 1e-8).all()
    else:
        assert (np.abs(fall[size - 1 :]) < 1e-10).all()
        assert size == 1 or fall[size - 2] > 1e-6


def test_a_longest_law_that_takes_seconds_and_not_minutes() -> None:
    assert dynamics.LONGEST_MEAN_SQUARE == 256
    with pytest.raises(InvalidInput, match="lag 257: second moments are propagated up to 256"):
        mean_square_threshold("ema", mu=0.5, stale_share=1, lag_law=np.full(258, 1 / 258))


def test_a_single_run_has_scalars() -> None:
    for delay in ({"lag": 2}, {"refresh": 2}):
        found = dominant("ema", mu=0.5, x=0.1, stale_share=1, **delay)
        for value in (found.root, found.modulus, found.rate, found.period):
            assert isinstance(value, np.number)


def test_mu_next_to_one_is_not_printed_as_one() -> None:
    with pytest.raises(exact.UnstableError, match=r"mu = 0\.9999999999999999, x = 5:"):
        stationary_variance("ema", mu=NEXT_TO_ONE, x=5, stale_share=1, lag=64,
                            noise_enters="gradient")  # fmt: skip


def test_a_map_that_forgets_at_once_has_a_growth_of_zero() -> None:
    at: dict[str, Any] = {"mu": 0.0, "x": 1.0, "stale_share": 0.0}
    law = [0.0, 0.0, 0.0, 0.0, 1.0]
    assert mean_square_radius("heavy-ball", lag_law=law, **at) == 0
    assert mean_square_radius("heavy-ball", lag_law=[1.0], **at) == 0
