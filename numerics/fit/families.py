"""The families of curves that a reward is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import pi

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from numerics.fit.family import Basis, Coordinate, Family, Readings
from numerics.fit.flow import Flow, group_flow, mean_flow, std_flow
from numerics.fit.oscillator import inflection, relaxation, rest

__all__ = ["FAMILIES", "family_names", "finite_group"]

FloatArray = NDArray[np.float64]
Values = Mapping[str, float]

_TAU_STARTS = (0.03, 0.1, 0.3, 1.0)
_RHO_STARTS = (0.02, 0.2, 1.0, 8.0)
#: A damping ratio of 1/10: with less, half a swing passes for a rise.
_LARGEST_RHO = 25.0


def _tau(name: str = "tau", starts: tuple[float, ...] = _TAU_STARTS) -> Coordinate:
    return Coordinate(name, "C/K", "span", True, 1e-4, 100.0, starts)


def _rho(
    name: str = "rho", high: float = _LARGEST_RHO, starts: tuple[float, ...] = _RHO_STARTS
) -> Coordinate:
    return Coordinate(name, "M K/C^2, 1/4 at critical damping", "", True, 1e-6, high, starts)


def _columns(time: FloatArray, linear: int, coordinates: int) -> Basis:
    phi = np.empty((time.size, linear))
    phi[:, 0] = 1.0
    return phi, np.zeros((coordinates, time.size, linear))


def _ends(amplitudes: FloatArray, start: float = 0.0, rise: int = 1) -> Readings:
    """Return R_0 and R_inf of ``c_0 + c_1 shape``, where the shape goes from `start` to 1."""
    first = float(amplitudes[0])
    return {
        "R_0": first + start * float(amplitudes[1]),
        "R_inf": first + float(amplitudes[1 : 1 + rise].sum()),
    }


def _constant(time: FloatArray, _: tuple[float, ...]) -> Basis:
    return _columns(time, 1, 0)


def _exponential(time: FloatArray, values: tuple[float, ...]) -> Basis:
    phi, slopes = _columns(time, 2, 1)
    s = np.clip(time / values[0], 0.0, 700.0)
    phi[:, 1] = -np.expm1(-s)
    slopes[0, :, 1] = -s * np.exp(-s)
    return phi, slopes


def _three_phase(time: FloatArray, values: tuple[float, ...]) -> Basis:
    phi, slopes = _columns(time, 2, 2)
    curve = rest(time, *values)
    phi[:, 1] = 1 - curve.q
    slopes[0, :, 1], slopes[1, :, 1] = -curve.q_by_log_time, -curve.q_by_log_rho
    return phi, slopes


def _moving(time: FloatArray, values: tuple[float, ...]) -> Basis:
    phi, slopes = _columns(time, 3, 2)
    curve = rest(time, *values)
    phi[:, 1], phi[:, 2] = 1 - curve.q, curve.push
    slopes[0, :, 1], slopes[1, :, 1] = -curve.q_by_log_time, -curve.q_by_log_rho
    slopes[0, :, 2], slopes[1, :, 2] = curve.push_by_log_time, curve.push_by_log_rho
    return phi, slopes


def _two_stage(time: FloatArray, values: tuple[float, ...]) -> Basis:
    phi, slopes = _columns(time, 3, 5)
    tau, rho, tau_2, rho_2, start = values
    first = rest(time, tau, rho)
    later = rest(np.maximum(time - start, 0.0), tau_2, rho_2)
    phi[:, 1], phi[:, 2] = 1 - first.q, 1 - later.q
    slopes[0, :, 1], slopes[1, :, 1] = -first.q_by_log_time, -first.q_by_log_rho
    slopes[2, :, 2], slopes[3, :, 2] = -later.q_by_log_time, -later.q_by_log_rho
    slopes[4, :, 2] = -later.push / tau_2
    return phi, slopes


def _logistic(u: FloatArray) -> tuple[FloatArray, FloatArray]:
    p = expit(u)
    return p, p * (1 - p)


def _shifted(flow: Flow | None, time: FloatArray, values: tuple[float, ...]) -> Basis:
    """Return ``g((t - half)/width)`` of a flow, or of the logistic function."""
    phi, slopes = _columns(time, 2, 2)
    half, width = values
    u = (time - half) / width
    phi[:, 1], rate = _logistic(u) if flow is None else flow(u)
    slopes[0, :, 1], slopes[1, :, 1] = -rate / width, -rate * u
    return phi, slopes


def _compute(time: FloatArray, values: tuple[float, ...]) -> Basis:
    phi, slopes = _columns(time, 2, 2)
    middle, exponent = values
    far = np.log(np.maximum(time, 1e-300) / middle)
    phi[:, 1], rate = _logistic(exponent * far)
    slopes[0, :, 1], slopes[1, :, 1] = -rate * exponent, rate * exponent * far
    return phi, slopes


def _read_constant(values: Values, amplitudes: FloatArray) -> Readings:
    return {"R_inf": float(amplitudes[0])}


def _read_exponential(values: Values, amplitudes: FloatArray) -> Readings:
    tau = values["tau"]
    return {**_ends(amplitudes), "tau": tau, "relaxation_time": tau, "x_over_damping": 1 / tau}


def _of_oscillator(tau: float, rho: float) -> Readings:
    found = {
        "tau": tau,
        "relaxation_time": relaxation(tau, rho),
        "damping_ratio": 0.5 * rho**-0.5,
        "inertial_delay": rho * tau,
        "x_over_damping": 1 / tau,
    }
    if rho > 0.25:
        found["period"] = 4 * pi * rho * tau / (4 * rho - 1) ** 0.5
    return found


def _read_three_phase(values: Values, amplitudes: FloatArray) -> Readings:
    tau, rho = values["tau"], values["rho"]
    return {
        **_ends(amplitudes), **_of_oscillator(tau, rho), "inflection": inflection(tau, rho)
    }  # fmt: skip


def _read_moving(values: Values, amplitudes: FloatArray) -> Readings:
    return {**_ends(amplitudes), **_of_oscillator(values["tau"], values["rho"])}


def _read_two_stage(values: Values, amplitudes: FloatArray) -> Readings:
    tau, rho, tau_2, rho_2, start = values.values()
    return {
        **_ends(amplitudes, rise=2),
        "first_plateau": float(amplitudes[0] + amplitudes[1]),
        "tau": tau,
        "damping_ratio": 0.5 * rho**-0.5,
        "inflection": inflection(tau, rho),
        "second_start": start,
        "second_tau": tau_2,
        "second_damping_ratio": 0.5 * rho_2**-0.5,
        "second_inflection": start + inflection(tau_2, rho_2),
    }


def _read_flow(flow: Flow | None, values: Values, amplitudes: FloatArray) -> Readings:
    half, width = values["half"], values["width"]
    u = np.array([-half / width])
    success = float((_logistic(u) if flow is None else flow(u))[0][0])
    found = {**_ends(amplitudes, success), "inflection": half}
    if flow is None:
        return {**found, "tau": width, "relaxation_time": width}
    return {**found, "eta": 1 / width, "p_0": success}


def _read_compute(values: Values, amplitudes: FloatArray) -> Readings:
    middle, b = values["C_mid"], values["B"]
    bend = middle * ((b - 1) / (b + 1)) ** (1 / b) if b > 1 else 0.0
    return {**_ends(amplitudes), "C_mid": middle, "B": b, "inflection": bend}


_SHIFTED = (
    Coordinate("half", "time of half the rise", "span", False, -3.0, 3.0, (-0.2, 0.1, 0.3, 0.6)),
    Coordinate("width", "1/rate", "span", True, 1e-4, 30.0, (0.02, 0.08, 0.3)),
)


def _autonomous(name: str, law: str, source: str, flow: Flow | None) -> Family:
    return Family(
        name, law, source, _SHIFTED, partial(_shifted, flow), (1.0, 1.0),
        partial(_read_flow, flow), starts_at_low=flow is not None,
    )  # fmt: skip


_REST = "(r_p exp(-r_m t) - r_m exp(-r_p t))/(r_p - r_m)"

#: Families that need nothing but the curve, by name.
FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        Family("constant", "R = R_inf", "no trend", (), _constant, (1.0,), _read_constant),
        Family(
            "exponential", "R = R_inf - (R_inf - R_0) exp(-t/tau)",
            "cor-13, eq-13: stated in words", (_tau(starts=(0.01, 0.03, 0.1, 0.3, 1.0, 4.0)),),
            _exponential, (1.0, 1.0), _read_exponential,
        ),
        Family(
            "three-phase", f"R = R_inf - (R_inf - R_0) {_REST}",
            "prop-14, eq-16, from rest: reconstructed", (_tau(), _rho()),
            _three_phase, (1.0, 1.0), _read_three_phase,
        ),
        Family(
            "three-phase-moving", f"R = R_inf - (R_inf - R_0) {_REST} + v h(t)",
            "prop-14 from any velocity: extension", (_tau(), _rho()),
            _moving, (1.0, 1.0, 0.0), _read_moving,
        ),
        Family(
            "two-stage", "two three-phase rises without swings, the second from a later start",
            "extension",
            (
                _tau(starts=(0.05, 0.2)), _rho("rho", 0.25, (0.1,)),
                _tau("second_tau", (0.03, 0.15)), _rho("second_rho", 0.25, (0.1,)),
                Coordinate(
                    "second_start", "start of the second rise", "span", False, 0.02, 0.95,
                    (0.1, 0.2, 0.35, 0.5, 0.7),
                ),
            ),
            _two_stage, (1.0, 1.0, 1.0), _read_two_stage,
        ),
        _autonomous(
            "no-kl-std", "cot(2 phi) = cot(2 phi_0) - eta t/4, p = sin(phi)^2",
            "theory.md 3.10, beta = 0, std-normalised, large groups: extension", std_flow(),
        ),
        _autonomous(
            "no-kl-mean", "2 logit p + (2p - 1)/(p (1-p)) = its value at 0 + eta t",
            "theory.md 3.10, beta = 0, mean only, large groups: extension", mean_flow(),
        ),
        _autonomous("sigmoid", "R = R_0 + A/(1 + exp(-(t - half)/width))", "2507.18014 v1", None),
        Family(
            "compute-law", "R = R_0 + (A - R_0)/(1 + (C_mid/C)^B), C in steps",
            "2510.13786: stated",
            (
                Coordinate("C_mid", "steps to half the rise", "span", True, 1e-3, 1e3,
                           (0.05, 0.2, 0.5, 2.0)),
                Coordinate("B", "exponent", "", True, 0.1, 50.0, (0.7, 2.0, 6.0)),
            ),
            _compute, (1.0, 1.0), _read_compute,
        ),
    )
}  # fmt: skip


def finite_group(group_size: int) -> Family:
    """Return the mean path of groups of this size: beta = 0, on-policy, no momentum."""
    return _autonomous(
        "finite-group", f"d logit p/dt = eta D_G(p), G = {group_size}, ddof 1",
        "theory.md 3.9, beta = 0: extension", group_flow(group_size),
    )  # fmt: skip


def family_names() -> tuple[str, ...]:
    """Return the names of all families."""
    return (*FAMILIES, "finite-group")
