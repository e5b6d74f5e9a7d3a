r"""The product sign that a printed formula leaves out, and where that leaves two readings."""

from __future__ import annotations

from collections.abc import Sequence

from derivations.formula.errors import FormulaError
from derivations.formula.spelling import Token

__all__ = ["MAX_TOKENS", "ends_operand", "product_sign", "refuse_many"]

MAX_TOKENS = 2_000

_ENDS_PRODUCT = frozenset(("+", "-", ",", "and", "<", "<=", ">", ">=", "=="))
_GROUP = "(...)"


def ends_operand(token: Token) -> bool:
    """Whether an operand may end with `token`, so that another beside it is a product."""
    return token.kind in ("number", "name", "superscript") or token.text == ")"


def refuse_many(made: Sequence[Token], text: str) -> None:
    r"""Refuse more than `MAX_TOKENS` tokens: a sign is put in time proportional to those before it.

    Raises
    ------
    FormulaError
        Naming the limit.
    """
    if len(made) > MAX_TOKENS + 1:
        raise FormulaError(f"a formula has at most {MAX_TOKENS} tokens", text, made[-2].position)


def product_sign(made: Sequence[Token], right: str, text: str, position: int) -> Token:
    r"""Return the sign between what is `made` and the operand `right` that stands beside it.

    Raises
    ------
    FormulaError
        After a slash or a caret: ``1/2x`` is read as (1/2)x by some and as 1/(2x) by others,
        ``x^2d`` as (x^2)d and as x^(2d).
    """
    product = _product(made)
    readings: tuple[str, str] | None = None
    signs = [place for place, token in enumerate(product) if token.text in ("*", "/")]
    caret = _caret(product)
    if signs and product[signs[-1]].text == "/":
        before, after = product[: signs[-1]], product[signs[-1] + 1 :]
        numerator, denominator = _spelt(before), _spelt(after)
        readings = (
            f"({numerator}/{denominator})*{right}",
            f"{numerator}/({denominator}*{right})",
        )
    elif caret is not None:
        base, exponent = _spelt(product[:caret]), _spelt(product[caret + 1 :])
        readings = f"{base}**{exponent}*{right}", f"{base}**({exponent}*{right})"
    if readings is not None:
        reason = f"two readings: {' or '.join(readings)}; write the one that is meant"
        raise FormulaError(reason, text, position)
    return Token("operator", "*", position)


def _caret(product: Sequence[Token]) -> int | None:
    """Return the place of the power sign whose exponent, without parentheses, ends `product`."""
    place = len(product) - 1
    while place > 0 and product[place].kind == "superscript":
        place -= 1
    called = place > 0 and product[place].text == _GROUP and product[place - 1].kind == "name"
    place -= called
    if place >= 0 and product[place].text == _GROUP:
        return None
    place -= 1
    while place >= 0 and product[place].text in ("+", "-"):
        place -= 1
    return place if place >= 0 and product[place].text == "**" else None


def _product(made: Sequence[Token]) -> list[Token]:
    """Return the tokens of the product being read: at this level, after the last sum."""
    depth = 0
    for place in range(len(made) - 1, -1, -1):
        token = made[place]
        depth += (token.text == ")") - (token.text == "(")
        signed = place > 0 and made[place - 1].text in ("**", "*", "/")  # a sign, not a sum
        if depth < 0 or (depth == 0 and token.text in _ENDS_PRODUCT and not signed):
            return _outer(made[place + 1 :])
    return _outer(made)


def _outer(tokens: Sequence[Token]) -> list[Token]:
    """Return `tokens` with each parenthesis as one token, so that only outer signs show."""
    result: list[Token] = []
    depth = 0
    for token in tokens:
        if token.text == ")":
            depth -= 1
            if depth == 0:
                continue
        if depth == 0:
            result.append(token if token.text != "(" else Token("name", _GROUP, token.position))
        depth += token.text == "("
    return result


def _spelt(tokens: Sequence[Token]) -> str:
    shown = "".join(token.text for token in tokens)
    return shown if len(shown) <= 30 else "(...)"
