r"""Rational expressions in p and one square root, written the way a person would write them.

SymPy's canonical forms prefer p - 1 to 1 - p, expand radicands and leave R**2 and its radicand
side by side. Nothing here is trusted: what :func:`tidy` returns is compared with what it was given.
"""

from __future__ import annotations

import sympy as sp

from derivations.algebra import is_zero
from derivations.notation import quantity

__all__ = ["tidy"]

_eps = quantity("eps")
_LOGS = tuple(sp.log(quantity(n)) for n in ("p", "p_star"))


def tidy(expression: sp.Expr) -> sp.Expr:
    """Return the shortest of a few equal forms: factored, or a + b*root with a and b factored.

    Raises
    ------
    ArithmeticError
        If the form found is not identically equal to `expression`.
    """
    expression = sp.sympify(expression, strict=True)
    radicands = {sp.expand(e.base) for e in expression.atoms(sp.Pow) if _is_root(e)}
    if len(radicands) != 1:
        return _factored(expression) if not radicands else expression
    (radicand,) = radicands
    root = sp.Dummy("R", positive=True)
    free = expression.replace(_is_root, lambda e: root ** (2 * e.exp))
    forms = [_factored(free), _normal(free, root, radicand), _folded(free, root, radicand), free]
    shown = _factored(radicand.subs(_eps, 0)) + radicand.coeff(_eps) * _eps
    best = min((f.subs(root, sp.sqrt(shown)) for f in forms), key=sp.count_ops)
    if not is_zero(best - expression):
        raise ArithmeticError(f"{best} is not {expression}")
    return best


def _is_root(e: sp.Basic) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.exp.q == 2)


def _factored(expression: sp.Expr) -> sp.Expr:
    """Factor, with 1 - p for p - 1 and logit p - logit p_ref for its negative."""
    coefficient, product = sp.factor(sp.cancel(sp.together(expression))).as_coeff_Mul()
    factors = []
    for factor in sp.Mul.make_args(product):
        base, power = factor.as_base_exp()
        backwards = base.is_Add and power.is_Integer and (
            (base + 1).is_Symbol or any(base.coeff(log).is_negative for log in _LOGS)
        )
        coefficient *= (-1) ** power if backwards else 1
        factors.append(sp.Pow(-base, power) if backwards else factor)
    if coefficient.is_negative:  # 1 - 2*p rather than -(2*p - 1)
        for place, factor in enumerate(factors):
            if factor.is_Add and factor.as_coeff_Add()[0].is_negative:
                factors[place], coefficient = -factor, -coefficient
                break
    return sp.Mul(coefficient, *factors)


def _split(expression: sp.Expr, root: sp.Symbol, radicand: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return the parts (a, b) of a polynomial a + b*root, root**2 being the radicand."""
    parts = [sp.S.Zero, sp.S.Zero]
    for (power,), coefficient in sp.Poly(expression, root).terms():
        parts[power % 2] += coefficient * radicand ** (power // 2)
    return parts[0], parts[1]


def _normal(free: sp.Expr, root: sp.Symbol, radicand: sp.Expr) -> sp.Expr:
    """Write a + b*root, the denominator made rational; 1/radicand goes back under the root."""
    over, under = (_split(part, root, radicand) for part in sp.fraction(sp.together(free)))
    norm = under[0] ** 2 - under[1] ** 2 * radicand
    a = sp.cancel((over[0] * under[0] - over[1] * under[1] * radicand) / norm)
    b = sp.cancel((over[1] * under[0] - over[0] * under[1]) / norm)
    power = 1
    while (shorter := sp.cancel(b * radicand)) != 0 and sp.fraction(b)[1].has(_eps):
        b, power = shorter, power - 2
    return _factored(a) + _factored(b) * root**power


def _folded(free: sp.Expr, root: sp.Symbol, radicand: sp.Expr) -> sp.Expr:
    """Use the root for p(1-p) wherever it appears, so that common roots cancel."""
    variables = [s for s in radicand.free_symbols if sp.Poly(radicand, s).degree() == 2]
    if radicand.has(_eps) or len(variables) != 1:
        return free
    (p,) = variables
    masks = {f: sp.Dummy() for f in free.atoms(sp.Function)}  # logarithms count as coefficients
    over, under = (
        sp.rem(sp.expand(part), sp.expand(radicand - root**2), p)
        for part in sp.fraction(sp.together(free.subs(masks)))
    )
    return _factored((over / under).subs({mask: f for f, mask in masks.items()}))
