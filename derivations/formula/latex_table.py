r"""The LaTeX that formulas are printed in, as a table; there is no other."""

from __future__ import annotations

from derivations.formula.spelling import GREEK

#: What makes a bracket large; its size says nothing.
_SIZES = {rf"\{size}{side}" for size in ("big", "Big", "bigg", "Bigg") for side in ("", *"lrm")}
SPACES = frozenset(
    (r"\ ", r"\,", r"\;", r"\:", r"\!", r"\quad", r"\qquad", r"\displaystyle", "~", "&", *_SIZES)
)
SIGNS = {
    **{sign: sign for sign in "+-*/<>,="},
    r"\cdot": "*", r"\times": "*", r"\ast": "*", r"\div": "/",
    r"\le": "<=", r"\leq": "<=", r"\leqslant": "<=", r"\lt": "<",
    r"\ge": ">=", r"\geq": ">=", r"\geqslant": ">=", r"\gt": ">",
    r"\land": "and", r"\wedge": "and",
}  # fmt: skip
FUNCTIONS = {
    r"\sqrt": "sqrt", r"\exp": "exp", r"\log": "log", r"\ln": "ln",
    r"\min": "min", r"\max": "max",
    r"\sin": "sin", r"\cos": "cos", r"\tan": "tan",
    r"\arcsin": "asin", r"\arccos": "acos", r"\arctan": "atan",
}  # fmt: skip
LETTERS: dict[str, str] = {
    **{"\\" + name: name for name in GREEK.values()},
    r"\varepsilon": "epsilon", r"\vartheta": "theta", r"\varphi": "phi", r"\varrho": "rho",
    r"\ell": "l",
}  # fmt: skip
FRACTIONS = frozenset((r"\frac", r"\dfrac", r"\tfrac", r"\cfrac"))
WORDS = frozenset(
    (r"\mathrm", r"\text", r"\mathit", r"\mathsf", r"\mathbf", r"\operatorname", r"\textrm", r"\rm")
)
#: A font for the rest of its group, as in ``K_{\rm ref}``.
SWITCHES = frozenset((r"\rm", r"\it", r"\bf", r"\sf", r"\tt"))
OVER = r"\over"
OPENING = {"(": ")", "[": "]", r"\{": r"\}", r"\lvert": r"\rvert"}
CLOSING = frozenset((*OPENING.values(), "}", r"\right"))
IN_SUBSCRIPT: dict[str, str] = {
    **LETTERS,
    "*": "star", r"\star": "star", r"\ast": "star", r"\infty": "inf", "+": "p", "-": "m",
}  # fmt: skip
_COMMANDS = (
    SIGNS, FUNCTIONS, LETTERS, FRACTIONS, WORDS, OPENING, (r"\left", r"\right", OVER)
)  # fmt: skip
KNOWN = sorted({name for table in _COMMANDS for name in table if name.startswith("\\")})
