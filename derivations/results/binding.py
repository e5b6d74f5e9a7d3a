"""Which stability conditions bind: the others, and factors without x, are proved away."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from derivations.derivation import Workings
from derivations.judge import smt
from derivations.notation import QUANTITIES, quantity

__all__ = ["BOX", "binding"]

_mu, _x = quantity("mu"), quantity("x")

#: Where the conditions are compared: every legal momentum and x.
BOX = tuple(r for s in (_mu, _x) for r in smt.box(s, QUANTITIES[s.name].domain))


def _essential(work: Workings, condition: sp.Expr) -> sp.Expr:
    """Divide a condition by its factors that are positive whatever the other symbols are."""
    if not condition.has(_x):
        return condition
    content, factors = sp.factor_list(condition)
    free = content * sp.prod(f**k for f, k in factors if f == _x or f.free_symbols == {_mu})
    if free.is_Rational:
        return condition
    # Its sign is read off at one point and then proved for all.
    free *= sp.sign(free.subs({_mu: sp.Rational(1, 3), _x: 1}))
    work.implies(f"factor {free}", BOX, free > 0, "positive at every mu and x; it may be left out")
    return sp.expand(sp.cancel(condition / free))


def binding(work: Workings, conditions: Sequence[sp.Expr]) -> list[sp.Expr]:
    """Return the conditions that bind, each reduction made a proved step of `work`.

    Parameters
    ----------
    work
        Where the steps are recorded.
    conditions
        Polynomials that must all be positive.

    Returns
    -------
    list of sympy.Expr
        Polynomials that are all positive exactly where the given ones are, for mu in [0, 1) and
        x > 0. What the solver cannot show redundant is kept, so nothing rests on its silence.
    """
    left = [c for c in conditions if c != _x]
    for condition in list(left):
        rest = [c > 0 for c in left if c is not condition]
        if smt.entails([*BOX, *rest], [condition > 0]).answer is smt.Answer.YES:
            work.implies(
                f"{condition} > 0", [*BOX, *rest], condition > 0, "it follows from the others"
            )
            left.remove(condition)
    return [_essential(work, c) for c in left]
