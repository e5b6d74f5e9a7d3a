r"""Which references let Mroueh's iteration end in a 2-cycle: those below one success in a hundred.

In half-logits the cycles have a closed form, the flip of the fixed point is its limit of no width,
and one inequality bounds the reference for both.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.fixed_point import derive as fixed_point
from derivations.results.fixed_point import half_logit, in_half_logit
from derivations.results.two_cycle import derive as two_cycle

__all__ = ["derive"]

_p_star, _p, _beta, _eps = (quantity(n) for n in ("p_star", "p", "beta", "eps"))
_a, _b, _n, _d = sp.symbols("a b n d", real=True)
_en, _ed = sp.symbols("e_n e_d", positive=True)  # exp(n) and exp(d), in which all is rational


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive for which references a 2-cycle exists.

    The cycle with logits :math:`2(-n \pm d)`, n, d > 0, has at eps = 0
    :math:`\beta = \sinh n \sinh(d)/d` and
    :math:`\mathrm{logit}\,p_{ref} = -2n - 2\,d\coth d\,\coth n`. As d coth d > 1 the reference
    is below :math:`1/(1 + (1+\sqrt2)^2 e^{2\sqrt2}) = 0.01004`, and every value below is taken.
    Provenance: extension.

    Returns
    -------
    Derivation
        ``p_ref``, the border: with some beta a 2-cycle exists exactly below it at eps = 0, and
        never at or above it for eps > 0; ``beta`` and ``logit_ref`` of the cycle in ``n``, ``d``;
        ``flip_beta`` and ``flip_logit_ref`` in ``n``, where h' = -1 at the fixed point of logit
        -2n; ``p_star`` at the border.
    """
    work = Workings(
        "two-cycle-border", "Which references allow a 2-cycle", Provenance.EXTENSION,
        {"map": "Mroueh's: reverse KL, std, eps >= 0", "iteration": "full maximisation per round"},
        depends=("two-cycle", "fixed-point"),
        use="Above one success in a hundred the iteration has no 2-cycle, whatever beta is.",
    )
    cycle = two_cycle()
    beta = sp.sinh(_n) * sp.sinh(_d) / _d
    logit_ref = -2 * _n - 2 * _d * sp.coth(_d) * sp.coth(_n)
    work.equal(
        "beta of the cycle", _on_cycle(cycle["beta"]), _rational(beta),
        "logits 2*(d - n) and -2*(d + n), eps = 0, e_n = exp(n), e_d = exp(d)",
    )
    work.equal(
        "reference of the cycle", _on_cycle(cycle["logit_ref"]), _rational(logit_ref),
        "the logit of p_ref, from the same cycle",
    )
    work.equal(
        "the narrowest is the widest", sp.diff(_d * sp.cosh(_d) - sp.sinh(_d), _d),
        _d * sp.sinh(_d), "d*cosh d - sinh d rises from 0, so d*coth d > 1 for d > 0",
    )
    flip = {"flip_beta": sp.sinh(_n), "flip_logit_ref": -2 * _n - 2 * sp.coth(_n)}
    work.equal(
        "a cycle of no width", sp.limit(beta, _d, 0), flip["flip_beta"], "the limit of d to 0"
    )
    contraction = fixed_point("reverse")["contraction"].subs(_p_star, _p)
    flat = in_half_logit(flip["flip_beta"].subs(_n, -half_logit))
    work.equal(
        "is a flip", in_half_logit(contraction).subs(_beta, flat), -sp.S.One,
        "there h' = -1 at the fixed point of logit -2n",
    )
    slope = work.equal(
        "slope of the border", sp.diff(flip["flip_logit_ref"], _n).rewrite(sp.exp),
        (2 / sp.sinh(_n) ** 2 - 2).rewrite(sp.exp), "positive while sinh n < 1, then negative",
    )
    top = sp.log(1 + sp.sqrt(2))
    work.solves("largest reference", slope, _n, top, "sinh n = 1")
    peak = -2 * top - _plain((2 * sp.coth(top)).rewrite(sp.exp))
    low, high = sp.symbols("v_a v_b", real=True)
    work.implies(
        "eps only lowers the reference", [sp.Gt(low, 0), sp.Gt(high, low), sp.Ge(_eps, 0)],
        sp.Ge((low + _eps) / (high + _eps), low / high),
        "variances v_a < v_b: s_a/s_b grows with eps, and logit p_ref = logit b - "
        "(logit b - logit a)/(1 - s_a/s_b) falls with it",
    )
    return work.close(
        p_ref=1 / (1 + sp.exp(-peak)), p_star=_plain(1 / (1 + sp.exp(2 * top))),
        beta=beta, logit_ref=logit_ref, **flip,
    )


def _on_cycle(e: sp.Expr) -> sp.Expr:
    """Write an expression of a, b at eps = 0 in exp(n), exp(d) and the logits themselves."""
    odds = {_a: 1 / (_en * _ed) ** 2, _b: (_ed / _en) ** 2}
    logits = {_a: -2 * (_n + _d), _b: 2 * (_d - _n)}
    e = e.subs(_eps, 0)
    for point, theta in logits.items():
        e = e.subs(sp.log(point), theta + sp.log(1 - point))
    for point, ratio in odds.items():
        e = e.subs(point * (1 - point), ratio / (1 + ratio) ** 2).subs(point, ratio / (1 + ratio))
    return e


def _rational(e: sp.Expr) -> sp.Expr:
    e = e.rewrite(sp.exp)
    return e.subs({sp.exp(_n): _en, sp.exp(-_n): 1 / _en, sp.exp(_d): _ed, sp.exp(-_d): 1 / _ed})


def _plain(number: sp.Expr) -> sp.Expr:
    """Write a number of the field of sqrt(2) as a + b*sqrt(2)."""
    return sp.expand(sp.radsimp(number))
