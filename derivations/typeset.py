r"""Expressions as people read them: plain text, LaTeX and MathML.

A relation reads left = right, hypotheses are separated by commas, quantities are spelt as the
notation table spells them. Displays are made of pieces, between which a row may end. MathML is the
LaTeX converted, so the two cannot disagree.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from derivations.notation import QUANTITIES
from derivations.reading import dummy_names, ordered_terms, turned

__all__ = ["latex", "latex_rows", "mathml", "mathml_block", "text", "text_rows"]

_ROW = 64  # characters that fill a row of display mathematics
_LOGIC = (sp.And, sp.Or, sp.Implies)
_SIGNS = {"==": "=", "!=": r"\neq", "<=": r"\leq", ">=": r"\geq"}
_RELATES = tuple(f"{sign} " for sign in (*_SIGNS.values(), "<", ">", r"\Rightarrow"))

_Piece = tuple[str, int]  # LaTeX and its width in characters


class _Text(StrPrinter):  # type: ignore[misc]  # SymPy's printers are untyped
    """Plain text; what is a formula can be parsed back."""

    def __init__(self, expression: sp.Basic) -> None:
        super().__init__()
        self._dummies = dummy_names(expression)

    def _as_ordered_terms(self, expr: sp.Add, order: object = None) -> list[sp.Expr]:
        return ordered_terms(expr)

    def _print_Mul(self, expr: sp.Mul) -> str:
        return str(super()._print_Mul(turned(expr)))

    def _print_Dummy(self, expr: sp.Dummy) -> str:
        return self._dummies.get(expr, expr.name)

    def _print_MatrixBase(self, expr: sp.MatrixBase) -> str:
        return f"Matrix({self._print(expr.tolist())})"  # in one line

    def _print_Relational(self, expr: sp.Rel) -> str:
        sign = "=" if expr.rel_op == "==" else expr.rel_op
        return f"{self._print(expr.lhs)} {sign} {self._print(expr.rhs)}"

    def _print_And(self, expr: sp.And) -> str:
        return ", ".join(map(self._joined, expr.args))

    def _print_Or(self, expr: sp.Or) -> str:
        return " or ".join(map(self._joined, expr.args))

    def _print_Implies(self, expr: sp.Implies) -> str:
        return " => ".join(self._print(arg) for arg in expr.args)

    def _joined(self, part: sp.Basic) -> str:
        return f"({self._print(part)})" if isinstance(part, _LOGIC) else str(self._print(part))


class _Latex(LatexPrinter):  # type: ignore[misc]  # SymPy's printers are untyped
    """LaTeX of the subset that amsmath and GitHub's MathJax share."""

    def __init__(self, expression: sp.Basic) -> None:
        super().__init__({"mat_delim": "(", "mat_str": "matrix", "ln_notation": True})
        self._dummies = dummy_names(expression)

    def _as_ordered_terms(self, expr: sp.Add, order: object = None) -> list[sp.Expr]:
        return ordered_terms(expr)

    def _print_Mul(self, expr: sp.Mul) -> str:
        return str(super()._print_Mul(turned(expr)))

    def _print_Symbol(self, expr: sp.Symbol, style: str = "plain") -> str:
        name = self._dummies.get(expr, expr.name)
        return QUANTITIES[name].latex if name in QUANTITIES else self._deal_with_super_sub(name)

    def _deal_with_super_sub(self, string: str, style: str = "plain") -> str:
        name = string.rstrip("'")
        spelt = super()._deal_with_super_sub(name, style)
        words = re.sub(r"(?<![\\a-zA-Z])([a-zA-Z]{2,})", r"\\mathrm{\1}", spelt)
        return words + string[len(name) :]

    def _hprint_Function(self, func: str) -> str:
        # GitHub refuses \operatorname.
        return str(super()._hprint_Function(func)).replace(r"\operatorname", r"\mathrm")

    def _print_And(self, expr: sp.And) -> str:
        return r", ".join(map(self._joined, expr.args))

    def _print_Or(self, expr: sp.Or) -> str:
        return r" \text{ or } ".join(map(self._joined, expr.args))

    def _print_Implies(self, expr: sp.Implies) -> str:
        return r" \Rightarrow ".join(self._print(arg) for arg in expr.args)

    def _joined(self, part: sp.Basic) -> str:
        bracket = isinstance(part, _LOGIC)
        return rf"\left({self._print(part)}\right)" if bracket else str(self._print(part))

    def pieces(self, expression: sp.Basic) -> Iterator[_Piece]:
        """Yield a display piece by piece; no piece is empty."""
        if isinstance(expression, sp.Implies):
            hypothesis, conclusion = expression.args
            yield from self.pieces(hypothesis)
            yield from _led(r"\Rightarrow ", self.pieces(conclusion))
        elif isinstance(expression, sp.And):
            *first, last = expression.args
            for part in first:
                yield from _closed(self.pieces(part), ",")
            yield from self.pieces(last)
        elif isinstance(expression, sp.Rel):
            sign = _SIGNS.get(expression.rel_op, expression.rel_op)
            yield from self.pieces(expression.lhs)
            yield from _led(f"{sign} ", self.pieces(expression.rhs))
        elif isinstance(expression, sp.Add) and _width(expression) > _ROW // 2:
            for k, term in enumerate(ordered_terms(expression)):
                negative = term.could_extract_minus_sign()
                sign = "- " if negative else "+ " if k else ""
                yield from _led(sign, self.pieces(-term if negative else term))
        elif isinstance(expression, sp.Mul) and _width(expression) > _ROW:
            yield from self._opened(expression)
        else:
            yield self._print(expression), _width(expression)

    def _opened(self, product: sp.Mul) -> Iterator[_Piece]:
        """Break a product that is too wide inside its widest sum."""
        over, under = sp.fraction(product)
        factors = sp.Mul.make_args(over)
        wide = max(factors, key=lambda factor: _width(factor) if factor.is_Add else 0)
        if not wide.is_Add or _width(under) > _ROW:
            yield self._print(product), _width(product)
            return
        rest = sp.Mul(*(factor for factor in factors if factor is not wide)) / under
        lead = "" if rest == 1 else self._print(rest)
        if rest.is_Add:
            lead = rf"\left({lead}\right)"
        yield from _closed(_led(rf"{lead} \bigl(", self.pieces(wide)), r"\bigr)")


def _led(start: str, pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    first, width = next(pieces)
    yield start + first, width + (2 if start else 0)
    yield from pieces


def _closed(pieces: Iterator[_Piece], end: str) -> Iterator[_Piece]:
    *body, (last, width) = pieces
    yield from body
    yield last + end, width + 1


def _width(expression: sp.Basic) -> int:
    """Roughly how wide an expression is set, in characters: fractions and matrices stack."""
    if isinstance(expression, sp.Add):
        return sum(_width(term) + 3 for term in expression.args)
    if isinstance(expression, sp.MatrixBase):
        columns = (expression.col(j) for j in range(expression.cols))
        return sum(max(map(_width, column)) + 2 for column in columns)
    if isinstance(expression, sp.Mul):
        over, under = sp.fraction(expression)
        if under != 1:
            return max(_width(over), _width(under))
    return len(text(expression).replace("*", ""))


def text(expression: sp.Basic) -> str:
    """Return `expression` as one line of plain text."""
    return str(_Text(expression).doprint(expression))


def text_rows(expression: sp.Basic | str, width: int) -> list[str]:
    """Return plain text in rows of at most `width`, broken before operators, outermost first.

    A row is longer only where it holds no operator to break at.
    """
    line = expression if isinstance(expression, str) else text(expression)
    rows = []
    while len(line) > width:
        depth, best = 0, (1 << 30, 0)
        for k, character in enumerate(line):
            depth += (character in "([") - (character in ")]")
            breakable = character == " " and k > 0 and (line[k - 1] == "," or line[k + 2 :][:1] == " ")
            breakable = breakable or line[k : k + 4] in (" => ", " <= ", " >= ", " != ")
            if breakable and (k <= width or best[1] == 0):
                best = min(best, (depth, -k))
        if best[1] == 0:
            break
        rows.append(line[: -best[1]])
        line = line[-best[1] + 1 :]
    return [*rows, line]


def latex(expression: sp.Basic) -> str:
    """Return `expression` as one row of LaTeX, without delimiters."""
    return str(_Latex(expression).doprint(expression))


def latex_rows(expression: sp.Basic) -> list[str]:
    """Return a display in rows of comfortable width, broken at relations and between terms."""
    pieces = list(_Latex(expression).pieces(expression))
    if sum(width + 1 for _, width in pieces) <= _ROW:
        return [" ".join(piece for piece, _ in pieces)]
    rows: list[str] = []
    filled = _ROW
    for piece, width in pieces:
        relates = piece.startswith(_RELATES) and (len(rows) > 1 or filled > _ROW // 4)
        if filled + width > _ROW or relates:
            rows.append(piece)
            filled = width
        else:
            rows[-1] += " " + piece
            filled += width + 1
    return rows


def mathml(expression: sp.Basic | str) -> str:
    """Return inline presentation MathML with plain text as ``alttext``; a string is LaTeX."""
    if isinstance(expression, str):
        return _converted(expression, expression)
    return _converted(latex(expression), text(expression))


def mathml_block(expression: sp.Basic, label: str = "") -> str:
    """Return ``<div class="math">``: one ``<math>`` a piece, so that rows wrap between terms.

    Parameters
    ----------
    expression
        What to set.
    label
        LaTeX of a name that the expression is the value of.
    """
    pieces = _Latex(expression).pieces(expression)
    if label:
        pieces = _led(f"{label} = ", pieces)
    inner = " ".join(_converted(r"\displaystyle " + piece) for piece, _ in pieces)
    return f'<div class="math" role="math" aria-label="{html.escape(text(expression))}">{inner}</div>'


def _converted(source: str, alternative: str = "") -> str:
    from latex2mathml.converter import convert

    opening = f'<math alttext="{html.escape(alternative)}"' if alternative else "<math"
    namespace = '<math xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML needs none
    return str(convert(source)).replace(namespace, opening, 1)
