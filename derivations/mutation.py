r"""Mutants: a formula with one thing changed, as a misprint or a slip would change it.

Every coefficient with its sign flipped, halved and doubled; every term with its sign flipped,
halved or left out; every exponent one off; every lag one off. A check that no mutant can fail
checks nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from derivations.notation import quantity

__all__ = ["mutants"]

_LAGS = {quantity("d"), quantity("N")}
_HALF = sp.Rational(1, 2)


def mutants(formula: sp.Basic) -> Iterator[tuple[str, sp.Basic]]:
    """Iterate over (what was changed, mutated formula), each once and none equal to the original.

    Parameters
    ----------
    formula
        An expression or a relation, as parsed.
    """
    seen = {formula}
    for change, mutant in _changed(formula):
        if mutant not in seen:
            seen.add(mutant)
            yield change, mutant


def _changed(e: sp.Basic) -> Iterator[tuple[str, sp.Basic]]:
    if e.is_Symbol and e in _LAGS:
        yield f"{e} + 1 for {e}", e + 1
        yield f"{e} - 1 for {e}", e - 1
    if e.is_Rational and e != 0:
        yield f"{-e} for {e}", -e
        if e not in (1, -1):
            yield f"{e / 2} for {e}", e / 2
            yield f"{2 * e} for {e}", 2 * e
    if e.is_Add:
        for term in e.args:
            yield f"sign of {term}", e - 2 * term
            yield f"half of {term}", e - term * _HALF
            yield f"without {term}", e - term
    if e.is_Mul:
        for factor in e.args:
            if not factor.is_number:
                yield f"without the factor {factor}", e / factor
        yield f"half of {e}", e * _HALF
        yield f"sign of {e}", -e
    if e.is_Pow and e.exp.is_Rational:
        for exponent in (e.exp + 1, e.exp - 1):
            yield f"exponent {exponent} of {e.base}", sp.Pow(e.base, exponent)
        yield from ((change, sp.Pow(base, e.exp)) for change, base in _changed(e.base))
        return
    for position, part in enumerate(e.args):
        for change, mutant in _changed(part):
            args = [*e.args[:position], mutant, *e.args[position + 1 :]]
            if isinstance(e, sp.core.relational.Relational):
                yield change, e.func(*args, evaluate=False)
            else:
                yield change, e.func(*args)
