r"""What the language has: its functions, its constant, and the SymPy heads that it can write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

MAX_ARGUMENTS = 4  # of min and max
CONSTANTS = {"pi": sp.pi}


@dataclass(frozen=True)
class Function:
    """A function of the language: the SymPy class that stands for it, and its arity."""

    head: Callable[..., sp.Expr]
    least: int = 1
    most: int = 1


FUNCTIONS = {
    "sqrt": Function(sp.sqrt),
    "exp": Function(sp.exp),
    "log": Function(sp.log),
    "ln": Function(sp.log),
    "sin": Function(sp.sin),
    "cos": Function(sp.cos),
    "tan": Function(sp.tan),
    "asin": Function(sp.asin),
    "acos": Function(sp.acos),
    "atan": Function(sp.atan),
    "atan2": Function(sp.atan2, 2, 2),
    "abs": Function(sp.Abs),
    "min": Function(sp.Min, 1, MAX_ARGUMENTS),
    "max": Function(sp.Max, 1, MAX_ARGUMENTS),
}

_ATOMS = (sp.Symbol, sp.Rational, type(sp.pi), type(sp.E))
_HEADS = (sp.Add, sp.Mul, sp.Pow, *(f.head for f in FUNCTIONS.values() if f.head is not sp.sqrt))


def in_language(node: sp.Basic) -> bool:
    """Return whether `node` itself, whatever its arguments, is written by the language."""
    return isinstance(node, _ATOMS) or node.func in _HEADS
