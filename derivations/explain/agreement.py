r"""Where a refuted formula and the derived one agree nevertheless, and their ratio."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from derivations.algebra import TOO_LARGE, canonical, too_large
from derivations.explain.twin import Twin
from derivations.formula import render
from derivations.notation import QUANTITIES, quantity

__all__ = ["agreement", "ratio"]

#: The quantities whose vanishing is a limit people mean.
_SMALL = ("x", "mu", "delta")
_LONGEST = 200  # characters of a ratio that still reads


def ratio(pair: Twin) -> str:
    """Return printed over derived in lowest terms, or nothing where it would not read."""
    if pair.derived == 0:
        return ""
    if too_large(pair.printed / pair.derived):
        return TOO_LARGE
    shown = render(canonical(pair.printed / pair.derived))
    return shown if len(shown) <= _LONGEST else ""


def agreement(pair: Twin) -> tuple[str, ...]:
    r"""Return where the two agree: in the limit of a small quantity, and at single values.

    The order is that of the relative difference: agreement to order n means that
    ``printed/derived - 1`` begins with the n-th power.
    """
    if too_large(pair.printed - pair.derived):
        return ()
    gap = sp.cancel(sp.together(pair.printed / pair.derived - 1)) if pair.derived != 0 else sp.nan
    if not gap.is_rational_function(*gap.free_symbols) or gap.is_number:
        return ()
    over, under = sp.fraction(gap)
    found = []
    for name in _SMALL:
        symbol = quantity(name)
        order = _lowest(over, symbol) - _lowest(under, symbol)
        if symbol in gap.free_symbols and order > 0:
            found.append(f"in the limit {name} -> 0, to order {order}")
    return (*found, *_values(over))


def _lowest(e: sp.Expr, symbol: sp.Symbol) -> int:
    """Return the lowest power of `symbol` in a polynomial."""
    if symbol not in e.free_symbols:
        return 0
    return int(min(power for (power,) in sp.Poly(e, symbol).monoms()))


def _values(over: sp.Expr) -> list[str]:
    """Return the single values of one symbol at which a polynomial vanishes, inside its domain."""
    found: list[tuple[str, sp.Rational]] = []
    for factor, _ in sp.factor_list(over)[1]:
        symbols = sorted(factor.free_symbols, key=str)
        if len(symbols) != 1 or symbols[0].name not in QUANTITIES:
            continue
        (symbol,) = symbols
        inside = [
            root
            for root in sp.Poly(factor, symbol).ground_roots()
            if Fraction(int(root.p), int(root.q)) in QUANTITIES[symbol.name].domain
        ]
        found += [(symbol.name, root) for root in inside]
    return [f"at {name} = {root}" for name, root in sorted(found)]
