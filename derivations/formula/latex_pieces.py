r"""From LaTeX to its pieces: commands, numbers, characters, each with its place in the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from derivations.formula.latex_table import SPACES
from derivations.formula.spelling import without_stop

__all__ = ["Piece", "is_latex", "is_number", "is_superscript", "pieces_of"]

_PIECE = re.compile(
    r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|\.[0-9]+|\s+|⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+|.", re.DOTALL
)
_NUMBER = re.compile(r"[0-9.]*[0-9]")


@dataclass(frozen=True)
class Piece:
    """A command, a number or a character, and where it starts in the text."""

    text: str
    position: int


def is_latex(text: str) -> bool:
    """Whether `text` is spelt in LaTeX: the plain language has none of these marks."""
    return any(mark in text for mark in ("\\", "{", "}", "$", "^*"))


def pieces_of(text: str) -> list[Piece]:
    """Return the pieces of a formula, without its delimiters and without spaces."""
    body = _without_math_signs(text)
    start = text.index(body)
    return [
        Piece(found.group(), found.start() + start)
        for found in _PIECE.finditer(body)
        if not found.group().isspace() and found.group() not in SPACES
    ]


def is_number(piece: Piece) -> bool:
    """Whether a piece is digits, perhaps with a point; other scripts' digits are none."""
    return _NUMBER.fullmatch(piece.text) is not None


def is_superscript(piece: Piece) -> bool:
    """Whether a piece is a power in raised digits."""
    return piece.text[:1] in set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _without_math_signs(text: str) -> str:
    """Return the formula in its delimiters; the stop of a display is in them or after them."""
    body = without_stop(text.strip())
    for opening, closing in (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]")):
        enclosed = body.startswith(opening) and body.endswith(closing)
        if enclosed and len(body) >= len(opening) + len(closing):
            return without_stop(body[len(opening) : len(body) - len(closing)])
    return body
