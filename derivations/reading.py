r"""How an expression is arranged for a reader, whatever it is printed in.

A sum starts with a positive term and, where it can, with the lowest degree; 1 - mu is not written
-(mu - 1); a dummy is called by its name. The value never changes, and nothing here depends on the
process: SymPy numbers its dummies at random.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import sympy as sp

from derivations.notation import QUANTITIES

__all__ = ["conditions", "dummy_names", "ordered_terms", "turned"]

_FLIPPED = {">": "<", ">=": "<=", "<": ">", "<=": ">="}


@lru_cache(maxsize=4096)
def ordered_terms(total: sp.Add) -> tuple[sp.Expr, ...]:
    """Return terms by rising degree, unless only another order starts positive; O(...) last."""
    orders = [term for term in total.args if term.is_Order]
    if orders:
        total = sp.Add(*(t for t in total.args if not t.is_Order), evaluate=False)
    terms = [turned(term) for term in total.as_ordered_terms("rev-grlex")]
    if terms[0].could_extract_minus_sign():
        falling = [turned(term) for term in total.as_ordered_terms("grlex")]
        positive = next((t for t in falling if not t.could_extract_minus_sign()), None)
        if positive is not None:
            falling.remove(positive)
            terms = [positive, *falling]
    return (*terms, *orders)


@lru_cache(maxsize=4096)
def _negative(factor: sp.Expr) -> bool:
    """Whether a factor like mu - 1, linear in one quantity, is never positive on its domain."""
    if not factor.is_Add or len(factor.free_symbols) != 1:
        return False
    (symbol,) = factor.free_symbols
    if symbol.name not in QUANTITIES:
        return False
    domain = QUANTITIES[symbol.name].domain
    if domain.low is None or domain.high is None or not factor.diff(symbol).is_number:
        return False
    ends = (sp.Rational(domain.low), sp.Rational(domain.high))
    return all(factor.subs(symbol, end) <= 0 for end in ends)


def turned(product: sp.Expr) -> sp.Expr:
    """Return -(mu - 1) as 1 - mu and (mu - 1)**2 as (1 - mu)**2, as people write them."""
    if not (product.is_Mul or product.is_Pow):
        return product
    coefficient, changed = sp.S.One, False
    powers: dict[tuple[sp.Expr, bool], sp.Expr] = {}
    for factor in sp.Mul.make_args(product):
        base, power = factor.as_base_exp()
        if power.is_Integer and _negative(base):
            coefficient *= sp.Integer(-1) ** power
            base, changed = -base, True
        if factor.is_number:
            coefficient *= factor
        else:
            over = (base, not power.could_extract_minus_sign())  # nothing is cancelled
            powers[over] = powers.get(over, sp.S.Zero) + power
    if not changed:
        return product
    factors = [base**power for (base, _), power in powers.items()]
    if coefficient == 1:
        return factors[0] if len(factors) == 1 else sp.Mul(*factors, evaluate=False)
    # Unevaluated, or SymPy would multiply a number into the sum again.
    return sp.Mul(coefficient, *factors, evaluate=False)


def conditions(hypotheses: Iterable[sp.Basic]) -> list[tuple[sp.Basic | str, ...]]:
    """Return conditions as they are written down: bounds of one symbol first, as 0 <= mu < 1.

    Returns
    -------
    list of tuple
        Operands and signs by turns; a condition that is not a relation is a tuple of one.
    """
    bounds: dict[sp.Symbol, dict[str, tuple[str, sp.Expr]]] = {}
    rest: list[tuple[sp.Basic | str, ...]] = []
    for condition in hypotheses:
        sign = getattr(condition, "rel_op", "")
        if sign not in _FLIPPED:
            rest.append((condition.lhs, sign, condition.rhs) if sign else (condition,))
            continue
        left, right = condition.args
        if right.is_Symbol and left.is_number:
            left, sign, right = right, _FLIPPED[sign], left
        side = "above" if sign[0] == ">" else "below"
        if left.is_Symbol and right.is_number and side not in bounds.get(left, {}):
            bounds.setdefault(left, {})[side] = (sign, right)
        else:
            rest.append((left, sign, right))
    simple: list[tuple[sp.Basic | str, ...]] = []
    for symbol in sorted(bounds, key=lambda bounded: bounded.name):
        ends = bounds[symbol]
        if len(ends) == 2:
            (above, low), (below, high) = ends["above"], ends["below"]
            simple.append((low, _FLIPPED[above], symbol, below, high))
        else:
            simple += [(symbol, *end) for end in ends.values()]
    return simple + rest


def dummy_names(expression: sp.Basic) -> dict[sp.Dummy, str]:
    """Return a name for every dummy, primed where another symbol already has it."""
    dummies = expression.atoms(sp.Dummy)
    taken = {symbol.name for symbol in expression.atoms(sp.Symbol) - dummies}
    names = {}
    for dummy in sorted(dummies, key=lambda d: (d.name, d.dummy_index)):
        name = dummy.name
        while name in taken:
            name += "'"
        taken.add(name)
        names[dummy] = name
    return names
