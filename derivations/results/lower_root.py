r"""Which of the two fixed points under reverse KL attracts, and between which bounds it lies.

At eps = 0 the residual of the fixed point is convex in the logit: it falls from the reference on,
turns where the map's slope is 1, and rises. Its first zero is the attracting fixed point; there is
one exactly where the residual is negative at the turn.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.fixed_point import derive as fixed_point
from derivations.results.fixed_point import half_logit, in_half_logit
from derivations.results.softmax import logit

__all__ = ["derive"]

_p, _p_ref, _p_star, _beta, _eps = (
    quantity(n) for n in ("p", "p_ref", "p_star", "beta", "eps")
)
_u = half_logit


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive the attracting fixed point as the first zero of a convex function of the logit.

    With u half the logit of p the residual of ``fixed-point`` is
    :math:`\mathrm{logit}\,p_{ref} + 2\cosh(u)/\beta - 2u`. It turns at sinh u = beta, that is at
    :math:`p_m = (1 + \beta/\sqrt{1+\beta^2})/2`; so p_star lies between p_ref and p_m.
    Provenance: extension.

    Returns
    -------
    Derivation
        ``residual`` and its ``slope`` in ``u``; ``turning_point`` p_m; ``lowest``, the residual
        there: there are two fixed points where it is negative and none where it is positive.
    """
    work = Workings(
        "attracting-fixed-point", "The attracting fixed point under reverse KL",
        Provenance.EXTENSION,
        {"KL": "reverse", "normaliser": "std", "group size": "infinite", "eps": "0"},
        depends=("fixed-point",),
        use="Small steps end here; below the critical beta nothing holds the policy from p = 1.",
    )
    reference = logit(_p_ref)
    known = fixed_point("reverse")
    residual = reference + 2 * sp.cosh(_u) / _beta - 2 * _u
    work.equal(
        "residual in half the logit",
        in_half_logit(known["residual"].subs(_p_star, _p)), in_half_logit(residual),
        "p = 1/(1 + exp(-2u)), so that sqrt(p(1-p)) = 1/(2 cosh u)",
    )
    slope = work.equal(
        "its slope", sp.diff(residual, _u), 2 * sp.sinh(_u) / _beta - 2,
        "negative before sinh u = beta, positive beyond, since sinh rises",
    )
    work.equal(
        "it is convex", sp.diff(residual, _u, 2), 2 * sp.cosh(_u) / _beta,
        "so it has at most two zeros, and Newton's method from the left of the first one climbs "
        "to it and never passes it",
    )
    work.equal(
        "positive at the reference", residual.subs(_u, reference / 2),
        2 * sp.cosh(reference / 2) / _beta,
        "and before it, where u is smaller still: both fixed points lie above p_ref",
    )
    turn = (1 + _beta / sp.sqrt(1 + _beta**2)) / 2
    work.equal(
        "sinh u in p", in_half_logit((_p - sp.Rational(1, 2)) / sp.sqrt(_p * (1 - _p))),
        in_half_logit(sp.sinh(_u)), "it turns where (p - 1/2)/sqrt(p(1-p)) = beta, or h' = 1",
    )
    work.solves(
        "turning point", (_p - sp.Rational(1, 2)) ** 2 - _beta**2 * _p * (1 - _p), _p, turn,
        "squared; the root above 1/2, where p - 1/2 is positive as beta is",
    )
    v = _beta + sp.sqrt(1 + _beta**2)
    work.equal(
        "half its logit", sp.Matrix([v - 1 / v, v + 1 / v]) / 2,
        sp.Matrix([_beta, sp.sqrt(1 + _beta**2)]),
        "sinh and cosh of u = log(beta + sqrt(1 + beta**2)): there sinh u = beta",
    )
    lowest = work.let(
        "lowest residual",
        residual.subs({sp.cosh(_u): sp.sqrt(1 + _beta**2), _u: sp.log(v)}, simultaneous=True),
        "negative: a zero on either side of the turn; positive: no fixed point at all",
    )
    work.equal(
        "the first attracts", in_half_logit(2 * (known["contraction"].subs(_p_star, _p) - 1)),
        in_half_logit(slope), "the slope is 2*(h' - 1): before the turn h' < 1",
    )
    return work.close(residual=residual, slope=slope, turning_point=turn, lowest=lowest, u=_u)
