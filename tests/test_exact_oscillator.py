"""Theorem 7's oscillator from any start: every branch, every scale, and where it bends."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log, nan, pi
from typing import Any

import mpmath as mp
import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics.exact import inflection_time, trajectory, truncated_onset
from numerics.inputs import InvalidInput

EPS = float(np.finfo(np.float64).eps)


@pytest.mark.parametrize(
    ("system", "value"),
    [
        ((1, 1e9, 1, 1e9), 0.36787944117144233),
        ((1, 1e9, 1e9, 1), 0.36787944117144233),
        ((1e-18, 1, 1, 1), 0.36787944117144233),
        ((-1, -1e9, -1, 1e9), 0.36787944117144233),
        ((1, 2, 1, 2), 0.40600584970983805),
        ((1, 2, 1 - 1e-24, 2), 0.40600584970983805),
        ((1e200, 2e200, 1e200, 2), 0.40600584970983805),
        ((1e-200, 2e-200, 1e-200, 2), 0.40600584970983805),
        ((0, 2, 1, 2), exp(-1)),
        ((1, 0, 0, 5), 1.0),
        ((1, -3, 0, 1e4), 1.0),
    ],
)
def test_known_values(system: tuple[float, ...], value: float) -> None:
    assert trajectory(*system) == pytest.approx(value, rel=2 * EPS, abs=0)


@pytest.mark.parametrize("power", [-12, -8, -3, 0])
@pytest.mark.parametrize("side", [-1, 1])
def test_near_critical_damping(power: int, side: int) -> None:
    """Roots 1 +- w at t = 2, w^2 = 1e-24 .. 1, as the exact solution has them."""
    w2 = Fraction(side) * Fraction(1, 10**24) * Fraction(10) ** (2 * (power + 12))
    with mp.workdps(60):
        expected = float(reference.oscillator(1, 2, 1 - w2, 2)[0])
    assert trajectory(1, 2, float(1 - w2), 2) == pytest.approx(expected, rel=4 * EPS, abs=0)


MASS = st.one_of(st.just(1.0), st.floats(-12, 12).map(lambda e: 10.0**e))
SIGN = st.sampled_from([1.0, -1.0])
# Log10 of |4 M K / C^2 - 1|, and its sign: from far over critical damping to far under it.
SPREAD = st.one_of(st.just(0.0), st.floats(-17, 8).map(lambda e: 10.0**e))


@settings(deadline=None, max_examples=400)
@given(MASS, st.floats(-12, 12), SPREAD, SIGN, SIGN, SIGN, st.floats(-3, 2.8))
@example(1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.8)
def test_fifty_digits(
    mass: float, rate: float, spread: float, side: float, mass_sign: float, sign: float, time: float
) -> None:
    damping = sign * mass * 10.0**rate
    stiffness = damping * damping / (4 * mass) * (1 + side * spread)
    m, k, t = mass_sign * mass, mass_sign * stiffness, 10.0 ** (time - rate)
    with mp.workdps(60):
        exact, envelope = reference.oscillator(m, damping, k, t)
        square = reference.number(damping) ** 2 - 4 * reference.number(m) * reference.number(k)
        turn = float(mp.sqrt(max(-square, 0)) / (2 * mass)) * t
        size = max(envelope, abs(exact))
        if not 1e-300 < size < 1e300:
            return
        error = float(abs(reference.number(float(trajectory(m, damping, k, t))) - exact) / size)
    assert error <= 5e-13 + 4 * EPS * turn


def from_any_start(
    m: Any, c: Any, k: Any, t: Any, position: Any, velocity: Any
) -> tuple[Any, Any, Any]:
    """Return q(t), the size of its parts, and the growth of a unit start."""
    with mp.workdps(200):
        m, c, k, t, q, v = map(reference.number, (m, c, k, t, position, velocity))
        root = mp.sqrt(mp.mpc(c * c - 4 * m * k))
        if root == 0:
            root = mp.mpf(10) ** -120 * (abs(c / m) or 1) * m  # a double root, in 200 digits
        a, b = (-c + root) / (2 * m), (-c - root) / (2 * m)
        answer = ((v - b * q) * mp.exp(a * t) - (v - a * q) * mp.exp(b * t)) / (a - b)
        respond = (mp.exp(a * t) - mp.exp(b * t)) / (a - b)
        slowest = mp.exp(max(a.real, b.real) * t)
        size = max(abs(q) * slowest, abs(v * respond), abs(answer.real))
        return answer.real, size, max(slowest, abs(respond))


@settings(deadline=None, max_examples=300)
@given(
    MASS,
    st.floats(-12, 12),
    SPREAD,
    SIGN,
    SIGN,
    SIGN,
    st.floats(-3, 2.8),
    st.floats(-8, 8),
    st.floats(-8, 8),
)
@example(1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 2.8, 1.0, -0.5)
@example(1.0, 0.0, 1e-16, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0)
def test_fifty_digits_from_any_start(
    mass: float,
    rate: float,
    spread: float,
    side: float,
    mass_sign: float,
    sign: float,
    time: float,
    position: float,
    push: float,
) -> None:
    damping = sign * mass * 10.0**rate
    stiffness = damping * damping / (4 * mass) * (1 + side * spread)
    m, k, t = mass_sign * mass, mass_sign * stiffness, 10.0 ** (time - rate)
    velocity = push * 10.0**rate
    exact, size, growth = from_any_start(m, damping, k, t, position, velocity)
    if not (1e-290 < size < 1e290 and growth < 1e290):
        return
    found = trajectory(m, damping, k, t, position=position, velocity=velocity)
    with mp.workdps(60):
        square = reference.number(damping) ** 2 - 4 * reference.number(m) * reference.number(k)
        turn = float(mp.sqrt(max(-square, 0)) / (2 * mass)) * t
        error = float(abs(reference.number(float(found)) - exact) / size)
    assert error <= 1e-12 + 4 * EPS * turn


@pytest.mark.parametrize("stiffness", [0.0, 0.7, 1.0, 1.0 + 1e-15, 1.0 - 1e-15, 30.0, -2.0])
@pytest.mark.parametrize("damping", [2.0, -2.0, 0.0])
@pytest.mark.parametrize("mass", [1.0, -1.0])
def test_a_motion_can_be_taken_up_again(mass: float, damping: float, stiffness: float) -> None:
    """The velocity at time s is the answer to a start in which velocity and force are the start."""
    system, s, t = (mass, damping, stiffness), 0.75, np.linspace(0, 3, 7)
    q, v = 0.3, -1.7
    # The velocity obeys the same equation, from v and the acceleration.
    acceleration = -(damping * v + stiffness * q) / mass
    middle = trajectory(*system, s, position=q, velocity=v)
    speed = trajectory(*system, s, position=v, velocity=acceleration)
    whole = trajectory(*system, s + t, position=q, velocity=v)
    again = trajectory(*system, t, position=middle, velocity=speed)
    assert again == pytest.approx(whole, rel=1e-12, abs=1e-13 * np.abs(whole).max())


def test_special_starts() -> None:
    t = np.array([0.0, 1.0, 700.0, 2000.0])
    # A free mass coasts; a mass in a fluid stops after velocity*mass/damping; antidamped, it runs.
    assert trajectory(2, 0, 0, t, velocity=3).tolist() == (1 + 3 * t).tolist()
    assert trajectory(2, 4, 0, 1e9, position=0, velocity=3) == pytest.approx(1.5)
    assert trajectory(1, -1, 0, t, velocity=1).tolist() == pytest.approx([1, exp(1), exp(700), inf])
    # On the slow mode alone, and at rest at 0, growth of the other mode makes no difference.
    slow = trajectory(1, -3, 2, t, velocity=1)
    assert slow.tolist() == pytest.approx([1, exp(1), exp(700), inf])
    assert trajectory(1, -3, 2, t, position=0).tolist() == [0, 0, 0, 0]
    assert trajectory(1, -1, 2, [1e4], position=0).tolist() == [0]
    assert trajectory(0, 2, 1, 2, position=5) == pytest.approx(5 * exp(-1))
    assert trajectory(
        1, 2, 3, np.ones(4), position=np.ones((3, 1)), velocity=[1, 2, 3, 4]
    ).shape == (
        3,
        4,
    )


def test_a_velocity_needs_a_mass() -> None:
    with pytest.raises(InvalidInput, match="leave velocity at 0"):
        trajectory([1, 0], 2, 1, 1, velocity=1)
    with pytest.raises(InvalidInput, match="velocity must be finite"):
        trajectory(1, 2, 1, 1, velocity=inf)
    with pytest.raises(InvalidInput, match=r"do not broadcast: t \(2,\), position \(3,\)"):
        trajectory(1, 2, 1, [1, 2], position=[1, 2, 3])


def test_units_of_time_do_not_matter() -> None:
    for mass, damping, stiffness in ((1, 3, 1), (1, 2, 1), (1, 1, 1), (-1, 1, 1)):
        for unit in (2.0**-60, 2.0**60):
            scaled = trajectory(
                mass * unit**2, damping * unit, stiffness, 3 * unit, velocity=2 / unit
            )
            assert scaled == trajectory(mass, damping, stiffness, 3, velocity=2)


def test_broadcasting_and_shapes() -> None:
    damping = np.array([[1.0], [2.0], [3.0]])
    times = np.linspace(0, 5, 7)
    found = trajectory(1, damping, 1, times)
    assert found.shape == (3, 7)
    assert found.dtype == np.float64
    single = [[float(trajectory(1, c, 1, t)) for t in times] for c in (1.0, 2.0, 3.0)]
    assert found.tolist() == single
    assert (found[:, 0] == 1).all()
    assert isinstance(trajectory(1, 2, 1, 0), np.float64)
    assert trajectory(1, 2, 1, np.empty((0, 3))).shape == (0, 3)
    assert trajectory([0, 1, -1], 2, 1, 1).shape == (3,)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.1, 10), st.floats(-3, 3), st.floats(-3, 3), st.floats(0.0, 2.0), SIGN)
def test_it_solves_the_equation_from_rest(
    mass: float, damping: float, stiffness: float, t: float, sign: float
) -> None:
    m, h = sign * mass, 1e-3
    assert trajectory(m, damping, stiffness, 0) == 1
    before, now, after = trajectory(m, damping, stiffness, np.array([t - h, t, t + h]))
    acceleration, velocity = (after - 2 * now + before) / h**2, (after - before) / (2 * h)
    forces = [m * acceleration, damping * velocity, stiffness * now]
    curvature = (1 + (abs(damping) + abs(stiffness)) / mass) ** 4
    assert abs(sum(forces)) <= 1e-5 * curvature * max(1, *map(abs, forces))


def test_growth_beyond_floats_is_infinite_without_a_warning() -> None:
    assert trajectory(-1, 1, 1, 1e4) == inf
    assert trajectory(1, -3, 1, 1e4) == -inf


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("wrong", [nan, inf])
def test_trajectories_refuse_what_is_not_finite(place: int, wrong: float) -> None:
    values = [1.0, 1.0, 1.0, 1.0]
    values[place] = wrong
    name = ("mass", "damping", "stiffness", "t")[place]
    with pytest.raises(ValueError, match=f"{name} must be finite"):
        trajectory(*values)
    if place < 3:
        with pytest.raises(ValueError, match=f"{name} must be finite"):
            inflection_time(*values[:3])


def test_trajectories_refuse_what_cannot_move() -> None:
    with pytest.raises(ValueError, match="both 0"):
        trajectory(0, [1, 0], 1, 1)


@pytest.mark.parametrize(
    ("system", "time"),
    [
        ((1, 2, 1), 1.0),
        ((1, 2, 1 - 1e-15), 1.0),
        ((1, 2, 1 + 1e-15), 1.0),
        ((1, 0, 1), pi / 2),
        ((1, -2, 1 + 1e-16), None),  # rounds to critical, and grows
        ((1, -1, 1), 2 * pi / 3 / (3**0.5 / 2)),
        ((-1, -2, -1), 1.0),
        ((1, 1e9, 1), 2 * log(1e9) / 1e9),
        ((1, 1e160, 1e-160), 640 * log(10) / 1e160),
        ((1, 3, -1), None),
        ((-1, 3, 1), None),
        ((1, -3, 1), None),
        ((0, 1, 1), None),
        ((1, 1, 0), None),
    ],
)
def test_where_it_bends(system: tuple[float, ...], time: float | None) -> None:
    found = inflection_time(*system)
    assert found == (time if time is None else pytest.approx(time, rel=1e-14))


@settings(deadline=None, max_examples=100)
@given(st.floats(0.1, 10), st.floats(0.01, 10), st.floats(0.01, 10))
def test_the_second_derivative_vanishes_there_and_not_before(m: float, c: float, k: float) -> None:
    t = inflection_time(m, c, k)
    assert t is not None

    def path(time: Any) -> Any:
        return reference.oscillator(m, c, k, time)[0]

    with mp.workdps(60):
        bend = mp.diff(path, mp.mpf(t), 2)
        assert abs(bend) <= 1e-12 * k / m
        assert mp.diff(path, mp.mpf(t) / 2, 2) < 0


# theory.md, section 4: mu, d, theorem-7's onset.
TABLE = [
    ("0", 0, "0.5"),
    ("0", 1, "0.2360679775"),
    ("0", 4, "0.0876952648396"),
    ("0.5", 2, "0.0481456008918"),
    ("0.9", 0, "0.00263157894737"),
    ("0.9", 1, "0.00249843945008"),
    ("0.9", 8, "0.00181289950103"),
]


@pytest.mark.parametrize(("mu", "d", "printed"), TABLE)
def test_the_truncated_onsets_of_the_table(mu: str, d: int, printed: str) -> None:
    m = Fraction(mu)
    found = truncated_onset(((1 + m) / 2, Fraction(d * d, 2)), (1 - m, Fraction(-d)))
    assert found is not None
    assert f"{found:.12g}" == printed
    floats = truncated_onset(((1 + float(m)) / 2, d * d / 2), (1 - float(m), -d), (0.0, 1.0))
    assert floats == pytest.approx(found, rel=1e-14)


@pytest.mark.parametrize(
    ("mass", "damping", "stiffness", "expected"),
    [
        ((1, 0), (1, 0), (0, 4), Fraction(1, 16)),
        ((1, 0), (0, 1), (0, 1), 4),  # x^2 = 4 x
        ((1, -1), (1, 0), (0, 1), Fraction(1, 2)),  # (1 - 2 x)^2: a double root
        ((-1, -1), (1, 0), (0, 1), None),  # negative mass never oscillates
        ((1, 0), (-1, 0), (0, 1), None),  # negative damping
        ((Fraction(1, 2), 0), (1, 10**20), (0, 1), None),
        ((1, 0), (1, -(10**20)), (0, 1), Fraction(1, 10**20)),
        ((0, 0), (1, -1), (0, 1), None),  # critical only where the damping is 0
    ],
)
def test_truncated_onsets(mass: Any, damping: Any, stiffness: Any, expected: Any) -> None:
    found = truncated_onset(mass, damping, stiffness)
    assert found == (expected if expected is None else pytest.approx(float(expected), rel=1e-9))
