r"""From characters to tokens: the one place that knows how a formula is spelt.

The parser sees tokens only, so another spelling (LaTeX, say) is another tokenizer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from derivations.formula.errors import FormulaError, quote

MAX_CHARACTERS = 10_000
MAX_TOKENS = 2_000

# The one small table of spellings, printed -> token. A Greek letter is a name of its own, never a
# part of a longer one, so that a product of two letters is not read as an unknown name.
_GREEK = (
    "α alpha  β beta  γ gamma  δ delta  ε epsilon  ζ zeta  η eta  θ theta  ι iota  κ kappa  "
    "λ lambda  μ mu  ν nu  ξ xi  ο omicron  π pi  ρ rho  σ sigma  τ tau  υ upsilon  φ phi  "
    "χ chi  ψ psi  ω omega"
)
_NAMES = {**dict(re.findall(r"(\w) (\w+)", _GREEK)), "\N{MICRO SIGN}": "mu"}
_OPERATORS = {
    **{operator: operator for operator in ("**", "<=", ">=", "==", *"+-*/()<>,")},
    "^": "**",
    "=": "==",
    "\N{MINUS SIGN}": "-",
    "\N{MULTIPLICATION SIGN}": "*",
    "\N{MIDDLE DOT}": "*",
    "\N{DOT OPERATOR}": "*",
    "\N{LESS-THAN OR EQUAL TO}": "<=",
    "\N{GREATER-THAN OR EQUAL TO}": ">=",
}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\r\n]+ )
  | (?P<number> (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]* | [{"".join(_NAMES)}] )
  | (?P<superscript> ⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<operator> {"|".join(map(re.escape, sorted(_OPERATORS, key=len, reverse=True)))} )
    """,
    re.VERBOSE,
)

Kind = Literal["number", "name", "superscript", "operator", "end"]


@dataclass(frozen=True)
class Token:
    """One token: its kind, its plain spelling, and where it starts in the text."""

    kind: Kind
    text: str
    position: int


def tokenize(text: str) -> Iterator[Token]:
    r"""Yield the tokens of a formula in plain text or Unicode, and last one of kind ``end``.

    Parameters
    ----------
    text : str
        At most `MAX_CHARACTERS` characters and `MAX_TOKENS` tokens.

    Raises
    ------
    FormulaError
        For anything but a ``str``, for text too long, and for a character outside the language.
    """
    if not isinstance(text, str):
        raise FormulaError(f"a formula is text, not {type(text).__name__}")
    if len(text) > MAX_CHARACTERS:
        raise FormulaError(
            f"a formula has at most {MAX_CHARACTERS} characters, this one has {len(text)}", text
        )
    position = count = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise FormulaError(
                f"unexpected character {quote(text[position])}; a formula has numbers, names, "
                "+ - * / ** ^ ( ), the functions' commas, comparisons and 'and'",
                text,
                position,
            )
        if match.lastgroup != "space":
            count += 1
            if count > MAX_TOKENS:
                raise FormulaError(f"a formula has at most {MAX_TOKENS} tokens", text, position)
            yield _token(match)
        position = match.end()
    yield Token("end", "", len(text))


def _token(match: re.Match[str]) -> Token:
    text, start = match.group(), match.start()
    if match.lastgroup == "number":
        return Token("number", text, start)
    if match.lastgroup == "superscript":
        return Token("superscript", text.translate(_SUPERSCRIPTS), start)
    if match.lastgroup == "operator" or text == "and":
        return Token("operator", _OPERATORS.get(text, text), start)
    return Token("name", _NAMES.get(text, text), start)
