r"""The slips of a printed formula: the one change after which it is the derived formula.

A slip is looked for backwards: the printed formula is changed as a misprint would change it, and
the change that gives the derived formula is the slip. A missing or a superfluous term shows in the
difference, a missing factor in the ratio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations, islice

import sympy as sp

from derivations.algebra import too_large
from derivations.explain.twin import Twin
from derivations.formula import render
from derivations.mutation import mutants
from derivations.notation import quantity

__all__ = ["corrections"]

Slip = tuple[str, sp.Basic]

#: Changes tried of one formula.
_MOST = 200
_WHOLE = tuple(quantity(name) for name in ("G", "k"))


def corrections(
    printed: sp.Expr,
    agrees: Callable[[sp.Expr], bool],
    pair: Twin | None,
    factor: sp.Rational | None,
) -> Iterator[Slip]:
    """Iterate over (the slip in words, the corrected formula), the likelier first.

    Parameters
    ----------
    printed
        The formula; a condition is corrected in its edge.
    agrees
        Whether another formula may agree with the derived value: only such changes are given.
    pair
        Printed and derived, where both are formulas.
    factor
        Derived over printed, where it is seen to be one number.
    """
    seen = set()
    for words, correction in islice(_candidates(printed, pair, factor), _MOST):
        if correction in seen or correction.has(sp.zoo, sp.nan, sp.I):
            continue
        seen.add(correction)
        if agrees(correction):
            yield words, correction


def _candidates(printed: sp.Expr, pair: Twin | None, factor: sp.Rational | None) -> Iterator[Slip]:
    if factor is not None and factor == -1:
        yield "the sign of the whole", -printed
    elif factor is not None:
        yield f"the factor {factor} is missing", factor * printed
    if pair is not None and pair.printed == printed and not too_large(pair.derived - printed):
        yield from _terms(printed, pair.derived)
    symbols = printed.free_symbols | (pair.derived.free_symbols if pair is not None else set())
    for one, other in combinations(sorted(symbols, key=str), 2):
        yield f"{one} for {other}", printed.xreplace({other: one})
        yield f"{other} for {one}", printed.xreplace({one: other})
        yield f"{one} and {other} are swapped", printed.xreplace({one: other, other: one})
    for symbol in (s for s in _WHOLE if s in symbols):
        for other in (symbol + 1, symbol - 1, 2 * symbol, symbol / 2):
            yield f"{render(other)} for {symbol}", printed.xreplace({symbol: other})
    yield from mutants(printed)


def _terms(printed: sp.Expr, derived: sp.Expr) -> Iterator[Slip]:
    """What single terms lack, or have too much."""
    expanded = sp.expand(printed)
    difference = sp.expand(derived - printed)
    for term in sp.Add.make_args(expanded):
        shown = render(term)
        factor = sp.cancel(1 + difference / term)
        if factor == -1:
            yield f"the sign of {shown}", expanded - 2 * term
        elif factor == 0:
            yield f"the term {shown} is too much", expanded - term
        elif factor != 1 and (factor.is_Rational or factor.is_Symbol):
            words = f"the factor {render(factor)} is missing in {shown}"
            yield words, expanded + _more(term, factor)
        elif (1 / factor).is_Symbol:
            words = f"the factor {render(1 / factor)} is too much in {shown}"
            yield words, expanded + _more(term, factor)
    missing = _one_term(difference)
    if missing is not None and sp.count_ops(missing) <= 2 * sp.count_ops(printed):
        yield f"the term {render(missing)} is missing", printed + missing


def _one_term(difference: sp.Expr) -> sp.Expr | None:
    """Return a difference that is one term, or one multiple of one logarithm."""
    if difference == 0:
        return None
    if not difference.is_Add:
        return difference
    if not difference.has(sp.log):
        return None
    split = sp.expand(sp.expand_log(difference, force=True))
    product = sp.factor(split)
    logs = [f for f in sp.Mul.make_args(product) if f.has(sp.log)]
    if len(logs) != 1:
        return None
    joined = sp.logcombine(logs[0], force=True)
    return product / logs[0] * joined if isinstance(joined, sp.log) else None


def _more(term: sp.Expr, factor: sp.Expr) -> sp.Expr:
    """Return what turns a term into its multiple, so written that the term itself cancels."""
    return factor * term - term
