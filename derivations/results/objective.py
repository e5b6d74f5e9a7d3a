r"""The mean drift of the two-arm bandit, from the advantage and the objective (equations 1 and 2).

"Stale" can mean three things, and they are three objectives: everything on the old policy
(equation 3), old samples under the current policy without the importance ratio, or with it. The
drift of each is obtained by differentiating its objective; fixed points, stiffness, staleness and
the flow without KL all start from here.
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
from derivations.results.softmax import ARMS, in_logit
from derivations.update import nearest

__all__ = ["NORMALISERS", "STALENESS", "advantage", "checked", "derive", "p_old"]

_p, _beta, _eps = quantity("p"), quantity("beta"), quantity("eps")
#: Success probability of the policy the samples and advantages come from.
p_old = sp.Symbol("p_old", real=True)

#: What "stale" means, in the order of the theory's table.
STALENESS: Mapping[str, str] = MappingProxyType(
    {
        "delayed-gradient": "the whole gradient is taken at the old policy (equation 3)",
        "stale-samples": "old samples, scores of the current policy, no importance ratio",
        "stale-samples-ratio": "old samples under the unclipped importance ratio (equation 2)",
    }
)

#: What the advantage is divided by.
NORMALISERS: Mapping[str, str] = MappingProxyType(
    {
        "std": "the group's standard deviation (equation 1)",
        "mean": "nothing: the mean is subtracted and that is all",
    }
)


def checked(kind: str, name: object, allowed: Mapping[str, object]) -> str:
    """Return `name` if it is one of `allowed`.

    Raises
    ------
    ValueError
        If it is not; the message lists the known names.
    """
    if not isinstance(name, str) or name not in allowed:
        raise ValueError(
            f"unknown {kind} {name!r}{nearest(str(name), allowed)} (known: {', '.join(allowed)})"
        )
    return name


def advantage(
    reward: sp.Expr, mean: sp.Expr, deviation: sp.Expr, normaliser: str
) -> sp.Expr:
    r"""Return equation (1)'s advantage, (r - mean)/deviation, or r - mean for ``mean``."""
    centred = reward - mean
    return centred / deviation if normaliser == "std" else centred


@lru_cache(maxsize=32)
def derive(*, staleness: str, kl: str, normaliser: str) -> Derivation:
    r"""Derive the mean drift g(theta, theta_old) in the large-group limit.

    .. math:: g = \partial_\theta \Big[\sum_a \pi_{old}(a)\, w(a)\, A_{old}(a)\Big]
                  - \beta\, F_{KL}, \qquad w = \pi/\pi_{old} \text{ or } \log\pi

    with :math:`F_{KL}` the mean force of the KL estimator on the current policy's own samples.

    Parameters
    ----------
    staleness
        ``delayed-gradient``, ``stale-samples`` or ``stale-samples-ratio``; on-policy
        (p_old = p) all three agree.
    kl
        KL estimator, as :func:`derivations.results.kl_force.derive` names them.
    normaliser
        ``std`` (equation 1, with Mroueh's eps added to the variance) or ``mean``.

    Returns
    -------
    Derivation
        Results in p, p_old, p_ref, beta and (for ``std``) eps: ``drift`` = g, ``reward_drift``,
        its part without the KL, and ``on_policy``, the drift at p_old = p. Provenance:
        reconstructed (equations 1 and 2 are stated; their drift on the bandit is not printed).

    Raises
    ------
    ValueError
        If a name is unknown.
    """
    checked("staleness", staleness, STALENESS)
    checked("normaliser", normaliser, NORMALISERS)
    work = Workings(
        "eq-2", "The mean drift of the two-arm bandit", Provenance.RECONSTRUCTED,
        {"staleness": staleness, "KL estimator": kl, "normaliser": normaliser,
         "group size": "infinite", "clip": "none"},
        depends=("softmax", "kl-force"),
        use="Fixed point, stiffness and stale share are properties of this function.",
    )
    anchor = kl_force(kl)["force"]
    sampled = list(zip(ARMS, (p_old, 1 - p_old), strict=True))
    mean = sum((w * r for r, w in sampled), sp.S.Zero)
    variance = work.equal(
        "variance of the reward", sum((w * (r - mean) ** 2 for r, w in sampled), sp.S.Zero),
        p_old * (1 - p_old), "one reward is 1 with probability p_old and else 0",
    )
    deviation = sp.sqrt(variance + _eps)
    gains = [work.let(
        f"advantage of {name}", advantage(reward, mean, deviation, normaliser),
        f"equation (1), divided by {NORMALISERS[normaliser]}",
    ) for name, reward in zip(("success", "failure"), ARMS, strict=True)]
    ratio = staleness != "stale-samples"
    surrogate = sp.S.Zero
    for old, new, gain in zip((p_old, 1 - p_old), (_p, 1 - _p), gains, strict=True):
        surrogate += old * (new / old if ratio else sp.log(new)) * gain
    work.let("surrogate", surrogate, STALENESS[staleness])
    pull, slope = in_logit(surrogate), p_old * (1 - p_old)
    if staleness == "delayed-gradient":
        pull, anchor = pull.subs(_p, p_old), anchor.subs(_p, p_old)
    elif ratio:
        slope = _p * (1 - _p)
    gap = work.equal(
        "gap of the advantages", gains[0] - gains[1],
        advantage(sp.S.One, sp.S.Zero, deviation, normaliser),
        "the mean drops out of the difference",
    )
    pull = work.equal(
        "reward drift", pull, slope * gap,
        "probability flows between the arms in proportion to the gap of their advantages",
    )
    drift = work.let("drift", pull - _beta * anchor, "the objective's gradient, beta its KL weight")
    on_policy = drift.subs(p_old, _p)
    work.equal(
        "on-policy", on_policy,
        (_p * (1 - _p) * gap).subs(p_old, _p) - _beta * kl_force(kl)["force"],
        "at theta_old = theta the three kinds of staleness are one drift",
    )
    return work.close(drift=drift, reward_drift=pull, on_policy=on_policy)
