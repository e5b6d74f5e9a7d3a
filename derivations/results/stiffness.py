r"""Lemma 3: the stiffness scale of the two-arm bandit under reverse KL."""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.fixed_point import derive as fixed_point
from derivations.results.fixed_point import eliminated
from derivations.results.objective import derive as objective
from derivations.results.softmax import in_logit
from derivations.results.surd import tidy

__all__ = ["derive"]

_p, _p_star, _beta, _eps = (quantity(n) for n in ("p", "p_star", "beta", "eps"))


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive K from the drift's slope and, apart from it, from the contraction of Mroueh's map.

    .. math:: K = \beta\sigma^2 (1 - h'(p_\star)), \qquad
              h'(p_\star) = \frac{p_\star - 1/2}{\beta\sigma}, \qquad
              \sigma^2 = p_\star(1 - p_\star)

    Source: arXiv:2606.30789, Lemma 3, named and not printed; the map is arXiv:2503.06639's at
    eps = 0. Provenance: reconstructed.

    Returns
    -------
    Derivation
        Results in beta and p_star: ``stiffness``, ``contraction``, ``stiffness_by_contraction``
        (the same K in the form of the lemma) and ``anchor_stiffness``, the least stiffness
        beta*p(1-p) that a fixed point below 1/2 can have.
    """
    work = Workings(
        "lemma-3", "The stiffness scale", Provenance.RECONSTRUCTED,
        {"KL": "exact reverse KL", "normaliser": "std, eps = 0", "group size": "infinite",
         "policy": "two-arm softmax, its logit the one coordinate"},
        depends=("eq-2", "fixed-point"),
        use="x = eta*K is the only way step size and stiffness enter the linear theory.",
    )
    bandit = objective(staleness="stale-samples-ratio", kl="reverse", normaliser="std")
    drift = work.let("drift", tidy(bandit["on_policy"].subs(_eps, 0)), "on-policy, from eq-2")
    slope = eliminated(-in_logit(drift), drift).subs(_p, _p_star)
    contraction = tidy(fixed_point("reverse")["contraction"].subs(_eps, 0))
    anchor = _beta * _p_star * (1 - _p_star)
    product = anchor * (1 - contraction)
    work.equal(
        "two routes to the stiffness", product, slope,
        "from the contraction of the map; from the drift's slope in the logit at the fixed point",
    )
    box = [sp.Gt(_beta, 0), sp.Gt(_p_star, 0)]
    work.implies(
        "stiff below one half", [*box, sp.Le(_p_star, sp.Rational(1, 2))], sp.Ge(slope, anchor),
        "there the whitening adds to the anchor: its gain per success falls as success spreads",
    )
    work.implies(
        "soft above one half",
        [*box, sp.Gt(_p_star, sp.Rational(1, 2)), sp.Lt(_p_star, 1)], sp.Lt(slope, anchor),
        "there it pushes on, and past h' = 1 the fixed point repels",
    )
    return work.close(
        stiffness=slope, contraction=contraction, stiffness_by_contraction=product,
        anchor_stiffness=anchor,
    )
