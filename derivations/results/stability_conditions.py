r"""When every mode decays, as polynomial inequalities and as an exact decision at a point.

The two forms answer different questions. Inequalities over a whole region go to a solver; a point
with rational coordinates is decided outright, at any lag, without rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from math import gcd, lcm

import sympy as sp
from sympy.polys.matrices import DomainMatrix
from sympy.polys.rings import PolyElement

from derivations.characteristic import characteristic_polynomial, monodromy
from derivations.rings import cleared, in_one_ring
from derivations.update import Update

__all__ = ["conditions", "is_stable_at"]


def _half_plane(coefficients: list[PolyElement]) -> list[PolyElement]:
    """Carry the unit disc to the left half-plane: coefficients of (1-w)**n P((1+w)/(1-w))."""
    w, n, zero = sp.Symbol("w"), len(coefficients) - 1, coefficients[0].ring.zero
    powers = [sp.Poly((1 + w) ** (n - i) * (1 - w) ** i, w).all_coeffs() for i in range(n + 1)]
    return [
        sum((c * int(row[j]) for c, row in zip(coefficients, powers, strict=True)), zero)
        for j in range(n + 1)
    ]


def _lienard_chipart(b: list[PolyElement]) -> list[PolyElement]:
    """Positive exactly when the polynomial b, highest power first, is Hurwitz of full degree."""
    n, ring = len(b) - 1, b[0].ring
    hurwitz = [
        [b[2 * j - i + 1] if 0 <= 2 * j - i + 1 <= n else ring.zero for j in range(n)]
        for i in range(n)
    ]
    minors = [
        DomainMatrix([row[:k] for row in hurwitz[:k]], (k, k), ring.to_domain()).det()
        for k in range(n - 1, 0, -2)
    ]
    alternate = b[::-2]
    return [*alternate, *([] if n % 2 == 0 else [b[0]]), *minors]


@lru_cache(maxsize=256)
def conditions(update: Update) -> tuple[sp.Expr, ...]:
    r"""Return polynomials that are all positive exactly when every mode decays.

    Constant lag: the bilinear map z = (1+w)/(1-w) and the criterion of Lienard and Chipart, which
    asks for the leading coefficient, every other coefficient and every other Hurwitz minor. The
    leading coefficient is (-1)**n P(-1), so a root at z = -1 is not lost at infinity.
    Sawtooth: Jury's three conditions 1 - Tr + D, 1 + Tr + D, 1 - D of the map over one refresh.

    Parameters
    ----------
    update
        With a fixed lag or refresh; the stale share may be a symbol.

    Returns
    -------
    tuple of sympy.Expr
        Polynomials with integer coefficients in the update's symbols (mu, x, s), free of positive
        numerical factors. Conditions that are positive numbers are left out.

    Raises
    ------
    ValueError
        If the lag is a symbol, or the premises are not polynomial in mu and s.

    Notes
    -----
    Provenance: extension; classical criteria applied to the characteristic polynomial.
    """
    if update.lag_model.name == "constant":
        polynomial = in_one_ring(characteristic_polynomial(update).all_coeffs())
        needed = _lienard_chipart(_half_plane(cleared(polynomial)))
    else:
        a, b, c, d = in_one_ring(list(monodromy(update)))
        trace, determinant = a + d, a * d - b * c
        needed = [1 - trace + determinant, 1 + trace + determinant, 1 - determinant]
    found = [c.clear_denoms()[1].primitive()[1].as_expr() for c in needed]
    return tuple(dict.fromkeys(c for c in found if not c.is_positive))


def _exact(expression: sp.Expr, values: Mapping[sp.Symbol, sp.Rational]) -> Fraction:
    value = sp.sympify(expression, strict=True).subs(values)
    if not value.is_Rational:
        missing = ", ".join(sorted(map(str, value.free_symbols))) or str(value)
        raise ValueError(f"the point leaves {missing} open; give every symbol a rational value")
    return Fraction(int(value.p), int(value.q))


def _inside_unit_circle(polynomial: list[int]) -> bool:
    """Schur and Cohn: peel off one root at a time; stable iff |last| < |leading| every time."""
    while len(polynomial) > 1:
        leading, last = polynomial[0], polynomial[-1]
        if abs(last) >= abs(leading):
            return False
        mirrored = reversed(polynomial[1:])
        polynomial = [
            leading * a - last * b for a, b in zip(polynomial[:-1], mirrored, strict=True)
        ]
        common = gcd(*polynomial)  # keeps the integers as small as the minors they stand for
        polynomial = [a // common for a in polynomial]
    return True


def is_stable_at(update: Update, point: Mapping[sp.Symbol, Fraction]) -> bool:
    r"""Decide exactly whether every mode decays at one rational point.

    Constant lag: the Schur-Cohn recursion in integers. Sawtooth: the update rule itself is run over
    one refresh from two initial states, and Jury's conditions are put to the resulting 2x2 matrix.
    Nothing here uses :func:`conditions`, so each checks the other.

    Parameters
    ----------
    update
        With a fixed lag or refresh.
    point
        An exact value for each of the update's symbols (``mu``, ``x``, and ``s`` if it is free).

    Returns
    -------
    bool
        Spectral radius strictly below 1.

    Raises
    ------
    ValueError
        If the lag is a symbol, or the point leaves a symbol open.

    Notes
    -----
    Provenance: extension.
    """
    values = {k: sp.Rational(v.numerator, v.denominator) for k, v in point.items()}
    if update.lag_model.name == "constant":
        exact = [_exact(c, values) for c in characteristic_polynomial(update).all_coeffs()]
        scale = lcm(*(c.denominator for c in exact))
        return _inside_unit_circle([int(c * scale) for c in exact])
    if update.steps is None:
        raise ValueError("stability at a point needs a fixed refresh; give N a number")
    o = update.optimizer
    memory, intake, direct, passed = (
        _exact(c, values) for c in (o.memory, o.intake, o.direct, o.passed)
    )
    fresh, stale = _exact(update.fresh, values), _exact(update.stale, values)
    columns = []
    for q, v in ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))):
        anchor = q
        for _ in range(update.steps):
            g = -(fresh * q + stale * anchor)
            v = memory * v + intake * g
            q = q + direct * g + passed * v
        columns.append((q, v))
    (a, c), (b, d) = columns
    trace, determinant = a + d, a * d - b * c
    return 1 - trace + determinant > 0 and 1 + trace + determinant > 0 and 1 - determinant > 0
