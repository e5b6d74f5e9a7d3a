r"""What a formula in plain text or Unicode leaves out: product signs and the reach of a root.

A sign is put where it has one reading. ``p(1-p)`` is a product, since p is a quantity and no
function; ``Kd`` is K*d where both are known and nothing else spells it. What has two readings is
refused with both.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from derivations.formula.errors import FormulaError, quote
from derivations.formula.juxtaposition import ends_operand, product_sign, refuse_many
from derivations.formula.language import FUNCTIONS
from derivations.formula.spelling import ROOT, Token

__all__ = ["completed"]

_LONGEST_SPLIT = 16  # characters; nobody prints a longer product without a sign


def completed(tokens: Sequence[Token], text: str, names: Collection[str]) -> list[Token]:
    r"""Return the tokens of a formula with the signs that it leaves out.

    Parameters
    ----------
    tokens
        As written, the last of kind ``end``.
    text
        The formula, for what is said about it.
    names
        Every name that may occur.

    Raises
    ------
    FormulaError
        For what has two readings.
    """
    written = [part for token in tokens for part in _parts(token, text, names)]
    return _Completion(written, text, names).made


class _Completion:
    """Tokens as written going in; `made` grows by them and by the signs between them."""

    def __init__(self, written: Sequence[Token], text: str, names: Collection[str]) -> None:
        self.written, self.text, self.names = written, text, names
        self.made: list[Token] = []
        for place, token in enumerate(written):
            refuse_many(self.made, text)
            if self._beside(place):
                self._refuse_application(place)
                shown = token.text if token.text != "(" else "(...)"
                self.made.append(product_sign(self.made, shown, text, token.position))
            self.made.append(token)
            if self._bare_root(place - 1):
                self.made.append(Token("operator", ")", token.position))
                self._refuse_reach(place)
            if token.text == ROOT:
                self.made[-1] = Token("name", "sqrt", token.position)
                if self._bare_root(place):
                    self.made.append(Token("operator", "(", token.position))

    def _beside(self, place: int) -> bool:
        """Whether an operand starts here that stands beside another, the sign left out."""
        token = self.written[place]
        if not (self.made and ends_operand(self.made[-1])):
            return False
        before = self.made[-1]
        if before.kind == "name" and before.text in FUNCTIONS:
            return False  # applied, or to be refused as a function without an argument
        if token.text == "(":
            return before.kind != "name" or before.text in self.names
        return token.kind == "name"  # a number to the right may be an index: K2

    def _refuse_application(self, place: int) -> None:
        """Refuse K(p): a product would not be printed so, and a value of K at p is no quantity."""
        before, (opening, *argument) = self.made[-1], self.written[place : place + 3]
        if before.kind != "name" or opening.text != "(" or len(argument) < 2:
            return
        inside, closing = argument
        if inside.kind in ("name", "number") and closing.text == ")":
            product = f"{before.text}*{inside.text}"
            raise FormulaError(
                f"two readings: {product} or the value of {before.text} at {inside.text}; "
                f"write {product} for the product, {before.text} for the value",
                self.text,
                self.written[place].position,
            )

    def _bare_root(self, place: int) -> bool:
        """Whether a root sign stands here over one name or number, without a parenthesis."""
        if place < 0 or self.written[place].text != ROOT:
            return False
        return self.written[place + 1].kind in ("name", "number")

    def _refuse_reach(self, place: int) -> None:
        under, after = self.written[place].text, self.written[place + 1]
        starts = after.kind in ("name", "number") or after.text in ("(", ROOT)
        power = after.text == "**" or after.kind == "superscript"
        if under in FUNCTIONS or starts or power:
            raise FormulaError(
                f"two readings of how far the root over {quote(under)[1:-1]} reaches; "
                "write sqrt(...) with what stands under it",
                self.text,
                self.written[place - 1].position,
            )


def _parts(token: Token, text: str, names: Collection[str]) -> list[Token]:
    """Return `token`, or the known names that its letters spell in exactly one way."""
    word = token.text
    unknown = token.kind == "name" and word not in names and word != ROOT
    if not (unknown and 2 <= len(word) <= _LONGEST_SPLIT):
        return [token]
    readings = _spellings(word, names)
    if len(readings) > 1:
        shown = " or ".join("*".join(reading) for reading in readings)
        reason = f"two readings: {shown}; write the one that is meant"
        raise FormulaError(reason, text, token.position)
    if not readings or set(readings[0]) & set(FUNCTIONS):
        return [token]
    parts, position = [], token.position
    for name in readings[0]:
        parts.append(Token("name", name, position))
        position += len(name)
    return parts


def _spellings(word: str, names: Collection[str]) -> list[tuple[str, ...]]:
    """Return the ways to write `word` as a row of `names`, of more than two the first two.

    A name with a subscript ends the row: in x_sd the d may be of the subscript.
    """
    ways: list[list[tuple[str, ...]]] = [[()]]  # of the first letters, by their number
    for end in range(1, len(word) + 1):
        ways.append(
            [
                (*way, name)
                for name in names
                if word[:end].endswith(name) and (name.isalpha() or end == len(word))
                for way in ways[end - len(name)]
            ][:2]
        )
    return ways[-1]
