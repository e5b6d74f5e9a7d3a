r"""From SymPy objects back to text that the parser reads."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy.core.relational import Relational
from sympy.printing.str import StrPrinter

from derivations.formula.errors import FormulaError, quote
from derivations.formula.language import in_language


def render(expression: sp.Expr | Relational | sp.And | Sequence[Relational]) -> str:
    r"""Return `expression` in the language that `parse_formula` reads.

    Parameters
    ----------
    expression : sympy.Expr, Relational, And, or sequence of Relational
        Several relations are joined by ``and``.

    Returns
    -------
    str
        One line, the same in every process. Within the parser's bounds it reads back as an equal
        object; only a number times a sum that was kept apart (``2*(x + 1)``, from
        ``sympy.factor``) reads back multiplied out.

    Raises
    ------
    FormulaError
        For anything that the language does not have: floating-point numbers, ``I``, infinities,
        ``Piecewise``, other functions.
    """
    if isinstance(expression, sp.And):
        expression = expression.args
    if not isinstance(expression, sp.Basic):
        return " and ".join(map(render, expression))
    if isinstance(expression, Relational):
        if expression.rel_op not in ("<", "<=", ">", ">=", "=="):
            raise _foreign(expression)
        return f"{render(expression.lhs)} {expression.rel_op} {render(expression.rhs)}"
    for node in sp.preorder_traversal(expression):
        if not in_language(node):
            raise _foreign(node)
    return str(_Writer().doprint(expression))


def _foreign(node: sp.Basic) -> FormulaError:
    return FormulaError(f"{quote(str(node))} cannot be written in the language of formulas")


class _Writer(StrPrinter):  # type: ignore[misc]  # SymPy is untyped
    """SymPy's plain text, with the language's names for a few functions."""

    def _as_ordered_terms(self, expr: sp.Add, order: str | None = None) -> list[sp.Expr]:
        # From low to high degree, as the theory is written, but never a sign in front for nothing.
        terms: list[sp.Expr] = expr.as_ordered_terms("rev-grlex")
        first = min(terms, key=lambda term: bool(term.could_extract_minus_sign()))
        return [first, *(term for term in terms if term is not first)]

    def _print_Exp1(self, expr: sp.Expr) -> str:
        return "exp(1)"

    def _print_Abs(self, expr: sp.Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: sp.Expr) -> str:
        return f"max({self.stringify(expr.args, ', ')})"

    def _print_Min(self, expr: sp.Expr) -> str:
        return f"min({self.stringify(expr.args, ', ')})"
