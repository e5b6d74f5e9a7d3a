r"""Targets about noise: stationary variance and autocovariance of the deviation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import variance
from derivations.results.stability_conditions import is_stable_at
from derivations.targets.base import LINEAR, Setting, Target, TargetError, every_lag
from derivations.targets.moment import moment_at
from derivations.update import Update

__all__ = ["NOISE"]

_mu, _x, _k = (quantity(name) for name in ("mu", "x", "k"))
#: Lags up to which the variance is written out as a rational function.
CLOSED_VARIANCE = 6
#: Shifts up to which the autocovariance is.
FAR_SHIFT = 6


def _written_out(what: str, setting: Setting) -> Update:
    """Return the update, its lag or refresh short enough for the result to be written out."""
    update = setting.update
    assert update is not None
    if update.steps is not None and update.steps > CLOSED_VARIANCE:
        raise TargetError(
            f"the {what} is written out for lags up to {CLOSED_VARIANCE}; "
            "grpo-dynamics predict gives the variance in numbers at any lag"
        )
    return update


def _stable(setting: Setting) -> Callable[[Point], bool]:
    update = setting.update
    assert update is not None
    return lambda point: is_stable_at(
        update, {s: v for s, v in {**setting.pinned, **point}.items() if s != _k}
    )


def _variance(setting: Setting) -> Value:
    derived = variance.derive(_written_out("variance", setting))
    return Value(derived["variance"], exists=_stable(setting), basis=(derived.id,))


def _autocovariance(setting: Setting) -> Value:
    """The derived one at a shift that is a number; else the same equations, solved at a point."""
    update = _written_out("autocovariance", setting)
    if update.lag_model.name != "constant":
        raise TargetError("the autocovariance is derived for lag_model 'constant' only")
    shift = setting.choices["shift"]
    if shift == _k.name and setting.pinned.get(_k, FAR_SHIFT + 1) <= FAR_SHIFT:
        shift = int(setting.pinned[_k])
    basis = ("stationary-variance",)
    if isinstance(shift, int):
        found = variance.autocovariance(update, shift)
        return Value(found, exists=_stable(setting), basis=basis)

    def enclose(point: Point, bits: int) -> Any:
        point = {**setting.pinned, **point}
        if _k not in point:
            raise balls.Undefined("no shift is given")
        found = moment_at(update, int(point[_k]), point)
        return balls.evaluate(sp.Rational(found), {}, bits)

    return Value(
        enclose=enclose,
        exists=_stable(setting),
        text="the mean of q_n*q_(n + k), from those of the first shifts by the map's recurrence",
        basis=basis,
        symbols=(_mu, _x, *update.stale_share.free_symbols, _k),
    )


def _sketched(setting: Setting) -> Value:
    """The variance, or the autocovariance at a shift, solved in numbers at each point."""
    update = setting.update
    assert update is not None
    said = setting.choices.get("shift", 0)

    def enclose(point: Point, bits: int) -> Any:
        point = {**setting.pinned, **point}
        shift = int(point[_k]) if said == _k.name else int(str(said))
        return balls.evaluate(sp.Rational(moment_at(update, shift, point)), {}, bits)

    return Value(
        enclose=enclose,
        exists=_stable(setting),
        text="stationary moment",
        symbols=(_mu, _x, *update.stale_share.free_symbols, *([_k] if said == _k.name else [])),
    )


NOISE = (
    Target(
        "variance",
        "stationary variance of q for unit noise on the recurrence's right side",
        "1",
        LINEAR,
        _variance,
        sketch=_sketched,
        by_lag=every_lag,
    ),
    Target(
        "variance_per_noise",
        "the same as variance",
        "1",
        LINEAR,
        _variance,
        sketch=_sketched,
        by_lag=every_lag,
    ),
    Target(
        "autocovariance",
        "stationary mean of q times q of k steps later, for the same noise; constant lag",
        "1",
        (*LINEAR, "k"),
        _autocovariance,
        sketch=_sketched,
        choices={"shift": (*range(FAR_SHIFT + 1), _k.name)},
        parameters={"shift": _k.name},
        by_lag=every_lag,
    ),
)
