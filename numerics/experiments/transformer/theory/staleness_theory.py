r"""What staleness does to a run that a KL term holds: slopes, multipliers, and the rule.

Two answers, one prompt, groups of G. The mean drift g(logit, logit_old) at stale samples is summed
exactly over the outcomes of a group. The trainer estimates the KL term on the samples, so that
without the ratio part of its slope is stale as well: with u, v the log-ratios log(pi/pi_ref) of a
right and a wrong answer and p_old, p the success probability of sampler and policy, its force is

    p (1 - p) (u - v)                               with the ratio
    p_old (1 - p) u - (1 - p_old) p v               without it.

At the fixed point of large groups the stale slope without the ratio is therefore
``sqrt(p (1-p)) (u + v)/(2 (u - v))``, positive where p (1 - p) is larger than at the reference;
with the exact KL it would be ``(p - 1/2) sqrt(p (1-p))``. Provenance: extension.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq

from numerics.dynamics import group_moments
from numerics.exact import Configuration, monodromy
from numerics.experiments.transformer.setting import EPS
from numerics.inputs import known_name
from numerics.kernels import oscillator
from numerics.simulation import STALENESS

__all__ = ["Slopes", "drift", "multiplier", "rule", "rule_onset", "slopes"]

FloatArray = NDArray[np.float64]

_KL = ("sampled", "exact")
_HALF = 1e-4  # half the distance of the two logits a slope is taken between


@dataclass(frozen=True)
class Slopes:
    r"""Minus the slopes of the mean drift in the current and in the sampling policy's logit."""

    fresh: float
    stale: float

    @property
    def stiffness(self) -> float:
        """K."""
        return self.fresh + self.stale

    @property
    def share(self) -> float:
        """The stale share s = K_s/K."""
        return self.stale / self.stiffness


def drift(
    staleness: str, *, group_size: int, beta: float, p_ref: float, kl: str
) -> Callable[[ArrayLike, ArrayLike], FloatArray]:
    r"""Return the mean drift of the logit against those of the policy and of the sampler.

    Parameters
    ----------
    staleness
        ``delayed-gradient``, ``stale-samples`` or ``stale-samples-ratio`` (no clip).
    group_size, beta, p_ref
        G (std-normalised, ddof 1), weight of the KL term, success probability of the reference.
    kl
        ``sampled``: estimated on the samples, the trainer's; ``exact``: summed over the policy.
    """
    known_name("staleness", staleness, STALENESS)
    known_name("kl", kl, _KL)

    def force(logit: ArrayLike, logit_old: ArrayLike) -> FloatArray:
        p, old = np.broadcast_arrays(_probability(logit), _probability(logit_old))
        p = old if staleness == "delayed-gradient" else p
        reward = group_moments(
            p=old, correlation=0.0, group_size=group_size, baseline="group-mean",
            normaliser="group-std", ddof=1, eps=EPS,
        ).drift  # fmt: skip
        u, v = np.log(p / p_ref), np.log((1 - p) / (1 - p_ref))
        sampled = old if staleness == "stale-samples" and kl == "sampled" else p
        if staleness == "stale-samples-ratio":
            reward = reward * p * (1 - p) / (old * (1 - old))
        pull = sampled * (1 - p) * u - (1 - sampled) * p * v
        return np.asarray(reward - beta * pull)

    return force


def _probability(logit: ArrayLike) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.asarray(logit, dtype=np.float64))))


def slopes(
    staleness: str, *, group_size: int, beta: float, p_ref: float, p_star: float, kl: str
) -> Slopes:
    """Return the slopes of `drift` where both policies are at `p_star`."""
    force = drift(staleness, group_size=group_size, beta=beta, p_ref=p_ref, kl=kl)
    here = np.log(p_star / (1 - p_star))
    moved = here + np.array([_HALF, -_HALF])
    fresh, stale = force(moved, here), force(here, moved)
    return Slopes(*(float(down - up) / (2 * _HALF) for up, down in (fresh, stale)))


def multiplier(x: float, *, share: float, refresh: int, mu: float = 0.0) -> complex:
    r"""Return the leading eigenvalue of the linear map over one refresh interval (heavy ball).

    Of a complex pair, the one above the real axis.
    """
    run = Configuration("heavy-ball", "sawtooth", mu, share, refresh=refresh)
    found = np.linalg.eigvals(monodromy(run, x))
    return complex(max(found, key=lambda one: (round(abs(one), 12), one.imag)))


def rule(x: float, mu: float = 0.0) -> float:
    r"""Return the largest refresh that prop-9's rule allows, read as published: all of it stale."""
    return (1 - mu) / x


def rule_onset(x: float, mu: float = 0.0) -> float:
    r"""Return the lag at which theorem-7's oscillator becomes underdamped, all of it stale."""

    def discriminant(lag: float) -> float:
        mass, damping, stiffness = oscillator.heavy_ball_constant(mu=mu, x=x, s=1, d=lag)
        return float(damping**2 - 4 * mass * stiffness)

    return float(brentq(discriminant, 0.0, rule(x, mu)))
