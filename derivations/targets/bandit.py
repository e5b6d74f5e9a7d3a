r"""Targets of the two-arm bandit: fixed points, stiffness, where lag acts, finite groups."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from derivations.formula import render
from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import inverse, quantity
from derivations.results import (
    dead_groups,
    fixed_point,
    group_size,
    kl_force,
    no_kl,
    staleness,
    stiffness,
    two_cycle,
)
from derivations.targets.base import Setting, Target

__all__ = ["BANDIT"]

_p, _p_ref, _p_star, _G = (quantity(n) for n in ("p", "p_ref", "p_star", "G"))
#: Groups summed over exactly; larger ones are left to the expansion in 1/G.
LARGEST_GROUP = 64
_KL = ("reverse", "k3")
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


def _finite_group(
    exact: Callable[..., sp.Expr], leading: str, reach: int
) -> Callable[[Setting], Value]:
    """A quantity that is a finite sum for each G, with its leading terms in 1/G.

    `reach` is the order of the relative remainder of those terms.
    """

    def build(setting: Setting) -> Value:
        normaliser, ddof = str(setting.choices["normaliser"]), int(str(setting.choices["ddof"]))
        tiny = inverse("G")
        at = {s: sp.Rational(v) for s, v in setting.pinned.items()}
        closed = group_size.derive(normaliser, ddof)[leading]
        if normaliser == "mean" and leading == "drift":  # linear in the rewards: exact for every G
            return Value(closed, basis=("prop-10",))
        derived = closed.subs(at).subs(_G, 1 / tiny)

        def enclose(point: Point, bits: int) -> Any:
            point = {**setting.pinned, **point}
            size = point.get(_G, Fraction(1, 2))
            if size.denominator != 1 or size > LARGEST_GROUP:
                raise balls.Undefined(f"no sum over a group of {size}")
            if _p not in point:
                raise balls.Undefined("no success probability is given")
            terms = exact(int(size), normaliser=normaliser, ddof=ddof)
            return balls.evaluate(terms, {_p: point[_p]}, bits)

        return Value(
            enclose=enclose,
            text=f"{render(closed)} to leading order in 1/G",
            series=(tiny, derived, reach),
            basis=("prop-10",),
            symbols=(_p, _G),
        )

    return build


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
        "drift",
        "mean reward drift of a group of G, on-policy",
        "1",
        ("p", "G"),
        _finite_group(group_size.exact_drift, "drift", 2),
        choices={"normaliser": ("std", "mean"), "ddof": (0, 1)},
        linear=False,
    ),
    Target(
        "drift_variance",
        "variance of the reward drift of a group of G",
        "1",
        ("p", "G"),
        _finite_group(group_size.exact_drift_variance, "drift_variance", 1),
        choices={"normaliser": ("std", "mean"), "ddof": (0, 1)},
        linear=False,
    ),
    Target(
        "dead_groups",
        "probability that all G completions get the same reward",
        "1",
        ("p", "G"),
        lambda setting: Value(dead_groups.dead_groups(_G), basis=("dead-groups",)),
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
