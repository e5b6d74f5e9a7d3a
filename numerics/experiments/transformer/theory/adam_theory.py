r"""What Adam makes of a drift in one coordinate, on a network: moving, and at rest.

With one prompt and two answers every sample's gradient is its drift times the slopes h of the
logit. A weight moves by the learning rate times m/sqrt(v); as long as its slope stays what it was,
the slope cancels but for its sign, and the logit moves by the learning rate times the sum of |h|
times m/sqrt(v) of the drift alone. Provenance: extension.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import stationary_variance
from numerics.experiments.transformer.setting import EPS
from numerics.experiments.transformer.theory.anchored import Rest
from numerics.experiments.transformer.theory.curve import Curve
from numerics.simulation.two_arm import advantage_table

__all__ = ["BETA2", "at_rest", "expected_way", "way"]

FloatArray = NDArray[np.float64]

BETA2 = 0.999  # of the lab's runs
_CHAINS = 4000
_TINY = 1e-12


class _Moments:
    """Adam's two moments of a drift, corrected for their start."""

    def __init__(self, mu: float) -> None:
        self._mu, self._steps = mu, 0
        self._first: float | FloatArray = 0.0
        self._second: float | FloatArray = 0.0

    def step(self, drift: float | FloatArray) -> float | FloatArray:
        """Return m/sqrt(v) after one more drift."""
        self._steps += 1
        self._first = self._mu * self._first + (1 - self._mu) * drift
        self._second = BETA2 * self._second + (1 - BETA2) * drift**2
        mean = self._first / (1 - self._mu**self._steps)
        square = self._second / (1 - BETA2**self._steps)
        return mean / (np.sqrt(square) + _TINY)


def way(drifts: FloatArray, mu: float) -> float:
    """Return the sum of m/sqrt(v) over a run with these sampled drifts."""
    moments = _Moments(mu)
    return float(sum(moments.step(float(drift)) for drift in drifts))


def expected_way(
    curve: Curve,
    *,
    start: float,
    rate: float,
    mu: float,
    group_size: int,
    normaliser: str,
    steps: int,
) -> float:
    """Return the mean of `way` over runs without a KL term, sampled from the binomial.

    A prediction before the run: 4000 chains that know nothing of the network but its curve.
    """
    table = advantage_table(
        group_size, normaliser="std" if normaliser == "group-std" else "mean", ddof=1, eps=EPS
    )
    random = np.random.default_rng(0)
    moments = _Moments(mu)
    arc = np.full(_CHAINS, float(curve.arc(start)))
    first = arc.copy()
    for _ in range(steps):
        right = random.binomial(group_size, 1 / (1 + np.exp(-curve.logit(arc))))
        arc = arc + rate * moments.step(table[right])
    return float((arc - first).mean() / rate)


def at_rest(rest: Rest, *, kick: float, mu: float) -> tuple[float, float]:
    r"""Return the stiffness per step and the variance of the logit at a fixed point.

    The second moment is frozen at what the run itself makes it, v = S + K**2 Var: the sampling
    noise, and the mean drift of a logit that fluctuates. A step of a unit drift is kick/sqrt(v), so
    that x = kick K/sqrt(v): through S, the stiffness depends on the group size.

    Parameters
    ----------
    rest
        The fixed point: K and S.
    kick
        Learning rate times the sum of the slopes' sizes.
    mu
        Adam's beta1.
    """
    variance = 0.0
    for _ in range(100):
        square = rest.noise + rest.stiffness**2 * variance
        x = kick * rest.stiffness / np.sqrt(square)
        unit = stationary_variance(
            "ema", mu=mu, x=x, stale_share=0.0, lag=0, noise_enters="gradient"
        )
        variance = float(unit * kick**2 * rest.noise / square)
    return float(x), variance
