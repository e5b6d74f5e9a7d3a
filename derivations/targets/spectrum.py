r"""Targets about modes and noise: spectral radius, relaxation time, variance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from derivations.characteristic import characteristic_polynomial, monodromy, z
from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import slow_root, variance
from derivations.results.stability_conditions import is_stable_at
from derivations.targets.base import LINEAR, Setting, Target, TargetError, every_lag

__all__ = ["SPECTRUM", "radius_ball"]

_x = quantity("x")
#: Lags up to which the variance is written out as a rational function.
CLOSED_VARIANCE = 6


def _polynomial(setting: Setting) -> tuple[sp.Poly, int]:
    """Return the polynomial of the modes, and how many steps one application of the map takes."""
    update = setting.update
    assert update is not None
    if update.lag_model.name == "constant":
        return characteristic_polynomial(update), 1
    matrix = monodromy(update)
    return sp.Poly(z**2 - matrix.trace() * z + matrix.det(), z), update.steps or 1


def radius_ball(setting: Setting, point: Point, bits: int) -> Any:
    """Return a ball containing the spectral radius per step, from isolated roots."""
    from flint import arb, fmpq, fmpq_poly

    polynomial, steps = _polynomial(setting)
    at = {s: sp.Rational(v) for s, v in point.items()}
    exact = [sp.Rational(c.subs(at)) for c in reversed(polynomial.all_coeffs())]
    with balls.precision(bits):
        roots = fmpq_poly([fmpq(int(c.p), int(c.q)) for c in exact]).complex_roots()
        out = abs(roots[0][0])
        for root, _ in roots[1:]:
            out = out.max(abs(root))
        return out if steps == 1 else out ** (arb(1) / steps)


def _of(setting: Setting) -> tuple[sp.Symbol, ...]:
    """The symbols a mode depends on."""
    assert setting.update is not None
    return (quantity("mu"), _x, *setting.update.stale_share.free_symbols)


def _needs_flint(enclose: Callable[[Point, int], Any]) -> Callable[[Point, int], Any]:
    def guarded(point: Point, bits: int) -> Any:
        if not balls.available():
            raise balls.Undefined("python-flint is needed to enclose polynomial roots")
        return enclose(point, bits)

    return guarded


def _spectral_radius(setting: Setting) -> Value:
    return Value(
        enclose=_needs_flint(lambda p, bits: radius_ball(setting, {**setting.pinned, **p}, bits)),
        text=f"max |z| over the roots of {_polynomial(setting)[0].as_expr()}",
        basis=("characteristic",),
        symbols=_of(setting),
    )


def _relaxation_time(setting: Setting) -> Value:
    update = setting.update
    assert update is not None
    series = (
        slow_root.derive(update)["relaxation_time"]
        if (update.lag_model.name == "constant")
        else None
    )
    known = (_x, series, 2) if series is not None else None
    if every_lag(setting):
        return Value(
            text=f"{series} + O(x)", series=known, basis=("slow-root",), symbols=_of(setting)
        )

    def enclose(point: Point, bits: int) -> Any:
        with balls.precision(bits):
            return -1 / radius_ball(setting, {**setting.pinned, **point}, bits).log()

    return Value(
        enclose=_needs_flint(enclose),
        exists=lambda p: is_stable_at(update, {**setting.pinned, **p}),
        text="-1/log(spectral_radius)",
        series=known,
        basis=("characteristic", "slow-root"),
        symbols=_of(setting),
    )


def _variance(setting: Setting) -> Value:
    update = setting.update
    assert update is not None

    def stable(point: Point) -> bool:
        return is_stable_at(update, {**setting.pinned, **point})

    if update.steps is not None and update.steps > CLOSED_VARIANCE:
        raise TargetError(
            f"the variance is written out for lags up to {CLOSED_VARIANCE}; "
            "grpo-dynamics predict gives it in numbers at any lag"
        )
    derived = variance.derive(update)
    return Value(derived["variance"], exists=stable, basis=(derived.id,))


SPECTRUM = (
    Target(
        "spectral_radius",
        "largest modulus of a mode, per step",
        "1",
        LINEAR,
        _spectral_radius,
        by_lag=every_lag,
    ),
    Target("relaxation_time", "-1/log(spectral_radius)", "step", LINEAR, _relaxation_time),
    Target(
        "variance",
        "stationary variance of q for unit noise on the recurrence's right side",
        "1",
        LINEAR,
        _variance,
        by_lag=every_lag,
    ),
    Target("variance_per_noise", "the same as variance", "1", LINEAR, _variance, by_lag=every_lag),
)
