r"""The double check: every strong verdict looked at a second time, by other means.

What a solver proved rests on a translation into its language and on the solver; so it is decided
again, exactly or by enclosures, at points of the domain. What stands as proved or certified about
the linear map rests on its characteristic polynomial; so the map itself is run.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import sympy as sp

from derivations.audit import Audited, read_formula
from derivations.claim import Relation, Rung, VerdictWord
from derivations.judge import balls
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results.stability_conditions import is_stable_at
from derivations.targets import TARGETS
from derivations.update import Update
from numerics.report.crosscheck import Crosscheck
from numerics.report.drawn import Looks, collected, domain_of, draw_lag, runs
from numerics.report.simulated import simulated
from numerics.report.witness import Run, agrees, printed_conditions

__all__ = ["POINTS", "DoubleCheck", "double_check", "rows"]

#: Points at which a proof is decided again.
POINTS = 60


@dataclass(frozen=True)
class DoubleCheck:
    """The second look at one verdict: claim and point to whether it agrees there.

    Attributes
    ----------
    decided
        Decided again at points; empty where the verdict is not a solver's proof.
    simulated
        Run on the map; empty where it is not a strong verdict about the linear map.
    """

    decided: Mapping[str, bool] = field(default_factory=dict)
    simulated: Mapping[str, bool] = field(default_factory=dict)


def double_check(audited: Audited) -> DoubleCheck:
    """Look a second time at a claim that holds; nothing is looked at where none is due."""
    verdict = audited.verdict
    if verdict.word is not VerdictWord.HOLDS or verdict.evidence.rung < Rung.CERTIFIED:
        return DoubleCheck()
    solved = verdict.evidence.rung is Rung.PROVED and verdict.evidence.method.startswith("SMT ")
    return DoubleCheck(_decided(audited) if solved else {}, simulated(audited))


def rows(checks: Iterable[DoubleCheck]) -> tuple[Crosscheck, Crosscheck]:
    """Make the two rows of the table of cross-checks."""
    checks = list(checks)
    return (
        Crosscheck.decided(
            "what the solver proved, decided again",
            "whether the claim holds at a point of its domain",
            {at: agreed for check in checks for at, agreed in check.decided.items()},
            "each point is decided by rationals or by enclosures that leave no doubt",
        ),
        Crosscheck.decided(
            "what is proved or certified, simulated",
            "whether the map does there what the claim says",
            {at: agreed for check in checks for at, agreed in check.simulated.items()},
            "points that a float cannot tell from a border are not counted",
        ),
    )


def _decided(audited: Audited) -> dict[str, bool]:
    """Decide a claim at points of its domain, without a solver."""
    looks = _conditions if audited.claim.quantity == "threshold" else _values
    return collected(audited.claim, looks(audited), POINTS)


def _conditions(audited: Audited) -> Looks:
    """Decide a condition for stability: what it says, against the modes of the map."""
    conditions = printed_conditions(audited.claim)
    for run in runs(audited):
        said = all(balls.truth(relation, run.values()) for relation in conditions)
        yield str(run), agrees(audited.claim, said, _decays(run))


def _decays(run: Run) -> bool:
    """Whether every mode of the map decays, decided exactly."""
    share = sp.Rational(run.stale_share)
    update = Update.named(run.optimizer, run.lag_model, stale_share=share).at(run.lag)
    return is_stable_at(update, {quantity("mu"): run.mu, quantity("x"): run.x})


def _values(audited: Audited) -> Looks:
    """Decide a value or a bound of it: the sign of printed minus derived."""
    claim = audited.claim
    target, formula = TARGETS[claim.quantity], read_formula(claim)
    expression = formula.expression
    printed = formula.relations[0].rhs if expression is None else expression
    setting = target.read(claim.model, formula.symbols | frozenset(claim.domain))
    signs = {Relation.UPPER: (0, 1), Relation.LOWER: (-1, 0)}.get(claim.relation, (0,))
    source = random.Random(claim.id)
    values: dict[int | None, Value] = {}
    while True:
        here = setting
        if target.by_lag(setting):
            assert setting.update is not None
            name = setting.update.lag_model.parameter.name
            here = setting.at(draw_lag(domain_of(claim, name), source))
        steps = here.update.steps if here.update is not None else None
        if steps not in values:
            value = target.build(here)
            assert isinstance(value, Value)
            values[steps] = value
        value = values[steps]
        said = printed.subs(dict(here.fixed))
        point = {
            s: Fraction(1)
            if s.name == "delta" and s not in printed.free_symbols
            else domain_of(claim, s.name).draw(source)
            for s in sorted(_symbols(said, value), key=str)
        }
        holds = _holds(said, value, point, signs) if value.defined(point) else None
        yield ", ".join(f"{s} = {v}" for s, v in point.items()), holds


def _symbols(printed: sp.Expr, value: Value) -> set[sp.Symbol]:
    parts = (printed, *value.where, *([] if value.expression is None else [value.expression]))
    return set(value.symbols).union(*(part.free_symbols for part in parts))


def _holds(
    printed: sp.Expr, value: Value, point: dict[sp.Symbol, Fraction], signs: tuple[int, ...]
) -> bool | None:
    """Whether printed minus derived has one of these signs; None where that is not decided."""
    try:
        if value.expression is not None:
            sign = balls.sign(printed - value.expression, point)
            return None if sign is None else sign in signs
        gap = balls.evaluate(printed, point, 192) - value.ball(point)
        return (1 if gap > 0 else -1) in signs if gap > 0 or gap < 0 else None
    except balls.NotReal:
        return False  # the quantity exists there
    except balls.Undefined:
        return None
