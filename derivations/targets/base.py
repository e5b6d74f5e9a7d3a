r"""What a target is, and how the conventions of a claim are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from derivations.domain import Domain, DomainError, rational
from derivations.judge import balls
from derivations.judge.region import Region
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import QUANTITIES, quantity
from derivations.update import LAG_MODELS, OPTIMIZERS, Update, nearest

__all__ = [
    "LINEAR",
    "Setting",
    "Target",
    "TargetError",
    "every_lag",
    "needs_flint",
    "read_update",
]

#: Formula symbols every linear target understands.
LINEAR = ("mu", "x", "d", "N", "s", "x_f", "x_s", "delta")


class TargetError(ValueError):
    """The conventions of a claim are missing, unknown or contradict each other."""


@dataclass(frozen=True)
class Setting:
    """The conventions of a claim, read.

    Attributes
    ----------
    update
        For quantities of the linear map, the update rule; its lag may be a symbol.
    choices
        Every other named convention.
    fixed
        Symbols whose value the conventions fix, for substitution into the printed formula.
    pinned
        Symbols whose value the claim's domain fixes.
    """

    update: Update | None
    choices: Mapping[str, object] = field(default_factory=dict)
    fixed: Mapping[sp.Symbol, sp.Expr] = field(default_factory=dict)
    pinned: Mapping[sp.Symbol, Fraction] = field(default_factory=dict)

    def at(self, lag: int) -> Setting:
        """Return the setting with its symbolic lag or refresh fixed."""
        assert self.update is not None
        update = self.update.at(lag)
        fixed = {**self.fixed, self.update.lag_model.parameter: sp.Integer(lag)}
        return Setting(update, self.choices, fixed, self.pinned)

    def conventions(self) -> dict[str, str]:
        """Return every convention, for echoing with a verdict."""
        chosen = {name: str(value) for name, value in self.choices.items()}
        return {**(self.update.conventions() if self.update is not None else {}), **chosen}


@dataclass(frozen=True)
class Target:
    """A quantity of which something can be claimed.

    Attributes
    ----------
    name, meaning, unit
        As files spell it and as readers need it.
    symbols
        Names a formula about it may use.
    build
        From a setting to what the derivations give.
    choices
        Conventions other than the update rule: name to allowed values; all must be given.
    parameters
        Those of them that fix a symbol of the formula, with its name.
    linear
        Whether the conventions are an update rule.
    by_lag
        Whether a result exists only for a fixed lag, so that a claim about every lag is judged lag
        by lag.
    contains
        For a region: from a setting with a fixed lag to membership, exact and without deriving
        the conditions.
    sketch
        What `build` gives, without the steps that prove it: enough to rule a reading out.
    border
        Whether it is an x at which something happens, so that ``x < f`` says what f says.
    """

    name: str
    meaning: str
    unit: str
    symbols: tuple[str, ...]
    build: Callable[[Setting], Value | Region]
    choices: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    linear: bool = True
    by_lag: Callable[[Setting], bool] = lambda setting: False
    contains: Callable[[Setting], Callable[[Point], bool]] | None = None
    sketch: Callable[[Setting], Value] | None = None
    border: bool = False

    def read(self, model: Mapping[str, object], free: frozenset[str]) -> Setting:
        """Read the conventions of a claim about this target.

        Parameters
        ----------
        model
            The ``model`` table.
        free
            Names the printed formula or the domain use; a stale share among them stays free.

        Raises
        ------
        TargetError
            If a convention is missing, unknown or outside its domain.
        """
        own = {name: value for name, value in model.items() if name in self.choices}
        other = {name: value for name, value in model.items() if name not in self.choices}
        for name in other if not self.linear else ():
            raise TargetError(
                f"{self.name} has no convention {name!r}{nearest(name, self.choices)} "
                f"(it has: {', '.join(self.choices) or 'none'})"
            )
        setting = read_update(other, free, tuple(self.choices)) if self.linear else Setting(None)
        for name, allowed in self.choices.items():
            if name not in own:
                raise TargetError(
                    f"{self.name} needs the convention {name!r} in model "
                    f"(one of: {', '.join(map(str, allowed))})"
                )
            if own[name] not in allowed:
                raise TargetError(
                    f"{name} = {own[name]!r} is unknown (one of: {', '.join(map(str, allowed))})"
                )
        fixed = {
            quantity(self.parameters[name]): sp.Integer(value)
            for name, value in own.items()
            if name in self.parameters and isinstance(value, int)
        }
        return replace(setting, choices=own, fixed={**setting.fixed, **fixed})


#: Claims about one fixed lag are judged up to here; beyond, exact decisions take too long.
LONGEST_LAG = 64
_KEYS = ("optimizer", "lag_model", "stale_share", "lag", "refresh")
_LATER = {"adam": "adam with a frozen second moment", "random": "random lag"}


def read_update(
    model: Mapping[str, object], free: frozenset[str], beside: tuple[str, ...] = ()
) -> Setting:
    """Read an update rule from a ``model`` table; `beside` it the target has other conventions.

    A stale share that is neither given nor named by the formula is 1, the source's Theorem 7; the
    share used is echoed with every verdict.

    Raises
    ------
    TargetError
        If a convention is missing, unknown or outside its domain.
    """
    for name in model:
        if name not in _KEYS:
            known = dict.fromkeys((*_KEYS, *beside))
            raise TargetError(
                f"unknown convention {name!r}{nearest(name, known)} (known: {', '.join(known)})"
            )
    for name in ("optimizer", "lag_model"):
        if name not in model:
            raise TargetError(
                f"the model needs {name!r}; nothing is assumed where it changes the answer"
            )
        if model[name] in _LATER:
            raise TargetError(
                f"{_LATER[str(model[name])]} is not derived in this version; "
                f"optimizers: {', '.join(OPTIMIZERS)}; lag models: {', '.join(LAG_MODELS)}"
            )
    lag_name = "lag" if model["lag_model"] == "constant" else "refresh"
    other = "refresh" if lag_name == "lag" else "lag"
    if other in model and model["lag_model"] in LAG_MODELS:
        raise TargetError(f"lag_model {model['lag_model']!r} takes {lag_name!r}, not {other!r}")
    share: sp.Expr = sp.S.One
    if "stale_share" in model:
        try:
            share = sp.Rational(rational(model["stale_share"]))
        except DomainError as error:
            raise TargetError(f"stale_share: {error}") from error
    elif free & {"s", "x_f", "x_s"}:
        share = quantity("s")
    try:
        update = Update.named(str(model["optimizer"]), str(model["lag_model"]), stale_share=share)
    except ValueError as error:
        raise TargetError(str(error)) from error
    fixed: dict[sp.Symbol, sp.Expr] = {
        quantity("x_f"): update.fresh,
        quantity("x_s"): update.stale,
    }
    if share.is_Rational:
        fixed[quantity("s")] = share
    setting = Setting(update, {}, fixed)
    if lag_name not in model:
        return setting
    own = LAG_MODELS[str(model["lag_model"])].parameter
    try:
        lag = (
            QUANTITIES[own.name]
            .domain.intersect(Domain(high=Fraction(LONGEST_LAG)))
            .validate(lag_name, model[lag_name])
        )
    except DomainError as error:
        raise TargetError(str(error)) from error
    return setting.at(int(lag))


def every_lag(setting: Setting) -> bool:
    """Return whether the setting leaves the lag or refresh free."""
    return setting.update is not None and setting.update.steps is None


def needs_flint(enclose: Callable[[Point, int], Any]) -> Callable[[Point, int], Any]:
    """Return an enclosure of a root that is undefined where python-flint is missing."""

    def guarded(point: Point, bits: int) -> Any:
        if not balls.available():
            raise balls.Undefined("python-flint is needed to enclose roots")
        return enclose(point, bits)

    return guarded
