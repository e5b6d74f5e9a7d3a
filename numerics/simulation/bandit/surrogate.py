r"""The surrogate objective on columns, and its exact gradient in the parameters.

Every term of the objective depends on the parameters through log pi of single arms. With b the
slope in each arm's log pi, the gradient in the logits is ``b - pi sum(b)`` whatever the
conventions; they only make b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import Values
from numerics.simulation.bandit import kl
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.policy import Columns, Floats, Policy

_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True)
class Surrogate:
    r"""The objective of every column, for given conventions, bandit and KL weight.

    `beta` None leaves the KL term out.
    """

    conventions: Conventions
    columns: Columns
    beta: Values

    def value(self, weights: Floats, advantages: Floats, new: Policy, old: Policy) -> NDArray[Any]:
        """Return the objective of each column, written as it is defined; `new` may be complex."""
        rule, log_new = self.conventions, new.log_probabilities
        log_ratio = log_new - old.log_probabilities
        if rule.staleness == "stale-samples":
            terms = log_new * advantages
        else:
            limit = rule.log_ratio_clamp
            ratio = np.exp(log_ratio if limit is None else _clamp(log_ratio, -limit, limit))
            terms = ratio * advantages
            if rule.clip is not None:
                low, high = rule.clip
                clipped = _clamp(ratio, 1 - low, 1 + high) * advantages
                terms = np.where(clipped.real < terms.real, clipped, terms)
            if rule.dual_clip is not None:
                floor = rule.dual_clip * advantages
                terms = np.where((advantages < 0) & (floor > terms.real), floor, terms)
        result: NDArray[Any] = (weights * terms).sum(axis=0)
        if self.beta is not None:
            to_reference = log_new - self.columns.log_reference
            probabilities, ratio = new.probabilities, np.exp(log_ratio)
            result = result - self.beta * kl.penalty(
                rule.kl, weights, to_reference, probabilities, ratio
            )
        return result

    def gradient(self, weights: Floats, advantages: Floats, new: Policy, old: Policy) -> Floats:
        """Return the gradient of `value` in the parameters of `new`, in columns.

        ``"delayed-gradient"`` takes it at `old`. Where `new` is `old` the ratio is 1.
        """
        rule = self.conventions
        if rule.staleness == "delayed-gradient":
            new = old
        slopes = weights * advantages
        ratio = None
        if new is not old:
            ratio = importance_ratio(new, old)
            if rule.staleness == "stale-samples-ratio":
                slopes *= ratio
                silent = silenced(rule, ratio, advantages)
                if silent is not None:
                    np.copyto(slopes, 0.0, where=silent)
        if self.beta is not None:
            to_reference = new.log_probabilities - self.columns.log_reference
            slopes -= self.beta * kl.slope(rule.kl, weights, to_reference, new.probabilities, ratio)
        return self.columns.through_softmax(slopes, new.probabilities)


def importance_ratio(new: Policy, old: Policy) -> Floats:
    """Return pi/pi_old, exactly 1 where they are the same number."""
    result: Floats = new.probabilities / np.maximum(old.probabilities, _TINY)
    return result


def silenced(rule: Conventions, ratio: Floats, advantages: Floats) -> NDArray[np.bool_] | None:
    """Return which arms the clips leave without gradient, None if there is no clip at all.

    Each sign of the advantage has an interval of ratios that it is heard in.
    """
    if rule.clip is None and rule.dual_clip is None and rule.log_ratio_clamp is None:
        return None
    limit = math.inf if rule.log_ratio_clamp is None else math.exp(rule.log_ratio_clamp)
    low, high = rule.clip or (math.inf, math.inf)
    deaf_up = ratio > min(1 + high, limit)
    if math.isfinite(limit):
        deaf_up |= ratio < 1 / limit
    deaf_down = ratio < max(1 - low, 1 / limit)
    if rule.dual_clip is not None or math.isfinite(limit):
        deaf_down |= ratio > min(rule.dual_clip or math.inf, limit)
    # Where the advantage is 0 there is nothing to silence, and nothing to count.
    return (deaf_up & (advantages > 0)) | (deaf_down & (advantages < 0))


def _clamp(values: NDArray[Any], low: float, high: float) -> NDArray[Any]:
    """Clamp by the real part: outside, a constant, whose complex step is zero."""
    return np.where(values.real < low, low, np.where(values.real > high, high, values))
