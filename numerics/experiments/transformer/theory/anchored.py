r"""The scalar theory of a policy that a KL term holds: where it rests, how stiffly, how noisily.

Two answers, one prompt, on-policy. A sample's gradient is its slope times that of the logit, 1 - p
where right and -p where wrong, so that a step of the logit is a function of the number right, k of
G: the advantages give ``advantage_table``, a sample's KL gradient is its slope times

    log(pi/pi_ref)        reverse KL (k3 times the ratio)
    1 - pi_ref/pi         k3 as it is.

Sums over the binomial k are exact at every G. Provenance: extension.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.stats import binom

from numerics.dynamics import autocovariance
from numerics.experiments.transformer.setting import EPS
from numerics.inputs import InvalidInput, known_name
from numerics.kernels.fixed_point import k3_fixed_point
from numerics.predict import critical_beta, fixed_point
from numerics.simulation.two_arm import advantage_table

__all__ = ["Anchor", "Rest", "Variances", "infinite_groups", "variances", "weight_for"]

FloatArray = NDArray[np.float64]

_KL = ("reverse", "k3")
_LOGITS = np.linspace(-6.0, 12.0, 1801)
_SLOPE = 1e-4  # half the distance of the two logits a stiffness is taken between


@dataclass(frozen=True)
class Rest:
    r"""A zero of the mean drift.

    Attributes
    ----------
    logit, p
        Where it is.
    stiffness
        K, minus the slope of the mean drift in the logit: above 0 it attracts.
    noise
        S, the variance of one group's drift.
    """

    logit: float
    stiffness: float
    noise: float

    @property
    def p(self) -> float:
        """The success probability."""
        return float(1 / (1 + np.exp(-self.logit)))


@dataclass(frozen=True)
class Variances:
    """Stationary variances of the logit and of one step of it."""

    logit: float
    step: float


@dataclass(frozen=True)
class Anchor:
    r"""The convention of a run: group size, weight and estimator of the KL term, the reference."""

    group_size: int
    beta: float
    kl: str
    p_ref: float

    def moments(self, logit: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return mean and variance of the drift of one group, of the shape of `logit`."""
        known_name("kl", self.kl, _KL)
        p = 1 / (1 + np.exp(-np.asarray(logit, dtype=np.float64)[..., None]))
        k = np.arange(self.group_size + 1)
        reward = advantage_table(self.group_size, normaliser="std", ddof=1, eps=EPS)
        drift = reward - self.beta * self._pull(k / self.group_size, p)
        weight = binom.pmf(k, self.group_size, p)
        mean = (weight * drift).sum(-1)
        return mean, (weight * (drift - mean[..., None]) ** 2).sum(-1)

    def drift(self, logit: float) -> float:
        """Return the mean drift of the logit."""
        return float(self.moments(logit)[0])

    def rest(self, logit: float) -> Rest:
        """Return what the theory says of a zero of the drift at this logit."""
        (low, high), noise = self.moments(logit + np.array([-_SLOPE, _SLOPE]))
        return Rest(logit, float(low - high) / (2 * _SLOPE), float(noise.mean()))

    @cached_property
    def rests(self) -> list[Rest]:
        """The zeros of the mean drift with a success probability below 0.99999, lowest first."""
        drift = self.moments(_LOGITS)[0]
        change = np.flatnonzero(np.sign(drift[1:]) != np.sign(drift[:-1]))
        ends = [(_LOGITS[i], _LOGITS[i + 1]) for i in change]
        return [self.rest(brentq(self.drift, low, high, xtol=1e-12)) for low, high in ends]

    def _pull(self, share: FloatArray, p: FloatArray) -> FloatArray:
        """Return the KL gradient of a group with this share right, per unit of beta."""
        if self.kl == "k3":
            right, wrong = 1 - self.p_ref / p, 1 - (1 - self.p_ref) / (1 - p)
        else:
            right, wrong = np.log(p / self.p_ref), np.log((1 - p) / (1 - self.p_ref))
        return np.asarray(share * (1 - p) * right - (1 - share) * p * wrong)


def weight_for(p_star: float, *, group_size: int, kl: str, p_ref: float) -> float:
    """Return the beta with which a run rests at `p_star`.

    Raises
    ------
    InvalidInput
        If `p_star` is not between `p_ref` and 1: no weight holds a run below its reference.
    """
    if not 0 < p_ref < p_star < 1:
        raise InvalidInput(f"p_star = {p_star}: it lies above p_ref = {p_ref} and below 1")
    logit = float(np.log(p_star / (1 - p_star)))
    free, held = (Anchor(group_size, beta, kl, p_ref).drift(logit) for beta in (0.0, 1.0))
    return free / (free - held)


def infinite_groups(*, beta: float, kl: str, p_ref: float) -> float:
    r"""Return where the source's map rests, without a group size; 1 where it has no fixed point.

    Mroueh's map for the reverse KL, the binary case of Vojnovic and Yun for k3 (theory section 3,
    point 8).
    """
    if kl == "k3":
        return float(k3_fixed_point(beta=beta, p_ref=p_ref))
    reference = Fraction(p_ref).limit_denominator(10**6)
    if beta <= critical_beta(p_ref=reference):
        return 1.0
    return fixed_point(beta=beta, p_ref=reference)


def variances(x: float, pace: float, noise: float) -> Variances:
    r"""Return the stationary variances.

    Parameters
    ----------
    x, pace
        Stiffness per step, and step of the logit per unit of drift, both at the fixed point.
    noise
        S, the variance of the drift of a step.
    """
    level, next_step = autocovariance(
        "heavy-ball", mu=0.0, x=x, stale_share=0.0, lag=0, lags=1, noise_enters="gradient"
    )
    kick = pace**2 * noise
    return Variances(float(kick * level), float(kick * 2 * (level - next_step)))
