r"""The softmax bandit: what is rewarded, what the parameters are, and the policy they make.

Inside the package arrays are ``(arms, columns)``: a column is one prompt of one chain, so that sums
over arms run along contiguous rows. `Columns` is the one place where that layout is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, common_shape, floats, known_name

Floats: TypeAlias = NDArray[np.float64]

#: The parameters: a logit for every arm, or for two arms the difference of the two.
COORDINATES: tuple[str, ...] = ("free-logits", "one-logit")


@dataclass(frozen=True, kw_only=True, eq=False)
class Bandit:
    r"""Independent softmax policies, one for each prompt, over arms with fixed rewards.

    Parameters
    ----------
    rewards
        Shape ``(prompts, arms)``, at least two arms; any finite real numbers.
    reference_logits
        Parameters of the reference policy; broadcast to the shape of the parameters.
    coordinates
        ``"free-logits"``: parameters ``(prompts, arms)``, one logit for every arm.
        ``"one-logit"``, two arms only: parameters ``(prompts,)``,
        ``theta = log(pi[0]/pi[1])``, so that rewards ``(1, 0)`` make it the logit of success. Two
        free logits move their difference twice as fast: eta -> 2 eta.

    Raises
    ------
    InvalidInput
        NaN or infinite rewards, shapes that do not fit.
    """

    rewards: Floats
    reference_logits: Floats
    coordinates: str

    def __post_init__(self) -> None:
        known_name("coordinates", self.coordinates, COORDINATES)
        rewards = floats(rewards=self.rewards)["rewards"]
        if rewards.ndim != 2 or rewards.shape[0] < 1 or rewards.shape[1] < 2:
            raise InvalidInput(
                f"rewards has shape {rewards.shape}: give (prompts, arms) with at least two arms"
            )
        object.__setattr__(self, "rewards", _frozen(rewards))
        if self.coordinates == "one-logit" and self.arms != 2:
            raise InvalidInput(f"coordinates 'one-logit' with {self.arms} arms: it takes two arms")
        given = floats(reference_logits=self.reference_logits)["reference_logits"]
        shape = common_shape(reference_logits=given.shape, parameters=self.parameter_shape)
        if shape != self.parameter_shape:
            raise InvalidInput(
                f"reference_logits has shape {given.shape}: "
                f"it must broadcast to the parameters' {self.parameter_shape}"
            )
        object.__setattr__(self, "reference_logits", _frozen(np.broadcast_to(given, shape)))

    @property
    def prompts(self) -> int:
        """Number of prompts."""
        return len(self.rewards)

    @property
    def arms(self) -> int:
        """Number of arms of every prompt."""
        return int(self.rewards.shape[1])

    @property
    def parameter_shape(self) -> tuple[int, ...]:
        """Shape of the parameters of one policy."""
        return self.rewards.shape if self.coordinates == "free-logits" else (self.prompts,)

    @property
    def reference(self) -> Floats:
        """Parameters of the reference policy: where a run usually starts."""
        return self.reference_logits


def _frozen(array: Floats) -> Floats:
    array = array.copy()
    array.setflags(write=False)
    return array


class Policy:
    """Softmax of logits ``(arms, columns)``, exact to rounding where an arm is nearly certain."""

    def __init__(self, logits: NDArray[Any]) -> None:
        # The largest becomes 0; by the real part, as an objective may be complex.
        self.shifted = logits - np.maximum.reduce(logits.real, axis=0)
        weights = np.exp(self.shifted)
        self._total = np.add.reduce(weights, axis=0)
        self.probabilities = weights / self._total

    @cached_property
    def log_probabilities(self) -> NDArray[Any]:
        """Logarithms, finite also where the probability underflows."""
        result: NDArray[Any] = self.shifted - np.log(self._total)
        return result


@dataclass(frozen=True)
class Columns:
    """The layout of arrays with leading axes `lead`, inside: one column a prompt and chain."""

    bandit: Bandit
    lead: tuple[int, ...]

    @cached_property
    def rewards(self) -> Floats:
        """The rewards, ``(arms, columns)``."""
        return self.arms_first(self.bandit.rewards)

    @cached_property
    def log_reference(self) -> Floats:
        """Log probabilities of the reference policy, ``(arms, columns)``."""
        policy = Policy(self.logits(self.parameters(self.bandit.reference)))
        return policy.log_probabilities

    def arms_first(self, array: NDArray[Any]) -> NDArray[Any]:
        """``(..., prompts, arms)`` to ``(arms, columns)``."""
        full = np.broadcast_to(array, (*self.lead, *self.bandit.rewards.shape))
        return np.ascontiguousarray(np.moveaxis(full, -1, 0)).reshape(self.bandit.arms, -1)

    def parameters(self, theta: NDArray[Any]) -> NDArray[Any]:
        """Parameters to ``(arms, columns)``, or ``(columns,)`` for one logit."""
        if self.bandit.coordinates == "free-logits":
            return self.arms_first(theta)
        return np.broadcast_to(theta, (*self.lead, self.bandit.prompts)).reshape(-1)

    def logits(self, parameters: NDArray[Any]) -> NDArray[Any]:
        """Parameters, in columns, to logits ``(arms, columns)``."""
        if self.bandit.coordinates == "free-logits":
            return parameters
        return np.stack([parameters, np.zeros_like(parameters)])

    def through_softmax(self, slopes: Floats, probabilities: Floats) -> Floats:
        """Slopes b in each arm's log pi to the gradient in the parameters, both in columns."""
        result: Floats
        if self.bandit.coordinates == "free-logits":
            result = slopes - probabilities * np.add.reduce(slopes, axis=0)
        else:  # the same of the first logit, without its cancellation
            result = probabilities[1] * slopes[0] - probabilities[0] * slopes[1]
        return result

    def restored(self, parameters: Floats) -> Floats:
        """Parameters, in columns, back to ``(*lead, *parameter_shape)``."""
        if self.bandit.coordinates == "one-logit":
            return parameters.reshape(*self.lead, self.bandit.prompts)
        shape = (self.bandit.arms, *self.lead, self.bandit.prompts)
        return np.ascontiguousarray(np.moveaxis(parameters.reshape(shape), 0, -1))

    def per_chain(self, value: Floats) -> Values:
        """A number, or one for each chain, to what multiplies columns."""
        if value.ndim == 0:
            return float(value)
        return np.repeat(np.broadcast_to(value, self.lead).reshape(-1), self.bandit.prompts)

    def over_prompts(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum over the prompts: ``(columns,)`` to `lead`."""
        total: NDArray[Any] = values.reshape(*self.lead, self.bandit.prompts).sum(axis=-1)
        return total
