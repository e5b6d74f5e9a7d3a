r"""From characters to tokens, in plain text or Unicode here, in LaTeX next door.

The parser sees tokens only, so another spelling is another tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from derivations.formula.errors import FormulaError, quote
from derivations.formula.implied import completed
from derivations.formula.juxtaposition import refuse_many
from derivations.formula.latex import latex_tokens
from derivations.formula.latex_pieces import is_latex
from derivations.formula.spelling import (
    GREEK,
    OPERATORS,
    ROOT,
    SUPERSCRIPTS,
    VULGAR_FRACTIONS,
    Token,
    without_stop,
)

MAX_CHARACTERS = 10_000

_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\r\n]+ )
  | (?P<number> (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )?
             | [{"".join(VULGAR_FRACTIONS)}] )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]* | [{"".join(GREEK)}] | {ROOT} )
  | (?P<superscript> ⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<operator> {"|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))} )
    """,
    re.VERBOSE,
)


def tokenize(text: str, names: Collection[str] = ()) -> list[Token]:
    r"""Return the tokens of a formula in plain text, Unicode or LaTeX, the last of kind ``end``.

    Parameters
    ----------
    text : str
        At most `MAX_CHARACTERS` characters and `MAX_TOKENS` tokens.
    names : collection of str
        Every name that may occur: in plain text they tell a product from an unknown name.

    Raises
    ------
    FormulaError
        For anything but a ``str``, for text too long, for a character outside the language and for
        a product that has two readings.
    """
    if not isinstance(text, str):
        raise FormulaError(f"a formula is text, not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(
            f"a formula has at most {MAX_CHARACTERS} characters, this one has {len(text)}", text
        )
    made = latex_tokens(text) if is_latex(text) else _plain_tokens(text, names)
    refuse_many(made, text)
    return made


def _plain_tokens(text: str, names: Collection[str]) -> list[Token]:
    written: list[Token] = []
    position, length = 0, len(without_stop(text))
    while position < length:
        match = _TOKEN.match(text, position, length)
        if match is None:
            raise FormulaError(
                f"unexpected character {quote(text[position])}; a formula has numbers, names, "
                "+ - * / ** ^ ( ), the functions' commas, comparisons and 'and'",
                text,
                position,
            )
        if match.lastgroup != "space":
            written.append(_token(match))
        position = match.end()
    written.append(Token("end", "", len(text)))
    return completed(written, text, names)


def _token(match: re.Match[str]) -> Token:
    text, start = match.group(), match.start()
    if match.lastgroup == "number":
        return Token("number", VULGAR_FRACTIONS.get(text, text), start)
    if match.lastgroup == "superscript":
        return Token("superscript", text.translate(SUPERSCRIPTS), start)
    if match.lastgroup == "operator" or text == "and":
        return Token("operator", OPERATORS.get(text, text), start)
    return Token("name", GREEK.get(text, text), start)
