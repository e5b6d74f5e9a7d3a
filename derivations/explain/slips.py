r"""The slips of a printed formula: the one change after which it is the derived formula.

A slip is looked for backwards: the printed formula is changed as a misprint would change it, and
the change that gives the derived formula is the slip. A missing or a superfluous term shows in the
difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import sympy as sp

from derivations.explain.twin import Twin
from derivations.formula import render
from derivations.mutation import mutants

__all__ = ["corrections"]


def corrections(pair: Twin) -> Iterator[tuple[str, sp.Basic]]:
    """Iterate over (the slip in words, the corrected formula), the likelier first.

    Only changes that agree with the derived formula at drawn points are given; a condition is
    corrected in its edge.
    """
    seen = set()
    for words, correction in _candidates(pair.printed, pair.derived):
        if correction in seen or correction.has(sp.zoo, sp.nan, sp.I):
            continue
        seen.add(correction)
        if pair.may_agree(correction):
            yield words, correction


def _candidates(printed: sp.Expr, derived: sp.Expr) -> Iterator[tuple[str, sp.Expr]]:
    factor = sp.cancel(derived / printed) if printed != 0 else sp.nan
    if factor == -1:
        yield "the sign of the whole", -printed
    elif factor.is_Rational:
        yield f"the factor {factor} is missing", factor * printed
    expanded = sp.expand(printed)
    for term in sp.Add.make_args(expanded):
        shown = render(term)
        factor = sp.cancel(1 + sp.expand(derived - printed) / term)
        if factor == -1:
            yield f"the sign of {shown}", expanded - 2 * term
        elif factor == 0:
            yield f"the term {shown} is too much", expanded - term
        elif factor != 1 and (factor.is_Rational or factor.is_Symbol):
            yield (
                f"the factor {render(factor)} is missing in {shown}",
                expanded + _more(term, factor),
            )
        elif (1 / factor).is_Symbol:
            yield (
                f"the factor {render(1 / factor)} is too much in {shown}",
                expanded + _more(term, factor),
            )
    difference = sp.expand(derived - printed)
    if len(sp.Add.make_args(difference)) == 1 and difference != 0:
        yield f"the term {render(difference)} is missing", printed + difference
    for one, other in combinations(sorted(printed.free_symbols | derived.free_symbols, key=str), 2):
        yield f"{one} for {other}", printed.xreplace({other: one})
        yield f"{other} for {one}", printed.xreplace({one: other})
        yield f"{one} and {other} are swapped", printed.xreplace({one: other, other: one})
    yield from mutants(printed)


def _more(term: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """Return what turns a term into its multiple, so written that the term itself cancels."""
    return factor * term - term
