"""Compare a computed number with a printed one: all printed digits, no more."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import sympy as sp


def agrees(value: Any, printed: str) -> bool:
    """Whether `value` rounds to `printed`."""
    unit = sp.Rational(10) ** Decimal(printed).as_tuple().exponent
    return bool(abs(sp.N(value, 40) - sp.Rational(printed)) <= unit / 2)
