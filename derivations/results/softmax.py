r"""The two-arm softmax policy: how success probability and log-probabilities move with the logit.

Arm 1 earns reward 1 and has probability p, arm 0 earns 0. The policy's one parameter is the logit
:math:`\theta = \log(p/(1-p))`. Everything about the bandit is written in p; derivatives in the
logit are taken by the chain rule derived here.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.surd import tidy

__all__ = ["ARMS", "derive", "in_logit", "logit", "spread"]

_p = quantity("p")

#: Rewards of the two arms, success first; probabilities follow in the same order.
ARMS = (sp.S.One, sp.S.Zero)


def logit(p: sp.Expr) -> sp.Expr:
    """Return log p - log(1 - p)."""
    return sp.log(p) - sp.log(1 - p)


def spread(p: sp.Expr) -> sp.Expr:
    """Return sigma, the standard deviation of one reward at success probability `p`."""
    return sp.sqrt(p * (1 - p))


def in_logit(expression: sp.Expr, p: sp.Symbol = _p) -> sp.Expr:
    """Differentiate an expression in `p` with respect to the logit of `p`."""
    return derive()["slope"].subs(_p, p) * sp.diff(expression, p)


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive dp/dtheta = p(1-p) and the scores of both arms from the softmax.

    Source: textbook; the bandit of arXiv:2606.30789 section 5.6 is named and not printed.
    Provenance: reconstructed.

    Returns
    -------
    Derivation
        Results in p: ``slope`` = dp/dtheta, ``score_success`` and ``score_failure``, the
        derivatives of the arms' log-probabilities in the logit, and ``two_logit_gain``, the factor
        by which the logit moves faster when both logits are free.
    """
    work = Workings(
        "softmax", "The two-arm softmax policy in its logit", Provenance.RECONSTRUCTED,
        {"policy": "softmax over two arms", "rewards": "1 and 0", "parameter": "theta = logit p"},
        use="It turns every derivative in the logit into algebra in p.",
    )
    z1, z0 = sp.symbols("z_1 z_0", real=True)
    policy = work.let(
        "softmax", sp.exp(z1) / (sp.exp(z1) + sp.exp(z0)),
        "probability of the arm that succeeds, logits z_1 and z_0, theta = z_1 - z_0",
    )
    theta = sp.Symbol("theta", real=True)
    alone = policy.subs({z1: theta, z0: 0})
    # In exp(theta) = p/(1-p) the derivatives are rational; substituting back leaves p alone.
    def in_p(e: sp.Expr) -> sp.Expr:
        return tidy(e.subs(theta, sp.log(_p / (1 - _p))))

    slope = in_p(sp.diff(alone, theta))
    work.equal(
        "slope", sp.diff(alone, theta), slope.subs(_p, alone), "derivative of the logistic function"
    )
    success, failure = in_p(sp.diff(sp.log(alone), theta)), in_p(sp.diff(sp.log(1 - alone), theta))
    work.equal("score of success", success, slope / _p, "d log p = dp / p")
    work.equal("score of failure", failure, -slope / (1 - _p), "d log(1 - p) = -dp / (1 - p)")
    work.equal(
        "a score has mean zero", _p * success + (1 - _p) * failure, sp.S.Zero,
        "so a baseline common to both arms exerts no force",
    )
    gain = sp.cancel((sp.diff(policy, z1) - sp.diff(policy, z0)) / (policy * (1 - policy)))
    work.equal(
        "two free logits", sp.diff(policy, z1) - sp.diff(policy, z0),
        gain * slope.subs(_p, policy),
        "each logit climbs its own gradient, so their difference moves this many times as fast",
    )
    return work.close(
        slope=slope, score_success=success, score_failure=failure, two_logit_gain=gain
    )
