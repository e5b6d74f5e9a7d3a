r"""Targets of the two-arm bandit: fixed points, stiffness, where lag acts, the flow without KL."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import (
    fixed_point,
    kl_force,
    lower_root,
    no_kl,
    staleness,
    stiffness,
    two_cycle,
)
from derivations.targets.base import Setting, Target, needs_flint

__all__ = ["BANDIT"]

_p, _p_ref, _p_star, _beta = (quantity(n) for n in ("p", "p_ref", "p_star", "beta"))
_KL = ("reverse", "k3")
#: Newton's method doubles the digits once it is near; far from there each step gains one e-fold.
_MOST_STEPS = 200
_STALENESS = ("delayed-gradient", "stale-samples", "stale-samples-ratio")
_ESTIMATORS = ("reverse", "k1", "k2", "k3", "k3-ratio")


def _stiffness(result: str) -> Callable[[Setting], Value]:
    return lambda setting: Value(stiffness.derive()[result], basis=("lemma-3",))


def _staleness(result: str) -> Callable[[Setting], Value]:
    return lambda setting: Value(
        staleness.derive(str(setting.choices["staleness"]))[result], basis=("staleness",)
    )


def _anchor(setting: Setting) -> Value:
    """The p_ref whose fixed point is p: the residual is linear in it or in its logit."""
    residual = fixed_point.derive(str(setting.choices["kl"]))["residual"].subs(_p_star, _p)
    root = _only_root(residual.subs(quantity("eps"), 0))
    where = (sp.StrictGreaterThan(root, 0, evaluate=False),)  # there is no other reference policy
    return Value(root, where=where, basis=("fixed-point",))


def _logit_gain(setting: Setting) -> Value:
    """What the fixed point gains over its anchor, read off the derived residual."""
    residual = fixed_point.derive("reverse")["residual"].subs(_p_star, _p)
    logits = sp.log(_p_ref) - sp.log(1 - _p_ref) - sp.log(_p) + sp.log(1 - _p)
    return Value(sp.expand(residual - logits), basis=("fixed-point",))


def _only_root(residual: sp.Expr) -> sp.Expr:
    if residual.has(sp.log):  # logit p_ref enters additively: exponentiate it away
        logit = sp.log(_p_ref) - sp.log(1 - _p_ref)
        odds = sp.exp(-sp.expand(residual - logit))
        return odds / (1 + odds)
    return sp.solve(residual, _p_ref)[0]


def _fixed_point(setting: Setting) -> Value:
    """The fixed point small steps end at: in closed form for k3, enclosed for reverse KL."""
    if setting.choices["kl"] == "k3":
        return Value(fixed_point.derive("k3")["p_star"], basis=("fixed-point",))
    derived = lower_root.derive()
    return Value(
        enclose=needs_flint(lambda p, bits: _lower_root({**setting.pinned, **p}, bits)),
        exists=lambda p: balls.sign(derived["lowest"], {**setting.pinned, **p}) == -1,
        text="the lower zero p_star of logit p_ref + 1/(beta*sqrt(p*(1 - p))) - logit p",
        basis=(derived.id,),
        symbols=(_p_ref, _beta),
    )


def _lower_root(point: Point, bits: int) -> Any:
    """Return a ball around the first zero: Newton's method from the left, then two signs."""
    from flint import arb, fmpq

    derived, precise = lower_root.derive(), bits + 64
    u = derived["u"]

    def at(name: str, where: Fraction) -> Any:
        return balls.evaluate(derived[name], {**point, u: where}, precise)

    here = _centre(balls.evaluate(sp.log(_p_ref / (1 - _p_ref)) / 2, point, precise))
    for _ in range(_MOST_STEPS):
        with balls.precision(precise):
            step = _centre(at("residual", here) / at("slope", here))
        here -= step
        if abs(step) < Fraction(1, 2 ** (bits + 16)):
            break
    width = Fraction(1, 2 ** (bits + 8))
    if not (at("residual", here - width) > 0 and at("residual", here + width) < 0):
        raise balls.Undefined("the two fixed points are too close to be told apart")
    with balls.precision(precise):
        low, high = (arb(fmpq(v.numerator, v.denominator)) for v in (here - width, here + width))
        return 1 / (1 + (-2 * low.union(high)).exp())


def _centre(ball: Any) -> Fraction:
    """Return the midpoint of a ball, exactly."""
    mantissa, exponent = ball.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _cycle_round(setting: Setting) -> Value:
    """One round of the fixed-point map from either end of the derived example of a 2-cycle."""
    cycle, h = two_cycle.derive(), fixed_point.derive("reverse")["map"]
    at = {
        quantity("beta"): cycle["example_beta"],
        _p_ref: cycle["example_p_ref"],
        quantity("eps"): sp.S.Zero,
        _p: cycle[f"example_{setting.choices['start']}"],
    }
    return Value(h.subs(at), basis=(two_cycle.derive().id,))


BANDIT = (
    Target(
        "fixed_point",
        "p_star, the attracting fixed point, eps = 0; under reverse KL only above a critical beta",
        "1",
        ("p_ref", "beta"),
        _fixed_point,
        choices={"kl": _KL},
        linear=False,
    ),
    Target(
        "stiffness_scale",
        "K at the fixed point, exact reverse KL, on-policy",
        "1",
        ("beta", "p_star"),
        _stiffness("stiffness"),
        linear=False,
    ),
    Target(
        "contraction",
        "h'(p_star), slope of the fixed-point map",
        "1",
        ("beta", "p_star"),
        _stiffness("contraction"),
        linear=False,
    ),
    Target(
        "fixed_point_map",
        "Mroueh's map h(p)",
        "1",
        ("p", "p_ref", "beta", "eps"),
        lambda setting: Value(fixed_point.derive("reverse")["map"], basis=("fixed-point",)),
        linear=False,
    ),
    Target(
        "cycle_round",
        "h(p) from the low or high end of the derived example of a 2-cycle",
        "1",
        (),
        _cycle_round,
        choices={"start": ("low", "high")},
        linear=False,
    ),
    Target(
        "anchor",
        "the p_ref whose fixed point is p",
        "1",
        ("p", "beta"),
        _anchor,
        choices={"kl": _KL},
        linear=False,
    ),
    Target(
        "logit_gain",
        "logit p_star - logit p_ref at the fixed point, exact reverse KL",
        "1",
        ("p", "beta", "eps"),
        _logit_gain,
        linear=False,
    ),
    Target(
        "fresh_slope",
        "K_f, slope of the drift in the current policy",
        "1",
        ("beta", "p_star"),
        _staleness("fresh_slope"),
        choices={"staleness": _STALENESS},
        linear=False,
    ),
    Target(
        "stale_slope",
        "K_s, slope of the drift in the old policy",
        "1",
        ("beta", "p_star"),
        _staleness("stale_slope"),
        choices={"staleness": _STALENESS},
        linear=False,
    ),
    Target(
        "kl_force",
        "force of the KL term in the logit, per unit beta",
        "1",
        ("p", "p_ref"),
        lambda setting: Value(
            kl_force.derive(str(setting.choices["kl"]))["force"], basis=("kl-force",)
        ),
        choices={"kl": _ESTIMATORS},
        linear=False,
    ),
    Target(
        "acceleration",
        "d^2 p/dt^2 at beta = 0",
        "1/step^2",
        ("p", "eta"),
        lambda setting: Value(
            no_kl.derive(str(setting.choices["normaliser"]))["acceleration"], basis=("no-kl",)
        ),
        choices={"normaliser": ("std", "mean")},
        linear=False,
    ),
)
