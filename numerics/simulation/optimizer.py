r"""The optimizers, each as its published recurrence and nothing else.

A rule takes the coordinate, what it remembers, and the gradient (of an objective to be raised),
and returns the next coordinate and the next memory. It is elementwise, so it advances many chains
at once, and it uses field arithmetic only, so on `fractions.Fraction` it is exact.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numerics.inputs import Values, known_name


def heavy_ball(
    theta: Values, previous: Values, gradient: Values, *, eta: Values, mu: Values
) -> tuple[Values, Values]:
    r"""Equation (3): ``theta_{k+1} = theta_k + eta g_k + mu (theta_k - theta_{k-1})``. Stated."""
    return theta + eta * gradient + mu * (theta - previous), theta


def ema(
    theta: Values, average: Values, gradient: Values, *, eta: Values, mu: Values
) -> tuple[Values, Values]:
    r"""Averaged gradient, as Adam's beta1: ``m_k = mu m_{k-1} + (1 - mu) g_k``. Extension."""
    average = mu * average + (1 - mu) * gradient
    return theta + eta * average, average


def nesterov(
    theta: Values, buffer: Values, gradient: Values, *, eta: Values, mu: Values
) -> tuple[Values, Values]:
    r"""torch's SGD with ``nesterov=True``: ``b_k = mu b_{k-1} + g_k``, step ``g_k + mu b_k``.

    Extension. torch starts the buffer as the first gradient, which is this rule from ``b = 0``.
    """
    buffer = mu * buffer + gradient
    return theta + eta * (gradient + mu * buffer), buffer


@dataclass(frozen=True)
class Optimizer:
    r"""A step rule, and what its memory holds.

    Attributes
    ----------
    name
        ``"heavy-ball"``, ``"ema"`` or ``"nesterov"``.
    step
        ``step(theta, memory, gradient, *, eta, mu) -> (next theta, next memory)``.
    remembers
        ``"path"`` if the memory is the previous coordinate, ``"gradients"`` if it is a sum of past
        gradients. A kick of the coordinate itself (not of its gradient) is carried on by the
        first kind and forgotten by the second.
    averages, looks_ahead
        How `simulate_linear_chains` runs it, in place and in fewer passes than `step` takes: as
        ``b_k = mu b_{k-1} + g_k`` with every gradient times ``1 - mu``, or not; with the step
        ``g_k + mu b_k``, or b_k.
    """

    name: str
    step: Callable[..., tuple[Values, Values]]
    remembers: Literal["path", "gradients"]
    averages: bool = False
    looks_ahead: bool = False

    def memory_at_rest(self, theta: Values) -> Values:
        """Return the memory of a run that has always stood at `theta`."""
        return theta if self.remembers == "path" else 0 * theta


_RULES = {
    rule.name: rule
    for rule in (
        Optimizer("heavy-ball", heavy_ball, "path"),
        Optimizer("ema", ema, "gradients", averages=True),
        Optimizer("nesterov", nesterov, "gradients", looks_ahead=True),
    )
}

#: The names an `optimizer` argument may have.
OPTIMIZERS: tuple[str, ...] = tuple(_RULES)


def optimizer_named(name: str) -> Optimizer:
    """Return the rule of that name, or raise `UnknownName` with the nearest one."""
    return _RULES[known_name("optimizer", name, OPTIMIZERS)]
