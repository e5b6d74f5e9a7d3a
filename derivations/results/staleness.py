r"""Where the lag acts: what "stale" means decides which part of the stiffness is delayed."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.fixed_point import derive as fixed_point
from derivations.results.fixed_point import eliminated
from derivations.results.objective import STALENESS, checked, p_old
from derivations.results.objective import derive as objective
from derivations.results.softmax import in_logit
from derivations.results.surd import tidy

__all__ = ["derive"]

_p, _p_star, _beta, _eps = (quantity(n) for n in ("p", "p_star", "beta", "eps"))
_HALF = sp.Rational(1, 2)


@lru_cache(maxsize=4)
def derive(staleness: str) -> Derivation:
    r"""Derive how the stiffness splits into K_f = -dg/dtheta and K_s = -dg/dtheta_old.

    Two-arm bandit, infinite group, std-normalised, exact reverse KL, no clip, evaluated at the
    fixed point. Provenance: extension (theory: where the lag acts; only ``delayed-gradient`` is
    equation 3 of arXiv:2606.30789).

    Parameters
    ----------
    staleness
        ``delayed-gradient``, ``stale-samples`` (no importance ratio) or ``stale-samples-ratio``
        (unclipped ratio).

    Returns
    -------
    Derivation
        Results in beta and p_star: ``fresh_slope`` K_f, ``stale_slope`` K_s, ``stiffness`` K,
        ``stale_share`` s = K_s/K, ``contraction`` h', ``rule_lag_force``, the coefficient c in
        the first-order rule eta*c*d = 1 - mu, and ``drift`` g in p, p_old, p_ref, beta.

    Raises
    ------
    ValueError
        If `staleness` is unknown.
    """
    checked("staleness", staleness, STALENESS)
    work = Workings(
        "staleness", "Where the lag acts", Provenance.EXTENSION,
        {"staleness": STALENESS[staleness], "KL": "exact reverse KL", "normaliser": "std, eps = 0",
         "group size": "infinite", "clip": "none"},
        depends=("eq-2", "lemma-3"),
        use="The stale share s is the premise of every linear result; theorem 7 is s = 1.",
    )
    drift = work.let(
        "drift",
        tidy(objective(staleness=staleness, kl="reverse", normaliser="std")["drift"].subs(_eps, 0)),
        "g(theta, theta_old), the objective differentiated with old samples fixed",
    )
    on_policy = drift.subs(p_old, _p)

    def at_rest(slope: sp.Expr) -> sp.Expr:
        return eliminated(-slope.subs(p_old, _p), on_policy).subs(_p, _p_star)

    fresh, stale = at_rest(in_logit(drift)), at_rest(in_logit(drift, p_old))
    work.let("fresh slope", fresh, "minus the slope in the current logit, p_ref eliminated")
    work.let("stale slope", stale, "minus the slope in the sampling policy's logit")
    contraction = tidy(fixed_point("reverse")["contraction"].subs(_eps, 0))
    stiffness = work.equal(
        "they add up", fresh + stale, at_rest(in_logit(on_policy)),
        "the slope of the on-policy drift, moving both policies together",
    )
    anchor = _beta * _p_star * (1 - _p_star)
    work.equal(
        "the stiffness is lemma 3's", stiffness, anchor * (1 - contraction),
        "staleness splits the stiffness and does not change it",
    )
    share = tidy(stale / stiffness)
    ratio = sp.Symbol("h", real=True)
    (weight,) = sp.solve(contraction - ratio, _beta)
    by_contraction = tidy(share.subs(_beta, weight))
    work.equal(
        "stale share by the contraction", share, by_contraction.subs(ratio, contraction),
        "s depends on the convention and on h' alone",
    )
    for root in sp.solve(by_contraction - 1, ratio):
        work.solves(
            "when the whole force is stale", by_contraction - 1, ratio, root,
            "only here is theorem 7's s = 1 met while gradients use current weights",
        )
    _who_is_destabilised(work, stale)
    return work.close(
        fresh_slope=fresh, stale_slope=stale, stiffness=stiffness, stale_share=share,
        stale_share_by_contraction=by_contraction, contraction=contraction,
        rule_lag_force=stale, drift=drift,
    )


def _who_is_destabilised(work: Workings, stale: sp.Expr) -> None:
    """Show for which fixed points the stale slope is positive, so that the rule has a threshold."""
    box = [sp.Gt(_beta, 0), sp.Gt(_p_star, 0), sp.Lt(_p_star, 1)]
    low, high = sp.Lt(_p_star, _HALF), sp.Gt(_p_star, _HALF)
    if stale.has(_beta):  # the whole force is stale, and K > 0 is what a fixed point needs
        work.implies(
            "the lag acts on all of it", [*box, low], sp.Gt(stale, 0),
            "below one half always; above it as long as the fixed point attracts",
        )
        return
    below = stale.subs(_p_star, sp.Rational(1, 4)).is_positive
    side, other = (low, high) if below else (high, low)
    work.implies(
        "where the lagged force restores", [*box, side], sp.Gt(stale, 0),
        f"by the first-order rule only a fixed point {'below' if below else 'above'} one half "
        "can be destabilised by lag",
    )
    work.implies(
        "where it pushes on", [*box, other], sp.Lt(stale, 0),
        "on the other side the lag adds damping and removes inertia",
    )
