"""What a log shows of a series: against averaging itself, and the cases that misled people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.dynamics.averaging import logged_autocovariance, logged_oscillation, window_gain
from numerics.dynamics.moments import autocovariance
from numerics.inputs import InvalidInput, UnknownName


def test_the_cases() -> None:
    """logging_steps = 10: period 11 shows as 110 at a tenth of its amplitude, 10 not at all."""
    found = logged_oscillation(period=[11, 10], every=10, logged="averaged")
    np.testing.assert_allclose(found.amplitude, [0.1, 0], rtol=1e-14)
    np.testing.assert_allclose(found.period, [110, np.inf], rtol=1e-14)
    assert not found.faithful.any()
    # The period between logged values keeps its amplitude when nothing is averaged.
    found = logged_oscillation(period=[11, 10], every=10, logged="sampled")
    np.testing.assert_allclose(found.period, [110, np.inf], rtol=1e-14)
    assert np.all(found.amplitude == 1)


def log_of(series: Any, every: int, logged: str) -> Any:
    rows = series.reshape(-1, every)
    return rows.mean(axis=1) if logged == "averaged" else rows[:, 0]


@settings(deadline=None, max_examples=80)
@given(st.floats(0.3, 200), st.integers(1, 30), st.sampled_from(["averaged", "sampled"]))
@example(11.0, 10, "averaged")
@example(2.0, 1, "sampled")
def test_an_oscillation_logged(period: float, every: int, logged: str) -> None:
    """The logged oscillation has the amplitude and the period that are claimed."""
    found = logged_oscillation(period=period, every=every, logged=logged)
    records = 60
    steps = np.arange(records * every)
    log = log_of(np.exp(2j * np.pi * steps / period), every, logged)
    # Both quadratures of a logged oscillation, as one complex number, keep their modulus ...
    np.testing.assert_allclose(np.abs(log), found.amplitude, atol=1e-11)
    if found.amplitude < 1e-4:
        return
    # ... and turn by the same angle in every row.
    turned = np.abs(np.angle(log[1:] * log[:-1].conj()))
    turn = 0.0 if math.isinf(found.period) else 2 * np.pi * every / found.period
    np.testing.assert_allclose(turned, turn, atol=1e-6)
    assert not found.faithful or found.period == pytest.approx(period, rel=1e-9)


def test_the_gain_is_that_of_a_window() -> None:
    frequency = np.array([0, 1e-9, 0.3, 1.0, np.pi, 4.0, 2 * np.pi, -0.7])
    for every in (1, 2, 7, 10):
        middle = (every - 1) / 2
        expected = np.cos(frequency[:, None] * (np.arange(every) - middle)).mean(axis=1)
        np.testing.assert_allclose(window_gain(frequency, every=every), expected, atol=1e-14)
    assert np.all(window_gain(frequency, every=1) == 1)


@settings(deadline=None, max_examples=50)
@given(st.floats(0.4, 500), st.integers(1, 40))
def test_gain_and_amplitude_agree(period: float, every: int) -> None:
    gain = window_gain(2 * np.pi / period, every=every)
    shown = logged_oscillation(period=period, every=every, logged="averaged").amplitude
    assert abs(gain) == pytest.approx(shown, abs=1e-11)


@pytest.mark.parametrize("every", [1, 2, 5, 12])
@pytest.mark.parametrize("logged", ["averaged", "sampled"])
def test_the_autocovariance_of_a_log(every: int, logged: str) -> None:
    """Against the covariance matrix of the series times the averaging matrix on both sides."""
    r = autocovariance(
        "heavy-ball", mu=[0.9, 0.0], x=0.02, stale_share=1, lag=[3, 20], lags=59,
        noise_enters="recurrence",
    )  # fmt: skip
    steps = np.arange(60)
    row = np.full(every, 1 / every) if logged == "averaged" else np.eye(every)[0]
    average = np.kron(np.eye(60 // every), row)
    found = logged_autocovariance(r, every=every, logged=logged)
    assert found.shape == (2, 60 // every)
    for run in range(2):
        series = r[run][np.abs(steps[:, None] - steps)]
        expected = (average @ series @ average.T)[0]
        np.testing.assert_allclose(found[run], expected, atol=1e-12 * r[run, 0])


def test_a_window_of_one_changes_nothing() -> None:
    r = np.array([[3.0, 1.0, -0.5], [2.0, 0.0, 0.1]])
    for logged in ("averaged", "sampled"):
        found = logged_autocovariance(r, every=1, logged=logged)
        assert np.array_equal(found, r)
        found[:] = 0
        assert r[0, 0] == 3.0


def test_white_noise_averages_down_and_stays_white() -> None:
    r = np.zeros(20)
    r[0] = 6.0
    found = logged_autocovariance(r, every=5, logged="averaged")
    np.testing.assert_allclose(found, [6 / 5, 0, 0, 0], atol=1e-15)


def test_the_variance_of_an_averaged_oscillation_is_the_gain_squared() -> None:
    frequency, every = 0.7, 9
    r = np.cos(frequency * np.arange(4 * every))
    found = logged_autocovariance(r, every=every, logged="averaged")
    gain = window_gain(frequency, every=every) ** 2
    np.testing.assert_allclose(found, gain * np.cos(frequency * every * np.arange(4)), atol=1e-14)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: logged_oscillation(period=0, every=10, logged="averaged"), "period is"),
        (lambda: logged_oscillation(period=5, every=0, logged="averaged"), "every is"),
        (lambda: logged_oscillation(period=5, every=2.5, logged="averaged"), "every is"),
        (lambda: logged_oscillation(period=[5, 6], every=[1, 2, 3], logged="sampled"), "broadcast"),
        (lambda: window_gain(float("inf"), every=3), "finite"),
        (lambda: window_gain(0.1, every=0), "every is 0"),
        (lambda: logged_autocovariance([1.0, 0.5], every=3, logged="averaged"), "reach across"),
        (lambda: logged_autocovariance(1.0, every=1, logged="averaged"), "reach across"),
    ],
)
def test_bad_input(call: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        call()


def test_how_it_is_logged_is_required() -> None:
    with pytest.raises(UnknownName, match="averaged"):
        logged_oscillation(period=5, every=2, logged="average")
    with pytest.raises(UnknownName, match="sampled"):
        logged_autocovariance([1.0], every=1, logged="last")
