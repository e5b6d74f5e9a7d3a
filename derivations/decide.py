r"""Deciding a prepared claim: the derived quantity and the printed formula, on the claim's domain.

The relation says which judge is asked; a claim about every lag goes lag by lag where no closed form
covers them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

import sympy as sp

from derivations.claim import Claim, Relation, Verdict, VerdictWord
from derivations.domain import Domain
from derivations.formula import Formula
from derivations.judge.comparison import Comparison
from derivations.judge.family import FAR_LAGS, judge_family
from derivations.judge.order import judge_order
from derivations.judge.region import Region, judge_region
from derivations.judge.value import Value, judge_value
from derivations.notation import QUANTITIES, inverse, quantity
from derivations.targets import Target
from derivations.targets.base import Setting
from derivations.targets.threshold import sufficient_for_every_lag

__all__ = [
    "REGION_RELATION",
    "as_condition",
    "as_printed",
    "as_value",
    "at_pinned",
    "decide",
    "domains_of",
    "put_in",
]

_delta = quantity("delta")
#: What a relation to a value of the edge says of the region.
REGION_RELATION: Mapping[Relation, Relation] = {
    **{relation: relation for relation in Relation},
    Relation.LOWER: Relation.SUFFICIENT,
    Relation.UPPER: Relation.NECESSARY,
}


def as_printed(formula: Formula) -> sp.Basic:
    """Return the formula, the relation, or the relations joined."""
    if formula.expression is not None:
        return formula.expression
    if len(formula.relations) == 1:
        return formula.relations[0]
    return sp.And(*formula.relations, evaluate=False)


def decide(claim: Claim, target: Target, setting: Setting, formula: Formula) -> Verdict:
    """Return the verdict on a prepared claim."""
    printed = as_printed(formula)
    if not target.by_lag(setting):
        return _decide_fixed(claim, target, setting, printed)
    assert setting.update is not None
    lag = setting.update.lag_model.parameter
    seeks_theorem = target.name == "threshold" and claim.relation in (
        Relation.SUFFICIENT,
        Relation.LOWER,
    )
    condition = printed
    if seeks_theorem:
        condition = _substitute(as_condition(printed), dict(setting.fixed))
    theorems = sufficient_for_every_lag(setting.update) if seeks_theorem else []
    return judge_family(
        lag,
        claim.domain.get(lag.name, QUANTITIES[lag.name].domain),
        lambda value: _decide_fixed(claim, target, setting.at(value), printed),
        printed=condition,
        domains=domains_of(claim, setting, [condition, *(relation for _, relation in theorems)]),
        theorems=theorems,
        beyond=FAR_LAGS if target.name == "threshold" else (),
    )


def as_condition(printed: sp.Basic) -> sp.Basic:
    """Read a printed threshold f, or x = f, as the condition x < f."""
    if isinstance(printed, sp.Equality):
        return sp.StrictLessThan(printed.lhs, printed.rhs, evaluate=False)
    if isinstance(printed, sp.logic.boolalg.Boolean):
        return printed
    return sp.StrictLessThan(quantity("x"), printed, evaluate=False)


def _decide_fixed(claim: Claim, target: Target, setting: Setting, printed: sp.Basic) -> Verdict:
    derived = target.build(setting)
    pinned = _rationals(setting)
    printed = put_in(printed, setting)
    if printed.has(sp.zoo, sp.nan, sp.oo):
        nowhere = Comparison({}, derived=str(getattr(derived, "text", "") or derived))
        return _with_pinned(nowhere.refuted("the printed formula has no value there", {}), setting)
    if isinstance(derived, Region):
        known = derived.conditions
        region = replace(
            derived, conditions=None if known is None else tuple(c.subs(pinned) for c in known)
        )
        condition = as_condition(printed)
        relation = REGION_RELATION[claim.relation]
        share = setting.update.stale_share if setting.update is not None else sp.S.One
        domains = domains_of(
            claim,
            setting,
            [condition, derived.variable, quantity("mu"), share, *(region.conditions or ())],
        )
        return _with_pinned(judge_region(condition, region, relation, domains), setting)
    value = at_pinned(derived, setting, printed)
    printed = as_value(printed)
    series = value.series[1] if value.series is not None else None
    parts = [printed, *value.symbols, *(e for e in (value.expression, series) if e is not None)]
    if claim.relation is Relation.ASYMPTOTIC:
        return _with_pinned(_asymptotic(claim, printed, value, setting, parts), setting)
    domains = domains_of(claim, setting, parts)
    return _with_pinned(judge_value(printed, value, claim.relation, domains), setting)


def put_in(printed: sp.Basic, setting: Setting) -> sp.Basic:
    """Return the printed formula with what the conventions fix and the domain pins."""
    return _substitute(_substitute(printed, dict(setting.fixed)), _rationals(setting))


def at_pinned(value: Value, setting: Setting, printed: sp.Basic) -> Value:
    """Return the derived value likewise; a step lasts 1 unless the printed formula has delta."""
    pinned = _rationals(setting)
    if value.series is not None:
        small, terms, reach = value.series
        value = replace(value, series=(small, terms.subs(pinned), reach))
    if value.expression is None:
        return value
    expression = _within_domain(value.expression.subs(pinned))
    if _delta not in printed.free_symbols:
        expression = expression.subs(_delta, 1)
    where = tuple(_substitute(r, {**pinned, _delta: sp.S.One}) for r in value.where)
    return replace(value, expression=expression, where=where)


def _rationals(setting: Setting) -> dict[sp.Symbol, sp.Expr]:
    return {s: sp.Rational(v) for s, v in setting.pinned.items()}


def _within_domain(e: sp.Expr) -> sp.Expr:
    """Drop absolute values of quantities that are never negative, such as sqrt(d**2)."""
    lows = {s: QUANTITIES[s.name].domain.low for s in e.free_symbols if s.name in QUANTITIES}
    never = [s for s, low in lows.items() if low is not None and low >= 0]
    return e.subs({sp.Abs(s): s for s in never})


def _asymptotic(
    claim: Claim, printed: sp.Expr, value: Value, setting: Setting, parts: list[sp.Expr]
) -> Verdict:
    assert claim.order is not None
    domains = domains_of(claim, setting, parts)
    small = quantity(claim.small.removeprefix("1/"))
    if claim.small.startswith("1/"):
        tiny = inverse(small.name)
        printed = printed.subs(small, 1 / tiny)
        if value.expression is not None:
            value = replace(value, expression=value.expression.subs(small, 1 / tiny))
        domains = {s: d for s, d in domains.items() if s != small}
        small = tiny
    domains.setdefault(small, Domain(low=Fraction(0), low_open=True))
    return judge_order(printed, value, claim.order, small, domains)


def as_value(printed: sp.Basic) -> sp.Expr:
    """Return the right side of ``name = formula`` or ``x < formula``; a formula is itself."""
    return printed.rhs if isinstance(printed, sp.core.relational.Relational) else printed


def _substitute(e: sp.Basic, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Basic:
    """Substitute below relations without letting them evaluate to true or false."""
    if isinstance(e, sp.And | sp.Or):
        return e.func(*(_substitute(a, values) for a in e.args), evaluate=False)
    if isinstance(e, sp.core.relational.Relational):
        return e.func(*(a.subs(values, simultaneous=True) for a in e.args), evaluate=False)
    return e.subs(values, simultaneous=True)


def domains_of(
    claim: Claim, setting: Setting, parts: Iterable[sp.Basic]
) -> dict[sp.Symbol, Domain]:
    """Return the domain of every symbol still free in either formula."""
    symbols = set().union(*(p.free_symbols for p in parts))
    symbols -= set(setting.pinned)
    return {
        s: claim.domain.get(s.name, QUANTITIES[s.name].domain)
        for s in sorted(symbols, key=lambda s: s.name)
        if s.name in QUANTITIES
    }


def _with_pinned(verdict: Verdict, setting: Setting) -> Verdict:
    """Add what the claim's domain or model fixes to the evidence and to a counterexample."""
    own = {s.name: str(v) for s, v in setting.pinned.items()}
    evidence = verdict.evidence
    if own:
        parts = [part for part in (evidence.domain,) if part]
        parts += [f"{name} = {value}" for name, value in own.items()]
        evidence = replace(evidence, domain="; ".join(parts))
    if verdict.word is not VerdictWord.REFUTED:
        return replace(verdict, evidence=evidence)
    update = setting.update
    if update is not None and update.steps is not None:
        own[update.lag_model.parameter.name] = str(update.steps)
    if update is not None and update.stale_share.is_Rational:
        own["s"] = str(update.stale_share)
    return replace(verdict, evidence=evidence, counterexample={**verdict.counterexample, **own})
