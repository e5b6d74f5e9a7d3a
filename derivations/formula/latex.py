r"""LaTeX as another spelling of the same tokens.

The commands are a table; there is no macro expansion, so nothing can loop, read a file or run.
Juxtaposition is a product here. Where two readings of it are common, ``1/2x`` or ``\ln a b``, the
formula is refused and both are printed.
"""

from __future__ import annotations

import difflib
import re
from typing import NoReturn

from derivations.formula.errors import FormulaError, quote
from derivations.formula.juxtaposition import ends_operand, product_sign, refuse_many
from derivations.formula.latex_pieces import Piece, is_number, is_superscript, pieces_of
from derivations.formula.latex_table import (
    CLOSING,
    FRACTIONS,
    FUNCTIONS,
    IN_SUBSCRIPT,
    KNOWN,
    LETTERS,
    OPENING,
    OVER,
    SIGNS,
    SWITCHES,
    WORDS,
)
from derivations.formula.spelling import (
    GREEK,
    OPERATORS,
    SUPERSCRIPTS,
    VULGAR_FRACTIONS,
    Kind,
    Token,
)

MAX_DEPTH = 60  # of groups in groups


def latex_tokens(text: str) -> list[Token]:
    r"""Return the tokens of a formula in LaTeX, the last of kind ``end``.

    Raises
    ------
    FormulaError
        For a command outside the table, unbalanced groups, and what has two readings.
    """
    reader = _Reader(text)
    reader.sequence(until=None, depth=0)
    return [*reader.made, Token("end", "", len(text))]


class _Reader:
    """Pieces of LaTeX going in, tokens coming out; `made` grows as the text is read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.pieces = pieces_of(text)
        self.index = 0
        self.made: list[Token] = []

    # -- reading pieces

    @property
    def next(self) -> Piece:
        if self.index < len(self.pieces):
            return self.pieces[self.index]
        return Piece("", len(self.text))

    def take(self) -> Piece:
        piece = self.next
        self.index += 1
        return piece

    def refuse(self, reason: str, piece: Piece) -> NoReturn:
        raise FormulaError(reason, self.text, piece.position)

    # -- writing tokens

    def emit(self, kind: Kind, text: str, piece: Piece) -> None:
        self.made.append(Token(kind, text, piece.position))
        refuse_many(self.made, self.text)

    def operand_begins(self, piece: Piece, start: int) -> None:
        """Write the product sign that juxtaposition leaves out."""
        if len(self.made) == start or not ends_operand(self.made[-1]):
            return
        if self.made[-1].kind == "number" and (is_number(piece) or piece.text in VULGAR_FRACTIONS):
            self.refuse("two numbers side by side; write the sign between them", piece)
        sign = product_sign(self.made[start:], self._shown(piece), self.text, piece.position)
        self.made.append(sign)

    def _shown(self, piece: Piece) -> str:
        return quote(piece.text)[1:-1] if piece.text not in OPENING else "(...)"

    # -- the grammar

    def sequence(self, until: str | None, depth: int) -> None:
        """Read operands and signs up to the closing piece `until`, or to the end."""
        if depth > MAX_DEPTH:
            self.refuse(f"groups are nested at most {MAX_DEPTH} deep", self.next)
        opened, start = self.next, len(self.made)
        over = 0
        while self.next.text != (until or ""):
            piece = self.next
            if piece.text == "":
                self.refuse(f"a group is not closed; {until!r} is missing", opened)
            if piece.text in SIGNS:
                self.take()
                sign = SIGNS[piece.text]
                self.emit("operator", OPERATORS.get(sign, sign), piece)
            elif self._is_and():
                self.emit("operator", "and", piece)
            elif piece.text == OVER:
                over += 1
                if over > 1 or len(self.made) == start:
                    self.refuse(r"\over stands once between two terms of a group", piece)
                self.made.insert(start, Token("operator", "(", opened.position))
                for sign in (")", "/", "("):
                    self.emit("operator", sign, piece)
                start = len(self.made)
                self.take()
            else:
                self.operand(start, depth)
        closed = self.take()
        if over:
            self.emit("operator", ")", closed)

    def _is_and(self) -> bool:
        words = [piece.text for piece in self.pieces[self.index : self.index + 6]]
        if words[:1] and words[0] in (r"\text", r"\mathrm") and words[1:] == ["{", *"and", "}"]:
            self.index += 6
            return True
        return False

    def operand(self, start: int, depth: int) -> None:
        """Read one operand with its subscript and superscript."""
        piece = self.next
        self.operand_begins(piece, start)
        first = len(self.made)
        if piece.text in FUNCTIONS or (piece.text == r"\operatorname" and self._calls()):
            self.call(depth)
            return
        if piece.text == "e" and self._following() == "^":
            self.take()
            self.take()
            self._wrapped("exp", piece, depth)
            return
        if piece.text in FRACTIONS:
            self.take()
            self.emit("operator", "(", piece)
            self.argument(depth)
            self.emit("operator", "/", piece)
            self.argument(depth)
            self.emit("operator", ")", piece)
        elif piece.text == "{" or piece.text == r"\left" or piece.text in OPENING:
            self.bracket(depth)
        elif is_number(piece):
            self.emit("number", self.take().text, piece)
        elif piece.text in VULGAR_FRACTIONS:
            self.emit("number", VULGAR_FRACTIONS[self.take().text], piece)
        else:
            self.emit("name", self.name(), piece)
        self.scripts(first, depth)

    def scripts(self, first: int, depth: int) -> None:
        r"""Read ``^...`` and ``_...``: a star or a subscript belongs to a name, else a power."""
        powers = 0
        while self.next.text in ("^", "_") or is_superscript(self.next):
            piece = self.take()
            if is_superscript(piece):
                powers += 1
                if powers > 1:
                    self.refuse("two superscripts; write the inner one in braces", piece)
                self.emit("superscript", piece.text.translate(SUPERSCRIPTS), piece)
            elif self._is_star() and len(self.made) == first + 1 and self.made[-1].kind == "name":
                name = self.made.pop()
                self.made.append(Token("name", f"{name.text}_star", name.position))
            elif piece.text == "_":
                if len(self.made) != first + 1 or self.made[-1].kind != "name":
                    self.refuse("a subscript belongs to a letter, before its power", piece)
                name = self.made.pop()
                self.made.append(Token("name", f"{name.text}_{self.subscript()}", name.position))
            else:
                powers += 1
                if powers > 1:
                    self.refuse("two superscripts; write the inner one in braces", piece)
                self.emit("operator", "**", piece)
                digits = self.next.text
                if len(digits) > 1 and digits[0].isdigit() and is_number(self.next):
                    both = f"x^{{{digits}}} or x^{digits[0]}*{digits[1:]}"
                    self.refuse(f"two readings: {both}; write one of them", self.next)
                self.argument(depth)

    def argument(self, depth: int) -> None:
        """Read a group in braces, or one digit, letter or command, as a whole in parentheses."""
        piece = self.next
        self.emit("operator", "(", piece)
        if piece.text == "{":
            self.take()
            self.sequence("}", depth + 1)
        elif is_number(piece):
            self.emit("number", self._one_digit(), piece)
        elif piece.text in LETTERS or (len(piece.text) == 1 and piece.text.isalpha()):
            self.emit("name", self.name(), piece)
        else:
            self.refuse("an argument in braces is expected here", piece)
        self.emit("operator", ")", piece)

    def bracket(self, depth: int) -> None:
        opened = self.take()
        if opened.text == r"\left":
            opened = self.take()
            closing = {"|": "|"}.get(opened.text) or OPENING.get(opened.text)
            if closing is None:
                self.refuse(r"\left stands before a bracket", opened)
            self._absolute(opened)
            self.emit("operator", "(", opened)
            self.sequence(r"\right", depth + 1)
            if self.take().text != closing:
                self.refuse(f"\\right{closing} is missing", opened)
        else:
            closing = "}" if opened.text == "{" else OPENING[opened.text]
            self._absolute(opened)
            self.emit("operator", "(", opened)
            self.sequence(closing, depth + 1)
        self.emit("operator", ")", opened)

    def _absolute(self, opened: Piece) -> None:
        if opened.text in ("|", r"\lvert"):
            self.emit("name", "abs", opened)

    def call(self, depth: int) -> None:
        r"""Read a function and what it is applied to: brackets, braces or one bare operand."""
        piece = self.take()
        name = self.word() if piece.text == r"\operatorname" else FUNCTIONS[piece.text]
        if self.next.text in ("^", "_"):
            self.refuse(f"write ({piece.text} x)^n; no script stands on a function", self.next)
        if name == "sqrt" and self.next.text == "[":
            self._root(piece, depth)
        elif self.next.text == "{":
            self._wrapped(name, piece, depth)
        elif self.next.text in OPENING or self.next.text == r"\left":
            self.emit("name", name, piece)
            self.bracket(depth)
            if self.next.text == "^":
                readings = f"({piece.text}(...))^n or {piece.text}((...)^n)"
                self.refuse(f"two readings: {readings}; write one of them", self.next)
        else:
            self.emit("name", name, piece)
            self.emit("operator", "(", piece)
            inside = len(self.made)
            self.operand(inside, depth)
            shown = "".join(token.text for token in self.made[inside:])
            self.emit("operator", ")", piece)
            if self.next.text and not (self.next.text in SIGNS or self.next.text in CLOSING):
                rest = self._shown(self.next)
                self.refuse(
                    f"two readings: {name}({shown})*{rest} or {name}({shown}*{rest}); "
                    "write one of them",
                    self.next,
                )

    def _root(self, piece: Piece, depth: int) -> None:
        r"""Read ``\sqrt[n]{x}`` as x**(1/n)."""
        opened = self.take()
        root = len(self.made)
        for sign in ("**", "(", "1", "/", "("):
            self.emit("number" if sign == "1" else "operator", sign, opened)
        self.sequence("]", depth + 1)
        power = self.made[root:]
        del self.made[root:]
        self.emit("operator", "(", piece)
        self.argument(depth)
        self.made += power
        for _ in range(3):
            self.emit("operator", ")", piece)

    def _wrapped(self, name: str, piece: Piece, depth: int) -> None:
        self.emit("name", name, piece)
        self.argument(depth)

    # -- names

    def name(self) -> str:
        piece = self.take()
        if piece.text in LETTERS:
            return LETTERS[piece.text]
        if piece.text in WORDS:
            return self.word()
        if len(piece.text) == 1 and piece.text.isalpha():
            return GREEK.get(piece.text, piece.text)
        if piece.text.startswith("\\"):
            near = difflib.get_close_matches(piece.text[:30], KNOWN, n=1, cutoff=0.5)
            hint = f"; did you mean {near[0]}?" if near else ""
            self.refuse(
                f"the LaTeX command {quote(piece.text)} is not of this language{hint} "
                f"(it has fractions, roots, powers, brackets, functions, Greek letters)",
                piece,
            )
        return self.refuse(f"unexpected {quote(piece.text)}", piece)

    def word(self) -> str:
        """Read ``{letters}`` as one name."""
        opened = self.take()
        letters = []
        while opened.text == "{" and self.next.text not in ("}", ""):
            letters.append(self.take().text)
        word = "".join(letters)
        closed = opened.text == "{" and self.take().text == "}"
        if not closed or not re.fullmatch(r"[A-Za-z0-9_]+", word):
            self.refuse("a name in braces is expected here", opened)
        return word

    def subscript(self) -> str:
        if self.next.text != "{":
            return self._subscript_piece()
        opened = self.take()
        parts = []
        while self.next.text not in ("}", ""):
            if self.next.text in SWITCHES and self._following() != "{":
                self.take()
            else:
                parts.append(self._subscript_piece())
        if self.take().text != "}" or not parts:
            self.refuse("a subscript in braces is a name", opened)
        return "".join(parts)

    def _subscript_piece(self) -> str:
        piece = self.next
        if piece.text in IN_SUBSCRIPT:
            return IN_SUBSCRIPT[self.take().text]
        if piece.text in WORDS:
            self.take()
            return self.word()
        if re.fullmatch(r"[A-Za-z0-9]+", piece.text):
            return self._one_digit() if is_number(piece) else self.take().text
        return self.refuse("a subscript is a name of letters and digits", piece)

    def _one_digit(self) -> str:
        r"""Take one digit, as TeX does after ``\frac`` and ``^``; the rest stays to be read."""
        piece = self.take()
        if not piece.text[0].isdigit():
            self.refuse("write a decimal here in braces", piece)
        if len(piece.text) > 1:
            self.index -= 1
            self.pieces[self.index] = Piece(piece.text[1:], piece.position + 1)
        return piece.text[0]

    def _following(self) -> str:
        return self.pieces[self.index + 1].text if self.index + 1 < len(self.pieces) else ""

    def _is_star(self) -> bool:
        stars = ("*", r"\star", r"\ast")
        if self.next.text in stars:
            self.take()
            return True
        if self.next.text == "{" and self._following() in stars:
            third = self.pieces[self.index + 2].text if self.index + 2 < len(self.pieces) else ""
            if third == "}":
                self.index += 3
                return True
        return False

    def _calls(self) -> bool:
        r"""Whether ``\operatorname{...}`` is followed by its argument."""
        close = next((i for i in range(self.index, len(self.pieces))
                      if self.pieces[i].text == "}"), len(self.pieces))  # fmt: skip
        after = self.pieces[close + 1].text if close + 1 < len(self.pieces) else ""
        return after in OPENING or after == r"\left"
