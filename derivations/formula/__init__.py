r"""Formulas in plain text, read without evaluating Python, and written back.

``tokens`` knows how a formula is spelt, ``parser`` how it is put together, ``language`` what it may
be made of, ``bounded`` what may be computed on the way, ``rendering`` the way back.
"""

from __future__ import annotations

from derivations.formula.errors import FormulaError
from derivations.formula.parser import Formula, parse_formula
from derivations.formula.rendering import render

__all__ = ["Formula", "FormulaError", "parse_formula", "render"]
