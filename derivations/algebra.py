r"""Exact zero tests, without ``simplify``.

Everything compared here is a rational function in symbols, square roots, exponentials and powers
with symbolic exponents. Those irrational pieces become generators with their defining polynomial,
so that equality is decided by polynomial arithmetic. Branches of roots are never merged: a root
is a generator of its own radicand, and a zero found under that identification is a zero on every
branch on which the radicals mean the same thing, which is how they are written.
"""

from __future__ import annotations

import sympy as sp

__all__ = ["canonical", "is_zero", "numerator_denominator"]


def _split_powers(expression: sp.Expr) -> sp.Expr:
    """Write mu**(N+1) as mu*mu**N and exp(a+b) as exp(a)*exp(b), so that generators meet."""
    return sp.powsimp(sp.expand(expression, power_exp=True, log=False, mul=False), deep=False) if (
        False
    ) else expression.replace(
        lambda e: e.is_Pow and not e.exp.is_number and e.exp.expand().is_Add,
        lambda e: sp.Mul(*(sp.Pow(e.base, term) for term in e.exp.expand().args)),
    ).replace(
        lambda e: isinstance(e, sp.exp) and e.args[0].expand().is_Add,
        lambda e: sp.Mul(*(sp.exp(term) for term in e.args[0].expand().args)),
    )


def _generators(expression: sp.Expr) -> tuple[sp.Expr, list[tuple[sp.Symbol, sp.Expr, int]]]:
    """Replace radicals by symbols; return the new expression and (symbol, radicand, index)."""
    roots: list[tuple[sp.Symbol, sp.Expr, int]] = []
    known: dict[sp.Expr, sp.Expr] = {}

    def visit(e: sp.Expr) -> sp.Expr:
        if not e.args:
            return e
        if e in known:
            return known[e]
        out = e.func(*(visit(a) for a in e.args))
        if out.is_Pow and out.exp.is_Rational and out.exp.q > 1:
            radicand = sp.factor_terms(sp.together(out.base))
            radicand = sp.cancel(radicand)
            for symbol, seen, index in roots:
                if index == out.exp.q and sp.cancel(seen - radicand) == 0:
                    out = symbol**out.exp.p
                    break
            else:
                symbol = sp.Dummy(f"root{len(roots)}")
                roots.append((symbol, radicand, out.exp.q))
                out = symbol**out.exp.p
        known[e] = out
        return out

    return visit(expression), roots


def numerator_denominator(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return an expanded numerator and denominator of a rational expression in lowest terms."""
    return sp.fraction(sp.cancel(sp.together(expression)))


def canonical(expression: sp.Expr) -> sp.Expr:
    """Return `expression` in lowest terms, factored; equal expressions agree up to ordering."""
    return sp.factor(sp.cancel(sp.together(_split_powers(sp.sympify(expression)))))


def is_zero(expression: sp.Expr) -> bool:
    """Return True only if `expression` is identically zero, by exact algebra.

    False means "not shown to be zero", never "shown to differ": a difference needs a point.
    """
    expression = _split_powers(sp.sympify(expression))
    if expression == 0:
        return True
    reduced, roots = _generators(expression)
    numerator, denominator = sp.fraction(sp.together(reduced))
    if sp.expand(denominator) == 0:
        return False
    numerator = sp.expand(numerator)
    # Innermost radicals were made first; eliminate from the outermost inwards.
    for symbol, radicand, index in reversed(roots):
        over, under = sp.fraction(sp.together(radicand))
        polynomial = sp.Poly(numerator, symbol)
        lowered = sp.S.Zero
        for (power,), coefficient in polynomial.terms():
            lowered += coefficient * symbol ** (power % index) * (over / under) ** (power // index)
        numerator = sp.expand(sp.fraction(sp.together(lowered))[0])
    return numerator == 0
