"""Borders under a random lag: of the mean and of the mean square, against plain second moments."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numerics import exact
from numerics.dynamics import (
    LONGEST_MEAN_SQUARE,
    dominant,
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
LAW = (
    st.lists(st.integers(0, 8), min_size=1, max_size=7)
    .filter(any)
    .map(lambda weights: [w / sum(weights) for w in weights])
)
FALSE_ALARM = 6.11  # |z| above it has probability 1e-9


def second_moment_map(optimizer: str, mu: Any, x: Any, share: Any, law: Any) -> Any:
    """Return ``C -> E[M C M^T]`` as a matrix on all entries of C, step by step from the update.

    The state is (q, its past, v); on fractions the entries are exact.
    """
    memory, intake, direct, passed = {
        "heavy-ball": (mu, 1, 0, 1),
        "ema": (mu, 1 - mu, 0, 1),
        "nesterov": (mu, 1, 1, mu),
    }[optimizer]
    size = len(law) + 1
    total: Any = 0
    for lag, chance in enumerate(law):
        force = np.array([0 * x] * size)
        force[0] -= (1 - share) * x
        force[lag] -= share * x
        step = np.array([[0 * x] * size] * size)
        for age in range(1, size - 1):
            step[age, age - 1] += 1
        step[-1] = intake * force
        step[-1, -1] += memory
        step[0] = direct * force + passed * step[-1]
        step[0, 0] += 1
        total = total + chance * np.kron(step, step)
    return total


def largest(matrix: Any) -> float:
    return float(np.abs(np.linalg.eigvals(np.array(matrix, dtype=float))).max())


@pytest.mark.parametrize("optimizer", exact.OPTIMIZERS)
@pytest.mark.parametrize("share", [1.0, 0.5, -0.5, 1.5])
@pytest.mark.parametrize("lag", [0, 1, 2, 5, 30])
def test_a_certain_lag_is_a_constant_lag(optimizer: str, share: float, lag: int) -> None:
    law = np.eye(lag + 1)[lag]
    for mu in (0.0, 0.5, 0.9, 1 - 1e-6):
        border = threshold(optimizer, mu=mu, stale_share=share, lag_law=law)
        expected = exact.threshold(exact.Configuration(optimizer, "constant", mu, share, lag=lag))
        assert border.value == pytest.approx(expected.value, rel=1e-12)
        assert border.kind == expected.kind
        square = mean_square_threshold(optimizer, mu=mu, stale_share=share, lag_law=law)
        assert square == border.value


@settings(deadline=None, max_examples=60)
@given(OPTIMIZER, MU, st.sampled_from([1.0, 0.5, 1.5, -0.5]), LAW)
def test_the_mean_loses_stability_exactly_there(
    optimizer: str, mu: float, share: float, law: list[float]
) -> None:
    border = threshold(optimizer, mu=mu, stale_share=share, lag_law=law).value
    below = border * np.array([1e-6, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-5])
    assert np.all(spectral_radius(optimizer, mu=mu, x=below, stale_share=share, lag_law=law) < 1)
    at = spectral_radius(optimizer, mu=mu, x=border, stale_share=share, lag_law=law)
    assert at == pytest.approx(1, abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(OPTIMIZER, MU, st.sampled_from([1.0, 0.5, 1.5, -0.5]), LAW)
def test_fluctuations_are_lost_exactly_there(
    optimizer: str, mu: float, share: float, law: list[float]
) -> None:
    run: dict[str, Any] = {"mu": mu, "stale_share": share, "lag_law": law}
    square = mean_square_threshold(optimizer, **run)
    assert square <= threshold(optimizer, **run).value
    below = square * np.array([1e-3, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-6])
    assert np.all(mean_square_radius(optimizer, x=below, **run) < 1)
    assert mean_square_radius(optimizer, x=square, **run) == pytest.approx(1, abs=1e-11)
    margin = random_lag_variance(
        optimizer, x=square * (1 - 1e-9), noise_enters="recurrence", unstable="nan", **run
    ).margin
    assert margin > 0


@settings(deadline=None, max_examples=60)
@given(
    OPTIMIZER, MU, st.sampled_from([1.0, 0.5, 1.5, -0.5, 0.0]),
    LAW.filter(lambda law: len(law) < 6), st.floats(-8, 0.5),
)  # fmt: skip
def test_the_radius_is_the_plain_maps(
    optimizer: str, mu: float, share: float, law: list[float], power: float
) -> None:
    x = 10.0**power
    found = mean_square_radius(optimizer, mu=mu, x=x, stale_share=share, lag_law=law)
    # Eigenvalues that meet leave the plain map half its digits.
    plain = largest(second_moment_map(optimizer, mu, x, share, law))
    assert found == pytest.approx(plain, rel=1e-6, abs=1e-6)
    assert found >= spectral_radius(optimizer, mu=mu, x=x, stale_share=share, lag_law=law) ** 2 * (
        1 - 1e-12
    )


def test_two_lags_without_momentum_by_hand() -> None:
    """q' = q - x q or q - x q_1, at even odds; (E q^2, E q q_1, E q_1^2) is mapped by 3 x 3."""
    x = Fraction(3, 10)
    a, b, c = (1 - x) ** 2 / 2 + Fraction(1, 2), -x, x * x / 2
    rows = [[a, b, c], [1 - x / 2, -x / 2, Fraction(0)], [Fraction(1), Fraction(0), Fraction(0)]]
    found = mean_square_radius("heavy-ball", mu=0, x=float(x), stale_share=1, lag_law=[0.5, 0.5])
    assert found == pytest.approx(largest(rows), rel=1e-13)
    border = mean_square_threshold("heavy-ball", mu=0, stale_share=1, lag_law=[0.5, 0.5])
    x = Fraction(border)
    a, b, c = (1 - x) ** 2 / 2 + Fraction(1, 2), -x, x * x / 2
    characteristic = (1 - a - c) * (1 + x / 2) - b * (1 - x / 2)
    assert abs(float(characteristic)) < 1e-14


@pytest.mark.parametrize("optimizer", exact.OPTIMIZERS)
def test_the_second_moment_grows_as_in_fractions(optimizer: str) -> None:
    mu, share = Fraction(1, 2), Fraction(3, 4)
    law = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    for x in (Fraction(1, 5), Fraction(3, 2)):
        step = second_moment_map(optimizer, mu, x, share, law)
        moments = np.array([Fraction(int(entry % 5 == 0)) for entry in range(16)])
        sizes = []
        for _ in range(400):
            moments = step @ moments
            sizes.append(sum(moments[::5]))
        growth = float(sizes[-1] / sizes[9]) ** (1 / 390)
        found = mean_square_radius(
            optimizer, mu=0.5, x=float(x), stale_share=0.75, lag_law=[0.25, 0.5, 0.25]
        )
        assert growth == pytest.approx(found, rel=1e-2)


def test_chains_have_the_second_moment_of_the_map() -> None:
    """A fixed seed, and a z-test with a false-alarm rate of 1e-9."""
    law, mu, x, steps, chains = [0.2, 0.5, 0.3], 0.5, 0.3, 12, 40_000
    rng = np.random.default_rng(20_260)
    path = [np.ones(chains)] * len(law)
    v = np.zeros(chains)
    for _ in range(steps):
        lag = rng.choice(len(law), size=chains, p=law)
        v = mu * v - x * np.choose(lag, path[::-1][: len(law)])
        path = [*path, path[-1] + v]
    start = np.array([1.0] * len(law) + [0.0])
    exact_moment = np.kron(start, start)
    for _ in range(steps):
        exact_moment = second_moment_map("heavy-ball", mu, x, 1.0, law) @ exact_moment
    squares = path[-1] ** 2
    z = (squares.mean() - exact_moment[0]) / (squares.std(ddof=1) / np.sqrt(chains))
    assert abs(z) < FALSE_ALARM


def test_what_the_lag_does_by_itself_is_lost_first_of_all() -> None:
    """At mu = 0 and s = 1/2 the loop closes at x = 2 whatever the law, as by hand for d in {0, 1}.

    q' = (1 - x/2) q - (x/2) q_D: at x = 2 it is -q_D, of which the second moment never changes.
    """
    for law in itertools.product([0.25, 0.5], [0.1, 0.3]):
        found = mean_square_threshold(
            "heavy-ball", mu=0, stale_share=0.5, lag_law=[*law, 1 - sum(law)]
        )
        assert found == pytest.approx(2, rel=1e-13)


@pytest.mark.parametrize("optimizer", exact.OPTIMIZERS)
@pytest.mark.parametrize("share", [1.0, 0.5, 0.0])
@pytest.mark.parametrize("mu", [0.0, 0.5, 0.999])
def test_the_onset_of_a_random_lag(optimizer: str, mu: float, share: float) -> None:
    run: dict[str, Any] = {"mu": mu, "stale_share": share}
    for lag in (0, 2, 40):
        certain = onset(optimizer, **run, lag_law=np.eye(lag + 1)[lag])
        assert certain == pytest.approx(onset(optimizer, **run, lag=lag), rel=1e-13)
    law = [0.1, 0.4, 0.0, 0.5]
    first = onset(optimizer, **run, lag_law=law)
    before, after = (
        dominant(optimizer, **run, x=first * factor, lag_law=law).root
        for factor in (1 - 1e-9, 1 + 1e-9)
    )
    assert before.imag == 0
    assert before.real > 0
    assert after.imag > 0 or (mu == share == 0 and after.real < 0)


def test_laws_broadcast_and_long_ones_are_refused() -> None:
    laws = [[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]
    run: dict[str, Any] = {"mu": [[0.1], [0.2]], "stale_share": 1}
    border = threshold("heavy-ball", **run, lag_law=laws)
    assert border.value.shape == border.kind.shape == (2, 2)
    assert mean_square_threshold("heavy-ball", **run, lag_law=laws).shape == (2, 2)
    radius = mean_square_radius("heavy-ball", x=[0.1, 0.2], **run, lag_law=laws)
    for i, mu in enumerate((0.1, 0.2)):
        for j, x in enumerate((0.1, 0.2)):
            one = mean_square_radius("heavy-ball", mu=mu, x=x, stale_share=1, lag_law=laws[j])
            assert radius[i, j] == pytest.approx(one, rel=1e-14)
    assert mean_square_threshold("heavy-ball", mu=[], stale_share=1, lag_law=[1.0]).shape == (0,)
    with pytest.raises(InvalidInput, match=f"up to {LONGEST_MEAN_SQUARE}"):
        mean_square_threshold("heavy-ball", mu=0.5, stale_share=1, lag_law=np.full(1000, 1e-3))


@pytest.mark.parametrize("share", [1e8, -1e8, 1e15, -1e15, 1e-311])
@pytest.mark.parametrize("optimizer", exact.OPTIMIZERS)
def test_extreme_shares_have_their_borders_too(optimizer: str, share: float) -> None:
    """Their contacts lie too close together for floats, and are enclosed by balls instead."""
    for mu in (0.0, 0.9, 1 - 1e-12):
        expected = exact.threshold(exact.Configuration(optimizer, "constant", mu, share, lag=2))
        border = threshold(optimizer, mu=mu, stale_share=share, lag_law=[0, 0, 1.0])
        assert border.value == pytest.approx(expected.value, rel=1e-12)
        assert border.kind == expected.kind
        law = [0.5, 0.25, 0.25]
        mean = threshold(optimizer, mu=mu, stale_share=share, lag_law=law).value
        square = mean_square_threshold(optimizer, mu=mu, stale_share=share, lag_law=law)
        assert 0 < square <= mean * (1 + 1e-12)
        assert np.isfinite(mean)
