r"""Expressions as people read them: plain text, LaTeX and MathML.

Displays wrap: text before operators, LaTeX in rows, MathML in pieces that flow. MathML is the LaTeX
converted, so the two cannot disagree.
"""

from __future__ import annotations

import html
import re

import sympy as sp

from derivations.printers import Latex, Piece, Text

__all__ = ["latex", "latex_rows", "mathml", "mathml_block", "text", "text_rows"]

_ROW = 64  # characters that fill a row of display mathematics
_NARROW = 40  # the same on a telephone
_TIGHT_FUNCTION = re.compile(  # TeX puts a thin space between a factor and cos; MathML does not
    r"(</m(?:i|n|sup|sub|row|sqrt|frac)>)((?:<msup>)?<mi>(?:ln|sin|cos|tan|sinh|cosh|tanh|coth)</mi>)"
)
_BREAK = re.compile(r" (?=([-+]|=|<|>|=>|<=|>=|!=|or) )|(?<=,) ")


def text(expression: sp.Basic) -> str:
    """Return `expression` as one line of plain text."""
    return str(Text(expression).doprint(expression))


def text_rows(expression: sp.Basic | str, width: int) -> list[str]:
    """Return plain text in rows of at most `width`, broken before operators, outermost first.

    A row is longer only where it holds no operator to break at.
    """
    line = expression if isinstance(expression, str) else text(expression)
    rows = []
    while len(line) > width:
        places = [(*_merit(line, found, width), found.start()) for found in _BREAK.finditer(line)]
        reachable = [place for place in places if place[-1] <= width] or places[:1]
        if not reachable:
            break
        *_, end = min(reachable, key=lambda place: (*place[:-1], -place[-1]))
        rows.append(line[:end])
        line = line[end + 1 :]
    return [*rows, line]


def _merit(line: str, found: re.Match[str], width: int) -> tuple[int, int]:
    """Rank a place to break: outside brackets first, then by what stands there."""
    before = line[: found.start()]
    depth = sum((c in "([") - (c in ")]") for c in before)
    if found[1] in ("+", "-"):
        return depth, 3
    if found[1] in ("=>", None):  # None: after a comma
        return depth, 1 - bool(found[1])
    # A short left side is not left alone, and one condition of several is not torn.
    early, several = found.start() < width // 4, ", " in line or "=> " in line
    return depth + early, 4 if early or several else 2


def latex(expression: sp.Basic) -> str:
    """Return `expression` as one row of LaTeX, without delimiters."""
    return str(Latex(expression, _ROW).doprint(expression))


def _statements(pieces: list[Piece]) -> list[list[Piece]]:
    """Group pieces into what stays together in a display: everything, or the sides of relations."""
    if sum(piece.width + 1 for piece in pieces) <= _ROW:
        return [pieces]
    groups = [pieces[:1]]
    for piece in pieces[1:]:
        left_side = groups[-1][0].starts != "side" and sum(p.width for p in groups[-1]) <= _ROW // 4
        if piece.starts == "statement" or (piece.starts == "side" and not left_side):
            groups.append([])
        groups[-1].append(piece)
    return groups


def latex_rows(expression: sp.Basic) -> list[str]:
    """Return a display in rows, broken at relations and between terms; later rows are indented."""
    rows: list[str] = []
    for group in _statements(list(Latex(expression, _ROW).pieces(expression))):
        indent = r"\quad " if rows and group[0].starts != "statement" else ""
        rows.append(indent + group[0].source)
        filled = group[0].width
        for piece in group[1:]:
            # A row that has hardly begun goes on, or a short left side would stand alone.
            if filled + piece.width > _ROW and filled > _ROW // 4:
                rows.append(r"\quad " + piece.source)
                filled = piece.width
            else:
                rows[-1] += " " + piece.source
                filled += piece.width + 1
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
    pieces = list(Latex(expression, _NARROW).pieces(expression))
    if label:
        pieces[0] = pieces[0]._replace(source=f"{label} = {pieces[0].source}")
    # {} makes the sign that a later piece starts with an infix one, with its space.
    inner = "<br/>".join(
        " ".join(
            _converted(r"\displaystyle " + ("" if piece is pieces[0] else "{} ") + piece.source)
            for piece in group
        )
        for group in _statements(pieces)
    )
    spoken = html.escape(text(expression))
    return f'<div class="math" role="math" aria-label="{spoken}">{inner}</div>'


def _converted(source: str, alternative: str = "") -> str:
    from latex2mathml.converter import convert

    opening = f'<math alttext="{html.escape(alternative)}"' if alternative else "<math"
    namespace = '<math xmlns="http://www.w3.org/1998/Math/MathML"'  # HTML needs none
    converted = str(convert(source)).replace(namespace, opening, 1)
    return _TIGHT_FUNCTION.sub(r'\1<mspace width="0.17em"/>\2', converted)
