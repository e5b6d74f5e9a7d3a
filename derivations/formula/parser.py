r"""From tokens to SymPy objects: a Pratt parser whose precedence is Python's.

Nothing here evaluates text. Each operator has a binding power; an operand extends to the right as
long as the operators it meets bind at least as strongly as the one that asked for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import sympy as sp
from sympy.core.relational import Relational

from derivations.formula.bounded import BoundedAlgebra, Refused
from derivations.formula.errors import FormulaError
from derivations.formula.language import CONSTANTS, FUNCTIONS
from derivations.formula.spelling import Token
from derivations.formula.stream import TokenStream

MAX_NESTING = 100  # of operands in operands: a parenthesis around a sum of products counts as three

_COMPARISONS: dict[str, Callable[..., Relational]] = {
    "<": sp.Lt,
    "<=": sp.Le,
    ">": sp.Gt,
    ">=": sp.Ge,
    "==": sp.Eq,
}
_BINDING = {
    "and": 10,
    **dict.fromkeys(_COMPARISONS, 20),
    "+": 30,
    "-": 30,
    "*": 40,
    "/": 40,
    "**": 50,
    "superscript": 60,
}


@dataclass(frozen=True)
class Formula:
    r"""A formula that has been read.

    Attributes
    ----------
    text : str
        The formula as printed.
    expression : sympy.Expr or None
        The value, when the formula is a plain expression.
    relations : tuple of sympy Relational
        The comparisons, all of which are claimed, in the order and direction in which they are
        printed and never decided (``0 < 1`` stays a relation); empty for a plain expression.
    """

    text: str
    expression: sp.Expr | None
    relations: tuple[Relational, ...]

    @property
    def symbols(self) -> frozenset[str]:
        """Names of the SymPy symbols that the formula depends on."""
        parts = self.relations if self.expression is None else (self.expression,)
        return frozenset(symbol.name for part in parts for symbol in part.free_symbols)


def parse_formula(text: str, symbols: Mapping[str, sp.Symbol]) -> Formula:
    r"""Read a formula in plain text, without evaluating Python.

    Parameters
    ----------
    text : str
        An expression (``(1 - mu)/2``), or comparisons joined by ``and`` or chained
        (``0 < x < 2*(1 + mu)``). Numbers are exact. Operators and precedence are Python's, ``^``
        is ``**``, ``=`` is ``==``; the functions are the keys of `FUNCTIONS`; ``pi`` is the only
        constant. Greek letters and the usual Unicode signs are understood. A product may leave its
        sign out where that has one reading: ``2(1+mu)``, ``x(1-x)``, ``xd`` of two known names. One
        full stop or comma at the end is not of the formula.
    symbols : mapping of str to sympy.Symbol
        The allowed names, and the symbol that each stands for.

    Returns
    -------
    Formula
        Built from exact numbers, `symbols`, ``pi`` and the language's functions only; real, finite
        and of bounded size.

    Raises
    ------
    FormulaError
        For everything else.
    """
    parser = _Parser(text, symbols)
    try:
        return parser.formula()
    except RecursionError:  # Our own nesting is bounded; SymPy's under a deep caller is not.
        raise FormulaError("the formula is nested too deeply", text) from None


@dataclass(frozen=True)
class _Product:
    """A product whose factors are not multiplied yet, and where it was written.

    Kept apart so that 2*(1 + mu) under a fraction bar is not multiplied out, as it would be by
    SymPy where it stands alone.
    """

    factors: tuple[sp.Expr, ...]
    token: Token


_Relations: TypeAlias = tuple[Relational, ...]
_Value: TypeAlias = sp.Expr | _Product | _Relations


class _Parser(TokenStream):
    """One formula being read; a method for each rule of the grammar."""

    def __init__(self, text: str, symbols: Mapping[str, sp.Symbol]) -> None:
        super().__init__(text, [*sorted(symbols), *CONSTANTS, *FUNCTIONS])
        self.values = {**CONSTANTS, **symbols}
        self.algebra = BoundedAlgebra()
        self.depth = 0

    def formula(self) -> Formula:
        if len(self.tokens) == 1:
            raise FormulaError("the formula is empty", self.text)
        value = self.operand(0)
        if self.next.kind != "end":
            raise self.unexpected()
        if isinstance(value, tuple):
            return Formula(self.text, None, value)
        return Formula(self.text, self.scalar(value), ())

    # -- the grammar

    def operand(self, floor: int) -> _Value:
        """Read as far as the operators bind with `floor` or more."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            raise self.error(f"a formula is nested at most {MAX_NESTING} deep", self.next)
        value = self.prefix(floor)
        while _binding(self.next) >= floor:
            value = self.infix(value, self.next)
        self.depth -= 1
        return value

    def prefix(self, floor: int) -> _Value:
        token = self.next
        if token.kind == "number":
            return self.build(self.advance(), self.algebra.number, token.text)
        if token.kind == "name":
            return self.name(self.advance())
        if self.at("("):
            self.advance()
            value = self.operand(0)
            self.close(token)
            return value
        if self.at("+", "-"):
            self.advance()
            # The sign of a whole product: equal to Python's (-a)*b, and not multiplied out.
            value = self.operand(max(floor, _BINDING["*"]))
            sign = sp.Integer(-1 if token.text == "-" else 1)
            return _Product((sign, *self.factors(value, token)), token)
        raise self.unexpected()

    def infix(self, left: _Value, token: Token) -> _Value:
        if token.kind == "superscript":
            exponent = self.build(self.advance(), self.algebra.number, token.text)
            return self.build(token, self.algebra.power, self.scalar(left, token), exponent)
        if token.text == "**":
            return self.power(left)
        if token.text in ("*", "/"):
            return self.product(left)
        if token.text in ("+", "-"):
            return self.sum(left)
        if token.text == "and":
            return self.conjunction(left)
        return self.comparison(left)

    def power(self, left: _Value) -> _Value:
        token = self.advance()
        base = self.scalar(left, token)
        exponent = self.scalar(self.operand(_BINDING["**"]), token)  # right to left
        return self.build(token, self.algebra.power, base, exponent)

    def product(self, left: _Value) -> _Value:
        first = self.next
        factors = list(self.factors(left, first))
        while self.at("*", "/"):
            token = self.advance()
            right = self.factors(self.operand(_BINDING["*"] + 1), token)
            if token.text == "/":
                inverse = sp.Integer(-1)
                right = tuple(self.build(token, self.algebra.power, f, inverse) for f in right)
            factors += right
        return _Product(tuple(factors), first)

    def sum(self, left: _Value) -> _Value:
        first = self.next
        terms = [self.scalar(left, first)]
        while self.at("+", "-"):
            token = self.advance()
            term = self.scalar(self.operand(_BINDING["+"] + 1), token)
            if token.text == "-":
                term = self.build(token, self.algebra.product, (sp.Integer(-1), term))
            terms.append(term)
        return self.build(first, self.algebra.sum, terms)

    def comparison(self, left: _Value) -> _Relations:
        side = self.scalar(left, self.next)
        relations = []
        while self.at(*_COMPARISONS):
            token = self.advance()
            right = self.scalar(self.operand(_BINDING["<"] + 1), token)
            relations.append(_COMPARISONS[token.text](side, right, evaluate=False))
            side = right
        return tuple(relations)

    def conjunction(self, left: _Value) -> _Relations:
        token = self.advance()
        right = self.operand(_BINDING["and"] + 1)
        if not (isinstance(left, tuple) and isinstance(right, tuple)):
            raise self.error("'and' joins comparisons, not values", token)
        return (*left, *right)

    def name(self, token: Token) -> sp.Expr:
        name = token.text
        if self.at("(") and name in FUNCTIONS:
            return self.call(token)
        if name in self.values:
            return self.values[name]
        if name in FUNCTIONS:
            raise self.error(f"{name} is a function; write {name}(...)", token)
        raise self.unknown(token)

    def call(self, token: Token) -> sp.Expr:
        opened = self.advance()
        arguments: list[sp.Expr] = []
        if not self.at(")"):
            arguments.append(self.scalar(self.operand(0), token))
        while self.at(","):
            self.advance()
            arguments.append(self.scalar(self.operand(0), token))
        self.close(opened)
        return self.build(token, self.algebra.call, token.text, arguments)

    # -- values

    def scalar(self, value: _Value, token: Token | None = None) -> sp.Expr:
        """Return `value` as an expression that the operator `token` can use."""
        if isinstance(value, _Product):
            return self.build(value.token, self.algebra.product, value.factors)
        if isinstance(value, tuple):
            raise self.error("a comparison cannot be part of a value", token or self.next)
        return value

    def factors(self, value: _Value, token: Token) -> tuple[sp.Expr, ...]:
        return value.factors if isinstance(value, _Product) else (self.scalar(value, token),)

    def build(self, token: Token, operation: Callable[..., sp.Expr], *operands: object) -> sp.Expr:
        try:
            return operation(*operands)
        except Refused as refusal:
            raise self.error(str(refusal), token) from None


def _binding(token: Token) -> int:
    return _BINDING.get(token.text if token.kind == "operator" else token.kind, -1)
