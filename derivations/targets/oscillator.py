r"""Targets of theorem-7: the oscillator's coefficients, its rule, its curve from rest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import sympy as sp

from derivations.derivation import Derivation
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import oscillator, refresh_rule, slow_start, transition
from derivations.targets.base import LINEAR, Setting, Target, TargetError
from derivations.taylor import taylor
from derivations.update import LAG_MODELS, Update

__all__ = ["OSCILLATOR", "sketched"]

_delta, _s, _x = (quantity(name) for name in ("delta", "s", "x"))
_BASIS = ("theorem-7", "characteristic", "lemma-4", "lemma-5")


Coefficients = Mapping[str, sp.Expr]


@lru_cache(maxsize=256)
def _theorem_7(update: Update) -> Coefficients:
    """Return theorem-7's results; derived once for every share and lag, then put in."""
    return _put_in(update, oscillator.derive(_for_every(update)).results)


@lru_cache(maxsize=256)
def _moments(update: Update) -> Coefficients:
    """Return the same coefficients as moments, which theorem-7 proves to be those of chi."""
    names = ("stiffness", "damping", "mass", "cubic")
    found = enumerate(taylor(_for_every(update), len(names) - 1))
    return _put_in(update, {names[k]: moment * _delta**k for k, moment in found})


def _for_every(update: Update) -> Update:
    return Update(update.optimizer, update.lag_model, _s)


def _put_in(update: Update, found: Coefficients) -> Coefficients:
    own = {_s: update.stale_share, update.lag_model.parameter: update.age}
    return {name: e.subs(own, simultaneous=True) for name, e in found.items()}


def _coefficient(name: str, of: Callable[[Update], Coefficients]) -> Callable[[Setting], Value]:
    def build(setting: Setting) -> Value:
        assert setting.update is not None
        return Value(of(setting.update)[name], basis=_BASIS)

    return build


def sketched(setting: Setting) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Return mass, damping and stiffness in steps, without theorem-7's proof."""
    assert setting.update is not None
    found = _moments(setting.update)
    mass, damping, stiffness = (
        found[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    return mass, damping, stiffness


def _rule(setting: Setting) -> Value:
    """Where damping at a constant lag vanishes: a line in x."""
    assert setting.update is not None
    constant = replace(
        setting.update, lag_model=LAG_MODELS["constant"], lag=setting.update.age
    )
    _, damping, _ = sketched(Setting(constant))
    slope = sp.diff(damping, _x)
    if slope == 0:
        raise TargetError("damping does not depend on x")
    edge = -damping.subs(_x, 0) / slope
    return Value(edge, where=(sp.StrictGreaterThan(edge, 0, evaluate=False),))


def _meeting(setting: Setting) -> Value:
    """The first x > 0 at which C**2 = 4*M*K: a quadratic in x."""
    mass, damping, stiffness = sketched(setting)
    line = sp.Poly(damping**2 - 4 * mass * stiffness, _x)
    a, b, c = (line.coeff_monomial(_x**n) for n in (2, 1, 0))
    root = sp.sqrt(b**2 - 4 * a * c)
    edge = 2 * c / (root - b)
    return Value(edge, where=(sp.StrictGreaterThan(edge, 0, evaluate=False),))


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


def _from_rest(result: str, of: Callable[[Update], Coefficients]) -> Callable[[Setting], Value]:
    """Put the update's coefficients (delta = 1) into a curve of prop-14 in M, C, K > 0.

    Read over the complex numbers the overdamped form is the underdamped one too; critical damping,
    a set of measure zero, is left out.
    """

    def build(setting: Setting) -> Value:
        assert setting.update is not None
        derived = of(setting.update)
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
        _coefficient("mass", _theorem_7),
        sketch=_coefficient("mass", _moments),
    ),
    Target(
        "damping",
        "coefficient of q' in theorem-7",
        "step",
        LINEAR,
        _coefficient("damping", _theorem_7),
        sketch=_coefficient("damping", _moments),
    ),
    Target(
        "stiffness",
        "coefficient of q in theorem-7",
        "1",
        LINEAR,
        _coefficient("stiffness", _theorem_7),
        sketch=_coefficient("stiffness", _moments),
    ),
    Target(
        "cubic_coefficient",
        "coefficient of lambda^3 that theorem-7 drops",
        "step^3",
        LINEAR,
        _coefficient("cubic", _theorem_7),
        sketch=_coefficient("cubic", _moments),
    ),
    Target(
        "rule_threshold",
        "prop-9's rule: where damping vanishes at a constant lag; under sawtooth N for d",
        "1",
        LINEAR,
        _from(refresh_rule.derive, "rule_threshold", "denominator"),
        sketch=_rule,
        border=True,
    ),
    Target(
        "truncated_onset",
        "x at which theorem-7 turns oscillatory",
        "1",
        LINEAR,
        _from(transition.derive, "truncated_onset", "radicand", "truncated_onset"),
        sketch=_meeting,
        border=True,
    ),
    Target(
        "trajectory",
        "theorem-7 from rest, q(0) = 1, at time t",
        "1",
        (*LINEAR, "t"),
        _from_rest("overdamped", _theorem_7),
        sketch=_from_rest("overdamped", _moments),
    ),
    Target(
        "inflection_time",
        "time of steepest progress of theorem-7 from rest",
        "step",
        LINEAR,
        _from_rest("inflection_time", _theorem_7),
        sketch=_from_rest("inflection_time", _moments),
    ),
)
