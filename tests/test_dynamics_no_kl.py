"""The success probability at beta = 0 against its differential equation and 60 digits."""

from __future__ import annotations

from math import inf, nan
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

from numerics.dynamics.no_kl import NORMALISERS, no_kl_path
from numerics.inputs import InvalidInput, UnknownName
from numerics.kernels import beta_zero

ULP = 2.0**-53
NORMALISER = st.sampled_from(NORMALISERS)
START = st.one_of(
    st.floats(-300, 0).map(lambda e: 10.0**e),
    st.floats(-8, 0).map(lambda e: 10.0**e),
    st.floats(-15, 0).map(lambda e: 1 - 10.0**e),
).filter(lambda p: 0 < p < 1)


def clock(normaliser: str, p: Any) -> Any:
    """Return what grows at the rate eta, as theory 3.10 prints it."""
    if normaliser == "std":
        return -4 * mp.cot(2 * mp.asin(mp.sqrt(p)))
    return 2 * mp.log(p / (1 - p)) + (2 * p - 1) / (p * (1 - p))


def logit_at(normaliser: str, place: Any) -> Any:
    """Invert the clock."""
    if normaliser == "std":
        return 2 * mp.asinh(place / 4)
    size = abs(place) / 2
    theta = min(size / 2, mp.asinh(size))
    for _ in range(60):
        theta -= (theta + mp.sinh(theta) - size) / (1 + mp.cosh(theta))
    return mp.sign(place) * theta


def compare(normaliser: str, eta: float, p: float, t: float) -> None:
    found = no_kl_path(normaliser, eta=eta, p=p, t=t)
    with mp.workdps(700):  # a start near 0 and a time near 1e300 cancel 600 digits
        place = clock(normaliser, mp.mpf(p)) + mp.mpf(eta) * mp.mpf(t)
    with mp.workdps(60):
        theta = logit_at(normaliser, +place)
        exact = 1 / (1 + mp.exp(-theta)), 1 / (1 + mp.exp(theta)), theta
        for value, number in zip((found.success, found.failure, found.logit), exact, strict=True):
            size = abs(number) if number is not theta else max(abs(number), 0.1)
            assert abs(mp.mpf(float(value)) - number) <= 32 * ULP * size + mp.mpf(5e-324)


@settings(deadline=None, max_examples=150)
@given(NORMALISER, st.floats(-8, 2), START, st.floats(-5, 300))
@example("std", 0.0, 0.5, 300.0)
@example("mean", 0.0, 0.5, 300.0)
@example("mean", 0.0, 1e-300, 300.0)
def test_sixty_digits(normaliser: str, rate: float, p: float, time: float) -> None:
    eta = 10.0**rate
    t = 10.0**time / eta
    compare(normaliser, eta, p, t if eta * t <= 1e300 else 1e300 * (1 - 1e-15) / eta)


@settings(deadline=None, max_examples=100)
@given(NORMALISER, st.floats(-14, -0.31).map(lambda e: 10.0**e), st.floats(-17, 0), st.booleans())
def test_where_start_and_time_cancel(normaliser: str, p: float, away: float, later: bool) -> None:
    """Near p = 1/2 the clock is 0 and everything hangs on what the subtraction leaves."""
    t = float(-clock(normaliser, mp.mpf(p)))
    compare(normaliser, 1.0, p, abs(t * (1 + (10.0**away if later else -(10.0**away)))))


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("p", [0.01, 0.3, 0.9])
def test_it_solves_the_rate_equation(normaliser: str, p: float) -> None:
    eta, times = 0.7, np.linspace(0, 400, 41)
    rate = getattr(beta_zero, normaliser)
    solved = solve_ivp(
        lambda t, p: rate(eta=eta, p=p)[0], (0, 400), [p], t_eval=times, rtol=1e-12, atol=1e-14
    )
    found = no_kl_path(normaliser, eta=eta, p=p, t=times)
    assert found.success == pytest.approx(solved.y[0], rel=1e-9)
    assert found.success[0] == pytest.approx(p, rel=4 * ULP)


def test_the_tails_keep_their_digits() -> None:
    eta_t = 10.0 ** np.arange(9, 160, 10)
    found = no_kl_path("std", eta=1, p=0.5, t=eta_t)
    assert found.failure == pytest.approx((2 / eta_t) ** 2, rel=1e-15)
    eta_t = 10.0 ** np.arange(20, 301, 20)
    found = no_kl_path("mean", eta=1, p=0.5, t=eta_t)
    assert found.failure == pytest.approx(1 / eta_t, rel=1e-15)
    assert np.all(found.success == 1)
    assert no_kl_path("std", eta=1, p=0.5, t=1e300).failure == 0


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_only_eta_times_t_counts_and_a_run_can_be_taken_up_again(normaliser: str) -> None:
    t = np.array([0.0, 1.0, 7.0, 1e5])
    whole = no_kl_path(normaliser, eta=0.5, p=0.125, t=t)
    scaled = no_kl_path(normaliser, eta=2.0**-40, p=0.125, t=t * 2.0**39)
    assert whole.success.tolist() == scaled.success.tolist()
    middle = no_kl_path(normaliser, eta=0.5, p=0.125, t=3.0).success
    again = no_kl_path(normaliser, eta=0.5, p=middle, t=4.0).success
    assert again == pytest.approx(whole.success[2], rel=8 * ULP)


@pytest.mark.parametrize("normaliser", NORMALISERS)
def test_success_and_failure_change_places_when_time_runs_back(normaliser: str) -> None:
    """The rate is even in p - 1/2: from 1 - p(t) it takes t to get to 1 - p(0)."""
    later = no_kl_path(normaliser, eta=1.0, p=0.25, t=10.0)
    back = no_kl_path(normaliser, eta=1.0, p=later.failure, t=10.0)
    assert back.success == pytest.approx(0.75, rel=16 * ULP)


def test_shapes() -> None:
    found = no_kl_path("mean", eta=[[0.1], [0.2]], p=0.5, t=[1.0, 2.0, 3.0])
    assert found.success.shape == found.failure.shape == found.logit.shape == (2, 3)
    assert isinstance(no_kl_path("std", eta=1, p=0.5, t=0).success, np.float64)
    assert no_kl_path("std", eta=[], p=0.5, t=0).logit.shape == (0,)
    with np.errstate(all="raise"):
        no_kl_path("std", eta=1e-300, p=[1e-300, 1 - 2.0**-53], t=[[0.0], [1e300]])
        no_kl_path("mean", eta=1e-300, p=[3e-308, 1 - 2.0**-53], t=[[0.0], [1e300]])
        no_kl_path("mean", eta=1e300, p=[3e-308, 1 - 2.0**-53], t=[[0.0], [1.0]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"p": 0.0}, "p is 0.0: give probabilities between 0 and 1"),
        ({"p": 1.0}, "p is 1.0: give"),
        ({"p": 1e-310}, "not below 2.2e-308"),
        ({"p": nan}, "p is nan: every value must be finite"),
        ({"eta": 0.0}, "eta is 0.0: it must be positive"),
        ({"t": -1.0}, "t is -1.0: time must be >= 0"),
        ({"t": inf}, "t is inf"),
        ({"eta": 1e200, "t": 1e200}, "eta\\*t reaches inf: give up to 1e\\+300"),
        ({"p": [0.1, 0.2], "t": [1, 2, 3]}, "do not broadcast"),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"eta": 1.0, "p": 0.5, "t": 1.0}
    with pytest.raises(InvalidInput, match=message):
        no_kl_path("std", **given | change)
    with pytest.raises(UnknownName, match="did you mean 'std'"):
        no_kl_path("Std", **given)
