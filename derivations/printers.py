r"""SymPy's text and LaTeX printers, taught how this theory is written.

A relation reads left = right, hypotheses are separated by commas, quantities are spelt as the
notation table spells them. LaTeX comes whole or in pieces, between which a row may end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import sympy as sp
from sympy.printing.latex import LatexPrinter, accepted_latex_functions
from sympy.printing.str import StrPrinter

from derivations.notation import QUANTITIES
from derivations.reading import conditions, dummy_names, ordered_terms, turned

__all__ = ["Latex", "Piece", "Text"]

_LOGIC = (sp.And, sp.Or, sp.Implies)
_SIGNS = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq"}


class Piece(NamedTuple):
    """A part of a display between two places where a row may end."""

    source: str  # LaTeX
    width: int  # in characters
    starts: str = ""  # "side" of a relation or "statement", where a long display starts a row


class Text(StrPrinter):  # type: ignore[misc]  # SymPy's printers are untyped
    """Plain text; what is a formula can be parsed back."""

    def __init__(self, expression: sp.Basic) -> None:
        super().__init__()
        self._dummies = dummy_names(expression)

    def _as_ordered_terms(self, expr: sp.Add, order: object = None) -> list[sp.Expr]:
        return list(ordered_terms(expr))

    def _print_Mul(self, expr: sp.Mul) -> str:
        return str(super()._print_Mul(turned(expr)))

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        return str(super()._print_Pow(turned(expr), rational))

    def _print_Abs(self, expr: sp.Abs) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Max(self, expr: sp.Max | sp.Min) -> str:
        return f"{type(expr).__name__.lower()}({self.stringify(expr.args, ', ')})"

    _print_Min = _print_Max

    def _print_Dummy(self, expr: sp.Dummy) -> str:
        return str(self._dummies.get(expr, expr.name))

    def _print_MatrixBase(self, expr: sp.MatrixBase) -> str:
        return f"Matrix({self._print(expr.tolist())})"  # in one line

    def _print_Relational(self, expr: sp.Rel) -> str:
        return self._chain((expr.lhs, expr.rel_op, expr.rhs))

    def _print_And(self, expr: sp.And) -> str:
        return ", ".join(map(self._chain, conditions(expr.args)))

    def _print_Tuple(self, expr: sp.Tuple) -> str:
        whole = str(super()._print_Tuple(expr))
        return ", ".join(map(self._print, expr.args)) if _is_system(expr) else whole

    def _chain(self, condition: tuple[sp.Basic | str, ...]) -> str:
        return " ".join(
            {"==": "="}.get(part, part) if isinstance(part, str) else self._joined(part)
            for part in condition
        )

    def _print_Or(self, expr: sp.Or) -> str:
        return " or ".join(map(self._joined, expr.args))

    def _print_Implies(self, expr: sp.Implies) -> str:
        return " => ".join(self._print(arg) for arg in expr.args)

    def _joined(self, part: sp.Basic) -> str:
        return f"({self._print(part)})" if isinstance(part, _LOGIC) else str(self._print(part))


class Latex(LatexPrinter):  # type: ignore[misc]  # SymPy's printers are untyped
    """LaTeX of the subset that amsmath and GitHub's MathJax share."""

    def __init__(self, expression: sp.Basic, row: int) -> None:
        super().__init__({"mat_delim": "(", "mat_str": "matrix", "ln_notation": True})
        self._dummies = dummy_names(expression)
        self._row = row

    def _as_ordered_terms(self, expr: sp.Add, order: object = None) -> list[sp.Expr]:
        return list(ordered_terms(expr))

    def _print_Mul(self, expr: sp.Mul) -> str:
        return str(super()._print_Mul(turned(expr)))

    def _print_Pow(self, expr: sp.Pow) -> str:
        return str(super()._print_Pow(turned(expr)))

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        name = self._dummies.get(expr, expr.name)
        return QUANTITIES[name].latex if name in QUANTITIES else self._deal_with_super_sub(name)

    def _deal_with_super_sub(self, string: str, style: str = "plain") -> str:
        name = string.rstrip("'")
        spelt = super()._deal_with_super_sub(name, style)
        words = re.sub(r"(?<![\\a-zA-Z])([a-zA-Z]{2,})", r"\\mathrm{\1}", spelt)
        return words + string[len(name) :]

    def _hprint_Function(self, func: str) -> str:
        if func in accepted_latex_functions:
            return rf"\{func}"
        if func == "atan2":
            return r"\mathrm{atan2}"  # not arctangent sub two
        # GitHub refuses \operatorname.
        return str(super()._hprint_Function(func)).replace(r"\operatorname", r"\mathrm")

    def _print_Relational(self, expr: sp.Rel) -> str:
        return self._chain((expr.lhs, expr.rel_op, expr.rhs))

    def _print_And(self, expr: sp.And) -> str:
        return ", ".join(map(self._chain, conditions(expr.args)))

    def _print_tuple(self, expr: sp.Tuple) -> str:
        whole = str(super()._print_tuple(expr))
        return ", ".join(map(self._print, expr.args)) if _is_system(expr) else whole

    _print_Tuple = _print_tuple

    def _chain(self, condition: tuple[sp.Basic | str, ...]) -> str:
        return " ".join(
            _SIGNS.get(part, part) if isinstance(part, str) else self._joined(part)
            for part in condition
        )

    def _print_Or(self, expr: sp.Or) -> str:
        return r" \text{ or } ".join(map(self._joined, expr.args))

    def _print_Implies(self, expr: sp.Implies) -> str:
        return r" \Rightarrow ".join(self._print(arg) for arg in expr.args)

    def _joined(self, part: sp.Basic) -> str:
        bracket = isinstance(part, _LOGIC)
        return rf"\left({self._print(part)}\right)" if bracket else str(self._print(part))

    def pieces(self, expression: sp.Basic) -> Iterator[Piece]:
        """Yield a display piece by piece; no piece is empty."""
        if isinstance(expression, sp.Implies):
            hypothesis, conclusion = expression.args
            yield from self.pieces(hypothesis)
            right = self._print(conclusion)
            yield Piece(rf"\Rightarrow {right}", _width(conclusion) + 2, "side")
        elif isinstance(expression, sp.And):
            *first, last = conditions(expression.args)
            for condition in first:
                yield Piece(self._chain(condition) + ",", _length(condition) + 1)
            yield Piece(self._chain(last), _length(last))
        elif _is_system(expression):
            *first, last = expression.args
            for part in first:
                yield from _led("", _closed(self.pieces(part), ","), "statement")
            yield from _led("", self.pieces(last), "statement")
        elif isinstance(expression, sp.Eq) and _are_columns(expression) and (
            _width(expression) > self._row
        ):
            rows = zip(*expression.args, strict=True)
            yield from self.pieces(sp.Tuple(*(sp.Eq(*row, evaluate=False) for row in rows)))
        elif isinstance(expression, sp.Rel):
            sign = _SIGNS.get(expression.rel_op, expression.rel_op)
            yield from self.pieces(expression.lhs)
            yield from _led(f"{sign} ", self.pieces(expression.rhs), "side")
        elif isinstance(expression, sp.Add) and _width(expression) > self._row // 2:
            for k, term in enumerate(ordered_terms(expression)):
                negative = term.could_extract_minus_sign()
                sign = "- " if negative else "+ " if k else ""
                yield from _led(sign, self.pieces(-term if negative else term))
        elif isinstance(expression, sp.Mul) and _width(expression) > self._row:
            yield from self._opened(expression)
        else:
            yield Piece(self._print(expression), _width(expression))

    def _opened(self, product: sp.Mul) -> Iterator[Piece]:
        """Break a product that is too wide inside its widest sum."""
        over, under = sp.fraction(product)
        factors = sp.Mul.make_args(over)
        wide = max(factors, key=lambda factor: _width(factor) if factor.is_Add else 0)
        if not wide.is_Add or _width(under) > self._row:
            yield Piece(self._print(product), _width(product))
            return
        rest = sp.Mul(*(factor for factor in factors if factor is not wide)) / under
        lead = "" if rest == 1 else self._print(rest)
        if rest.is_Add:
            lead = rf"\left({lead}\right)"
        inside = list(self.pieces(wide))
        size = "Big" if any(r"\frac" in piece.source for piece in inside) else "big"
        yield from _closed(_led(rf"{lead} \{size}l(", iter(inside)), rf"\{size}r)")


def _is_system(expression: sp.Basic) -> bool:
    """Whether an expression is a tuple of relations, which all hold."""
    return isinstance(expression, sp.Tuple) and all(isinstance(e, sp.Rel) for e in expression.args)


def _are_columns(equation: sp.Eq) -> bool:
    """Whether both sides are column vectors, so that each row is an equation."""
    return all(isinstance(side, sp.MatrixBase) and side.cols == 1 for side in equation.args)


def _length(condition: tuple[sp.Basic | str, ...]) -> int:
    return sum(2 if isinstance(part, str) else _width(part) for part in condition)


def _led(lead: str, pieces: Iterator[Piece], starts: str = "") -> Iterator[Piece]:
    first = next(pieces)
    yield Piece(lead + first.source, first.width + (2 if lead else 0), starts or first.starts)
    yield from pieces


def _closed(pieces: Iterator[Piece], end: str) -> Iterator[Piece]:
    *body, last = pieces
    yield from body
    yield Piece(last.source + end, last.width + len(end), last.starts)


def _width(expression: sp.Basic) -> int:
    """Roughly how wide an expression is set, in characters: fractions and matrices stack."""
    if isinstance(expression, sp.MatrixBase):
        columns = (expression.col(j) for j in range(expression.cols))
        return sum(max(map(_width, column)) + 2 for column in columns)
    return _width_of_tree(expression)


@lru_cache(maxsize=4096)
def _width_of_tree(expression: sp.Basic) -> int:
    if isinstance(expression, sp.Symbol):
        return 1 + len(expression.name.partition("_")[2])
    if not expression.args:
        return len(str(expression))
    if isinstance(expression, sp.Add):
        return sum(_width(term) + 3 for term in expression.args) - 3
    if isinstance(expression, sp.Mul):
        over, under = sp.fraction(expression)
        if under != 1:
            return max(_width(over), _width(under))
        return sum(_width(f) + (2 if f.is_Add else 0) for f in expression.args)
    if isinstance(expression, sp.Pow) and not expression.base.is_Symbol:
        return sum(map(_width, expression.args)) + 2
    silent = isinstance(expression, sp.Pow | sp.Rel | sp.Tuple)
    name = "" if silent else type(expression).__name__
    return len(name) + sum(_width(argument) + 2 for argument in expression.args)
