"""The discrete map against its own recurrences in exact arithmetic, and its limits."""

from __future__ import annotations

import ast
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import numerics.simulation as simulation
from numerics.simulation import (
    OPTIMIZERS,
    ConstantLag,
    Sawtooth,
    Schedule,
    simulate,
    simulate_linear,
)

momenta = st.fractions(0, Fraction(99, 100), max_denominator=100)
stiffnesses = st.fractions(Fraction(1, 100), 3, max_denominator=100)
shares = st.fractions(-2, 3, max_denominator=20)
schedules = st.one_of(
    st.integers(0, 5).map(ConstantLag),
    st.integers(1, 5).map(Sawtooth),
)
optimizers = st.sampled_from(OPTIMIZERS)


def force(path: list[Fraction], k: int, lag: int, x: Fraction, share: Fraction) -> Fraction:
    """-(x_f q_k + x_s q_{k-lag}) with the run at rest before step 0."""
    return -((1 - share) * x * path[k] + share * x * path[max(k - lag, 0)])


# ---- the recurrences, exactly ------------------------------------------------------------------


@settings(deadline=None)
@given(momenta, stiffnesses, shares, schedules, optimizers, st.data())
def test_noise_is_added_to_the_recurrence_in_q(
    mu: Fraction,
    x: Fraction,
    share: Fraction,
    schedule: Schedule,
    optimizer: str,
    data: st.DataObject,
) -> None:
    steps = 8
    kicks = data.draw(
        st.lists(st.fractions(-1, 1, max_denominator=8), min_size=steps, max_size=steps)
    )
    run = simulate_linear(
        optimizer,
        schedule,
        mu=mu,
        x=x,
        stale_share=share,
        steps=steps,
        noise=kicks,
        noise_enters="recurrence",
    )
    q = list(run.path)
    one, none = Fraction(1), Fraction(0)
    gains = {"heavy-ball": (one, none), "ema": (1 - mu, none), "nesterov": (1 + mu, -mu)}
    on_this_force, on_the_last = gains[optimizer]
    previous, last_force = q[0], none
    for k in range(steps):
        now = force(q, k, schedule.lag_at(k), x, share)
        pushed = on_this_force * now + on_the_last * last_force
        assert q[k + 1] - q[k] - mu * (q[k] - previous) == pushed + kicks[k]
        previous, last_force = q[k], now
    assert all(isinstance(value, Fraction) for value in q)


@settings(deadline=None)
@given(momenta, stiffnesses, shares, schedules, optimizers)
def test_gradient_noise_passes_through_the_gain_of_the_optimizer(
    mu: Fraction, x: Fraction, share: Fraction, schedule: Schedule, optimizer: str
) -> None:
    kicks = [Fraction(k % 3 - 1, k + 1) for k in range(7)]
    delayed = [Fraction(0), *kicks[:-1]]
    filtered = {
        "heavy-ball": kicks,
        "ema": [(1 - mu) * kick for kick in kicks],
        "nesterov": [
            (1 + mu) * kick - mu * late for kick, late in zip(kicks, delayed, strict=True)
        ],
    }[optimizer]
    run = {
        enters: simulate_linear(
            optimizer,
            schedule,
            mu=mu,
            x=x,
            stale_share=share,
            steps=7,
            noise=noise,
            noise_enters=enters,
        ).path
        for enters, noise in (("gradient", kicks), ("recurrence", filtered))
    }
    assert_array_equal(run["gradient"], run["recurrence"])


@settings(deadline=None)
@given(momenta, stiffnesses, shares, schedules)
def test_heavy_ball_in_velocity_form_is_equation_3(
    mu: Fraction, x: Fraction, share: Fraction, schedule: Schedule
) -> None:
    q, velocity = [Fraction(1)], Fraction(0)
    for k in range(9):
        velocity = mu * velocity + force(q, k, schedule.lag_at(k), x, share)
        q.append(q[-1] + velocity)
    run = simulate_linear("heavy-ball", schedule, mu=mu, x=x, stale_share=share, steps=9)
    assert_array_equal(run.path, q)


@settings(deadline=None)
@given(momenta, stiffnesses, shares, schedules)
def test_ema_is_heavy_ball_with_x_reduced(
    mu: Fraction, x: Fraction, share: Fraction, schedule: Schedule
) -> None:
    ema = simulate_linear("ema", schedule, mu=mu, x=x, stale_share=share, steps=8)
    reduced = simulate_linear(
        "heavy-ball", schedule, mu=mu, x=x * (1 - mu), stale_share=share, steps=8
    )
    assert_array_equal(ema.path, reduced.path)


@settings(deadline=None)
@given(stiffnesses, shares, schedules)
def test_without_momentum_all_optimizers_are_one(
    x: Fraction, share: Fraction, schedule: Schedule
) -> None:
    plain, *others = (
        simulate_linear(name, schedule, mu=Fraction(0), x=x, stale_share=share, steps=8).path
        for name in OPTIMIZERS
    )
    for other in others:
        assert_array_equal(plain, other)


@settings(deadline=None)
@given(momenta, stiffnesses, shares, optimizers)
def test_refresh_1_and_lag_0_are_on_policy_at_every_share(
    mu: Fraction, x: Fraction, share: Fraction, optimizer: str
) -> None:
    on_policy = [
        simulate_linear(optimizer, schedule, mu=mu, x=x, stale_share=part, steps=8).path
        for schedule in (ConstantLag(0), Sawtooth(1))
        for part in (Fraction(0), share)
    ]
    for path in on_policy[1:]:
        assert_array_equal(on_policy[0], path)


def test_the_two_schedules_differ_from_the_first_stale_step_on() -> None:
    late, saw = (
        simulate_linear("heavy-ball", s, mu=0, x=Fraction(1, 2), stale_share=1, steps=4).path
        for s in (ConstantLag(1), Sawtooth(2))
    )
    # At step 2 the constant lag still pulls from q_1, the sawtooth has just been refreshed.
    assert list(late) == [1, Fraction(1, 2), 0, Fraction(-1, 4), Fraction(-1, 4)]
    assert list(saw) == [1, Fraction(1, 2), 0, 0, 0]


def test_exact_runs_broadcast_too() -> None:
    x = np.array([Fraction(1, 3), Fraction(1, 2)])
    run = simulate_linear("nesterov", Sawtooth(2), mu=0, x=x, stale_share=1, steps=2)
    assert_array_equal(run.path, [[1, 1], 1 - x, 1 - 2 * x])
    assert all(isinstance(value, Fraction) for value in run.path.flat)


def test_an_exact_orbit_on_the_border() -> None:
    run = simulate_linear("heavy-ball", ConstantLag(1), mu=0, x=Fraction(1), stale_share=1, steps=6)
    assert list(run.path) == [1, 0, -1, -1, 0, 1, 1]  # period 6: neither decays nor grows


@settings(deadline=None)
@given(momenta, stiffnesses, shares, schedules, optimizers)
def test_float_run_equals_exact_run(
    mu: Fraction, x: Fraction, share: Fraction, schedule: Schedule, optimizer: str
) -> None:
    exact = simulate_linear(optimizer, schedule, mu=mu, x=x, stale_share=share, steps=12).path
    floating = simulate_linear(
        optimizer, schedule, mu=float(mu), x=float(x), stale_share=float(share), steps=12
    ).path
    assert exact.dtype == object
    assert floating.dtype == np.float64
    scale = float(max(map(abs, exact))) * (1 + abs(float(share)))
    # Twelve steps, each a handful of operations that may amplify by at most 1 + 2 mu + x(1+2|s|).
    amplification = (1 + 2 * float(mu) + float(x) * (1 + 2 * abs(float(share)))) ** 12
    assert_allclose(floating, exact.astype(float), rtol=0, atol=1e-15 * scale * amplification)


@settings(deadline=None)
@given(schedules, optimizers)
def test_chains_do_not_touch_each_other(schedule: Schedule, optimizer: str) -> None:
    mu, x, share = np.array([0.0, 0.5, 0.9]), np.array([[0.01], [0.3]]), 0.7
    together = simulate_linear(optimizer, schedule, mu=mu, x=x, stale_share=share, steps=20).path
    assert together.shape == (21, 2, 3)
    for i, j in np.ndindex(2, 3):
        alone = simulate_linear(
            optimizer, schedule, mu=mu[j], x=x[i, 0], stale_share=share, steps=20
        ).path
        assert_array_equal(together[:, i, j], alone)


def test_step_size_and_slope_count_only_as_a_product() -> None:
    eta, slope = 0.25, 0.5  # a power of two apart, so that the product is the same float
    nonlinear = simulate(
        lambda theta, theta_old: -slope * theta_old,
        "nesterov",
        Sawtooth(3),
        eta=eta,
        mu=0.5,
        initial=2.0,
        steps=30,
    )
    linear = simulate_linear(
        "nesterov", Sawtooth(3), mu=0.5, x=eta * slope, stale_share=1, steps=30, initial=2
    )
    assert_allclose(nonlinear.path, linear.path, rtol=1e-14, atol=1e-15)


def test_recording_every_third_step_keeps_the_same_run() -> None:
    arguments: dict[str, Any] = {"mu": 0.5, "x": 0.1, "stale_share": 1, "steps": 10}
    every = simulate_linear("ema", ConstantLag(2), **arguments)
    third = simulate_linear("ema", ConstantLag(2), **arguments, record_every=3)
    assert_array_equal(third.steps, [0, 3, 6, 9])
    assert_array_equal(third.path, every.path[[0, 3, 6, 9]])


# ---- leaving the floating-point range ----------------------------------------------------------


def test_overflow_is_reported_with_its_step_and_leaves_other_chains_alone() -> None:
    # mu = 0, d = 0: q_k = (1 - x)^k, and 2^1024 is the first power of two beyond float64.
    run = simulate_linear(
        "heavy-ball", ConstantLag(0), mu=0, x=[3.0, 0.5, 5.0], stale_share=1, steps=1100
    )
    assert run.overflowed
    assert_array_equal(run.overflow_step, [1024, -1, 512])
    assert_array_equal(np.isfinite(run.path[:, 0]), np.arange(1101) < 1024)
    assert_array_equal(run.path[:1000, 1], 0.5 ** np.arange(1000))
    assert not np.isnan(run.path).any()


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_overflow_of_a_single_chain_ends_in_infinity(optimizer: str) -> None:
    run = simulate_linear(
        optimizer, ConstantLag(3), mu=0.9, x=50, stale_share=-2, steps=3000, record_every=100
    )
    assert 0 < run.overflow_step < 3000
    assert run.path[-1] == np.inf


# ---- the house ---------------------------------------------------------------------------------


def test_schedules_are_schedules() -> None:
    assert isinstance(ConstantLag(3), Schedule)
    assert isinstance(Sawtooth(3), Schedule)
    assert [ConstantLag(3).lag_at(k) for k in range(4)] == [3, 3, 3, 3]
    assert [Sawtooth(3).lag_at(k) for k in range(7)] == [0, 1, 2, 0, 1, 2, 0]
    assert (ConstantLag(3).longest, Sawtooth(3).longest) == (3, 2)
    assert (ConstantLag(3).period, Sawtooth(3).period) == (1, 3)


def test_simulation_knows_nothing_of_what_is_held_against_it() -> None:
    allowed = {"numpy", "numerics.inputs", "numerics.simulation"}
    for module in Path(simulation.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0
                names = [node.module or ""]
            for name in names:
                known = name.split(".")[0] in sys.stdlib_module_names | {"numpy"} or name in allowed
                assert known or name.startswith("numerics.simulation."), (module.name, name)


def test_public_face_is_sorted_and_complete() -> None:
    names = simulation.__all__
    assert all(hasattr(simulation, name) for name in names)
    groups = [
        [n for n in names if n.isupper()],
        [n for n in names if not n.isupper() and n[0].isupper()],
        [n for n in names if n[0].islower()],
    ]
    assert [n for group in groups for n in sorted(group)] == names
