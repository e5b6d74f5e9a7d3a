r"""Tokens with a place in them, and what is said when the next one cannot stand there."""

from __future__ import annotations

import difflib
from collections.abc import Collection

from derivations.formula.errors import FormulaError, quote
from derivations.formula.spelling import Token
from derivations.formula.tokens import tokenize

_ADVICE = {
    "e": "write exp(1)",
    "or": "only 'and' joins comparisons",
    "not": "only 'and' joins comparisons",
}


class TokenStream:
    """The tokens of `text`, of which one is next.

    `names` are all names that may occur; they decide how an error is worded.
    """

    def __init__(self, text: str, names: Collection[str]) -> None:
        self.text = text
        self.names = names
        self.tokens = tokenize(text, names)
        self.index = 0

    @property
    def next(self) -> Token:
        return self.tokens[self.index]

    def advance(self) -> Token:
        token = self.next
        self.index += 1
        return token

    def at(self, *operators: str) -> bool:
        return self.next.kind == "operator" and self.next.text in operators

    def close(self, opened: Token) -> None:
        """Step over the parenthesis that closes `opened`."""
        if self.next.kind == "end":
            raise self.error("this parenthesis is not closed", opened)
        if not self.at(")"):
            raise self.unexpected()
        self.advance()

    def error(self, reason: str, token: Token) -> FormulaError:
        return FormulaError(reason, self.text, token.position)

    def unexpected(self) -> FormulaError:
        """Say why the next token cannot stand where it stands."""
        token = self.next
        if token.kind == "end":
            return self.error("the formula ends where a value is expected", token)
        if token.kind == "name" and token.text not in self.names:
            return self.unknown(token)
        before = self.tokens[self.index - 1]
        starts_factor = token.kind in ("name", "number") or token.text == "("
        if starts_factor and not before.kind == token.kind == "number":
            product = f"{_factor(before)}*{_factor(token)}"
            return self.error(f"a product needs its sign; write {product}", token)
        if token.text == ",":
            return self.error("a comma separates arguments only; join comparisons by 'and'", token)
        return self.error(f"unexpected {quote(token.text)}", token)

    def unknown(self, token: Token) -> FormulaError:
        """Say which names are known, and which of them is nearest."""
        near = difflib.get_close_matches(token.text[:60], self.names, n=1, cutoff=0.0)[0]
        advice = _ADVICE.get(token.text, f"the nearest is {near!r}")
        reason = f"unknown name {quote(token.text)}: {advice}; allowed are {', '.join(self.names)}"
        return self.error(reason, token)


def _factor(token: Token) -> str:
    return quote(token.text)[1:-1] if token.kind in ("name", "number") else "(...)"
