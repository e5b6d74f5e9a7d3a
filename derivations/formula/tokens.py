r"""From characters to tokens, in plain text or Unicode here, in LaTeX next door.

The parser sees tokens only, so another spelling is another tokenizer.
"""

from __future__ import annotations

import re

from derivations.formula.errors import FormulaError, quote
from derivations.formula.juxtaposition import ends_operand, product_sign
from derivations.formula.latex import is_latex, latex_tokens
from derivations.formula.spelling import GREEK, OPERATORS, Token

MAX_CHARACTERS = 10_000
MAX_TOKENS = 2_000

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")

_TOKEN = re.compile(
    rf"""
    (?P<space> [ \t\r\n]+ )
  | (?P<number> (?: [0-9]+ (?: \.[0-9]* )? | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? )
  | (?P<name> [A-Za-z_][A-Za-z0-9_]* | [{"".join(GREEK)}] )
  | (?P<superscript> ⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+ )
  | (?P<operator> {"|".join(map(re.escape, sorted(OPERATORS, key=len, reverse=True)))} )
    """,
    re.VERBOSE,
)


def tokenize(text: str) -> list[Token]:
    r"""Return the tokens of a formula in plain text, Unicode or LaTeX, the last of kind ``end``.

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
    made = latex_tokens(text) if is_latex(text) else _plain_tokens(text)
    if len(made) > MAX_TOKENS + 1:
        raise FormulaError(f"a formula has at most {MAX_TOKENS} tokens", text, made[-2].position)
    return made


def _plain_tokens(text: str) -> list[Token]:
    made: list[Token] = []
    position = 0
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
            token = _token(match)
            if _greek_product(text, made, token):
                made.append(product_sign(made, token.text, text, position))
            made.append(token)
        position = match.end()
    return [*made, Token("end", "", len(text))]


def _greek_product(text: str, made: list[Token], token: Token) -> bool:
    """Whether a Greek letter stands beside another operand: in plain text the only bare product."""
    if not made or not ends_operand(made[-1]):
        return False
    if token.kind not in ("name", "number") and token.text != "(":
        return False
    return text[token.position] in GREEK or text[made[-1].position] in GREEK


def _token(match: re.Match[str]) -> Token:
    text, start = match.group(), match.start()
    if match.lastgroup == "number":
        return Token("number", text, start)
    if match.lastgroup == "superscript":
        return Token("superscript", text.translate(_SUPERSCRIPTS), start)
    if match.lastgroup == "operator" or text == "and":
        return Token("operator", OPERATORS.get(text, text), start)
    return Token("name", GREEK.get(text, text), start)
