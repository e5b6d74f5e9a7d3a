r"""Judging a printed formula for a value against the derived one: exact, upper or lower."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from derivations.algebra import TOO_LARGE, canonical, is_zero, too_large
from derivations.claim import Relation, Verdict
from derivations.domain import Domain
from derivations.formula import render
from derivations.judge import balls, search, smt
from derivations.judge.comparison import POINTS, Comparison
from derivations.judge.search import BUDGET, Point

__all__ = ["AGREEMENT", "Value", "judge_value"]

#: Two equal values must agree to this, relative to the larger, wherever balls are compared.
AGREEMENT = 1e-30
#: Simple points looked at where the value is only enclosed, which takes milliseconds at each.
ENCLOSED = 400


@dataclass(frozen=True)
class Value:
    """What the derivation gives for a quantity.

    Attributes
    ----------
    expression
        Closed form in the free symbols, or None where only enclosures exist.
    enclose
        Ball containing the value at a rational point, where there is no closed form.
    where
        Relations under which the quantity exists, polynomial so that a solver can be told.
    exists
        The same decided exactly at a point, when it is not given by relations.
    text
        How to print the value when there is no closed form.
    series
        Leading terms in a small parameter, as (symbol, terms, order of the relative remainder).
    basis
        Ids of the derivations it comes from.
    symbols
        What it depends on, where there is no closed form to tell.
    """

    expression: sp.Expr | None = None
    enclose: Callable[[Point, int], Any] | None = None
    where: tuple[sp.Basic, ...] = ()
    exists: Callable[[Point], bool] | None = None
    text: str = ""
    series: tuple[sp.Symbol, sp.Expr, int] | None = None
    basis: tuple[str, ...] = ()
    symbols: tuple[sp.Symbol, ...] = ()

    def ball(self, point: Point, bits: int = 192) -> Any:
        """Return a ball containing the value at `point`."""
        if self.enclose is not None:
            return self.enclose(point, bits)
        if self.expression is None:
            raise balls.Undefined(f"there is no closed form and no enclosure of {self.text}")
        return balls.evaluate(self.expression, point, bits)

    def defined(self, point: Point) -> bool:
        """Return whether the quantity exists at `point`."""
        if self.exists is not None and not self.exists(point):
            return False
        return all(balls.truth(relation, point) for relation in self.where)

    def __str__(self) -> str:
        return self.text or shown(self.expression)


def difference_text(printed: sp.Expr, value: Value) -> str:
    """Return derived minus printed in lowest terms, as text."""
    if value.expression is None:
        return f"({value.text}) - ({render(printed)})"
    difference = value.expression - printed
    if too_large(difference):
        return TOO_LARGE
    return "0" if is_zero(difference) else shown(difference)


def shown(expression: sp.Expr) -> str:
    """Return an expression as text: in lowest terms, or as derived where that reads better."""
    if too_large(expression):
        return render(expression)
    reduced = canonical(expression)
    if not expression.is_rational_function() and sp.count_ops(reduced) > sp.count_ops(expression):
        reduced = expression
    return render(reduced)


def judge_value(
    printed: sp.Expr, value: Value, relation: Relation, domains: Mapping[sp.Symbol, Domain]
) -> Verdict:
    """Judge `printed` as the value (exact) or as a bound of it (upper, lower).

    Parameters
    ----------
    printed
        The formula as parsed.
    value
        The derived quantity.
    relation
        ``exact``, ``upper`` (printed >= derived) or ``lower`` (printed <= derived).
    domains
        Domain of every free symbol of both.
    """
    comparison = Comparison(domains, value.where, str(value), difference_text(printed, value))
    if relation is Relation.EXACT:
        gap = None if value.expression is None else printed - value.expression
        if gap is not None and not too_large(gap) and is_zero(gap):
            return comparison.proved("exact algebra: derived minus printed is zero")
        broken = _differs(printed, value)
    else:
        direction = 1 if relation is Relation.UPPER else -1
        broken = _crosses(printed, value, direction)
        if value.expression is not None:
            verdict, comparison = _solved(printed, value, direction, comparison, broken)
            if verdict is not None:
                return verdict
    point = search.smallest(domains, broken, budget=BUDGET if value.enclose is None else ENCLOSED)
    if point is None:
        point = next((p for p in search.drawn(domains, 4 * POINTS) if broken(p)), None)
    if point is not None:
        return comparison.refuted("exact counterexample", point, _both(printed, value, point))
    return _certify(printed, value, relation, comparison)


def _solved(
    printed: sp.Expr,
    value: Value,
    direction: int,
    comparison: Comparison,
    broken: Callable[[Point], bool],
) -> tuple[Verdict | None, Comparison]:
    """Ask the solver for the whole region; return a verdict where it or its model decides."""
    box = [r for s, d in comparison.domains.items() for r in smt.box(s, d)]
    bound = sp.GreaterThan(direction * (printed - value.expression), 0, evaluate=False)
    outcome = smt.entails([*box, *value.where], [bound])
    if outcome.answer is smt.Answer.YES:
        return comparison.proved(outcome.method), comparison
    if outcome.answer is smt.Answer.NO:
        domains = dict(comparison.domains)
        point = search.smallest(domains, broken) or search.simplify(
            {s: outcome.model.get(s, d.some()) for s, d in domains.items()},
            domains,
            broken,
        )
        if point is not None:
            witness = _both(printed, value, point)
            return comparison.refuted("exact counterexample", point, witness), comparison
    return None, comparison.note(outcome.method if outcome.answer is smt.Answer.MISSING else "")


def _no_real_value(printed: sp.Expr, point: Point) -> bool:
    """Whether the printed formula has a value at a point, but not a real one."""
    if balls.rational_value(printed, point) is not None or not balls.available():
        return False
    try:
        balls.evaluate(printed, point)
    except balls.NotReal:
        return True
    return False


def _enclosed_gap(printed: sp.Expr, value: Value, point: Point) -> Any:
    """Return printed minus enclosed as a ball, None where the printed formula is not real."""
    ours = value.ball(point)
    try:
        return balls.evaluate(printed, point, 192) - ours
    except balls.NotReal:
        return None


def _differs(printed: sp.Expr, value: Value) -> Callable[[Point], bool]:
    def broken(point: Point) -> bool:
        if not value.defined(point):
            return False
        try:
            if value.expression is not None:
                return _no_real_value(printed, point) or balls.sign(
                    printed - value.expression, point, zero=False
                ) in (-1, 1)
            gap = _enclosed_gap(printed, value, point)
            return gap is None or bool(gap > 0 or gap < 0)
        except balls.Undefined:
            return False

    return broken


def _crosses(printed: sp.Expr, value: Value, direction: int) -> Callable[[Point], bool]:
    def broken(point: Point) -> bool:
        if not value.defined(point):
            return False
        try:
            if value.expression is not None:
                return _no_real_value(printed, point) or (
                    balls.sign(printed - value.expression, point, zero=False) == -direction
                )
            gap = _enclosed_gap(printed, value, point)
            return gap is None or bool(direction * gap < 0)
        except balls.Undefined:
            return False

    return broken


def _both(printed: sp.Expr, value: Value, point: Point) -> str:
    try:
        said = _show(balls.evaluate(printed, point))
    except balls.NotReal:
        said = "no real value"
    return f"printed {said}, derived {_show(value.ball(point))}"


def _show(ball: Any) -> str:
    return f"{float(ball.mid() if hasattr(ball, 'mid') else ball):.12g}"


def _certify(printed: sp.Expr, value: Value, relation: Relation, comparison: Comparison) -> Verdict:
    """Hold the claim at drawn points by enclosures that agree, or that are strictly ordered."""
    held, meaningless = 0, []
    for point in search.drawn(comparison.domains, 6 * POINTS):
        if held == POINTS or not value.defined(point):
            continue
        try:
            ours = value.ball(point)
        except balls.Undefined:
            continue
        try:
            theirs = balls.evaluate(printed, point, 192)
        except balls.Undefined:
            meaningless.append(point)
            continue
        gap = theirs - ours if relation is not Relation.LOWER else ours - theirs
        close = balls.magnitude(gap) <= AGREEMENT * max(balls.magnitude(ours), 1e-300)
        if close or (relation is not Relation.EXACT and gap > 0):
            held += 1
        else:
            return comparison.undecided(f"the enclosures do not settle it at {_named(point)}")
    if held == 0 and len(meaningless) >= POINTS:
        return comparison.refuted(
            "the printed formula has no real value at any drawn point",
            meaningless[0],
            f"derived {_show(value.ball(meaningless[0]))}, printed: no real value",
        )
    if held < min(10, POINTS) and comparison.domains:
        return comparison.undecided(f"only {held} points of the domain could be evaluated")
    what = f"agreement to {AGREEMENT:.0e}" if relation is Relation.EXACT else "the ordering"
    return comparison.survived(held, f"ball arithmetic: {what}")


def _named(point: Point) -> str:
    return ", ".join(f"{s.name} = {v}" for s, v in point.items())
