r"""The other conventions a printed formula may have been meant under: one changed, then two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import sympy as sp

from derivations.notation import quantity
from derivations.targets import Target
from derivations.targets.base import Setting
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

__all__ = ["Reading", "alternatives"]

_d, _N, _x, _mu, _s = (quantity(name) for name in ("d", "N", "x", "mu", "s"))
_OPTIMIZER_WORDS = {
    "heavy-ball": "heavy-ball momentum",
    "ema": "EMA momentum (Adam's beta1)",
    "nesterov": "Nesterov momentum",
}
_SHARES = (sp.S.One, sp.S.Zero, sp.S.Half)


@dataclass(frozen=True)
class Reading:
    """Other conventions, in words, and the printed formula in their symbols.

    `changed` names the convention that differs; of a `pair` there are two.
    """

    words: str
    setting: Setting
    printed: sp.Basic
    changed: str
    pair: bool = False


def alternatives(target: Target, setting: Setting, printed: sp.Basic) -> Iterator[Reading]:
    """Iterate over the claim's readings with one convention changed, then with two.

    Parameters
    ----------
    target, setting, printed
        The quantity, the conventions of the claim and its formula.
    """
    start = Reading("", setting, printed, "")
    singles = list(_changed(target, start))
    yield from singles
    for first, second in combinations(singles, 2):
        if first.changed == second.changed:
            continue
        for reading in _changed(target, first):
            if reading.words == second.words:
                words = f"{first.words} and {second.words}"
                yield replace(reading, words=words, pair=True)


def _changed(target: Target, start: Reading) -> Iterator[Reading]:
    setting, printed = start.setting, start.printed
    for name, allowed in target.choices.items():
        for value in allowed:
            if value != setting.choices[name]:
                yield Reading(
                    f"for {name} = {value}",
                    replace(setting, choices={**setting.choices, name: value}),
                    printed,
                    name,
                )
    if setting.update is None:
        return
    for name, optimizer in OPTIMIZERS.items():
        if name != setting.update.optimizer.name:
            update = replace(setting.update, optimizer=optimizer)
            words = f"for {_OPTIMIZER_WORDS[name]}"
            yield Reading(words, _with(setting, update), printed, "optimizer")
    yield from _other_lag_model(start)
    yield from _other_lag(start)
    for share in _SHARES:
        if share != setting.update.stale_share and _s not in printed.free_symbols:
            update = replace(setting.update, stale_share=share)
            words = f"for stale_share = {share}"
            yield Reading(words, _with(setting, update), printed, "stale_share")
    if _x in printed.free_symbols:
        for words, value in (
            ("with eta the step of an averaged gradient: x for (1 - mu)*x", (1 - _mu) * _x),
            ("with eta the step the gradient takes in the end: x for x/(1 - mu)", _x / (1 - _mu)),
        ):
            yield Reading(words, setting, _put(printed, _x, value), "step size")


def _other_lag_model(start: Reading) -> Iterator[Reading]:
    """The other lag model: of the same number, or with the lag its longest."""
    update = start.setting.update
    assert update is not None
    constant = update.lag_model.name == "constant"
    name = "sawtooth" if constant else "constant"
    model, old, new = LAG_MODELS[name], *((_d, _N) if constant else (_N, _d))
    shift = 1 if constant else -1  # the longest lag of a refresh of N steps is N - 1
    if update.steps is None:
        for value, words in ((new, f"{old} = {new}"), (new - shift, f"{old} = {new - shift}")):
            changed = replace(update, lag_model=model, lag=new)
            yield Reading(
                f"for a {name} of {new} with {words}" if not constant
                else f"for a sawtooth of N with {words}",
                _with(start.setting, changed), _put(start.printed, old, value), "lag model",
            )  # fmt: skip
        return
    for steps in (update.steps, update.steps + shift):
        if steps >= (1 if constant else 0):
            changed = replace(update, lag_model=model, lag=sp.Integer(steps))
            words = f"for a {'refresh' if constant else 'constant lag'} of {steps}"
            yield Reading(words, _with(start.setting, changed), start.printed, "lag model")


def _other_lag(start: Reading) -> Iterator[Reading]:
    """The lag counted from one more or one less."""
    update = start.setting.update
    assert update is not None
    symbol = update.lag_model.parameter
    least = 0 if symbol == _d else 1
    word = "lag" if symbol == _d else "refresh"
    for shift in (1, -1):
        more = "one more" if shift > 0 else "one less"
        if update.steps is None:
            if symbol in start.printed.free_symbols:
                yield Reading(
                    f"if the printed {symbol} is {more} than the {word}",
                    start.setting, _put(start.printed, symbol, symbol + shift), "lag",
                )  # fmt: skip
        elif update.steps - shift >= least:
            changed = replace(update, lag=sp.Integer(update.steps - shift))
            words = f"for a {word} of {update.steps - shift}"
            yield Reading(words, _with(start.setting, changed), start.printed, "lag")


def _with(setting: Setting, update: Update) -> Setting:
    """Return the setting with another update rule, and what it fixes."""
    of_the_update = {_d, _N, _s, quantity("x_f"), quantity("x_s")}
    fixed = {symbol: e for symbol, e in setting.fixed.items() if symbol not in of_the_update}
    fixed |= {quantity("x_f"): update.fresh, quantity("x_s"): update.stale}
    if update.stale_share.is_Rational:
        fixed[_s] = update.stale_share
    if update.steps is not None:
        fixed[update.lag_model.parameter] = sp.Integer(update.steps)
    return replace(setting, update=update, fixed=fixed)


def _put(printed: sp.Basic, symbol: sp.Symbol, value: sp.Expr) -> sp.Basic:
    """Substitute below relations, which are not decided."""
    if isinstance(printed, sp.And):
        return sp.And(*(_put(part, symbol, value) for part in printed.args), evaluate=False)
    if isinstance(printed, sp.core.relational.Relational):
        parts = (part.xreplace({symbol: value}) for part in printed.args)
        return printed.func(*parts, evaluate=False)
    return printed.xreplace({symbol: value})
