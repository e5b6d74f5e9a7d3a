r"""The scalar theory along the curve that a network follows, with momentum: no fitted constant.

A step of the optimizer moves the weights along the slope of the logit, whose length is the root of
the gain. In the arc length a of the curve,

    da = d(logit) / sqrt(gain),    force = sqrt(gain) * drift,

and momentum adds up old forces at the length they had. (Without momentum that is a step of the
logit by eta * gain * drift; with it, the way in units of the slope would give old steps the length
of the new slope.) The curve is taken to be straight: what it turns within the memory of the
momentum is the theory's error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from numerics.experiments.transformer.setting import EPS, Run
from numerics.inputs import InvalidInput
from numerics.simulation import optimizer_named
from numerics.simulation.two_arm import advantage_table

__all__ = ["Curve", "mean_path", "sampled_drift"]

FloatArray = NDArray[np.float64]

_FINE = 32  # points to a measured one, where the arc length is inverted
_TABLE_STEP = 0.01  # of the logit, between tabulated forces


@dataclass(frozen=True, eq=False)
class Curve:
    r"""A quantity measured along a curve, against the logit.

    Attributes
    ----------
    at
        Logits, rising.
    slope
        How far the logit moves per unit of length there: the root of the gain for a plain
        gradient, the sum of the slopes' sizes for Adam.
    """

    at: FloatArray
    slope: FloatArray

    @classmethod
    def of(cls, run: Run) -> Curve:
        """Return the curve of a run that measured ``flow``."""
        at, gain = _facts(run, "flow", "gain_at", "gain_along")
        return cls(at, np.sqrt(gain))

    @classmethod
    def of_adam(cls, run: Run, *, kept: bool) -> Curve:
        """Return Adam's curve of a run that measured ``adam-flow``.

        `kept`: with the second moment of all slopes since the start, or of the present ones.
        """
        return cls(*_facts(run, "adam-flow", "adam_at", "adam_kept" if kept else "adam_now"))

    @cached_property
    def _slope(self) -> CubicSpline:
        return CubicSpline(self.at, self.slope)

    @cached_property
    def _arc(self) -> CubicSpline:
        return CubicSpline(self.at, 1 / self.slope).antiderivative()

    @cached_property
    def _logit(self) -> CubicSpline:
        fine = np.interp(
            np.linspace(0, len(self.at) - 1, _FINE * len(self.at)), range(len(self.at)), self.at
        )
        return CubicSpline(self._arc(fine), fine)

    def slope_at(self, logit: ArrayLike) -> FloatArray:
        """Return the slope; beyond the ends that of the ends."""
        return np.asarray(self._slope(np.clip(logit, self.at[0], self.at[-1])))

    def arc(self, logit: ArrayLike) -> FloatArray:
        """Return the length of the way from the first point; straight beyond the ends."""
        inside = np.clip(logit, self.at[0], self.at[-1])
        return np.asarray(self._arc(inside) + (logit - inside) / self.slope_at(inside))

    def logit(self, arc: ArrayLike) -> FloatArray:
        """Return the logit after a way of that length; straight beyond the ends."""
        inside = np.clip(arc, 0.0, self._arc(self.at[-1]))
        there = self._logit(inside)
        return np.asarray(there + (arc - inside) * self.slope_at(there))


def _facts(run: Run, measure: str, *names: str) -> list[FloatArray]:
    if measure not in run.setting.measures:
        raise InvalidInput(
            f"run {run.setting.name} did not measure {measure}; add it to its measures"
        )
    return [np.array(run.facts[name], dtype=np.float64) for name in names]


def mean_path(
    curve: Curve,
    force: Callable[[FloatArray], FloatArray],
    *,
    start: float,
    eta: float,
    mu: float,
    optimizer: str,
    steps: int,
) -> FloatArray:
    r"""Return the predicted logit before each step and after the last, (steps + 1,).

    Parameters
    ----------
    curve
        Of the run.
    force
        The mean drift of the logit against the logit, over arrays.
    start
        The first logit.
    eta, mu, optimizer
        Of the run, by the recurrence in `numerics.simulation`.
    steps
        How many.
    """
    places = np.arange(min(curve.at[0], start) - 1.0, curve.at[-1] + 1.0, _TABLE_STEP)
    forces = curve.slope_at(places) * force(places)
    arcs = curve.arc(places)
    rule = optimizer_named(optimizer)
    a = float(curve.arc(start))
    memory = rule.memory_at_rest(a)
    way = [a]
    for _ in range(steps):
        a, memory = rule.step(a, memory, float(np.interp(a, arcs, forces)), eta=eta, mu=mu)
        way.append(a)
    path = curve.logit(way)
    path[0] = start
    return path


def sampled_drift(run: Run) -> FloatArray:
    r"""Return the drift that each step's own samples gave the logit, (steps,), without a KL term.

    Of one prompt with two answers it is a function of the number right, which the trainer logs; so
    what a run did with its samples can be told from what it sampled.
    """
    size = run.setting.group_size
    table = advantage_table(
        size, normaliser="std" if run.setting.normaliser == "group-std" else "mean",
        ddof=1, eps=EPS,
    )  # fmt: skip
    return np.asarray(table[np.rint(run.reward * size).astype(int)])
