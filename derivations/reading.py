r"""How an expression is arranged for a reader, whatever it is printed in.

A sum starts with a positive term and, where it can, with the lowest degree; 1 - mu is not written
-(mu - 1); a dummy is called by its name. The value never changes, and nothing here depends on the
process: SymPy numbers its dummies at random.
"""

from __future__ import annotations

import sympy as sp

from derivations.notation import QUANTITIES

__all__ = ["dummy_names", "ordered_terms", "turned"]


def ordered_terms(total: sp.Add) -> list[sp.Expr]:
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
    return terms + orders


def _negative(factor: sp.Expr) -> bool:
    """Whether a factor like mu - 1, linear in one quantity, is never positive on its domain."""
    symbol = next(iter(factor.free_symbols), None)
    if not factor.is_Add or len(factor.free_symbols) != 1 or symbol.name not in QUANTITIES:
        return False
    domain = QUANTITIES[symbol.name].domain
    if domain.low is None or domain.high is None or not factor.diff(symbol).is_number:
        return False
    ends = (sp.Rational(domain.low), sp.Rational(domain.high))
    return all(factor.subs(symbol, end) <= 0 for end in ends)


def turned(product: sp.Expr) -> sp.Expr:
    """Return -(mu - 1) as 1 - mu, as people write it; anything else as it is."""
    if not product.is_Mul:
        return product
    first, *rest = product.args
    coefficient, factors = (first, rest) if first.is_number else (sp.S.One, [first, *rest])
    changed = False
    for k, factor in enumerate(factors):
        base, power = factor.as_base_exp()
        if power.is_Integer and _negative(base):
            coefficient *= sp.Integer(-1) ** power
            factors[k] = (-base) ** power
            changed = True
    if not changed:
        return product
    # Unevaluated, or SymPy would multiply a number into the sum again.
    return sp.Mul(*(() if coefficient == 1 else (coefficient,)), *factors, evaluate=False)


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
