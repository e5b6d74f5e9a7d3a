r"""Exact central moments of the success rate of a group: rbar = Binomial(G, p)/G."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.softmax import in_logit
from derivations.results.surd import tidy

__all__ = ["HIGHEST", "derive", "mean_over_groups"]

_p, _G = quantity("p"), quantity("G")

#: Highest moment derived: what a remainder of fourth order in (rbar - p)**2 needs.
HIGHEST = 8


def mean_over_groups(size: int, of: sp.Expr, successes: sp.Symbol) -> sp.Expr:
    """Return the mean of an expression in the number of `successes` over groups of a fixed size."""
    return sp.Add(*(
        sp.binomial(size, k) * _p**k * (1 - _p) ** (size - k) * of.subs(successes, k)
        for k in range(size + 1)
    ))


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive the central moments 2 to 8 for every group size.

    Cumulants of a sum add, those of one success follow by differentiating in the logit, and moments
    follow from cumulants. Source: textbook. Provenance: extension.

    Returns
    -------
    Derivation
        Results ``moment_2`` to ``moment_8`` of rbar - p, in p and G.
    """
    work = Workings(
        "group-moments", "Exact moments of a group's success rate", Provenance.EXTENSION,
        {"rewards": "G independent draws of 1 with probability p, else 0"}, depends=("softmax",),
        use="Every expansion in 1/G is made of these.",
    )
    cumulants = {1: _p}
    for order in range(1, HIGHEST):
        cumulants[order + 1] = sp.expand(in_logit(cumulants[order]))
    work.let(
        "cumulants of one reward", sp.Matrix([cumulants[n] for n in (1, 2, 3, 4)]),
        "each is the derivative in the logit of the one before, as in every exponential family",
    )
    central = [sp.S.One, sp.S.Zero]
    for n in range(2, HIGHEST + 1):
        central.append(sp.expand(sum(
            sp.binomial(n - 1, j) * _G * cumulants[n - j] * central[j] for j in range(n - 1)
        )))
    work.equal(
        "degrees in G", sp.Matrix([sp.degree(m, _G) for m in central[2:]]),
        sp.Matrix([n // 2 for n in range(2, HIGHEST + 1)]),
        "of G**n times the n-th central moment, n = 2 to 8: the moment is O(G**(-n/2))",
    )
    moments = [tidy(m / _G**n) for n, m in enumerate(central)]
    count = sp.Symbol("k", integer=True)
    for size in range(1, HIGHEST // 2 + 1):
        direct = [
            mean_over_groups(size, (count / size - _p) ** n, count) for n in range(2, HIGHEST + 1)
        ]
        work.equal(
            f"direct sums, G = {size}", sp.Matrix(direct),
            sp.Matrix(moments[2:]).subs(_G, size).applyfunc(tidy),
            "the moments 2 to 8; polynomials of these degrees, zero at G = 0, are settled for "
            "every G by G = 1 to 4",
        )
    return work.close(**{f"moment_{n}": moments[n] for n in range(2, HIGHEST + 1)})
