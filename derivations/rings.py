"""Polynomial rings: where matrices of polynomials are eliminated without growing.

SymPy's expressions carry every intermediate sum as a tree; its sparse ring elements do not, and a
fraction-free elimination over a ring is what keeps the larger lags within seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import lcm

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.orderings import lex
from sympy.polys.rings import PolyElement, PolyRing

__all__ = ["cleared", "in_one_ring", "solve"]


def in_one_ring(entries: Sequence[sp.Expr]) -> list[PolyElement]:
    """Read expressions as elements of one sparse polynomial ring over the rationals.

    Raises
    ------
    ValueError
        If an entry is not a polynomial in the symbols of them all.
    """
    symbols = sorted(set().union(*(e.free_symbols for e in entries)), key=str)
    ring = PolyRing(symbols, sp.QQ, lex)
    try:
        return [ring.from_expr(sp.expand(e)) for e in entries]
    except ValueError as error:
        raise ValueError(
            f"the map's coefficients are not polynomials in {', '.join(map(str, symbols))}; "
            "give an optimizer and a stale share that are"
        ) from error


def cleared(elements: Sequence[PolyElement]) -> list[PolyElement]:
    """Multiply all elements by their least common denominator; elements over the integers."""
    scale = lcm(*(int(e.clear_denoms()[0]) for e in elements))
    integers = elements[0].ring.clone(domain=sp.ZZ)
    return [(e * scale).set_ring(integers) for e in elements]


def solve(
    matrix: Sequence[Sequence[PolyElement]], right: Sequence[PolyElement]
) -> tuple[list[PolyElement], PolyElement]:
    """Solve a square linear system over the fraction field, without fractions.

    Returns
    -------
    numerators, denominator
        The solution is ``numerators[i] / denominator``, with no factor common to them all.
    """
    size, domain = len(right), right[0].ring.to_domain()
    left = DomainMatrix([list(row) for row in matrix], (size, size), domain)
    column = DomainMatrix([[entry] for entry in right], (size, 1), domain)
    column_over, under = left.solve_den(column, method="rref")
    over = column_over.to_list_flat()
    common = reduce(lambda a, b: a.gcd(b), over, under)
    return [entry.exquo(common) for entry in over], under.exquo(common)
