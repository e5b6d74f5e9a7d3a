r"""Targets of the empirical laws of reward curves: saturation in t, compute and performance."""

from __future__ import annotations

import sympy as sp

from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import compute_exponent, overdamped, saturation_law
from derivations.targets.base import Setting, Target

__all__ = ["LAWS"]

_p_0, _sigma, _B = (quantity(n) for n in ("p_0", "sigma", "B"))
_CURVES = compute_exponent.CURVES


def _exponent(setting: Setting) -> Value:
    """The exponent along a curve; without a KL anchor in sigma, where it is below its start."""
    curve = str(setting.choices["curve"])
    found = compute_exponent.derive(curve)
    if not curve.startswith("no-kl"):
        return Value(found["exponent"], basis=(found.id,))
    late = (sp.StrictGreaterThan(_p_0 * (1 - _p_0), _sigma**2, evaluate=False),)
    return Value(found["by_spread"], where=late, basis=(found.id,))


def _limit(result: str, setting: Setting) -> Value:
    found = compute_exponent.derive(str(setting.choices["curve"]))[result]
    return Value(found, basis=("compute-exponent",))


def _logit_acceleration(setting: Setting) -> Value:
    name = f"logit_acceleration_{setting.choices['normaliser']}"
    return Value(saturation_law.derive()[name], basis=("saturation-law",))


def _inflection(setting: Setting) -> Value:
    found = compute_exponent.derive(_CURVES[0])["law_inflection"]
    steep = (sp.StrictGreaterThan(_B, 1, evaluate=False),)
    return Value(found, where=steep, basis=("compute-exponent",))


LAWS = (
    Target(
        "saturation",
        "reward of the overdamped limit, a single exponential",
        "reward",
        ("R_0", "R_inf", "tau", "t"),
        lambda setting: Value(overdamped.derive()["reward"], basis=("cor-13",)),
        linear=False,
    ),
    Target(
        "saturation_constant",
        "what stands before size^0.3 in other units, where it is 1 in the old ones",
        "1",
        ("u", "v"),
        lambda setting: Value(saturation_law.derive()["constant"], basis=("saturation-law",)),
        linear=False,
    ),
    Target(
        "logit_acceleration",
        "d^2 logit p/dt^2 at beta = 0; zero for a sigmoid in t",
        "1/step^2",
        ("p", "eta"),
        _logit_acceleration,
        choices={"normaliser": ("std", "mean")},
        linear=False,
    ),
    Target(
        "compute_exponent",
        "B that a compute-performance law would need here: d ln(y/(1 - y))/d ln t of a rise y",
        "1",
        ("sigma", "p_0", "t", "tau", "r_p", "r_m"),
        _exponent,
        choices={"curve": _CURVES},
        linear=False,
    ),
    Target(
        "starting_exponent",
        "the same at the start of the rise",
        "1",
        (),
        lambda setting: _limit("start", setting),
        choices={"curve": _CURVES},
        linear=False,
    ),
    Target(
        "half_exponent",
        "the same at half of the rise",
        "1",
        ("p_0",),
        lambda setting: _limit("half", setting),
        choices={"curve": tuple(curve for curve in _CURVES if curve != "from-rest")},
        linear=False,
    ),
    Target(
        "compute_inflection",
        "where a compute-performance law is steepest, B > 1",
        "step",
        ("B", "C_mid"),
        _inflection,
        linear=False,
    ),
)
