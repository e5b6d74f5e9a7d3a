"""Borders under a random lag: of the mean and of the mean square."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import exact
from numerics.dynamics import (
    mean_square_radius,
    mean_square_threshold,
    onset,
    random_lag_variance,
    spectral_radius,
    threshold,
)
from numerics.inputs import InvalidInput

OPTIMIZER = st.sampled_from(exact.OPTIMIZERS)
MU = st.sampled_from([0.0, 0.25, 0.5, 0.9])
LAW = st.lists(st.integers(0, 8), min_size=1, max_size=7).filter(any).map(
    lambda weights: [w / sum(weights) for w in weights]
)


@pytest.mark.parametrize("optimizer", exact.OPTIMIZERS)
@pytest.mark.parametrize("share", [1.0, 0.5, -0.5, 1.5])
@pytest.mark.parametrize("lag", [0, 1, 2, 5])
def test_a_certain_lag_is_a_constant_lag(optimizer: str, share: float, lag: int) -> None:
    law = np.eye(lag + 1)[lag]
    for mu in (0.0, 0.5, 0.9):
        border = threshold(optimizer, mu=mu, stale_share=share, lag_law=law)
        expected = exact.threshold(exact.Configuration(optimizer, "constant", mu, share, lag=lag))
        assert border.value == pytest.approx(expected.value, rel=1e-12)
        assert border.kind == expected.kind
        square = mean_square_threshold(optimizer, mu=mu, stale_share=share, lag_law=law)
        assert square == pytest.approx(expected.value, rel=1e-6)


@settings(deadline=None, max_examples=60)
@given(OPTIMIZER, MU, st.sampled_from([1.0, 0.5, 1.5]), LAW)
def test_the_mean_loses_stability_exactly_there(
    optimizer: str, mu: float, share: float, law: list[float]
) -> None:
    border = threshold(optimizer, mu=mu, stale_share=share, lag_law=law).value
    inside, outside = (
        spectral_radius(optimizer, mu=mu, x=border * factor, stale_share=share, lag_law=law)
        for factor in (1 - 1e-5, 1 + 1e-5)
    )
    assert inside < 1 < outside


@settings(deadline=None, max_examples=40)
@given(OPTIMIZER, MU, LAW)
def test_fluctuations_are_lost_first(optimizer: str, mu: float, law: list[float]) -> None:
    square = mean_square_threshold(optimizer, mu=mu, stale_share=1, lag_law=law)
    assert square <= threshold(optimizer, mu=mu, stale_share=1, lag_law=law).value * (1 + 1e-6)
    margins = [
        random_lag_variance(
            optimizer, mu=mu, x=square * factor, stale_share=1, noise_enters="recurrence",
            lag_law=law, unstable="nan",
        ).margin
        for factor in (1 - 1e-4, 1 + 1e-4)
    ]  # fmt: skip
    assert margins[0] > 0
    assert not margins[1] > 0  # NaN where the mean is lost as well


def test_two_lags_without_momentum_by_hand() -> None:
    """q' = q - x q or q - x q_1, at even odds; (E q^2, E q q_1, E q_1^2) is mapped by 3 x 3."""
    x = Fraction(3, 10)
    a, b, c = (1 - x) ** 2 / 2 + Fraction(1, 2), -x, x * x / 2
    rows = [[a, b, c], [1 - x / 2, -x / 2, Fraction(0)], [Fraction(1), Fraction(0), Fraction(0)]]
    expected = np.abs(np.linalg.eigvals(np.array(rows, dtype=float))).max()
    found = mean_square_radius("heavy-ball", mu=0, x=float(x), stale_share=1, lag_law=[0.5, 0.5])
    assert found == pytest.approx(expected, rel=1e-13)


def test_the_second_moment_grows_as_a_simulation_says() -> None:
    """Exact recursion over all sequences of lags, in fractions, against the spectral radius."""
    x, law = Fraction(4, 5), (Fraction(1, 2), Fraction(1, 2))
    moments = {(0, 0): Fraction(1), (0, 1): Fraction(1), (1, 1): Fraction(1)}
    sizes = []
    for _ in range(150):
        q, r, s = moments[0, 0], moments[0, 1], moments[1, 1]
        new = law[0] * (1 - x) ** 2 * q + law[1] * (q - 2 * x * r + x * x * s)
        moments = {(0, 0): new, (0, 1): law[0] * (1 - x) * q + law[1] * (q - x * r), (1, 1): q}
        sizes.append(new)
    growth = float(sizes[-1] / sizes[-2])
    found = mean_square_radius("heavy-ball", mu=0, x=0.8, stale_share=1, lag_law=[0.5, 0.5])
    assert growth == pytest.approx(found, rel=1e-6)


def test_the_onset_of_a_random_lag() -> None:
    certain = onset("heavy-ball", mu=0.5, stale_share=1, lag_law=[0, 0, 1.0])
    assert certain == pytest.approx(onset("heavy-ball", mu=0.5, stale_share=1, lag=2), rel=1e-8)


def test_laws_broadcast_and_long_ones_are_refused() -> None:
    laws = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    assert threshold("heavy-ball", mu=[[0.1], [0.2]], stale_share=1, lag_law=laws).value.shape == (
        2,
        2,
    )
    with pytest.raises(InvalidInput, match="up to 20"):
        mean_square_threshold("heavy-ball", mu=0.5, stale_share=1, lag_law=[1 / 22] * 22)
