r"""Expressions to a straight line of cheap operations.

NumPy pays for every operation with a pass over the points, so fewer operations are faster:
polynomials are nested (Horner), common parts shared, whole powers multiplied out by repeated
squaring. Which variable to nest in first changes the count, so every order is tried and the
cheapest program is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import sympy as sp

__all__ = ["straight_line"]

Program = tuple[list[tuple[sp.Symbol, sp.Expr]], list[sp.Expr]]

# Time of an operation on doubles in cache, in additions; as measured with NumPy, roughly.
_COST = {"divide": 2, "root": 4, "other": 40}


def straight_line(outputs: Sequence[sp.Expr]) -> Program:
    """Return assignments, in order, and the outputs in terms of them.

    No whole power is left in them but squares that are assigned alone and reciprocals.
    """
    names = sorted({s for e in outputs for s in e.free_symbols}, key=lambda s: s.name)
    orders = list(permutations(names)) if len(names) <= 4 else [tuple(names)]
    nestings = [list(outputs), *([_nested(e, order) for e in outputs] for order in orders)]
    programs = [
        _multiplied_out(*_shared(nesting, matching))
        for nesting in nestings
        for matching in (True, False)
    ]
    return min(programs, key=_cost)


def _nested(e: sp.Expr, order: Sequence[sp.Symbol]) -> sp.Expr:
    """Write every polynomial in `e` in Horner's form, nested in the variables in this order."""
    if not e.args:
        return e
    if e.is_Add and e.is_polynomial(*e.free_symbols):
        return sp.horner(e, *(s for s in order if s in e.free_symbols))
    return e.func(*(_nested(part, order) for part in e.args))


def _shared(outputs: Sequence[sp.Expr], matching: bool) -> Program:
    """Name the common parts; `matching` also looks for them inside longer sums and products."""
    return sp.cse(  # type: ignore[no-any-return]
        outputs,
        symbols=sp.numbered_symbols("c"),
        order="canonical",
        optimizations="basic" if matching else None,
    )


def _multiplied_out(shared: list[tuple[sp.Symbol, sp.Expr]], outputs: list[sp.Expr]) -> Program:
    """Replace whole and half powers by assigned products and roots; number all names anew."""
    lines: list[tuple[sp.Symbol, sp.Expr]] = []
    known: dict[sp.Expr, sp.Symbol] = {}
    renamed: dict[sp.Symbol, sp.Symbol] = {}

    def assigned(e: sp.Expr) -> sp.Symbol:
        if e.is_Symbol:
            return e
        if e not in known:
            known[e] = sp.Symbol(f"c{len(lines)}")
            lines.append((known[e], e))
        return known[e]

    def power(base: sp.Expr, exponent: int) -> sp.Symbol:
        if exponent == 1:
            return assigned(base)
        low, high = exponent // 2, exponent - exponent // 2
        if low == high:
            return assigned(sp.Pow(power(base, low), 2))
        return assigned(power(base, low) * power(base, high))

    def without_powers(e: sp.Expr) -> sp.Expr:
        if e in renamed:
            return renamed[e]
        if not e.args:
            return e
        parts = [without_powers(part) for part in e.args]
        if not (e.is_Pow and e.exp.is_Rational and e.exp.q in (1, 2) and abs(e.exp) > 1):
            return e.func(*parts)
        base, size = assigned(parts[0]), abs(e.exp)
        made = power(base, size.p // size.q)
        if size.q == 2:
            made = made * assigned(sp.sqrt(base))
        return made if e.exp > 0 else 1 / made

    for symbol, e in shared:
        renamed[symbol] = assigned(_positive(without_powers(e)))
    return lines, [_positive(without_powers(e)) for e in outputs]


def _positive(e: sp.Expr) -> sp.Expr:
    """Move a leading minus into a sum that has one already: NumPy would pay for it with a pass."""
    if not e.args:
        return e
    e = e.func(*map(_positive, e.args))
    if e.is_Mul and e.args[0] == -1:
        for n, part in enumerate(e.args):
            base, exponent = part.as_base_exp()
            if base.is_Add and abs(exponent) == 1 and any(map(_negative, base.args)):
                turned = sp.Add(*(-term for term in base.args)) ** exponent
                return sp.Mul(*e.args[1:n], turned, *e.args[n + 1 :])
    return e


def _negative(e: sp.Expr) -> bool:
    return bool(e.as_coeff_Mul()[0].is_negative)


def _cost(program: Program) -> int:
    lines, outputs = program
    return sum(map(_operations, [*(e for _, e in lines), *outputs]))


def _operations(e: sp.Expr) -> int:
    """Return the cost of one expression, in additions."""
    inside = sum(map(_operations, e.args))
    if e.is_Add:
        subtracted = sum(1 for term in e.args if term.is_Mul and term.args[0] == -1)
        return inside + len(e.args) - 1 - subtracted + all(map(_negative, e.args))
    if e.is_Mul:
        reciprocals = sum(1 for f in e.args if f.is_Pow and f.exp == -1)
        return inside + len(e.args) - 1 - reciprocals
    if e.is_Pow and e.exp == -1:
        return inside + _COST["divide"]
    if e.is_Pow and e.exp == 2:
        return inside + 1
    if e.is_Pow and abs(e.exp) == sp.Rational(1, 2):
        return inside + _COST["root"]
    if e.is_Pow or e.is_Function:
        return inside + _COST["other"]
    return 0
