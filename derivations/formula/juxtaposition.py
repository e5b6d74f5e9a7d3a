r"""The product sign that a printed formula leaves out, and where that leaves two readings."""

from __future__ import annotations

from collections.abc import Sequence

from derivations.formula.errors import FormulaError
from derivations.formula.spelling import Token

__all__ = ["ends_operand", "product_sign"]

_ENDS_PRODUCT = frozenset(("+", "-", ",", "and", "<", "<=", ">", ">=", "=="))


def ends_operand(token: Token) -> bool:
    """Whether an operand may end with `token`, so that another beside it is a product."""
    return token.kind in ("number", "name", "superscript") or token.text == ")"


def product_sign(made: Sequence[Token], right: str, text: str, position: int) -> Token:
    r"""Return the sign between what is `made` and the operand `right` that stands beside it.

    Raises
    ------
    FormulaError
        After a slash: ``1/2x`` is read as (1/2)x by some and as 1/(2x) by others.
    """
    product = _product(made)
    signs = [place for place, token in enumerate(product) if token.text in ("*", "/")]
    if signs and product[signs[-1]].text == "/":
        before, after = product[: signs[-1]], product[signs[-1] + 1 :]
        numerator, denominator = _spelt(before), _spelt(after)
        raise FormulaError(
            f"two readings: ({numerator}/{denominator})*{right} or "
            f"{numerator}/({denominator}*{right}); write the one that is meant",
            text,
            position,
        )
    return Token("operator", "*", position)


def _product(made: Sequence[Token]) -> list[Token]:
    """Return the tokens of the product being read: at this level, after the last sum."""
    depth = 0
    for place in range(len(made) - 1, -1, -1):
        token = made[place]
        depth += (token.text == ")") - (token.text == "(")
        if depth < 0 or (depth == 0 and token.text in _ENDS_PRODUCT):
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
            result.append(token if token.text != "(" else Token("name", "(...)", token.position))
        depth += token.text == "("
    return result


def _spelt(tokens: Sequence[Token]) -> str:
    shown = "".join(token.text for token in tokens)
    return shown if len(shown) <= 30 else "(...)"
