r"""Targets about modes: spectral radius, relaxation time, period."""

from __future__ import annotations

from typing import Any

import sympy as sp

from derivations.characteristic import characteristic_polynomial, monodromy, z
from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import period, slow_root
from derivations.results.stability_conditions import is_stable_at
from derivations.targets.base import (
    LINEAR,
    Setting,
    Target,
    every_lag,
    needs_flint,
)
from derivations.targets.oscillator import sketched

__all__ = ["SPECTRUM"]

_x = quantity("x")
_IN_STEPS = tuple(name for name in LINEAR if name != "delta")


def _polynomial(setting: Setting) -> tuple[sp.Poly, int]:
    """Return the polynomial of the modes, and how many steps one application of the map takes."""
    update = setting.update
    assert update is not None
    if update.lag_model.name == "constant":
        return characteristic_polynomial(update), 1
    matrix = monodromy(update)
    return sp.Poly(z**2 - matrix.trace() * z + matrix.det(), z), update.steps or 1


def _roots(setting: Setting, point: Point) -> list[Any]:
    """Return balls around the modes of one application of the map, each isolated."""
    from flint import fmpq, fmpq_poly

    at = {**setting.pinned, **point}
    exact = [balls.rational_value(c, at) for c in reversed(_polynomial(setting)[0].all_coeffs())]
    if None in exact:
        raise balls.Undefined("the point leaves a symbol of the map open")
    polynomial = fmpq_poly([fmpq(c.numerator, c.denominator) for c in exact if c is not None])
    return [root for root, _ in polynomial.complex_roots()]


def radius_ball(setting: Setting, point: Point, bits: int) -> Any:
    """Return a ball containing the spectral radius per step."""
    from flint import arb

    steps = _polynomial(setting)[1]
    with balls.precision(bits):
        first, *rest = (abs(root) for root in _roots(setting, point))
        out = first
        for modulus in rest:
            out = out.max(modulus)
        return out if steps == 1 else out ** (arb(1) / steps)


def period_ball(setting: Setting, point: Point, bits: int) -> Any:
    """Return a ball containing 2*pi over the angle of the dominant complex pair, in steps.

    Raises
    ------
    Undefined
        If the dominant mode is real, or not told apart from the next one.
    """
    from flint import arb

    steps = _polynomial(setting)[1]
    with balls.precision(bits):
        upper = [root for root in _roots(setting, point) if not root.imag < 0]
        first, *others = sorted(upper, key=lambda root: float(abs(root).mid()), reverse=True)
        if not (first.imag > 0 and all(abs(first) > abs(other) for other in others)):
            raise balls.Undefined("no complex pair dominates")
        return 2 * arb.pi() * steps / first.arg()


def _of(setting: Setting) -> tuple[sp.Symbol, ...]:
    """The symbols a mode depends on."""
    assert setting.update is not None
    return (quantity("mu"), _x, *setting.update.stale_share.free_symbols)


def _spectral_radius(setting: Setting) -> Value:
    return Value(
        enclose=needs_flint(lambda p, bits: radius_ball(setting, p, bits)),
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

    return _enclosed_time(setting, known)


def _enclosed_time(setting: Setting, known: tuple[sp.Symbol, sp.Expr, int] | None) -> Value:
    update = setting.update
    assert update is not None

    def enclose(point: Point, bits: int) -> Any:
        with balls.precision(bits):
            return -1 / radius_ball(setting, point, bits).log()

    return Value(
        enclose=needs_flint(enclose),
        exists=lambda p: is_stable_at(update, {**setting.pinned, **p}),
        text="-1/log(spectral_radius)",
        series=known,
        basis=("characteristic", "slow-root"),
        symbols=_of(setting),
    )


def _period(setting: Setting) -> Value:
    """Of theorem-7's oscillator in closed form; of the map by its dominant pair, enclosed."""
    update = setting.update
    assert update is not None
    if setting.choices["of"] == "oscillator":
        derived = period.derive(update)
        swings = sp.StrictGreaterThan(derived["swings"], 0, evaluate=False)
        return Value(derived["period"], where=(swings,), basis=(derived.id, "theorem-7"))

    def exists(point: Point) -> bool:
        try:
            return not balls.available() or bool(period_ball(setting, point, 192) > 0)
        except balls.Undefined:
            return False

    return Value(
        enclose=needs_flint(lambda p, bits: period_ball(setting, p, bits)),
        exists=exists,
        text=f"2*pi over the angle of the dominant pair of {_polynomial(setting)[0].as_expr()}",
        basis=("characteristic", "oscillation-period"),
        symbols=_of(setting),
    )


def _sketched_time(setting: Setting) -> Value:
    """The relaxation time at a fixed lag, without its series."""
    return _enclosed_time(setting, None)


def _sketched_period(setting: Setting) -> Value:
    if setting.choices["of"] == "map":
        return _period(setting)
    mass, damping, stiffness = sketched(setting)
    swings = 4 * mass * stiffness - damping**2
    return Value(
        4 * sp.pi * mass / sp.sqrt(swings), where=(sp.StrictGreaterThan(swings, 0, evaluate=False),)
    )


SPECTRUM = (
    Target(
        "spectral_radius",
        "largest modulus of a mode, per step",
        "1",
        LINEAR,
        _spectral_radius,
        sketch=_spectral_radius,
        by_lag=every_lag,
    ),
    Target(
        "relaxation_time",
        "-1/log(spectral_radius)",
        "step",
        LINEAR,
        _relaxation_time,
        sketch=_sketched_time,
    ),
    Target(
        "period",
        "steps a swing takes; none where the dominant mode is real",
        "step",
        _IN_STEPS,
        _period,
        sketch=_sketched_period,
        choices={"of": ("map", "oscillator")},
        by_lag=lambda setting: every_lag(setting) and setting.choices["of"] == "map",
    ),
)
