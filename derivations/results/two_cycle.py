r"""When full maximisation per round does not converge: 2-cycles of Mroueh's map, exactly.

Every pair a < b with a + b < 1 is a 2-cycle of the map for exactly one (beta, p_ref). The cycles
belong to the iteration that maximises completely before it samples again; small gradient steps at
the same parameters converge, because a fixed point with h' < 1 attracts the flow.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.fixed_point import derive as fixed_point
from derivations.results.softmax import logit
from derivations.results.surd import tidy

__all__ = ["derive"]

_p, _p_ref, _p_star, _beta, _eps = (
    quantity(n) for n in ("p", "p_ref", "p_star", "beta", "eps")
)
_a, _b, _L = sp.symbols("a b L", real=True)


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive the 2-cycles of Mroueh's map, with an attracting example in closed form.

    With :math:`s(p) = \sqrt{p(1-p)+\epsilon}` the cycle a, b belongs to
    :math:`\beta = (1/s_a - 1/s_b)/(\mathrm{logit}\,b - \mathrm{logit}\,a)` and
    :math:`\mathrm{logit}\,p_{ref} = \mathrm{logit}\,b - 1/(\beta s_a)`. Source: the remark on
    arXiv:2503.06639 that convergence is local and some parameters end in a 2-cycle. Provenance:
    extension.

    Returns
    -------
    Derivation
        ``beta`` and ``logit_ref`` of the cycle (in ``a``, ``b``, eps); ``multiplier``, the slope
        of two rounds along it, in beta, a, b, eps. At eps = 0 an exact attracting cycle,
        ``example_low`` and ``example_high``, of ``example_beta`` and ``example_p_ref``; and an
        exact fixed point ``repelling_p_star``, of ``repelling_beta`` and ``repelling_p_ref``,
        which the iteration leaves: its slope there is ``repelling_contraction`` < -1.
    """
    work = Workings(
        "two-cycle", "2-cycles of the fixed-point map", Provenance.EXTENSION,
        {"map": "Mroueh's: reverse KL, std, eps >= 0", "iteration": "full maximisation per round"},
        depends=("fixed-point",),
        use="It decides that convergence of the iteration is local and can end in a 2-cycle.",
    )
    fixed = fixed_point("reverse")
    h = fixed["map"]
    target = fixed["residual"].subs(_p_star, _p) + logit(_p)  # the logit one round leads to
    beta, logit_ref = _cycle(work, target)
    multiplier = _multiplier(work, h, target)
    point = {_a: sp.Rational(1, 65), _b: sp.Rational(1, 2), _eps: 0}
    example = {
        _beta: sp.expand_log(beta.subs(point)),
        _p_ref: 1 / (1 + sp.exp(-sp.expand_log(logit_ref.subs(point)))),
        _eps: 0,
    }
    for start, end in ((_a, _b), (_b, _a)):
        work.equal(
            f"example from {point[start]}", h.subs(_p, point[start]).subs(example), point[end],
            "one round of the map, in exact numbers; through 1/2, so superstable",
        )
    low, one = sp.Rational(1, 10), sp.S.One
    (reference,) = sp.solve(
        low * (1 - _p_ref) - (1 - low) * _p_ref * sp.exp(1 / sp.sqrt(low * (1 - low))), _p_ref
    )
    repelling = {_beta: one, _p_ref: reference, _eps: 0}
    work.equal(
        "a fixed point", h.subs(_p, low).subs(repelling), low, "beta = 1 and p_ref = 0.4 %"
    )
    slope = work.equal(
        "which the iteration leaves", sp.diff(h, _p).subs(_p, low).subs(repelling),
        fixed["contraction"].subs(_p_star, low).subs(repelling),
        "h' < -1: each round overshoots by more than the last",
    )
    return work.close(
        beta=beta, logit_ref=logit_ref, multiplier=multiplier,
        example_low=point[_a], example_high=point[_b],
        example_beta=example[_beta], example_p_ref=example[_p_ref],
        repelling_p_star=low, repelling_beta=one, repelling_p_ref=reference,
        repelling_contraction=slope,
    )


def _cycle(work: Workings, target: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Solve target(a) = logit b, target(b) = logit a for beta and the logit of p_ref."""
    round_ = target.subs(sp.log(_p_ref), _L + sp.log(1 - _p_ref))
    ab, ba = (
        work.let(name, round_.subs(_p, here) - logit(there), "zero; L = logit p_ref")
        for name, here, there in (("a to b", _a, _b), ("b to a", _b, _a))
    )
    inverse = sp.Dummy("inverse_beta")  # both rounds are linear in it
    gap = (ab - ba).subs(_beta, 1 / inverse)
    beta = -sp.diff(gap, inverse) / gap.subs(inverse, 0)
    logit_ref = logit(_b) - (round_ - _L).subs(_p, _a)
    work.solves(
        "beta of the cycle", ab - ba, _beta, beta, "the two rounds' difference is free of p_ref"
    )
    work.solves("reference of the cycle", ab, _L, logit_ref, "the round from a to b")
    s_a, s_b = ((_p * (1 - _p) + _eps).subs(_p, here) for here in (_a, _b))
    work.equal(
        "which pairs", s_b - s_a, (_b - _a) * (1 - _a - _b),
        "the variances' difference: for a < b, beta is positive exactly if a + b < 1",
    )
    return beta, logit_ref.subs(_beta, beta)


def _multiplier(work: Workings, h: sp.Expr, target: sp.Expr) -> sp.Expr:
    """Find the slope of two rounds along the cycle, with beta kept."""

    def slope(here: sp.Symbol, there: sp.Symbol) -> sp.Expr:
        odds = _p_ref * (1 - there) / (there * (1 - _p_ref))  # one round multiplies the odds
        rise = sp.diff(h, _p).replace(lambda e: isinstance(e, sp.exp), lambda e: odds)
        return rise.subs(_p, here)

    gain = tidy(sp.diff(target, _p))
    multiplier = work.equal(
        "multiplier", slope(_a, _b) * slope(_b, _a),
        _a * (1 - _a) * _b * (1 - _b) * gain.subs(_p, _a) * gain.subs(_p, _b),
        "the map's own slopes at both points; the cycle attracts where this is below 1 in size",
    )
    work.equal(
        "through one half", multiplier.subs(_b, sp.Rational(1, 2)), sp.S.Zero,
        "for every eps the cycles through 1/2 are superstable",
    )
    return multiplier
