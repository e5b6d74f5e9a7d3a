r"""What every spelling of a formula shares: the token, the Greek letters, the operators."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

# Printed -> token. A Greek letter is a name of its own, never a part of a longer one, so that a
# product of two letters is not read as an unknown name.
_GREEK = (
    "α alpha  β beta  γ gamma  δ delta  ε epsilon  ζ zeta  η eta  θ theta  ι iota  κ kappa  "
    "λ lambda  μ mu  ν nu  ξ xi  ο omicron  π pi  ρ rho  σ sigma  τ tau  υ upsilon  φ phi  "
    "χ chi  ψ psi  ω omega"
)
GREEK: dict[str, str] = {**dict(re.findall(r"(\w) (\w+)", _GREEK)), "\N{MICRO SIGN}": "mu"}
#: The root sign; how far it reaches is for the reader of plain text to say.
ROOT = "√"
VULGAR_FRACTIONS = {
    sign: unicodedata.normalize("NFKC", sign).replace("\N{FRACTION SLASH}", "/")
    for sign in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
}
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
OPERATORS = {
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

Kind = Literal["number", "name", "superscript", "operator", "end"]


@dataclass(frozen=True)
class Token:
    """One token: its kind, its plain spelling, and where it starts in the text."""

    kind: Kind
    text: str
    position: int


def without_stop(text: str) -> str:
    r"""Return `text` without the full stop or comma that ends a displayed formula."""
    bare = text.rstrip()
    stop = bare.endswith((".", ",")) and not bare.endswith(("\\.", "\\,"))  # a thin space is none
    return bare[:-1].rstrip() if stop else bare
