r"""Targets of a group of G completions: its drift and noise, its advantages, dead groups."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from derivations.formula import render
from derivations.judge import balls
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import inverse, quantity
from derivations.results import advantage, binomial, dead_groups, group_size
from derivations.targets.base import Setting, Target

__all__ = ["GROUPS"]

_p, _G, _c = (quantity(n) for n in ("p", "G", "c"))
#: Groups summed over exactly; larger ones are left to the expansion in 1/G.
LARGEST_GROUP = 64
_NORMALISED = {"normaliser": ("std", "mean"), "ddof": (0, 1)}


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
        if normaliser == "mean":  # a polynomial in the rewards: exact for every G
            exactly = closed if leading == "drift" else _variance_of_mean_normalised()
            return Value(exactly, basis=("prop-10", "group-moments"))
        derived = closed.subs(at).subs(_G, 1 / tiny)

        return Value(
            enclose=_enclosure(exact, setting),
            text=f"a finite sum for each G; to leading order in 1/G {render(closed)}",
            series=(tiny, derived, reach),
            basis=("prop-10",),
            symbols=(_p, _G),
        )

    return build


@lru_cache(maxsize=1)
def _variance_of_mean_normalised() -> sp.Expr:
    """The variance of rbar*(1 - rbar), from the moments of q = rbar - p."""
    q = sp.Symbol("q", real=True)
    moments = binomial.derive()
    known = {0: sp.S.One, 1: sp.S.Zero} | {n: moments[f"moment_{n}"] for n in (2, 3, 4)}
    drift = sp.expand(group_size.group_drift(_G, normaliser="mean", ddof=0))
    (rbar,) = drift.free_symbols

    def mean(e: sp.Expr) -> sp.Expr:
        terms = sp.Poly(sp.expand(e.subs(rbar, _p + q)), q).terms()
        return sum((c * known[k] for (k,), c in terms), sp.S.Zero)

    return sp.factor(mean(drift**2) - mean(drift) ** 2)


def _summed(exact: Callable[..., sp.Expr]) -> Callable[[Setting], Value]:
    """The finite sum alone, of groups small enough for it."""

    def sketch(setting: Setting) -> Value:
        enclose = _enclosure(exact, setting)
        return Value(enclose=enclose, text="a sum over groups", symbols=(_p, _G))

    return sketch


def _enclosure(exact: Callable[..., sp.Expr], setting: Setting) -> Callable[[Point, int], Any]:
    normaliser, ddof = str(setting.choices["normaliser"]), int(str(setting.choices["ddof"]))

    def enclose(point: Point, bits: int) -> Any:
        point = {**setting.pinned, **point}
        size = point.get(_G, Fraction(1, 2))
        if size.denominator != 1 or size > LARGEST_GROUP:
            raise balls.Undefined(f"no sum over a group of {size}")
        if _p not in point:
            raise balls.Undefined("no success probability is given")
        terms = exact(int(size), normaliser=normaliser, ddof=ddof)
        return balls.evaluate(terms, {_p: point[_p]}, bits)

    return enclose


def _advantage(setting: Setting) -> Value:
    """The advantage of a success; where c is a number, squares are taken out of the root."""
    normaliser, ddof = str(setting.choices["normaliser"]), int(str(setting.choices["ddof"]))
    derived = advantage.derive(normaliser, ddof)
    found = derived[advantage.BASELINES[str(setting.choices["baseline"])]]
    if _c in setting.pinned:
        square = (found**2).subs(_c, sp.Rational(setting.pinned[_c]))
        found = advantage.positive_root(square)
    alive = (
        sp.StrictGreaterThan(_c, 0, evaluate=False),
        sp.StrictGreaterThan(_G, _c, evaluate=False),
    )
    return Value(found, where=alive, basis=(derived.id,))


GROUPS = (
    Target(
        "advantage",
        "advantage of a success in a group of G with c successes, 0 < c < G",
        "1",
        ("c", "G"),
        _advantage,
        choices={**_NORMALISED, "baseline": tuple(advantage.BASELINES)},
        linear=False,
    ),
    Target(
        "drift",
        "mean reward drift of a group of G, on-policy",
        "1",
        ("p", "G"),
        _finite_group(group_size.exact_drift, "drift", 2),
        sketch=_summed(group_size.exact_drift),
        choices=_NORMALISED,
        linear=False,
    ),
    Target(
        "drift_variance",
        "variance of the reward drift of a group of G",
        "1",
        ("p", "G"),
        _finite_group(group_size.exact_drift_variance, "drift_variance", 1),
        sketch=_summed(group_size.exact_drift_variance),
        choices=_NORMALISED,
        linear=False,
    ),
    Target(
        "noise_strength",
        "S of lemma-6 with one group a step: drift_variance; n independent groups have S/n",
        "1",
        ("p", "G"),
        _finite_group(group_size.exact_drift_variance, "drift_variance", 1),
        sketch=_summed(group_size.exact_drift_variance),
        choices=_NORMALISED,
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
)
