"""Roots and the dominant mode over arrays, slow and nearly equal roots included."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from numerics import exact
from numerics.dynamics import dominant, onset, relaxation_time, roots, spectral_radius
from numerics.inputs import InvalidInput

SHARE = st.sampled_from([1.0, 0.5, 0.0, -0.5, 2.0])
MU = st.sampled_from([0.0, 0.5, 0.9, 0.99]) | st.floats(0, 0.999).map(lambda mu: round(mu, 5))


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(exact.OPTIMIZERS), MU, SHARE, st.integers(0, 20), st.floats(-16, 0.5))
def test_the_relaxation_time_keeps_its_digits(
    optimizer: str, mu: float, share: float, lag: int, power: float
) -> None:
    c = exact.Configuration(optimizer, "constant", mu, share, lag=lag)
    x = 10.0**power
    expected = exact.relaxation_time(c, x)
    z = np.sort(np.abs(roots(optimizer, mu=mu, x=x, stale_share=share, lag=lag)))[::-1]
    # Roots that nearly meet, and rates next to 0, are as well determined as x and mu are.
    meeting = min(1.0, abs(z[0] - z[1]) if lag or mu else 1.0)
    allowed = 1e-12 / max(meeting, 1e-6) + 1e-15 * (expected or 1.0) * x
    found = relaxation_time(optimizer, mu=mu, x=x, stale_share=share, lag=lag)
    if expected is None:
        radius = spectral_radius(optimizer, mu=mu, x=x, stale_share=share, lag=lag)
        assert radius == pytest.approx(exact.spectral_radius(c, x), rel=1e-9)
    elif expected > 0.1:
        assert found == pytest.approx(expected, rel=max(allowed, 1e-12))


def test_the_naive_relaxation_time_is_wrong_and_ours_is_not() -> None:
    """At x = 1e-15 and mu = 0.9 it is 18 % off if 1 - z is formed by subtraction."""
    found = relaxation_time("heavy-ball", mu=0.9, x=1e-15, stale_share=1, lag=0)
    naive = -1 / np.log(np.abs(np.roots([1, -1.9 + 1e-15, 0.9])).max())
    on_policy = exact.Configuration("heavy-ball", "constant", 0.9, 1, lag=0)
    expected = exact.relaxation_time(on_policy, 1e-15)
    assert found == pytest.approx(expected, rel=1e-14)
    assert abs(naive / found - 1) > 0.05


@pytest.mark.parametrize("lag", [0, 1, 3, 8])
@pytest.mark.parametrize("mu", [0.0, 0.5, 0.9])
def test_a_double_root_is_real_up_to_the_onset_and_a_pair_beyond(mu: float, lag: int) -> None:
    x_o = onset("heavy-ball", mu=mu, stale_share=1, lag=lag)
    before, after = (
        dominant("heavy-ball", mu=mu, x=x_o * (1 + side * 1e-6), stale_share=1, lag=lag)
        for side in (-1, 1)
    )
    if mu == 0 and lag == 0:
        assert before.root.real > 0
        assert after.root.real < 0
    else:
        assert before.period == np.inf
        assert after.root.imag > 0
        assert after.period > 2


def test_all_roots_are_roots() -> None:
    z = roots("nesterov", mu=0.9, x=[0.01, 0.1], stale_share=0.7, lag=[3, 6])
    assert z.shape == (2, 8)
    for row, x, d in zip(z, (0.01, 0.1), (3, 6), strict=True):
        kept = row[: d + 2]
        chi = (kept - 1) * (1 - 0.9 / kept)
        chi += (1.9 - 0.9 / kept) * (0.3 * x + 0.7 * x * kept ** (-float(d)))
        assert np.abs(chi * kept ** (d + 1)).max() < 1e-14
        assert np.all(row[d + 2 :] == 0)


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(exact.OPTIMIZERS), MU, SHARE, st.integers(1, 24), st.floats(-16, 1.5))
def test_the_sawtooth_is_the_scalar_theorys(
    optimizer: str, mu: float, share: float, refresh: int, power: float
) -> None:
    c = exact.Configuration(optimizer, "sawtooth", mu, share, refresh=refresh)
    x = 10.0**power
    found = dominant(optimizer, mu=mu, x=x, stale_share=share, refresh=refresh)
    z = roots(optimizer, mu=mu, x=x, stale_share=share, refresh=refresh)
    assert found.root == z[0]
    # Where the two eigenvalues meet, both are known to the square root of a rounding.
    gap = max(abs(z[0] - z[1]), 1e-6)
    radius = exact.spectral_radius(c, x) ** refresh
    assert abs(abs(z[0]) - radius) <= 1e-13 * (1 + radius**2) / gap
    if found.root.imag > 1e-3:
        expected = exact.dominant_root(c, x)
        assert found.period == pytest.approx(2 * np.pi * refresh / np.angle(expected), rel=1e-6)


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(exact.OPTIMIZERS), MU, SHARE, st.integers(1, 24), st.floats(-16, -5))
def test_the_slow_eigenvalue_keeps_its_digits(
    optimizer: str, mu: float, share: float, refresh: int, power: float
) -> None:
    c = exact.Configuration(optimizer, "sawtooth", mu, share, refresh=refresh)
    x = 10.0**power
    assume(x * refresh * (1 + abs(share)) < 1e-2 * (1 - mu) ** 2)  # far from where they meet
    found = relaxation_time(optimizer, mu=mu, x=x, stale_share=share, refresh=refresh)
    assert found == pytest.approx(exact.relaxation_time(c, x), rel=1e-14)


def test_the_sawtooth_slows_and_overflows_gracefully() -> None:
    slow = relaxation_time("heavy-ball", mu=0.9, x=1e-15, stale_share=1, refresh=[1, 4, 64, 10**6])
    for found, refresh in zip(slow[:3], (1, 4, 64), strict=True):
        c = exact.Configuration("heavy-ball", "sawtooth", 0.9, 1, refresh=refresh)
        assert found == pytest.approx(exact.relaxation_time(c, 1e-15), rel=1e-14)
    assert slow[3] == pytest.approx(1e14, rel=1e-6)
    z = roots("heavy-ball", mu=0.9, x=[0.5, 30.0], stale_share=0.2, refresh=[[3], [4000]])
    assert z.shape == (2, 2, 2)
    for refresh, x, pair in ((3, 0.5, z[0, 0]), (3, 30.0, z[0, 1])):
        c = exact.Configuration("heavy-ball", "sawtooth", 0.9, 0.2, refresh=refresh)
        ours = np.poly(pair)
        matrix = exact.monodromy(c, x)
        assert ours == pytest.approx([1, -np.trace(matrix), np.linalg.det(matrix)], rel=1e-10)
    c = exact.Configuration("heavy-ball", "sawtooth", 0.9, 0.2, refresh=4000)
    beyond = spectral_radius("heavy-ball", mu=0.9, x=30.0, stale_share=0.2, refresh=4000)
    assert beyond == pytest.approx(exact.spectral_radius(c, 30.0), rel=1e-13)


def test_a_certain_lag_is_a_constant_lag() -> None:
    law = [0, 0, 0, 1.0]
    one = dominant("ema", mu=0.9, x=[1e-10, 0.1], stale_share=0.5, lag_law=law)
    other = dominant("ema", mu=0.9, x=[1e-10, 0.1], stale_share=0.5, lag=3)
    assert np.array_equal(one.root, other.root)


def test_what_cannot_be_computed_is_refused() -> None:
    with pytest.raises(InvalidInput, match="up to 512"):
        roots("heavy-ball", mu=0.5, x=0.1, stale_share=1, lag=513)
    with pytest.raises(InvalidInput, match="positive"):
        spectral_radius("heavy-ball", mu=0.5, x=0.0, stale_share=1, lag=1)
