"""Tests that a mutant of `numerics/dynamics/` asked for: see docs/reliability.md."""

from __future__ import annotations

from inspect import Parameter, isfunction, signature

import numpy as np
import pytest

from numerics import dynamics, exact
from numerics.dynamics import onset, spectral_radius, threshold
from numerics.inputs import InvalidInput

#: What begins with something else than the run.
_FIRST = {
    "logged_autocovariance": "autocovariance",
    "no_kl_path": "normaliser",
    "window_gain": "frequency",
}


def _swings(mu: float, share: float, law: list[float], x: float) -> bool:
    """Whether the largest root of chi is not real and positive; heavy ball."""
    size = len(law) + 1
    chi = np.zeros(size + 1)
    chi[:3] += 1, -(1 + mu), mu
    chi[1] += (1 - share) * x
    chi[1:size] += share * x * np.array(law)
    largest = max(np.roots(chi), key=abs)
    return bool(abs(largest.imag) > 1e-7 or largest.real < 0)


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("share", [-0.5, 1.5, 3.0])
def test_a_random_lag_onset_beyond_the_shares_of_a_mixture(mu: float, share: float) -> None:
    law = [0.25, 0.25, 0.5]
    found = onset("heavy-ball", mu=mu, stale_share=share, lag_law=law)
    end = threshold("heavy-ball", mu=mu, stale_share=share, lag_law=law).value
    if np.isnan(found):
        assert not any(_swings(mu, share, law, x) for x in np.linspace(0.01, 0.99, 50) * end)
        return
    assert not any(_swings(mu, share, law, x) for x in np.linspace(0.01, 0.999, 50) * found)
    assert _swings(mu, share, law, found * 1.001)


@pytest.mark.parametrize("power", [-2, -4, -8, -12])
@pytest.mark.parametrize("lag", [1, 2, 5, 9])
def test_a_law_of_one_lag_loses_stability_where_that_lag_does(power: int, lag: int) -> None:
    mu = 1 - 10.0**power
    law = [0.0] * lag + [1.0]
    found = threshold("heavy-ball", mu=mu, stale_share=1, lag_law=law)
    run = exact.Configuration("heavy-ball", "constant", mu, 1, lag=lag)
    assert found.value == pytest.approx(exact.threshold(run).value, rel=1e-12, abs=0)


@pytest.mark.parametrize("law", [1.0, [], np.empty((3, 0))])
def test_a_law_is_a_row_of_probabilities(law: object) -> None:
    with pytest.raises(InvalidInput, match=r"give the probabilities of lags 0, 1, \.\.\., L$"):
        threshold("heavy-ball", mu=0.5, stale_share=1, lag_law=law)


@pytest.mark.parametrize("name", [n for n in dynamics.__all__ if isfunction(getattr(dynamics, n))])
def test_one_argument_has_a_place_and_the_others_a_name(name: str) -> None:
    """A number in the wrong place is the error that a required name prevents."""
    given = list(signature(getattr(dynamics, name)).parameters.values())
    assert not [p.name for p in given if p.kind is Parameter.POSITIONAL_ONLY]
    placed = [p.name for p in given if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    assert placed in ([], ["optimizer"], ["run"], ["run", "x"], [_FIRST.get(name, "x")])


@pytest.mark.parametrize("mu", [0.5, 0.9])
@pytest.mark.parametrize("refresh", [2, 3, 5])
def test_the_radius_under_a_sawtooth_from_real_to_complex_eigenvalues(
    mu: float, refresh: int
) -> None:
    x = np.geomspace(1e-3, 1, 25)
    found = spectral_radius("heavy-ball", mu=mu, x=x, stale_share=1, refresh=refresh)
    run = exact.Configuration("heavy-ball", "sawtooth", mu, 1, refresh=refresh)
    there = [exact.spectral_radius(run, float(each)) for each in x]
    assert found == pytest.approx(np.array(there), rel=1e-12)
