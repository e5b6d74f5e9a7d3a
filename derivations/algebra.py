r"""Exact zero tests, without ``simplify``.

Everything compared here is a rational function in symbols, square roots, exponentials (sines and
cosines are written as such) and powers with symbolic exponents. Those irrational pieces become
generators with their defining polynomial, so that equality is decided by polynomial arithmetic.
Branches of roots are never merged: a root is a generator of its own radicand, and a zero found
under that identification is a zero on every branch on which the radicals mean the same thing,
which is how they are written.
"""

from __future__ import annotations

from math import comb

import sympy as sp
from sympy.core.function import Application
from sympy.polys.rings import PolyElement, PolyRing

from derivations.notation import QUANTITIES

__all__ = ["TOO_LARGE", "canonical", "is_zero", "too_large"]

#: What is said in place of an expression that is not put in lowest terms.
TOO_LARGE = "too large to put in lowest terms"
#: Monomials that a common numerator may have: of few denominators, and of many different ones.
_MONOMIALS = 10_000
_MONOMIALS_OF_MANY = 150
_MANY = 4

#: Symbols that are whole numbers wherever they are exponents, so that (a/b)**d is a**d/b**d.
_WHOLE = {"d", "N", "G"}


def _split_powers(expression: sp.Expr) -> sp.Expr:
    """Write mu**(N+1) as mu*mu**N, (a/b)**d as a**d/b**d and exp(a+b) as exp(a)*exp(b)."""
    return expression.replace(
        lambda e: e.is_Pow and not e.exp.is_number,
        _split_power,
    ).replace(
        lambda e: isinstance(e, sp.exp) and e.args[0].expand().is_Add,
        lambda e: sp.Mul(*(sp.exp(term) for term in e.args[0].expand().args)),
    )


def _is_whole(e: sp.Expr) -> bool:
    """Whether an exponent is a whole number at every whole d, N and G."""
    if not {s.name for s in e.free_symbols} <= _WHOLE or not e.is_polynomial():
        return False
    return all(c.is_Integer for c in sp.Poly(e, *e.free_symbols).coeffs())


def _split_power(e: sp.Expr) -> sp.Expr:
    bases = [(e.base, 1)]
    if not e.base.is_Symbol and _is_whole(e.exp):
        over, under = sp.fraction(sp.factor(e.base))
        bases = [(f, 1) for f in sp.Mul.make_args(over)] + [
            (f, -1) for f in sp.Mul.make_args(under)
        ]
    return sp.Mul(
        *(
            sp.Pow(base, sign * term)
            for base, sign in bases
            for term in sp.Add.make_args(e.exp.expand())
            if base != 1
        )
    )


class _Generators:
    """Stand-ins for radicals and functions, each known by its canonical argument."""

    def __init__(self) -> None:
        self.roots: list[tuple[sp.Symbol, sp.Expr, int]] = []
        self.functions: dict[sp.Expr, sp.Symbol] = {}

    def visit(self, e: sp.Expr) -> sp.Expr:
        """Return `e` with every radical and function application replaced."""
        if not e.args:
            return e
        out = e.func(*(self.visit(a) for a in e.args))
        if isinstance(out, sp.Abs):
            return self._root(sp.cancel(sp.together(out.args[0] ** 2)), sp.Rational(1, 2))
        if out.is_Pow and out.exp.is_Rational and out.exp.q > 1:
            return self._root(sp.cancel(sp.together(out.base)), out.exp)
        if isinstance(out, sp.exp) or (out.is_Pow and not out.exp.is_Integer):
            return self._power(out.base, sp.factor(sp.cancel(sp.together(out.exp))))
        return self._function(out) if isinstance(out, Application) else out

    def _power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """Leave a power to the polynomials, unless a radical hides in it."""
        power = sp.Pow(base, exponent)
        if _is_huge(power):
            return self.functions.setdefault(power, sp.Dummy(f"f{len(self.functions)}"))
        if not power.free_symbols & {symbol for symbol, _, _ in self.roots}:
            return power
        if exponent.could_extract_minus_sign():
            return 1 / self._function(sp.Pow(base, -exponent))
        return self._function(power)

    def _root(self, radicand: sp.Expr, exponent: sp.Rational) -> sp.Expr:
        for symbol, seen, index in self.roots:
            if index == exponent.q and sp.cancel(seen - radicand) == 0:
                return symbol**exponent.p
        symbol = sp.Dummy(f"root{len(self.roots)}")
        self.roots.append((symbol, radicand, int(exponent.q)))
        return symbol**exponent.p

    def eliminated(self, e: sp.Expr) -> sp.Expr:
        """Return the numerator of `e` with every radical lowered by its defining equation.

        Innermost radicals were made first, so they go last.
        """
        multiplied_out = _polynomial(e)
        e = sp.expand(e) if multiplied_out is None else multiplied_out.as_expr()
        for symbol, radicand, index in reversed(self.roots):
            over, under = sp.fraction(sp.together(radicand))
            lowered = sp.S.Zero
            for (power,), coefficient in sp.Poly(e, symbol).terms():
                kept = symbol ** (power % index)
                lowered += coefficient * kept * (over / under) ** (power // index)
            e = sp.expand(sp.fraction(sp.together(lowered))[0])
        return e

    def _function(self, e: sp.Expr) -> sp.Expr:
        key = e.func(*(sp.factor(sp.cancel(sp.together(a))) for a in e.args))
        return self.functions.setdefault(key, sp.Dummy(f"f{len(self.functions)}"))


def canonical(expression: sp.Expr) -> sp.Expr:
    """Return `expression` in lowest terms, factored, each factor positive at a typical point.

    So (1 - mu)/2 is not printed as -(mu - 1)/2.
    """
    expression = _split_powers(sp.sympify(expression, strict=True))
    # exp(1000) is a number, not the thousandth power of a generator.
    opaque = {e: sp.Dummy(f"e{i}") for i, e in enumerate(_constants(expression))}
    factored = sp.factor(sp.cancel(sp.together(expression.xreplace(opaque))))
    factored = factored.xreplace({dummy: e for e, dummy in opaque.items()})
    if not factored.is_Mul:
        return factored
    sign, factors = 1, []
    for factor in factored.args:
        base, exponent = factor.as_base_exp()
        if base.is_Add and exponent.is_Integer and _typical(base) < 0:
            sign = -sign if exponent % 2 else sign
            factor = (-base) ** exponent
        factors.append(factor)
    return sp.Mul(sign, *factors)


def too_large(expression: sp.Basic) -> bool:
    """Whether lowest terms would take more than about a second, by the size they may have.

    That is the number of monomials of a common numerator's degree; over many different
    denominators fewer of them take as long, because nearly all of them are there.
    """
    symbols = len(expression.free_symbols)
    below = _denominators(expression)
    degree = _degree(expression) + sum(_degree(base) for base in below)
    allowed = _MONOMIALS if len(below) < _MANY else _MONOMIALS_OF_MANY
    return comb(degree + symbols, symbols) > allowed


def _denominators(expression: sp.Basic) -> set[sp.Expr]:
    """Return the different sums that something is divided by, each to its power."""
    powers = [p for p in expression.atoms(sp.Pow) if p.exp.could_extract_minus_sign()]
    return {1 / p for p in powers if p.base.is_Add}


def _degree(e: sp.Basic) -> int:
    """Return about the degree of a numerator, everything irrational a symbol."""
    if e.is_Symbol:
        return 1
    if e.is_Mul:
        return sum(map(_degree, e.args))
    if e.is_Pow:
        times = max(0, int(e.exp)) if e.exp.is_Integer else 1
        return times * _degree(e.base)
    return max(map(_degree, e.args), default=0)


def _constants(e: sp.Expr) -> list[sp.Expr]:
    """Return the huge exponentials in `e`, in a fixed order."""
    return sorted(filter(_is_huge, e.atoms(sp.exp)), key=str)


def _is_huge(e: sp.Expr) -> bool:
    """Whether `e` is an exponential of a number that no polynomial should have as its degree."""
    return isinstance(e, sp.exp) and e.args[0].is_Rational and abs(e.args[0]) > 16


def _typical(e: sp.Expr) -> float:
    """Evaluate at a point inside every quantity's usual range, to choose a sign for printing."""
    at = {}
    for i, s in enumerate(sorted(e.free_symbols, key=str)):
        low = QUANTITIES[s.name].domain.low if s.name in QUANTITIES else None
        at[s] = sp.Rational(low or 0) + sp.Rational(1, 7 + i)
    value = sp.N(e.subs(at))
    return float(value) if value.is_Float else 0.0


def _polynomial(e: sp.Expr) -> PolyElement | None:
    """Return `e` multiplied out, if it is a polynomial with rational coefficients, else None."""
    symbols = sorted(e.free_symbols, key=str)
    if not symbols:
        return None
    try:
        return PolyRing(symbols, sp.QQ).from_expr(e)
    except ValueError:
        return None


def is_zero(expression: sp.Expr) -> bool:
    """Return True only if `expression` is identically zero, by exact algebra.

    False means "not shown to be zero", never "shown to differ": a difference needs a point.
    """
    expression = sp.sympify(expression, strict=True)
    multiplied_out = _polynomial(expression)
    if multiplied_out is not None:
        return bool(multiplied_out == 0)
    expression = _split_powers(expression.rewrite((sp.sin, sp.cos), sp.exp))
    if expression == 0:
        return True
    generators = _Generators()
    numerator, denominator = sp.fraction(sp.together(generators.visit(expression)))
    if generators.eliminated(denominator) == 0:
        return False
    return bool(generators.eliminated(numerator) == 0)
