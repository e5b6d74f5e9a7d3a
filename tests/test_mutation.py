"""A stated formula with one thing changed is refuted; a premise changed changes results."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
import sympy as sp

from derivations.audit import judge_claim
from derivations.claim import Claim, Relation, VerdictWord
from derivations.formula import FormulaError, parse_formula, render
from derivations.judge import smt
from derivations.mutation import mutants
from derivations.notation import QUANTITIES, quantity
from derivations.record import load_statements
from derivations.results import lag, momentum, oscillator, refresh_rule, slow_root, variance
from derivations.targets import TARGETS
from derivations.update import LAG_MODELS, OPTIMIZERS, Update

STATEMENTS = load_statements()
SCORE: Counter[str] = Counter()


def _parsed(claim: Claim) -> sp.Basic:
    symbols = {name: quantity(name) for name in TARGETS[claim.quantity].symbols}
    formula = parse_formula(claim.says, symbols)
    return formula.expression if formula.expression is not None else formula.relations[0]


def _is_stricter(mutant: sp.Basic, original: sp.Basic, claim: Claim) -> bool:
    """Whether the solver proves mutant => original: then the mutant is safe too, and rightly so."""
    symbols = mutant.free_symbols | original.free_symbols
    box = [
        r for s in symbols for r in smt.box(s, claim.domain.get(s.name, QUANTITIES[s.name].domain))
    ]
    return smt.entails([*box, mutant], [original]).answer is smt.Answer.YES


@pytest.mark.parametrize("claim", STATEMENTS, ids=lambda claim: claim.id)
def test_every_mutant_of_a_statement_is_refuted(claim: Claim) -> None:
    original = _parsed(claim)
    # Every symbol of the original stays free in a mutant that lost it: a share is not read as 1.
    names = {s.name for s in original.free_symbols}
    names = (names | {"s"} if names & {"x_f", "x_s"} else names) - {"x_f", "x_s"}
    named = {name: QUANTITIES[name].domain for name in names}
    claim = replace(claim, domain={**named, **claim.domain})
    survivors = []
    for change, mutant in mutants(original):
        if mutant.has(sp.zoo, sp.nan, sp.I) or mutant in (sp.true, sp.false):
            continue  # no formula anyone could print
        try:
            verdict = judge_claim(replace(claim, id="mutant", says=render(mutant))).verdict
        except FormulaError:
            SCORE["refused as no formula"] += 1
            continue
        if verdict.word is VerdictWord.REFUTED:
            SCORE["refuted"] += 1
        elif claim.relation is Relation.SUFFICIENT and _is_stricter(mutant, original, claim):
            SCORE["stricter than the original, proved"] += 1
        elif _without_unit(mutant, original):
            SCORE["the original at delta = 1"] += 1
        elif judge_equal(mutant, original):
            SCORE["equal to the original"] += 1
        else:
            survivors.append((change, render(mutant), verdict.word.value, verdict.evidence))
    assert not survivors, survivors


def _without_unit(mutant: sp.Basic, original: sp.Basic) -> bool:
    """Whether only delta was dropped: a formula without it is read at delta = 1."""
    delta = quantity("delta")
    dropped = delta in original.free_symbols and delta not in mutant.free_symbols
    return dropped and judge_equal(mutant, original.subs(delta, 1))


def judge_equal(mutant: sp.Basic, original: sp.Basic) -> bool:
    """Whether a change of writing left the formula the same, such as an even power's sign."""
    if isinstance(mutant, sp.core.relational.Relational):
        return sp.expand((mutant.lhs - mutant.rhs) - (original.lhs - original.rhs)) == 0
    return sp.expand(mutant - original) == 0


def test_the_score_of_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    if not SCORE:
        pytest.fail("run this file as a whole: the score is counted by the tests before")
    with capsys.disabled():
        total = sum(SCORE.values())
        parts = ", ".join(f"{count} {what}" for what, count in SCORE.most_common())
        print(f"\nmutants of the stated formulas: {total} judged, {parts}, 0 survived")
    assert SCORE["refuted"] > 200


def _mutated_premises() -> list[tuple[str, Update]]:
    made = []
    for optimizer in OPTIMIZERS.values():
        for field in ("memory", "intake", "direct", "passed"):
            value = getattr(optimizer, field)
            for label, new in (
                ("half", value / 2),
                ("sign", -value),
                ("plus mu", value + quantity("mu")),
            ):
                if new == value:
                    continue
                changed = replace(optimizer, **{field: new})
                made.append(
                    (f"{optimizer.name}: {field} {label}", Update(changed, LAG_MODELS["constant"]))
                )
    return made


@pytest.mark.parametrize(
    ("label", "mutated"), _mutated_premises(), ids=lambda v: v if isinstance(v, str) else ""
)
def test_a_changed_premise_changes_the_oscillator(label: str, mutated: Update) -> None:
    original = Update(OPTIMIZERS[mutated.optimizer.name], mutated.lag_model)
    assert oscillator.derive(mutated).results != oscillator.derive(original).results


@pytest.mark.parametrize("share", [sp.Rational(-1, 2), sp.Rational(1, 2), sp.Integer(2)])
def test_a_changed_share_changes_every_result_that_knows_lag(share: sp.Rational) -> None:
    one, other = (Update.named("heavy-ball", "constant", stale_share=s) for s in (1, share))
    for module in (lag, oscillator, refresh_rule, slow_root):
        assert module.derive(one).results != module.derive(other).results
    assert momentum.derive(one).results == momentum.derive(other).results
    at_two = [
        variance.derive(Update.named("heavy-ball", "constant", stale_share=s, lag=2))
        for s in (1, share)
    ]
    assert at_two[0].results != at_two[1].results
