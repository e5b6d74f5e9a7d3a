r"""x and the stale share for people who know their settings: the two-arm bandit's slopes.

Theory section 3.7: two arms with rewards 1 and 0, infinite groups, advantages normalised by the
std (ddof 0, eps 0), exact reverse KL, no clipping. The slopes are the generated kernels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from numerics.inputs import InvalidInput, known_name
from numerics.kernels import staleness as slopes

__all__ = ["PARAMETERS", "STALENESS", "Slopes", "critical_beta", "fixed_point", "slopes_at"]

#: What "stale" means, as in `numerics.simulation`.
STALENESS = ("delayed-gradient", "stale-samples", "stale-samples-ratio")

#: What is trained, and by how much its step moves theta = logit p against `eta`: the logit itself,
#: or two free logits with theta their difference.
PARAMETERS = {"logit": 1, "logits": 2}


@dataclass(frozen=True)
class Slopes:
    r"""Slopes of the mean drift at the fixed point, per unit of step size in the logit.

    Attributes
    ----------
    fresh, stale
        K_f and K_s: through the current and through the old policy.
    stiffness
        K = K_f + K_s, above 0.
    stale_share
        K_s/K.
    """

    fresh: float
    stale: float
    stiffness: float
    stale_share: float


def slopes_at(staleness: str, *, beta: float, p_star: float) -> Slopes:
    r"""Return the slopes at the fixed point `p_star`.

    Raises
    ------
    InvalidInput
        `beta` is not above 0 or `p_star` not in (0, 1); or `p_star` repels, so that nothing relaxes
        to it.
    UnknownName
        If `staleness` is none of the three.
    """
    known_name("staleness", staleness, STALENESS)
    _check_beta(beta)
    if not 0 < p_star < 1:
        raise InvalidInput(
            f"p_star is {p_star!r}: the success probability at the fixed point is in (0, 1)"
        )
    kernel = getattr(slopes, staleness.replace("-", "_"))
    found = Slopes(*(float(value) for value in kernel(beta=beta, p_star=p_star)))
    if not found.stiffness > 0:
        least = (p_star - 0.5) / math.sqrt(p_star * (1 - p_star))
        raise InvalidInput(
            f"p_star = {p_star:g} does not attract at beta = {beta:g}: give beta above "
            f"{least:.6g} = (p_star - 1/2)/sqrt(p_star (1 - p_star)), or a smaller p_star"
        )
    return found


def fixed_point(*, beta: float, p_ref: Fraction) -> float:
    r"""Return the attracting fixed point of exact reverse KL (theory section 3.8).

    ``logit p = logit p_ref + 1/(beta sqrt(p (1-p)))`` at eps = 0; with u = logit(p)/2,
    ``f(u) = 2 u - logit p_ref - 2 cosh(u)/beta`` is concave with its top at ``sinh u = beta``; its
    lower zero attracts, the upper repels.

    Raises
    ------
    InvalidInput
        `beta` is not above 0 or `p_ref` not in (0, 1); or `beta` is below `critical_beta`, where
        there is no fixed point and p goes to 1; or the fixed point rounds to 1.
    """
    from scipy.optimize import brentq

    _check_beta(beta)
    logit_ref = _logit(p_ref)
    top = math.asinh(beta)

    def f(u: float) -> float:
        return 2 * u - logit_ref - 2 * math.cosh(u) / beta

    # cosh(asinh(beta)) is hypot(1, beta).
    if not 2 * top - logit_ref > 2 * math.hypot(1, beta) / beta:
        raise InvalidInput(
            f"beta is {beta:g}, at or below beta_c = {critical_beta(p_ref=p_ref):.6g} for p_ref = "
            f"{float(p_ref):g}: there is no fixed point, p goes to 1; give a larger beta"
        )
    u: float = brentq(f, logit_ref / 2, top, xtol=1e-15, rtol=1e-15)
    p_star = 1 / (1 + math.exp(-2 * u))
    if p_star == 1:
        raise InvalidInput(
            f"the fixed point at beta = {beta:g}, p_ref = {float(p_ref)!r} rounds to 1: give a "
            "smaller p_ref"
        )
    return p_star


def critical_beta(*, p_ref: Fraction) -> float:
    r"""Return beta_c = sinh(u) with ``(2 u - logit p_ref) tanh(u) = 2``, u > 0 (theory 3.8).

    Raises
    ------
    InvalidInput
        If `p_ref` is not in (0, 1).
    """
    from scipy.optimize import brentq

    logit_ref = _logit(p_ref)
    low = max(0.0, logit_ref / 2)
    u: float = brentq(
        lambda u: (2 * u - logit_ref) * math.tanh(u) - 2, low, low + 3, xtol=1e-15, rtol=1e-15
    )
    return math.sinh(u)


def _check_beta(beta: float) -> None:
    if not 0 < beta < math.inf:
        raise InvalidInput(
            f"beta is {beta!r}: without a KL weight above 0 there is no fixed point to relax to"
        )


def _logit(p: Fraction) -> float:
    if not 0 < p < 1:
        raise InvalidInput(f"p_ref is {float(p)!r}: give a probability in (0, 1)")
    q = 1 - p
    return math.log(p.numerator * q.denominator) - math.log(p.denominator * q.numerator)
