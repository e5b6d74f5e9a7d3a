r"""The nonlinear mean field of the two-arm bandit, for the three things "stale" can mean.

Two arms with rewards 1 and 0, one logit theta, groups so large that every mean over a group is an
expectation (G to infinity), advantages normalised by the standard deviation (equation 1, ddof 0,
eps 0), exact reverse KL (equation 2), no clipping. Written as equations (1) and (2) have it, as
expectations over the two arms, and not from the closed forms they simplify to.
With two free logits and theta their difference, the step size is 2 eta.
"""

from __future__ import annotations

import numpy as np

from numerics.inputs import InvalidInput, Values, known_name, numbers
from numerics.simulation.scalar_map import Drift

#: Where the lag acts. Only the first is the source's equation (3); trainers do the others.
STALENESS: tuple[str, ...] = ("delayed-gradient", "stale-samples", "stale-samples-ratio")


def success_probability(theta: Values) -> Values:
    r"""Return ``p = 1/(1 + e^{-theta})`` without overflow and without loss where p is small."""
    return np.exp(np.minimum(theta, 0.0)) / (1.0 + np.exp(-np.abs(theta)))


def two_arm_drift(staleness: str, *, beta: Values, theta_ref: Values) -> Drift:
    r"""Return the mean gradient ``drift(theta, theta_old)`` of the two-arm bandit.

    Parameters
    ----------
    staleness
        ``"delayed-gradient"``: samples, scores and KL all at theta_old (equation 3);
        ``"stale-samples"``: samples and advantages of theta_old, scores and KL at theta;
        ``"stale-samples-ratio"``: the same with the importance ratio pi/pi_old.
    beta
        KL weight >= 0; 0 leaves no interior fixed point.
    theta_ref
        Logit of the reference policy.

    Returns
    -------
    callable
        ``drift(theta, theta_old)``, elementwise over arrays (`beta` and `theta_ref` broadcast),
        per unit step size, accurate for ``|theta| < 700``; beyond, where an arm's probability
        underflows, the advantage is 0, as in a group whose rewards agree.

    Raises
    ------
    UnknownName
        `staleness` is none of the three.
    InvalidInput
        `beta` negative, or not finite real numbers.

    Notes
    -----
    Premises 1 and 2 stated; that they are read in three ways: extension.
    """
    known_name("staleness", staleness, STALENESS)
    values = numbers(beta=beta, theta_ref=theta_ref)
    if not np.all(values["beta"] >= 0):
        raise InvalidInput(f"beta is {beta}: the KL weight must be >= 0")
    # Exponentials are not rational: the mean field is always in floating point.
    weight, reference = (values[name].astype(np.float64)[()] for name in ("beta", "theta_ref"))

    def drift(theta: Values, theta_old: Values) -> Values:
        if staleness == "delayed-gradient":
            theta = theta_old
        old, new = _arms(theta_old), _arms(theta)
        # Samples of the old policy weighted by pi/pi_old are samples of the new one.
        sampled = new if staleness == "stale-samples-ratio" else old
        spread = np.sqrt(old[0] * old[1])
        # Where theta_old rounds to certainty all rewards agree: a dead group, without advantage.
        alive = spread > 0
        inverse = np.where(alive, 1.0, 0.0) / np.where(alive, spread, 1.0)
        policy_gradient: Values = 0.0
        for arm in (0, 1):
            advantage = _minus_mean(arm, old) * inverse
            score = _minus_mean(arm, new)
            policy_gradient = policy_gradient + sampled[arm] * advantage * score
        kl_gradient = new[0] * new[1] * (theta - reference)
        return policy_gradient - weight * kl_gradient

    return drift


def _arms(theta: Values) -> tuple[Values, Values]:
    """Return the probabilities of the arms with reward 0 and 1."""
    return success_probability(-theta), success_probability(theta)


def _minus_mean(arm: int, policy: tuple[Values, Values]) -> Values:
    """Return ``arm - p``, free of cancellation: the centred reward, and the score of that arm."""
    return policy[0] if arm == 1 else -policy[1]
