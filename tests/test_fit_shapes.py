"""The shapes of learning curves against the exact solutions, and their derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from scipy.special import expit, logit

from numerics.dynamics import group_moments, no_kl_path
from numerics.exact import inflection_time, trajectory
from numerics.fit import FAMILIES, Family, finite_group
from numerics.fit.flow import mean_flow, std_flow
from numerics.fit.oscillator import inflection, relaxation, rest

TIMES = np.linspace(0.0, 400.0, 101)
RHO = [1e-6, 1e-3, 0.1, 0.2499, 0.25 - 1e-9, 0.25, 0.25 + 1e-9, 0.26, 1.0, 25.0]
ALL = [*FAMILIES.values(), finite_group(4)]


@pytest.mark.parametrize("rho", RHO)
def test_the_curve_from_rest_is_the_exact_oscillator(rho: float) -> None:
    tau = 50.0
    exact = trajectory(rho * tau**2, tau, 1.0, TIMES)
    pushed = trajectory(rho * tau**2, tau, 1.0, TIMES, position=0.0, velocity=1 / (rho * tau))
    curve = rest(TIMES, tau, rho)
    assert np.abs(curve.q - exact).max() < 1e-9
    assert np.abs(curve.push - pushed).max() < 1e-9 + 1e-13 / rho


@pytest.mark.parametrize("rho", RHO)
def test_the_inflection_is_the_exact_one(rho: float) -> None:
    assert inflection(50.0, rho) == pytest.approx(inflection_time(rho * 2500, 50.0, 1.0), rel=1e-6)


def test_the_relaxation_time_is_one_over_the_slow_rate() -> None:
    for rho in (1e-4, 0.1, 0.25, 2.0):
        roots = np.roots([rho * 2500, 50.0, 1.0])
        assert relaxation(50.0, rho) == pytest.approx(-1 / roots.real.max(), rel=1e-6)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_a_basis_has_the_derivatives_it_says(family: Family) -> None:
    draw = np.random.default_rng(3)
    low, high = family.box()
    time = np.linspace(0.5, 200.0, 60)
    for _ in range(6):
        inner = low + (high - low) * draw.uniform(0.35, 0.65, low.size)
        _, slopes = family.at(time, inner, 200.0)
        for j in range(low.size):
            step = np.zeros(low.size)
            step[j] = 1e-5
            (up, _), (down, _) = (family.at(time, inner + sign * step, 200.0) for sign in (1, -1))
            size = max(1.0, float(np.abs(slopes[j]).max()))
            assert np.abs((up - down) / 2e-5 - slopes[j]).max() < 2e-5 * size, (inner, j)


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_a_coordinate_at_its_end_has_no_derivative_beyond(family: Family) -> None:
    _, high = family.box()
    _, slopes = family.at(np.linspace(1, 100, 20), high + 1.0, 100.0)
    assert not slopes.any()


@pytest.mark.parametrize("family", ALL, ids=lambda f: f.name)
def test_the_ends_of_a_curve_are_what_is_read(family: Family) -> None:
    inner = np.array([c.inner(c.starts[0]) for c in family.coordinates])
    amplitudes = np.array([0.2, 0.5, 0.1])[: family.linear]
    if family.name == "three-phase-moving":
        amplitudes[2] = -0.3
    found = family.read(family.values(inner, 100.0), amplitudes)
    phi, _ = family.at(np.array([0.0, 1e9]), inner, 100.0)
    start, end = phi @ amplitudes
    assert found["R_inf"] == pytest.approx(end, abs=1e-6)
    assert found.get("R_0", start) == pytest.approx(start, abs=1e-9)
    assert found["R_inf"] == pytest.approx(np.array(family.plateau) @ amplitudes)


@pytest.mark.parametrize("normaliser", ["std", "mean"])
@pytest.mark.parametrize("p", [0.01, 0.3, 0.7])
def test_a_flow_is_the_closed_form_without_kl(normaliser: str, p: float) -> None:
    flow = std_flow() if normaliser == "std" else mean_flow()
    exact = no_kl_path(normaliser, eta=0.1, p=p, t=TIMES).success
    assert np.abs(flow(flow.start(p) + 0.1 * TIMES)[0] - exact).max() < 1e-7


@pytest.mark.parametrize("group_size", [2, 4, 64])
def test_a_finite_group_follows_its_mean_drift(group_size: int) -> None:
    def drift(_: float, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.atleast_1d(
            group_moments(
                p=expit(theta), correlation=0, group_size=group_size, baseline="group-mean",
                normaliser="group-std", ddof=1, eps=0,
            ).drift
        )  # fmt: skip

    family = finite_group(group_size)
    eta, half = 0.05, 60.0
    phi, _ = family.basis(np.linspace(0, 200, 21), (half, 1 / eta))
    start = logit(phi[:1, 1])
    path = solve_ivp(
        lambda t, y: eta * drift(t, y), (0, 200), start, t_eval=np.linspace(0, 200, 21),
        rtol=1e-10, atol=1e-12,
    ).y[0]  # fmt: skip
    assert np.abs(expit(path) - phi[:, 1]).max() < 1e-6
