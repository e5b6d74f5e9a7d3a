"""Tests of verdicts that a mutant of `derivations/judge/` asked for: see docs/reliability.md."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from derivations.audit import judge_claim
from derivations.claim import Claim, Relation, Rung, VerdictWord
from derivations.domain import Domain
from derivations.judge import balls, order, trial
from derivations.judge.smt import Answer
from derivations.notation import quantity

mu, x, d = map(quantity, ("mu", "x", "d"))


def test_a_true_condition_at_a_lag_beyond_the_solver_is_not_refuted_beside_its_edge() -> None:
    """At lag 9 points decide; a point beside the printed edge that breaks nothing says nothing."""
    model = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1, "lag": 9}
    claim = Claim("c", "threshold", "x < 1 - mu", Relation.NECESSARY, model=model)
    verdict = judge_claim(claim).verdict
    assert (verdict.word, verdict.evidence.rung) == (VerdictWord.HOLDS, Rung.CERTIFIED)
    assert verdict.counterexample == {}


def test_what_the_domain_keeps_above_0_stands_in_as_positive() -> None:
    """So that sqrt(C**2) is C; not where 0 or less is allowed, nor the symbol that goes to 0."""
    zero, half = Fraction(0), Fraction(1, 2)
    domains = {
        sp.Symbol("above"): Domain(low=zero, low_open=True),
        sp.Symbol("far"): Domain(low=half),
        sp.Symbol("at"): Domain(low=zero),
        sp.Symbol("below"): Domain(low=-half, low_open=True),
        sp.Symbol("free"): Domain(),
        sp.Symbol("small"): Domain(low=zero, low_open=True),
    }
    found = order._positive(domains, sp.Symbol("small"))
    assert {symbol.name for symbol in found} == {"above", "far"}
    assert all(stand_in.is_positive for stand_in in found.values())


@pytest.mark.parametrize(
    ("hypotheses", "conclusions", "answer"),
    [
        ([x < 1 - mu], [x < 1], Answer.YES),
        ([x < 1 - mu], [x < 1, x + mu < 1], Answer.YES),
        ([x < 1 - mu], [x < 1, x < mu], Answer.NO),
        ([x < 1], [x < 1 - mu], Answer.NO),
        ([sp.Integer(3) < d, d < 5], [d <= 4], Answer.YES),
        ([sp.Integer(3) < d, d < 5], [d < 4], Answer.NO),
        ([x < -1], [x > 0], Answer.UNKNOWN),
    ],
)
def test_without_a_solver_a_claim_is_attacked_at_points(
    hypotheses: list[sp.Basic], conclusions: list[sp.Basic], answer: Answer
) -> None:
    found = trial.entails(hypotheses, conclusions)
    assert found.answer is answer
    if answer is Answer.NO:
        at = {symbol: sp.Rational(value) for symbol, value in found.model.items()}
        assert all(h.subs(at) == sp.true for h in hypotheses)
        assert not all(c.subs(at) == sp.true for c in conclusions)


def test_a_point_that_breaks_a_claim_is_shrunk() -> None:
    box = {x: Domain(low=Fraction(0), low_open=True), d: Domain(low=Fraction(0), integer=True)}
    assert trial.find(box, lambda at: at[d] > 4) == {x: 1, d: 5}
    assert trial.find(box, lambda at: at[x] <= 0) is None


def test_a_value_at_a_point_is_exact_or_undefined_at_a_pole() -> None:
    formula = (1 + mu) / (1 - x) ** 2
    assert balls.rational_value(formula, {mu: Fraction(1, 2), x: Fraction(2)}) == Fraction(3, 2)
    assert balls.rational_value(1 / x, {x: Fraction(-1)}) == -1
    assert balls.rational_value(sp.sqrt(x), {x: Fraction(4)}) is None
    for at_pole in (formula, (1 - x) / (1 - x) ** 2, 1 / (x - 1)):
        with pytest.raises(balls.Undefined, match="divides by zero"):
            balls.rational_value(at_pole, {mu: Fraction(1, 2), x: Fraction(1)})
