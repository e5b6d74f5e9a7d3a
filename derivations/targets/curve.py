r"""Targets of cor-13, eq-15, prop-14 and the slow start: shapes of the curve, in M, C, K."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from derivations.derivation import Derivation
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import attribution, overdamped, slow_start
from derivations.targets.base import LINEAR, Setting, Target

__all__ = ["CURVES"]

_M, _C, _K, _t, _R_0, _R_inf = (quantity(n) for n in ("M", "C", "K", "t", "R_0", "R_inf"))
_r_p, _r_m = quantity("r_p"), quantity("r_m")
#: An overdamped oscillator written by its rates: M = 1, C and K their sum and product.
_BY_RATES: Mapping[sp.Symbol, sp.Expr] = {_M: sp.S.One, _C: _r_p + _r_m, _K: _r_p * _r_m}
_OVERDAMPED = (sp.StrictGreaterThan(_r_p, _r_m, evaluate=False),)


def _of(derive: Callable[[], Derivation], result: str) -> Callable[[Setting], Value]:
    def build(setting: Setting) -> Value:
        derivation = derive()
        return Value(derivation[result], basis=(derivation.id,))

    return build


def _by_rates(result: str) -> Callable[[Setting], Value]:
    """Write a result of prop-14 in its rates, r_p > r_m, so that the root has one sign."""

    def build(setting: Setting) -> Value:
        derivation = slow_start.derive()
        expression = derivation[result].subs(_BY_RATES, simultaneous=True)
        gap = sp.Pow((_r_p + _r_m) ** 2 - 4 * _r_p * _r_m, sp.Rational(1, 2), evaluate=False)
        return Value(expression.subs(gap, _r_p - _r_m), where=_OVERDAMPED, basis=(derivation.id,))

    return build


def _exponential_acceleration(setting: Setting) -> Value:
    """Second derivative of the overdamped limit's single exponential, while it rises."""
    reward = overdamped.derive()["reward"]
    rising = (sp.StrictGreaterThan(_R_inf, _R_0, evaluate=False),)
    return Value(sp.diff(reward, _t, 2), where=rising, basis=("cor-13",))


def _inertial_delay(setting: Setting) -> Value:
    return Value(attribution.derive(setting.update)["delay"], basis=("slow-start-attribution",))


CURVES = (
    Target(
        "slow_rate",
        "rate of the slow mode of M q'' + C q' + K q = 0",
        "1/step",
        ("M", "C", "K"),
        _of(overdamped.derive, "slow_rate"),
        linear=False,
    ),
    Target(
        "timescale",
        "tau of the overdamped limit",
        "step",
        ("M", "C", "K"),
        _of(overdamped.derive, "tau"),
        linear=False,
    ),
    Target(
        "rise",
        "reward from rest, overdamped, with rates r_p > r_m",
        "reward",
        ("R_0", "R_inf", "r_p", "r_m", "t"),
        _by_rates("reward_overdamped"),
        linear=False,
    ),
    Target(
        "rise_inflection",
        "time of steepest progress of the rise from rest",
        "step",
        ("r_p", "r_m"),
        _by_rates("inflection_time"),
        linear=False,
    ),
    Target(
        "exponential_acceleration",
        "second derivative of a rising single exponential",
        "reward/step^2",
        ("R_0", "R_inf", "tau", "t"),
        _exponential_acceleration,
        linear=False,
    ),
    Target(
        "inertial_delay",
        "M/C at zero lag: how long inertia delays the curve",
        "step",
        LINEAR,
        _inertial_delay,
    ),
)
