r"""The linear theory of a policy of many answers at rest under a KL term.

Two answers of one class move the logit differently, and what one group does to the odds within a
class comes back to the logit as they relax. So the state is the log-probabilities y of all answers,
and the network enters through their kernel, the scalar products of their slopes: a step is

    y' = y + eta kernel u,      u_a = (share of answer a in the group) (advantage - beta c_a),

c as in `anchored`. Mean and covariance of u are sums over the number right, given which the samples
of a class are drawn independently from it. Provenance: extension.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_discrete_lyapunov
from scipy.stats import binom

from numerics.experiments.transformer.setting import EPS
from numerics.experiments.transformer.theory.anchored import Anchor, Variances

__all__ = ["Answers"]

FloatArray = NDArray[np.float64]

_STEP = 1e-5
_RANK = 1e-5  # a kernel is kept to six digits


@dataclass(frozen=True, eq=False)
class Answers:
    r"""A policy at rest.

    Attributes
    ----------
    anchor
        The convention.
    said, held
        Log-probabilities of the answers under the policy and under the reference, (answers,).
    right
        Which are right, (answers,) of bool.
    kernel
        Scalar products of the slopes of the log-probabilities, (answers, answers).
    """

    anchor: Anchor
    said: FloatArray
    held: FloatArray
    right: NDArray[np.bool_]
    kernel: FloatArray

    @property
    def gain(self) -> float:
        """The squared slope of the logit."""
        slope = self._logit_slope()
        return float(slope @ self.kernel @ slope)

    @property
    def noise(self) -> float:
        """S, the variance of one group's drift of the logit."""
        seen = self.kernel @ self._logit_slope() / self.gain
        return float(seen @ self._force(self.said)[1] @ seen)

    def variances(self, eta: float) -> Variances:
        """Return the variances at this step size."""
        ways = self._ways()
        kick = eta * ways.T @ self.kernel
        back = kick @ self._slopes() @ ways
        noise = kick @ self._force(self.said)[1] @ kick.T
        state = solve_discrete_lyapunov(np.eye(len(back)) + back, noise)
        step = back @ state @ back.T + noise
        slope = ways.T @ self._logit_slope()
        return Variances(float(slope @ state @ slope), float(slope @ step @ slope))

    def _ways(self) -> FloatArray:
        """Return the directions the network can move y in, up to a common shift, as columns."""
        centred = np.eye(self.said.size) - 1 / self.said.size
        size, directions = np.linalg.eigh(centred @ self.kernel @ centred)
        return np.asarray(directions[:, size > _RANK * size[-1]])

    def _logit_slope(self) -> FloatArray:
        """Return how the logit of success changes with y."""
        pi = np.exp(self.said)
        p = pi[self.right].sum()
        return np.asarray(np.where(self.right, pi / p, -pi / (1 - p)))

    def _slopes(self) -> FloatArray:
        """Return how the mean of u changes with y."""
        moved = _STEP * np.eye(self.said.size)
        columns = [
            (self._force(self.said + one)[0] - self._force(self.said - one)[0]) / (2 * _STEP)
            for one in moved
        ]
        return np.stack(columns, axis=1)

    def _force(self, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and covariance of u, y up to a common shift.

        Slopes have the mean 0 under the policy: what all samples have in common moves nothing. The
        kernel is that at rest and knows it there only, so the mean comes without that part.
        """
        y = y - np.log(np.exp(y).sum())
        pi, size, beta = np.exp(y), self.anchor.group_size, self.anchor.beta
        c = y - self.held if self.anchor.kl == "reverse" else 1 - np.exp(self.held - y)
        p = pi[self.right].sum()
        k = np.arange(size + 1)
        weight = binom.pmf(k, size, p)
        share = k / size
        spread = share * (1 - share)
        unit = np.where(spread > 0, 1 / (np.sqrt(spread * size / (size - 1)) + EPS), 0.0)
        means = np.zeros((size + 1, y.size))
        inside = np.zeros((y.size, y.size))
        for chosen, part, advantage in (
            (self.right, share, (1 - share) * unit),
            (~self.right, 1 - share, -share * unit),
        ):
            within = np.where(chosen, pi, 0.0) / pi[chosen].sum()
            one = within * (advantage[:, None] - beta * c)  # (outcomes, answers)
            means += part[:, None] * one
            drawn = weight * part / size
            inside -= (drawn[:, None] * one).T @ one
            squares = within * (advantage[:, None] - beta * c) ** 2
            inside[np.diag_indices(y.size)] += drawn @ squares
        mean = weight @ means
        away = means - mean
        return mean - pi * mean.sum(), inside + (weight[:, None] * away).T @ away
