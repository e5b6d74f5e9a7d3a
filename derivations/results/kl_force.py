r"""The mean force of the KL penalty, by estimator.

A trainer differentiates an estimator of the divergence with its samples held fixed. What that
gradient is on average is not what the estimator is on average: k3 is unbiased for the reverse KL,
and its gradient is that of the forward KL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.softmax import derive as softmax
from derivations.results.softmax import in_logit
from derivations.results.surd import tidy
from derivations.update import nearest

__all__ = ["ESTIMATORS", "Estimator", "derive"]

_p, _p_ref = quantity("p"), quantity("p_ref")
_p_old = sp.Symbol("p_old", real=True)


def _k1(log_ratio: sp.Expr, ratio: sp.Expr) -> sp.Expr:
    return -log_ratio


def _k2(log_ratio: sp.Expr, ratio: sp.Expr) -> sp.Expr:
    return log_ratio**2 / 2


def _k3(log_ratio: sp.Expr, ratio: sp.Expr) -> sp.Expr:
    return ratio - 1 - log_ratio


@dataclass(frozen=True)
class Estimator:
    """How a KL penalty is written in a loss.

    Attributes
    ----------
    value
        Penalty of one sample, from log(pi_ref/pi) and pi_ref/pi.
    weighted
        Whether each sample carries the importance ratio, so that its weight is differentiated too.
    gradient_of
        The divergence whose exact gradient the mean force is.
    """

    value: Callable[[sp.Expr, sp.Expr], sp.Expr]
    weighted: bool
    gradient_of: str


#: The exact reverse KL is the sum of k1 over the policy itself, weights differentiated.
ESTIMATORS: Mapping[str, Estimator] = MappingProxyType(
    {
        "reverse": Estimator(_k1, True, "KL(pi || pi_ref)"),
        "k1": Estimator(_k1, False, "nothing"),
        "k2": Estimator(_k2, False, "KL(pi || pi_ref)"),
        "k3": Estimator(_k3, False, "KL(pi_ref || pi)"),
        "k3-ratio": Estimator(_k3, True, "KL(pi || pi_ref)"),
    }
)


def _arms(p: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return p, 1 - p


def _divergence(of: sp.Expr, against: sp.Expr) -> sp.Expr:
    """KL divergence of Bernoulli `of` from Bernoulli `against`."""
    pairs = zip(_arms(of), _arms(against), strict=True)
    return sum((a * (sp.log(a) - sp.log(b)) for a, b in pairs), sp.S.Zero)


@lru_cache(maxsize=8)
def derive(kl: str) -> Derivation:
    r"""Derive the mean force of a KL penalty in the logit.

    With :math:`a \sim \pi_{old}` fixed, the force is
    :math:`\partial_\theta \sum_a \pi_{old}(a)\, w(a)\, k(a)` at :math:`\pi_{old} = \pi`, where
    the weight w is 1, or the importance ratio for ``reverse`` and ``k3-ratio``. The drift of an
    update with weight beta contains minus beta times this force.

    Parameters
    ----------
    kl
        The estimator: ``reverse`` (exact), ``k1``, ``k2``, ``k3`` or ``k3-ratio`` (k3 times the
        importance ratio).

    Returns
    -------
    Derivation
        Results in p and p_ref: ``force``, and ``slope_at_reference``, its slope in the logit at
        p = p_ref. Provenance: extension (equation 2 prints a KL and no estimator).

    Raises
    ------
    ValueError
        If the estimator is unknown.
    """
    if kl not in ESTIMATORS:
        raise ValueError(
            f"unknown KL estimator {kl!r}{nearest(kl, ESTIMATORS)} "
            f"(known: {', '.join(ESTIMATORS)})"
        )
    chosen = ESTIMATORS[kl]
    work = Workings(
        "kl-force", "The mean force of the KL penalty", Provenance.EXTENSION,
        {"KL estimator": kl, "importance ratio": "on" if chosen.weighted else "off",
         "samples": "from the current policy, held fixed"},
        depends=("softmax",),
        use="It decides where the fixed point is: reverse KL and k3 anchor differently.",
    )
    penalty = sp.S.Zero
    for old, new, ref in zip(_arms(_p_old), _arms(_p), _arms(_p_ref), strict=True):
        weight = new / old if chosen.weighted else sp.S.One
        penalty += old * weight * chosen.value(sp.log(ref) - sp.log(new), ref / new)
    work.let(
        "mean penalty", penalty,
        "samples come with the sampling policy's probabilities, p_old",
    )
    force = tidy(in_logit(penalty).subs(_p_old, _p))
    if kl != "k2":
        work.equal(
            "unbiased as a value", penalty.subs(_p_old, _p), _divergence(_p, _p_ref),
            "on the current policy's own samples the penalty averages to the reverse KL",
        )
    exact = {
        "KL(pi || pi_ref)": _divergence(_p, _p_ref),
        "KL(pi_ref || pi)": _divergence(_p_ref, _p),
        "nothing": sp.S.Zero,
    }[chosen.gradient_of]
    work.equal(
        "force", in_logit(exact), force,
        f"differentiated with fixed samples, the mean is the gradient of {chosen.gradient_of}",
    )
    slope = tidy(in_logit(force).subs(_p, _p_ref))
    offset = sp.Symbol("q", real=True)
    work.expands(
        "close to the reference", force.subs(_p, _p_ref + offset),
        offset * slope / softmax()["slope"].subs(_p, _p_ref), offset, 2,
        "the force vanishes at the reference and grows by this slope, the same for all but k1",
    )
    return work.close(force=force, slope_at_reference=slope)

