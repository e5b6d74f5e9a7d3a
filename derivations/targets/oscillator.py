r"""Targets of theorem-7: the oscillator's coefficients, its rule, its curve from rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import sympy as sp

from derivations.derivation import Derivation
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import oscillator, refresh_rule, slow_start, transition
from derivations.targets.base import LINEAR, Setting, Target, TargetError
from derivations.update import Update

__all__ = ["OSCILLATOR"]

_delta = quantity("delta")
_BASIS = ("theorem-7", "characteristic", "lemma-4", "lemma-5")


@lru_cache(maxsize=256)
def _theorem_7(update: Update) -> Mapping[str, sp.Expr]:
    """Return theorem-7's results; derived once for every share and lag, then put in."""
    every = Update(update.optimizer, update.lag_model, quantity("s"))
    own = {quantity("s"): update.stale_share, update.lag_model.parameter: update.age}
    derived = oscillator.derive(every).results
    return {name: e.subs(own, simultaneous=True) for name, e in derived.items()}


def _coefficient(name: str) -> Callable[[Setting], Value]:
    def build(setting: Setting) -> Value:
        assert setting.update is not None
        return Value(_theorem_7(setting.update)[name], basis=_BASIS)

    return build


def _from(
    derive: Callable[..., Derivation], result: str, *positive: str
) -> Callable[[Setting], Value]:
    """Take one result; it exists where the results named in `positive` are above zero."""

    def build(setting: Setting) -> Value:
        try:
            derivation = derive(setting.update)
        except ValueError as error:  # a rule the conventions leave without meaning
            raise TargetError(str(error)) from error
        where = tuple(
            sp.StrictGreaterThan(derivation[name], 0, evaluate=False)
            for name in positive
            if name in derivation.results
        )
        return Value(derivation[result], where=where, basis=(derivation.id, *derivation.depends))

    return build


def _from_rest(result: str) -> Callable[[Setting], Value]:
    """Put the update's coefficients (delta = 1) into a curve of prop-14 in M, C, K > 0.

    Read over the complex numbers the overdamped form is the underdamped one too; critical damping,
    a set of measure zero, is left out.
    """

    def build(setting: Setting) -> Value:
        assert setting.update is not None
        derived = _theorem_7(setting.update)
        mass, damping, stiffness = (
            derived[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
        )
        derivation = slow_start.derive()
        values = {quantity("M"): mass, quantity("C"): damping, quantity("K"): stiffness}
        return Value(
            derivation[result].subs(values, simultaneous=True),
            where=tuple(sp.StrictGreaterThan(e, 0, evaluate=False) for e in (mass, damping)),
            basis=(derivation.id, "theorem-7"),
        )

    return build


OSCILLATOR = (
    Target(
        "mass",
        "coefficient of q'' in theorem-7, delta = 1 unless printed",
        "step^2",
        LINEAR,
        _coefficient("mass"),
    ),
    Target(
        "damping",
        "coefficient of q' in theorem-7",
        "step",
        LINEAR,
        _coefficient("damping"),
    ),
    Target(
        "stiffness",
        "coefficient of q in theorem-7",
        "1",
        LINEAR,
        _coefficient("stiffness"),
    ),
    Target(
        "cubic_coefficient",
        "coefficient of lambda^3 that theorem-7 drops",
        "step^3",
        LINEAR,
        _coefficient("cubic"),
    ),
    Target(
        "rule_threshold",
        "prop-9's rule: where damping vanishes at a constant lag; under sawtooth N for d",
        "1",
        LINEAR,
        _from(refresh_rule.derive, "rule_threshold", "denominator"),
        border=True,
    ),
    Target(
        "truncated_onset",
        "x at which theorem-7 turns oscillatory",
        "1",
        LINEAR,
        _from(transition.derive, "truncated_onset", "radicand", "truncated_onset"),
        border=True,
    ),
    Target(
        "trajectory",
        "theorem-7 from rest, q(0) = 1, at time t",
        "1",
        (*LINEAR, "t"),
        _from_rest("overdamped"),
    ),
    Target(
        "inflection_time",
        "time of steepest progress of theorem-7 from rest",
        "step",
        LINEAR,
        _from_rest("inflection_time"),
    ),
)
