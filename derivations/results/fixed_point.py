r"""Where training with a KL anchor comes to rest, and how the anchor's estimator moves that point.

The fixed point is the zero of the mean drift. Freezing the advantage and maximising what is left
gives the iteration whose fixed points are the same (Mroueh's map for the reverse KL); its slope
there, the contraction h', carries the stiffness: K = beta*p(1-p)*(1 - h').
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.kl_force import derive as kl_force
from derivations.results.objective import checked, p_old
from derivations.results.objective import derive as objective
from derivations.results.softmax import in_logit, logit, spread
from derivations.results.surd import tidy

__all__ = ["ANCHORS", "derive", "eliminated", "half_logit", "in_half_logit"]

_p, _p_ref, _p_star, _beta, _eps = (
    quantity(n) for n in ("p", "p_ref", "p_star", "beta", "eps")
)

#: The KL conventions with a fixed point of their own; k2 and k3-ratio share reverse KL's.
ANCHORS: Mapping[str, str] = MappingProxyType(
    {
        "reverse": "exact reverse KL (also k2, and k3 times the ratio)",
        "k3": "the k3 estimator differentiated inside the loss",
    }
)

#: Half the logit, u = theta/2: p = 1/(1 + exp(-2u)), sigma = 1/(2 cosh u).
half_logit = sp.Symbol("u", real=True)
_u = half_logit


def eliminated(expression: sp.Expr, on_policy: sp.Expr) -> sp.Expr:
    """Return `expression` with p_ref replaced by what makes `on_policy` zero.

    Both anchors are linear in the reference: the reverse KL in its logarithm, k3 in p_ref itself.
    """
    reference = sp.log(_p_ref) if on_policy.has(sp.log(_p_ref)) else _p_ref
    (root,) = sp.solve(on_policy, reference)
    return tidy(expression.subs(reference, root))


def in_half_logit(e: sp.Expr) -> sp.Expr:
    """Write p, its logit and hyperbolic functions of u in v = exp(u) at eps = 0, without roots."""
    v = sp.Symbol("v", positive=True)
    at = v**2 / (1 + v**2)
    e = e.subs(_eps, 0).subs(sp.log(_p), 2 * _u + sp.log(1 - _p)).rewrite(sp.exp)
    return e.replace(
        _is_root, lambda part: sp.factor(part.base.subs(_p, at)) ** part.exp
    ).subs({_p: at, sp.exp(_u): v, sp.exp(-_u): 1 / v})


def _is_root(part: sp.Basic) -> bool:
    return bool(part.is_Pow and part.exp.is_Rational and not part.exp.is_Integer)


@lru_cache(maxsize=4)
def derive(kl: str) -> Derivation:
    r"""Derive the fixed point, its map, contraction and stiffness.

    Reverse KL: :math:`h(p) = \mathrm{logistic}(\mathrm{logit}\,p_{ref} +
    1/(\beta\sqrt{p(1-p)+\epsilon}))` (arXiv:2503.06639). k3:
    :math:`h(p) = p_{ref} + p(1-p)/(\beta\sqrt{p(1-p)+\epsilon})` (the binary case of
    arXiv:2502.18548 at eps = 0). In both K = beta*p(1-p)*(1 - h'). Provenance: extension; the
    maps are their authors'.

    Parameters
    ----------
    kl
        ``reverse`` or ``k3``. Never mixed: the two have different fixed points.

    Returns
    -------
    Derivation
        ``residual`` (zero exactly at p_star), ``map`` h in p, ``contraction`` h'(p_star),
        ``stiffness`` K, ``weight``, the beta whose fixed point is p_star, all with eps. At
        eps = 0 besides: for ``reverse`` ``critical_beta`` and ``critical_condition``, parametric
        in ``u`` (two fixed points above it, none below); for ``k3`` the only fixed point
        ``p_star`` in beta and p_ref, and ``stiffness_by_reference`` in p_star and p_ref.

    Raises
    ------
    ValueError
        If `kl` is neither.
    """
    checked("KL anchor", kl, ANCHORS)
    work = Workings(
        "fixed-point", "The fixed point under a KL anchor", Provenance.EXTENSION,
        {"KL": ANCHORS[kl], "normaliser": "std", "group size": "infinite", "samples": "on-policy",
         "eps": "added to the variance; 0 in equation 1"},
        depends=("eq-2", "kl-force"),
        use="Stiffness and stale share are evaluated here; K > 0 makes it attract the flow.",
    )
    frozen = objective(staleness="stale-samples-ratio", kl=kl, normaliser="std")["drift"]
    drift = frozen.subs(p_old, _p)
    step, residual = _frozen_optimum(work, kl, frozen)
    slope = sp.diff(step, _p)
    if kl == "reverse":  # the one exponential is an odds ratio at the fixed point
        odds = _p_ref * (1 - _p) / (_p * (1 - _p_ref))
        slope = slope.replace(lambda e: isinstance(e, sp.exp), lambda e: odds)
    contraction = work.equal(
        "contraction", slope,
        tidy(sp.diff(residual, _p) * (_p * (1 - _p) if kl == "reverse" else 1) + 1),
        "the map's own derivative, and the implicit one: 1 + slope of the residual",
    )
    stiffness = work.equal(
        "stiffness", _beta * _p * (1 - _p) * (1 - contraction), eliminated(-in_logit(drift), drift),
        "the right side is minus the drift's slope in the logit where the drift vanishes",
    )
    weight = tidy(sp.solve(drift, _beta)[0])
    work.equal(
        "along the fixed points", tidy(-kl_force(kl)["force"] * in_logit(weight)),
        stiffness.subs(_beta, weight),
        "force times the fall of beta: the beta whose fixed point is p falls with p where K > 0",
    )
    _above_reference(work, kl, drift)
    more = _critical(work, contraction, weight) if kl == "reverse" else _only_root(work, drift)
    at = {_p: _p_star}
    return work.close(
        residual=residual.subs(at), map=step, contraction=contraction.subs(at),
        stiffness=stiffness.subs(at), weight=weight.subs(at), **more,
    )


def _frozen_optimum(work: Workings, kl: str, frozen: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Maximise with the advantage frozen at p; return the map and map minus p (logits: reverse)."""
    drift = frozen.subs(p_old, _p)
    if kl == "k3":
        step = _p_ref + tidy(drift + _beta * kl_force(kl)["force"]) / _beta
        work.equal(
            "fixed points of the map", drift, _beta * (step - _p),
            "the drift is beta times what the map would move p by",
        )
        return step, step - _p
    target = sp.Symbol("ell", real=True)
    stationary = sp.expand(frozen / (_p * (1 - _p))).subs(sp.log(_p), target + sp.log(1 - _p))
    (root,) = sp.solve(sp.expand(stationary), target)
    best = work.solves(
        "frozen optimum", sp.expand(stationary), target, logit(_p_ref) + _gain(root),
        "with samples and advantage held at p_old the objective is maximal at this logit",
    ).subs(p_old, _p)
    step = 1 / (1 + sp.exp(-best))
    work.equal(
        "the map multiplies the odds", step / (1 - step),
        _p_ref / (1 - _p_ref) * sp.exp(_gain(root).subs(p_old, _p)),
        "one round of full maximisation: the reference's odds times exp(1/(beta*spread))",
    )
    work.equal(
        "fixed points of the map", drift, _beta * _p * (1 - _p) * (best - logit(_p)),
        "the drift vanishes exactly where the map's logit is the policy's own",
    )
    return step, best - logit(_p)


def _gain(root: sp.Expr) -> sp.Expr:
    """Return the part of the optimal logit that is not the reference's."""
    return tidy(root - logit(_p_ref))


def _above_reference(work: Workings, kl: str, drift: sp.Expr) -> None:
    box = [sp.Gt(_p, 0), sp.Lt(_p, 1), sp.Gt(_p_ref, 0), sp.Lt(_p_ref, 1), sp.Gt(_beta, 0)]
    if kl == "k3":
        fixed = sp.Eq(drift.subs(_eps, 0), 0)
        why = "where the drift vanishes beta*(p - p_ref) is the positive reward drift"
    else:
        factor = sp.Symbol("E", real=True)
        fixed = sp.And(
            sp.Gt(factor, 1), sp.Eq(_p * (1 - _p_ref), factor * _p_ref * (1 - _p))
        )
        why = "the odds are the reference's times E = exp(1/(beta*spread)), which exceeds 1"
    work.implies("above the reference", [*box, fixed], sp.Gt(_p, _p_ref), why)


def _critical(work: Workings, contraction: sp.Expr, weight: sp.Expr) -> dict[str, sp.Basic]:
    """Find where two fixed points merge, in half the logit; eps = 0."""
    reference = logit(_p_ref)
    height = (2 * _u - reference) * sp.tanh(_u)
    work.equal(
        "contraction along the fixed points",
        2 * in_half_logit(contraction).subs(_beta, in_half_logit(weight)),
        in_half_logit(height),
        "twice h' at the fixed point with logit 2u, beta being the one that puts it there",
    )
    t, w = sp.symbols("T W", real=True)
    rise = 2 * t + w * (1 - t**2)
    work.equal(
        "its slope", sp.diff(height, _u),
        rise.subs({t: sp.tanh(_u), w: 2 * _u - reference}), "T = tanh u, W = 2u - logit p_ref",
    )
    work.implies(
        "it rises through 2 once", [sp.Gt(t, 0), sp.Lt(t, 1), sp.Gt(w, 0)], sp.Gt(rise, 0),
        "where h' is positive it grows with p: the lower fixed point has h' < 1, the upper h' > 1",
    )
    inverse = in_half_logit(1 / weight).subs(sp.Symbol("v", positive=True), sp.exp(_u))
    work.equal(
        "no weight at the reference", inverse.subs(_u, reference / 2), sp.S.Zero,
        "1/beta as a function of the fixed point starts from 0 at p_ref",
    )
    work.equal(
        "nor at certainty", sp.limit(inverse.subs(reference, sp.Symbol("L", real=True)), _u, sp.oo),
        sp.S.Zero, "and returns to 0 at 1, with the one maximum between: two roots above it",
    )
    (double,) = sp.solve(contraction.subs(_eps, 0) - 1, _beta)
    critical = sp.sinh(_u)
    work.equal(
        "critical weight", in_half_logit(double), in_half_logit(critical),
        "h' = 1 at a fixed point is a double root, the least beta that has a fixed point",
    )
    return {"critical_beta": critical, "critical_condition": height - 2, "u": _u}


def _only_root(work: Workings, drift: sp.Expr) -> dict[str, sp.Basic]:
    """Solve the k3 fixed point in closed form and show that it attracts; eps = 0."""
    drift = drift.subs(_eps, 0)
    (beta,) = sp.solve(drift, _beta)
    stiffness = work.equal(
        "stiffness by the reference", -in_logit(drift).subs(_beta, beta),
        spread(_p) * (_p * (1 - _p_ref) + _p_ref * (1 - _p)) / (2 * (_p - _p_ref)),
        "beta eliminated by the fixed-point equation",
    )
    box = [sp.Gt(_p_ref, 0), sp.Lt(_p_ref, 1)]
    work.implies(
        "always attracting", [*box, sp.Gt(_p, _p_ref), sp.Lt(_p, 1)], sp.Gt(stiffness, 0),
        "so beta falls with p all along the branch: one fixed point for every beta > 0",
    )
    square = (_beta * (_p - _p_ref)) ** 2 - _p * (1 - _p)
    root = max(
        sp.solve(square, _p), key=lambda r: r.subs({_beta: 1, _p_ref: sp.Rational(1, 2)})
    )
    work.solves(
        "closed form", square, _p, root,
        "the squared equation; sigma > 0 picks the root above p_ref",
    )
    work.implies(
        "the right root", [*box, sp.Gt(_beta, 0)], sp.And(sp.Gt(root, _p_ref), sp.Lt(root, 1)),
        "it lies between the reference and 1, where sigma = beta*(p - p_ref) holds unsquared",
    )
    return {"p_star": root, "stiffness_by_reference": stiffness.subs(_p, _p_star)}
