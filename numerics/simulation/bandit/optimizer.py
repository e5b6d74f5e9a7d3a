r"""Adam and AdamW beside the optimizers of `numerics.simulation.optimizer`, in one interface."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from numerics.inputs import InvalidInput, Values, known_name
from numerics.simulation.bandit.conventions import real
from numerics.simulation.bandit.policy import Floats
from numerics.simulation.optimizer import OPTIMIZERS, optimizer_named

#: What an optimizer remembers: arrays of the parameters' shape.
Memory: TypeAlias = list[Floats]
#: ``step(number of the step from 1, theta, memory, gradient) -> theta``; memory changes in place.
Step: TypeAlias = Callable[[int, Floats, Memory, Floats], Floats]


@dataclass(frozen=True, kw_only=True)
class Adam:
    r"""Adam, or AdamW if `weight_decay` > 0, with beta1 = mu and the learning rate eta.

    ``m = mu m + (1 - mu) g``, ``v = beta2 v + (1 - beta2) g^2``,
    ``theta += -eta weight_decay theta + eta m/(sqrt(v) + adam_eps)``, where bias correction divides
    m by ``1 - mu^k`` and v by ``1 - beta2^k`` at step k = 1, 2, ... Extension (equation 3 is heavy
    ball).

    Parameters
    ----------
    beta2
        Decay of the second moment, in [0, 1).
    adam_eps
        Added to sqrt(v), >= 0; without it a gradient that has always been 0 moves nothing.
    weight_decay
        Decoupled, >= 0: it pulls the logits towards 0, not towards the reference.
    bias_correction
        Whether the moments are corrected for their start at 0.

    Raises
    ------
    InvalidInput
        A value outside its domain.
    """

    beta2: float
    adam_eps: float
    weight_decay: float
    bias_correction: bool

    def __post_init__(self) -> None:
        if not 0 <= real("beta2", self.beta2) < 1:
            raise InvalidInput(f"beta2 is {self.beta2}: it must lie in [0, 1)")
        for name in ("adam_eps", "weight_decay"):
            if real(name, getattr(self, name)) < 0:
                raise InvalidInput(f"{name} is {getattr(self, name)}: it must be >= 0")
        if not isinstance(self.bias_correction, bool):
            raise InvalidInput(f"bias_correction is {self.bias_correction!r}: give True or False")


def check_optimizer(optimizer: object) -> str | Adam:
    """Return the optimizer if it is one."""
    if isinstance(optimizer, Adam):
        return optimizer
    if isinstance(optimizer, str) and optimizer.lower() in ("adam", "adamw"):
        raise InvalidInput(
            f"optimizer {optimizer!r} has parameters: give Adam(beta2=..., adam_eps=..., "
            "weight_decay=..., bias_correction=...)"
        )
    return known_name("optimizer", optimizer, OPTIMIZERS)


def at_rest(optimizer: str | Adam, theta: Floats) -> Memory:
    """Return the memory of a run that has always stood at `theta`."""
    if isinstance(optimizer, Adam):
        return [np.zeros_like(theta), np.zeros_like(theta)]
    return [optimizer_named(optimizer).memory_at_rest(theta)]


def stepper(optimizer: str | Adam, *, eta: Values, mu: Values) -> Step:
    """Return the step of the optimizer; eta and mu are numbers or arrays over the columns."""
    if isinstance(optimizer, Adam):
        return _adam(optimizer, eta, mu)
    rule = optimizer_named(optimizer).step

    def step(number: int, theta: Floats, memory: Memory, gradient: Floats) -> Floats:
        moved: Floats
        moved, memory[0] = rule(theta, memory[0], gradient, eta=eta, mu=mu)
        return moved

    return step


def _adam(optimizer: Adam, eta: Values, mu: Values) -> Step:
    beta2, kept = optimizer.beta2, 1 - eta * optimizer.weight_decay

    def step(number: int, theta: Floats, memory: Memory, gradient: Floats) -> Floats:
        mean, square = memory
        mean *= mu
        mean += (1 - mu) * gradient
        square *= beta2
        gradient = gradient * gradient
        gradient *= 1 - beta2
        square += gradient
        spread = np.sqrt(square)
        rate, floor = eta, optimizer.adam_eps
        if optimizer.bias_correction:  # of m and sqrt(v), on what they are multiplied with
            seen = math.sqrt(1 - beta2**number)
            rate, floor = eta * seen / (1 - mu**number), floor * seen
        spread += floor
        if floor == 0:
            spread[spread == 0] = 1.0
        if optimizer.weight_decay:
            theta = theta * kept
        moved: Floats = theta + rate * mean / spread
        return moved

    return step
