r"""The other conventions a printed formula may have been meant under: one changed, then two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import sympy as sp

from derivations.decide import at_pinned, put_in
from derivations.judge.search import drawn
from derivations.notation import QUANTITIES, quantity
from derivations.targets import Target, TargetError
from derivations.targets.base import Setting
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

__all__ = ["Reading", "alternatives"]

_d, _N, _x, _mu, _s = (quantity(name) for name in ("d", "N", "x", "mu", "s"))
_OPTIMIZER_WORDS = {
    "heavy-ball": "heavy-ball momentum",
    "ema": "EMA momentum (Adam's beta1)",
    "nesterov": "Nesterov momentum",
}
_delta = quantity("delta")
_STEPS = {"step": 1, "step^2": 2, "step^3": 3}
_POWERS = (1, 2, -1, -2, 3, -3)
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
    yield from _solved_share(target, start)
    further: dict[str, dict[str, Reading]] = {}
    for first, second in combinations(singles, 2):
        if first.changed == second.changed:
            continue
        if first.words not in further:
            further[first.words] = {r.words: r for r in _changed(target, first)}
        if reading := further[first.words].get(second.words):
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
            words = f"for {_OPTIMIZER_WORDS.get(name, name)}"
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
    yield from _other_unit(target, start)


def _other_unit(target: Target, start: Reading) -> Iterator[Reading]:
    """Time counted in refreshes, or in another unit than steps of duration delta."""
    update, printed = start.setting.update, start.printed
    assert update is not None
    if not isinstance(printed, sp.Expr):
        return
    if target.unit in _STEPS and update.lag_model.name == "sawtooth":
        counted = printed * update.age ** _STEPS[target.unit]
        yield Reading("in refreshes, not in steps", start.setting, counted, "unit of time")
    for power in _POWERS if _delta in printed.free_symbols else ():
        words = f"in another unit of time: times {_delta**power}"
        yield Reading(words, start.setting, printed * _delta**power, "unit of time")


def _solved_share(target: Target, start: Reading) -> Iterator[Reading]:
    """The one stale share, beyond the common ones, at which printed and derived are equal."""
    update, printed = start.setting.update, start.printed
    if update is None or target.sketch is None or _s in printed.free_symbols:
        return
    if not isinstance(printed, sp.Expr):
        return
    every = _with(start.setting, replace(update, stale_share=_s))
    try:
        derived = at_pinned(target.sketch(every), every, printed).expression
    except (TargetError, ValueError):
        return
    if derived is None or not derived.is_rational_function():
        return
    gap = put_in(printed, every) - derived
    symbols = gap.free_symbols - {_s}
    if not (symbols <= {quantity(name) for name in QUANTITIES} and gap.is_rational_function(_s)):
        return
    roots: set[sp.Rational] | None = None
    for point in drawn({symbol: QUANTITIES[symbol.name].domain for symbol in symbols}, 3, seed=5):
        over = sp.fraction(sp.together(gap.subs({k: sp.Rational(v) for k, v in point.items()})))[0]
        if not over.is_polynomial(_s) or over.has(sp.zoo, sp.nan) or over == 0:
            continue
        here = set(sp.Poly(over, _s).ground_roots())
        roots = here if roots is None else roots & here
    for share in sorted(roots or (), key=abs):
        if share not in (*_SHARES, update.stale_share):
            changed = replace(update, stale_share=share)
            words = f"for stale_share = {share}"
            yield Reading(words, _with(start.setting, changed), printed, "stale_share")


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
                f"for a {'sawtooth' if constant else 'constant lag'} of {new} with {words}",
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
