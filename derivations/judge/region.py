r"""Judging a printed condition against the derived region where something is true.

``exact``: printed and derived region are the same. ``sufficient``: printed implies derived.
``necessary``: derived implies printed. ``lower`` and ``upper`` say the same two things of a printed
value of the region's edge.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice

import sympy as sp

from derivations.algebra import TOO_LARGE, canonical, is_zero, too_large
from derivations.claim import Relation, Verdict
from derivations.domain import Domain
from derivations.formula import render
from derivations.judge import balls, search, smt
from derivations.judge.comparison import POINTS, Comparison
from derivations.judge.search import Point

__all__ = ["Region", "broken_at", "judge_region", "printed_edge"]

#: A relative step in x that is smaller than any difference claims are about.
_HAIR = Fraction(1, 2**40)


@dataclass(frozen=True)
class Region:
    """A region of parameter space, as the derivation gives it.

    Attributes
    ----------
    conditions
        Polynomials all positive exactly on the region; None where they are too large for a solver.
    contains
        The same decided exactly at a rational point.
    variable
        The symbol whose first exit from the region is the threshold.
    edge
        The threshold as a formula, where there is an explicit one.
    text
        The region as a reader should see it.
    basis
        Ids of the derivations it comes from.
    whole
        Whether it is derived that the region is exactly variable < edge.
    sufficient
        Derived theorems: relations each of which implies membership.
    """

    conditions: tuple[sp.Expr, ...] | None
    contains: Callable[[Point], bool]
    variable: sp.Symbol
    edge: sp.Expr | None
    text: str
    basis: tuple[str, ...] = ()
    whole: bool = False
    sufficient: tuple[sp.Basic, ...] = ()


def printed_edge(printed: sp.Basic, variable: sp.Symbol) -> sp.Expr | None:
    """Return f if the printed condition reads variable < f after solving a linear inequality."""
    if not isinstance(
        printed, sp.StrictLessThan | sp.LessThan | sp.StrictGreaterThan | sp.GreaterThan
    ):
        return None
    if too_large(printed.lts - printed.gts):
        other = printed.gts if printed.lts == variable else printed.lts
        return None if variable not in printed.args or variable in other.free_symbols else other
    gap = sp.expand(printed.lts - printed.gts)
    slope = sp.diff(gap, variable)
    if slope == 0 or slope.has(variable):
        return None
    return sp.factor(sp.cancel(-gap.subs(variable, 0) / slope))


def _is_below(printed: sp.Basic, variable: sp.Symbol) -> bool:
    """Whether the printed condition is strictly variable < something."""
    return (
        isinstance(printed, sp.StrictLessThan | sp.StrictGreaterThan)
        and printed_edge(printed, variable) is not None
        and bool(sp.diff(printed.lts - printed.gts, variable).is_positive)
    )


def _difference(printed: sp.Basic, region: Region) -> str:
    edge = printed_edge(printed, region.variable)
    if edge is not None and region.edge is not None:
        if too_large(region.edge - edge):
            return TOO_LARGE
        gap = canonical(region.edge - edge)
        return "0" if is_zero(gap) else render(gap)
    if edge is not None:
        return f"x_c - ({render(edge)}), with x_c the threshold in x of: {region.text}"
    if (
        region.conditions is not None
        and len(region.conditions) == 1
        and isinstance(printed, sp.core.relational.Relational)
        and printed.has(region.variable)
    ):
        gap = region.conditions[0] - (printed.gts - printed.lts)
        return TOO_LARGE if too_large(gap) else render(canonical(gap))
    return ""


def _broken(
    printed: sp.Basic, region: Region, relation: Relation, *, strictly: bool
) -> Callable[[Point], bool]:
    edges = [
        r for r in sp.preorder_traversal(printed) if isinstance(r, sp.core.relational.Relational)
    ]

    fails = broken_at(printed, region.contains, relation)

    def on_edge(point: Point) -> bool:
        """On the printed edge, or on the derived one: a hair of x apart the region differs."""
        if any(balls.sign(r.lhs - r.rhs, point) == 0 for r in edges):
            return True
        x = point.get(region.variable)
        if x is None or not fails(point):
            return False
        hairs = [{**point, region.variable: x * (1 + sign * _HAIR)} for sign in (1, -1)]
        return len({region.contains(near) for near in hairs}) > 1

    def broken(point: Point) -> bool:
        try:
            if strictly and on_edge(point):
                return False
        except balls.Undefined:
            return False
        return fails(point)

    return broken


def broken_at(
    printed: sp.Basic, contains: Callable[[Point], bool], relation: Relation
) -> Callable[[Point], bool]:
    """Return whether a condition breaks its relation to a region, for asking at single points."""

    def broken(point: Point) -> bool:
        said, true = balls.truth(printed, point), contains(point)
        if relation is Relation.SUFFICIENT:
            return said and not true
        if relation is Relation.NECESSARY:
            return true and not said
        return said != true

    return broken


def judge_region(
    printed: sp.Basic, region: Region, relation: Relation, domains: Mapping[sp.Symbol, Domain]
) -> Verdict:
    """Judge a printed condition (a relation or a conjunction) against the derived region.

    Parameters
    ----------
    relation
        ``exact``, ``sufficient`` or ``necessary``.
    domains
        Domain of every free symbol.
    """
    comparison = Comparison(domains, (), region.text, _difference(printed, region))
    edge = printed_edge(printed, region.variable)
    if (
        region.whole
        and region.edge is not None
        and edge is not None
        and _is_below(printed, region.variable)
        and not too_large(region.edge - edge)
        and is_zero(region.edge - edge)
    ):
        return comparison.proved("exact algebra: the printed edge is the derived one")
    if relation is Relation.SUFFICIENT:
        looked = [*islice(search.simple_points(domains, 6), 200), *search.drawn(domains, POINTS)]
        if not any(balls.truth(printed, point) for point in looked):
            comparison = comparison.note(
                f"the printed condition is true at none of {len(looked)} points looked at: vacuous"
            )
        box = [r for s, d in domains.items() for r in smt.box(s, d)]
        for theorem in region.sufficient:
            outcome = smt.entails([*box, printed], [theorem])
            if outcome.answer is smt.Answer.YES:
                return comparison.proved(f"{outcome.method}: it implies a derived theorem")
    outcomes = [] if region.conditions is None else _asked(printed, region, relation, domains)
    if outcomes and all(o.answer is smt.Answer.YES for o in outcomes):
        return comparison.proved(outcomes[0].method)
    if any(o.answer is smt.Answer.MISSING for o in outcomes):
        comparison = comparison.note(outcomes[0].method)
    for strictly in (True, False):
        broken = _broken(printed, region, relation, strictly=strictly)
        point = _beside(edge, region, domains, broken) if region.conditions is None else None
        point = point or search.smallest(domains, broken)
        for outcome in outcomes:
            if point is None and outcome.answer is smt.Answer.NO:
                start = {
                    s: outcome.model.get(s, d.some()) for s, d in domains.items()
                }
                point = search.simplify(start, domains, broken)
        if point is not None:
            return comparison.refuted("exact counterexample", point, _what(printed, region, point))
    return _certify(printed, region, relation, comparison)


def _beside(
    edge: sp.Expr | None,
    region: Region,
    domains: Mapping[sp.Symbol, Domain],
    broken: Callable[[Point], bool],
) -> Point | None:
    """Look next to the printed edge, for simple values of everything else."""
    if edge is None:
        return None
    others = {s: d for s, d in domains.items() if s != region.variable}
    for point in islice(search.simple_points(others, 4), 8):
        middle = _middle(edge, point)
        if middle is None:
            continue
        for low, high in ((9, 15), (17, 23)):  # sixteenths of the edge: below it, above it
            value = search.simplest_between(middle * low / 16, middle * high / 16)
            candidate = {**point, region.variable: value}
            if value in domains[region.variable] and broken(candidate):
                return candidate
    return None


def _middle(edge: sp.Expr, point: Point) -> Fraction | None:
    """Return the printed edge at a point as a rational close to it, if it is positive there."""
    try:
        ball = balls.evaluate(edge, point)
    except balls.Undefined:
        return None
    middle = Fraction(float(ball.mid()) if hasattr(ball, "mid") else float(ball))
    return middle if middle > 0 else None


def _asked(
    printed: sp.Basic, region: Region, relation: Relation, domains: Mapping[sp.Symbol, Domain]
) -> list[smt.Outcome]:
    """Ask the solver for each direction the relation claims."""
    box = [r for s, d in domains.items() for r in smt.box(s, d)]
    truth = [sp.StrictGreaterThan(c, 0, evaluate=False) for c in region.conditions or ()]
    questions = {
        Relation.SUFFICIENT: [([printed], truth)],
        Relation.NECESSARY: [(truth, [printed])],
        Relation.EXACT: [([printed], truth), (truth, [printed])],
    }[relation]
    return [smt.entails([*box, *given], wanted) for given, wanted in questions]


def _what(printed: sp.Basic, region: Region, point: Point) -> str:
    said = "inside" if balls.truth(printed, point) else "outside"
    true = "inside" if region.contains(point) else "outside"
    return f"the printed condition puts the point {said}; it is {true}"


def _certify(
    printed: sp.Basic, region: Region, relation: Relation, comparison: Comparison
) -> Verdict:
    """Hold the claim at drawn points, half of them pressed against the printed edge."""
    edge = printed_edge(printed, region.variable)
    points = search.drawn(comparison.domains, POINTS)
    if edge is not None:
        near = points[: POINTS // 4]
        points += [q for p in near for q in _near(edge, region.variable, p, comparison)]
    for strictly in (True, False):
        broken = _broken(printed, region, relation, strictly=strictly)
        for point in points:
            if broken(point):
                what = _what(printed, region, point)
                return comparison.refuted("exact counterexample", point, what)
    return comparison.survived(len(points), "membership decided exactly")


def _near(edge: sp.Expr, variable: sp.Symbol, point: Point, comparison: Comparison) -> list[Point]:
    middle = _middle(edge, {s: v for s, v in point.items() if s != variable})
    if middle is None:
        return []
    close = [middle * (1 + sign * Fraction(1, 2**k)) for k in (6, 14, 24) for sign in (1, -1)]
    domain = comparison.domains[variable]
    return [{**point, variable: value} for value in close if value in domain]
