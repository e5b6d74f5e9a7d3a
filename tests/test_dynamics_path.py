r"""The mean path of the exact linear map, against 500 digits and against the map itself."""

from __future__ import annotations

import sys
from fractions import Fraction
from itertools import pairwise
from math import exp, inf
from typing import Any

import numpy as np
import pytest
from exact_cases import MOMENTUM, OPTIMIZER, SHARE, configurations
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from plain_path import Plain, certain, kernel, sawtooth

from numerics.dynamics.model import model
from numerics.dynamics.path import LATEST_STEP, LONGEST_LAG, State, path
from numerics.exact import Configuration, onset, relaxation_time, threshold
from numerics.inputs import InvalidInput, UnknownName

ULP = 2.0**-53


def check(found: Any, exact: Fraction, size: float) -> None:
    """Demand the nearest float, or the one next to it where the two are equally near."""
    allowed = 1.001 * ULP * abs(exact) + Fraction(1e-19 * size) + Fraction(5e-324)
    assert abs(Fraction(float(found)) - exact) <= allowed


def follow(c: Configuration, fraction: float, x: float, length: float) -> tuple[float, float, int]:
    """Return a stable x, its relaxation time, and a step at most 690 of them away."""
    border = threshold(c)
    if border is not None:
        x = min(x, fraction * float(border.value))
    assume(x >= 1e-16)
    tau = relaxation_time(c, x)
    assume(tau)
    assert tau is not None
    return x, tau, int(min(1e9, 690 * tau * length))


EXPONENT = st.one_of(st.just(-16.0), st.floats(-16.0, 1.0))
LENGTH = st.one_of(st.just(1.0), st.floats(-9.0, 0.0).map(lambda e: 10.0**e))
LAG = st.one_of(st.integers(0, 4), st.integers(0, 64))


@settings(deadline=None, max_examples=120)
@given(OPTIMIZER, MOMENTUM, SHARE, LAG, st.floats(0.5, 0.999), EXPONENT, LENGTH)
@example("heavy-ball", 0.9999, 1.0, 64, 0.999, -16.0, 1.0)
@example("nesterov", 0.9999, 1.0, 64, 0.999, 1.0, 1.0)
@example("heavy-ball", 0.9, 1.0, 0, 0.999, 1.0, 1.0)
@example("ema", 0.0, 1.0, 1, 0.999, 1.0, 1.0)
# Roots evenly spaced on a circle, which are one multiple root when raised to their number.
@example("heavy-ball", 0.0, -0.25, 15, 0.5, 0.0, 1.0)
@example("heavy-ball", 0.0, -0.25, 63, 0.5, 0.0, 1.0)
@example("heavy-ball", 0.5, 0.01, 31, 0.75, 0.0, 1.0)
def test_constant_lag(
    optimizer: str, mu: Any, s: Any, lag: int, fraction: float, exponent: float, length: float
) -> None:
    mu, s = float(mu), float(s)
    c = Configuration(optimizer, "constant", mu, s, lag=lag)
    x, tau, t = follow(c, fraction, 10.0**exponent, length)
    found = path(optimizer, mu=mu, x=x, stale_share=s, lag=lag, times=t)
    exact, size = Plain(optimizer, mu, kernel(x, s, certain(lag)), [1] * (lag + 1), 0).jump(t)
    check(found, exact, size)
    envelope = exp(-t / tau)
    if envelope > 1e-300:
        assert abs(Fraction(float(found)) - exact) <= 1e-12 * max(envelope, abs(exact))


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.9, 0.9999])
@pytest.mark.parametrize("lag", [0, 1, 2, 7, 32])
def test_double_roots_and_their_neighbourhood(mu: float, lag: int) -> None:
    c = Configuration("heavy-ball", "constant", mu, 1.0, lag=lag)
    start = onset(c)
    assert start is not None
    x = float(start) * (1 + np.array([0, 2e-16, -2e-16, 1e-12, -1e-12, 1e-6, -1e-6]))
    tau = relaxation_time(c, float(x[0]))
    assert tau is not None
    times = [0, 1, round(tau), round(30 * tau), round(690 * tau)]
    found = path("heavy-ball", mu=mu, x=x[:, None], stale_share=1, lag=lag, times=times)
    for row, stiffness in zip(found, x, strict=True):
        run = Plain("heavy-ball", mu, kernel(stiffness, 1, certain(lag)), [1] * (lag + 1), 0)
        for value, t in zip(row, times, strict=True):
            check(value, *run.jump(t))


@settings(deadline=None, max_examples=60)
@given(
    OPTIMIZER,
    MOMENTUM,
    SHARE,
    st.lists(st.integers(0, 5), min_size=1, max_size=12).filter(any),
    st.floats(-16, -1),
    st.integers(0, 10**9),
)
def test_random_lag(
    optimizer: str, mu: Any, s: Any, weights: list[int], exponent: float, t: int
) -> None:
    mu, s, x = float(mu), float(s), 10.0**exponent * (1 - float(mu)) / 20
    given = np.array(weights) / sum(weights)
    law = model("ema", mu=0, stale_share=1, lag_law=given).law  # made to sum to 1
    assert law is not None
    found = path(optimizer, mu=mu, x=x, stale_share=s, lag_law=given, times=t)
    exact, size = Plain(optimizer, mu, kernel(x, s, law), [1] * len(law), 0).jump(t)
    if size < 1e100:
        check(found, exact, size)


@settings(deadline=None, max_examples=80)
@given(
    configurations(24, ("sawtooth",)),
    st.floats(0.5, 0.999),
    EXPONENT,
    LENGTH,
    st.integers(-8, 8),
    st.integers(-8, 8),
)
def test_sawtooth(
    c: Configuration, fraction: float, exponent: float, length: float, q: int, v: int
) -> None:
    c = Configuration(c.optimizer, "sawtooth", float(c.mu), float(c.stale_share), refresh=c.delay)
    x, _, t = follow(c, fraction, 10.0**exponent, length)
    found = path(
        c.optimizer,
        mu=c.mu,
        x=x,
        stale_share=c.stale_share,
        refresh=c.delay,
        times=t,
        initial=State([q], v),
    )
    exact, size = sawtooth(c, x, t, q, v)
    check(found, exact, 20 * size / (1 - float(c.mu)))


SMALL = st.integers(-64, 64).map(lambda k: k / 8)


@settings(deadline=None, max_examples=80)
@given(
    OPTIMIZER,
    st.integers(0, 31).map(lambda k: k / 32),
    SMALL,
    st.integers(1, 64).map(lambda k: k / 32),
    st.lists(SMALL, min_size=1, max_size=9),
    SMALL,
    st.integers(0, 40),
)
def test_any_start_is_the_simulated_map_in_fractions(
    optimizer: str, mu: float, s: float, x: float, history: list[float], memory: float, steps: int
) -> None:
    lag = len(history) - 1
    start = State([77.0, *history], memory)  # a longer history is no fault
    common = {"mu": mu, "x": x, "stale_share": s, "initial": start, "times": range(steps + 1)}
    run = Plain(optimizer, mu, kernel(x, s, certain(lag)), history, memory)
    exact = run.walk(steps)
    assert path(optimizer, lag=lag, **common).tolist() == list(map(float, exact))
    law = np.array(certain(lag))
    assert path(optimizer, lag_law=law, **common).tolist() == list(map(float, exact))
    c = Configuration(optimizer, "sawtooth", mu, s, refresh=lag + 1)
    found = path(optimizer, refresh=lag + 1, **common)
    for t in {0, steps // 2, steps}:
        check(found[t], *sawtooth(c, x, t, history[-1], memory))


@settings(deadline=None, max_examples=60)
@given(OPTIMIZER, SMALL, SMALL, st.lists(SMALL, min_size=10, max_size=10), SMALL, SMALL)
def test_it_is_linear_in_the_start(
    optimizer: str, a: float, b: float, values: list[float], v: float, w: float
) -> None:
    times = [0, 3, 40, 1000]

    def run(history: Any, memory: float) -> Any:
        return path(
            optimizer, mu=0.9, x=0.01, stale_share=0.7, lag=4, times=times,
            initial=State(history, memory),
        )  # fmt: skip

    first, second = np.array(values[:5]), np.array(values[5:])
    whole = run(a * first + b * second, a * v + b * w)
    parts = a * run(first, v), b * run(second, w)
    size = abs(parts[0]) + abs(parts[1])
    assert np.all(abs(whole - sum(parts)) <= 4 * ULP * (size + 1e-12))
    assert np.all(run(2.0**-900 * first, 2.0**-900 * v) == 2.0**-900 * run(first, v))


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
@pytest.mark.parametrize("lag", [0, 1, 5])
def test_a_run_can_be_taken_up_again(optimizer: str, lag: int) -> None:
    mu, x, s, t = 0.75, 0.01, 0.8, 200
    common = {"mu": mu, "x": x, "stale_share": s, "lag": lag}
    q = path(optimizer, times=range(t + 101), **common)
    moved = q[t] - q[t - 1]
    force = -((1 - s) * x * q[t - 1] + s * x * q[t - 1 - lag])
    memory = (moved - force) / mu if optimizer == "nesterov" else moved
    again = path(optimizer, times=range(101), initial=State(q[: t + 1], memory), **common)
    assert np.all(abs(again - q[t:]) <= 1e-13 * abs(q[t]))


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
def test_models_that_are_the_same_agree(optimizer: str) -> None:
    common = {"mu": 0.9, "x": [[1e-9], [0.003]], "times": [0, 1, 9, 10**4, 10**9]}

    def run(s: float, name: str = optimizer, **lag: Any) -> Any:
        return path(name, stale_share=s, **lag, **common).tolist()

    assert run(0.7, lag=3) == run(0.7, lag_law=[0, 0, 0, 1]) == run(0.7, lag_law=[0, 0, 0, 1, 0])
    assert run(0.7, lag=0) == run(0.7, refresh=1) == run(0.0, lag=9) == run(0.0, refresh=7)
    assert run(0.5, lag=2) == run(1.0, lag_law=[0.5, 0, 0.5])
    common |= {"mu": 0.0}
    assert run(0.7, lag=3) == run(0.7, name="heavy-ball", lag=3)


def test_averaging_the_gradient_scales_the_stiffness() -> None:
    common = {"mu": 0.75, "stale_share": 1, "lag": 3, "times": [0, 1, 50, 10**6]}
    ema, heavy = path("ema", x=2.0**-20, **common), path("heavy-ball", x=2.0**-22, **common)
    assert ema.tolist() == heavy.tolist()


def test_arrays_are_the_scalars_whatever_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    mu, lag = np.array([0.0, 0.9, 0.5])[:, None, None], np.array([0, 3, 2, 3])[:, None]
    x, times = np.array([0.01, 1e-9, 0.05, 0.3])[:, None], np.array([5, 0, 10**6, 77, 5])
    found = path("nesterov", mu=mu, x=x, stale_share=0.9, lag=lag, times=times)
    assert found.shape == (3, 4, 5)
    assert found.dtype == np.float64
    for i, j, k in np.ndindex(found.shape):
        single = path(
            "nesterov", mu=mu[i, 0, 0], x=x[j, 0], stale_share=0.9, lag=lag[j, 0], times=times[k]
        )
        assert isinstance(single, np.float64)
        assert single == found[i, j, k]
    saw = path("ema", mu=mu, x=x, stale_share=0.9, refresh=lag + 1, times=times)
    monkeypatch.setattr(sys.modules[path.__module__], "_BLOCK", 1)
    again = path("nesterov", mu=mu, x=x, stale_share=0.9, lag=lag, times=times)
    assert again.tolist() == found.tolist()
    again = path("ema", mu=mu, x=x, stale_share=0.9, refresh=lag + 1, times=times)
    assert again.tolist() == saw.tolist()
    assert path("ema", mu=[], x=1, stale_share=1, lag=1, times=3).shape == (0,)
    assert path("ema", mu=0, x=1, stale_share=1, lag=np.empty(0, int), times=3).shape == (0,)


def test_starts_broadcast_with_the_rest() -> None:
    history = np.array([[[1.0, 2.0]], [[0.0, -1.0]]])
    found = path(
        "heavy-ball", mu=0.5, x=0.25, stale_share=1, lag=1, times=[0, 1, 2],
        initial=State(history, [[0.0], [1.0]]),
    )  # fmt: skip
    assert found.tolist() == [[2.0, 1.75, 1.125], [-1.0, -0.5, 0.0]]


def test_deadbeat_periodic_and_unstable_runs() -> None:
    def run(times: Any, mu: float = 0.0, x: float = 1.0, lag: int = 0) -> Any:
        return path("heavy-ball", mu=mu, x=x, stale_share=1, lag=lag, times=times)

    assert run([0, 1, 2, 10**9]).tolist() == [1, 0, 0, 0]
    assert run([0, 1, 2, 3], x=1 - 2.0**-53).tolist() == [1, 2.0**-53, 2.0**-106, 2.0**-159]
    # On the threshold of lag 1: period 6, for ever.
    assert run(np.arange(10**9, 10**9 + 6), lag=1).tolist() == [0, 1, 1, 0, -1, -1]
    assert run([1000, 1023, 1024, 1025, LATEST_STEP], x=3.0).tolist() == [
        2.0**1000, -(2.0**1023), inf, -inf, inf,
    ]  # fmt: skip
    assert run([1073, 1074, 1075], x=0.5).tolist() == [2.0**-1073, 2.0**-1074, 0]


def test_no_warning_escapes_under_any_error_state() -> None:
    with np.errstate(all="raise"):
        found = path(
            "ema", mu=[[0.9], [0.0]], x=[[1e-300], [1e15]], stale_share=[[1e15], [1.0]],
            lag=[[3], [0]], times=[0, 1, 10**9],
        )  # fmt: skip
        strong = path("heavy-ball", mu=0.5, x=1e15, stale_share=1, lag=64, times=[1, 2, 50])
        fresh = path("heavy-ball", mu=0.5, x=1e15, stale_share=0.5, lag=64, times=[1, 2])
    assert found.tolist() == [[1, 1, 1], [1, -(1e15 - 1), inf]]
    assert strong.tolist() == pytest.approx([-1e15, -2.5e15, -9.8e16], rel=1e-12)
    assert fresh.tolist() == pytest.approx([-1e15, 5e29], rel=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"times": -1}, "times holds -1: give steps from 0"),
        ({"times": LATEST_STEP + 1}, f"times holds {LATEST_STEP + 1}"),
        ({"times": 1.5}, "times is 1.5: give whole numbers"),
        ({"times": True}, "times is True: give whole numbers"),
        ({"x": 0.0}, "x is 0.0: it must be positive"),
        ({"x": 2e15}, "x reaches 2e+15"),
        ({"stale_share": -2e15}, "stale_share reaches 2e+15"),
        ({"x": 1e15, "stale_share": 0.5, "lag": 64, "times": 99}, "within one lag"),
        ({"mu": 1.0}, "momentum must lie in"),
        ({"lag": LONGEST_LAG + 1}, f"lag reaches {LONGEST_LAG + 1}: a path takes up to"),
        ({"lag": None, "refresh": 4000}, "refresh reaches 4000"),
        ({"lag": None}, "exactly one of lag, refresh, lag_law"),
        ({"initial": State([1.0, 2.0], 0)}, "history holds 2 steps: give the last 3"),
        ({"initial": State(1.0, 0)}, "history holds no axis of steps: give the last 3"),
        ({"initial": State([1, 2, inf], 0)}, "history is .*: every value must be finite"),
        ({"initial": State([1, 2, 3], [0, 0])}, None),
        ({"initial": State([[1, 2, 3]] * 2, [0, 0, 0])}, r"memory \(3,\)"),
        ({"times": [1, 2, 3], "x": [1, 2]}, r"do not broadcast: .* times \(3,\)"),
    ],
)
def test_what_is_refused(change: dict[str, Any], message: str | None) -> None:
    given: dict[str, Any] = {"mu": 0.5, "x": 0.1, "stale_share": 1, "lag": 2, "times": 3}
    if message is None:
        assert path("ema", **given | change).shape == (2,)
        return
    with pytest.raises(InvalidInput, match=message.replace("+", r"\+")):
        path("ema", **given | change)
    with pytest.raises(UnknownName, match="heavy-ball"):
        path("heavyball", **given)


def test_the_longest_lag() -> None:
    mu, x, lag = 0.5, 2.0**-11, LONGEST_LAG
    t = lag + 300
    common = {"mu": mu, "x": x, "stale_share": 1, "times": [0, 1, lag, t]}
    run = Plain("heavy-ball", mu, kernel(x, 1, certain(lag)), [1] * (lag + 1), 0).walk(t)
    found = path("heavy-ball", lag=lag, **common)
    assert found.tolist() == [float(run[k]) for k in common["times"]]
    rise = path("nesterov", refresh=lag, **common)
    assert all(a > b for a, b in pairwise(rise))
