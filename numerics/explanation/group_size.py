r"""What the group size does besides cooling: drift, curves, and a noise that vanishes at 1/2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import cumulative_trapezoid

from numerics import dynamics
from numerics.plots import COLOURS, plain_ticks
from numerics.simulation import success_probability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["curve", "drift", "noise", "time_to"]

Floats = NDArray[np.float64]

_SIZES = ((2, "purple"), (4, "orange"), (16, "green"), (64, "blue"))


def _group(p: Floats, size: int, ddof: int) -> dynamics.GroupMoments:
    return dynamics.group_moments(
        p=p, correlation=0, group_size=size, baseline="group-mean", normaliser="group-std",
        ddof=ddof, eps=0,
    )  # fmt: skip


def drift(axes: Axes) -> None:
    """Draw the mean drift of a group over that of an infinite one, against p."""
    p = np.linspace(0.005, 0.995, 199)
    for size, colour in _SIZES:
        axes.plot(p, _group(p, size, 0).drift_factor, color=COLOURS[colour], label=f"G = {size}")
        axes.plot(p, _group(p, size, 1).drift_factor, "--", color=COLOURS[colour], linewidth=1.2)
    axes.plot([], [], color=COLOURS["faint"], label="ddof 0")
    axes.plot([], [], "--", color=COLOURS["faint"], label="ddof 1")
    axes.set_ylim(0, 1.02)
    axes.set_title("mean drift, of an infinite group's")
    axes.set_xlabel("success probability p")
    axes.set_ylabel("drift factor")
    axes.legend(loc="lower center", ncols=3, fontsize=7.8, columnspacing=1.0)


def time_to(p_end: float, p_start: float, size: int, *, eta: float, ddof: int) -> float:
    """Return the steps that groups of `size` take from `p_start` to `p_end` at beta = 0."""
    return float(_rise(p_start, p_end, size, eta=eta, ddof=ddof)[0][-1])


def _rise(
    p_start: float, p_end: float, size: int, *, eta: float, ddof: int
) -> tuple[Floats, Floats]:
    """Return time and p along the mean path: the logit moves at eta times the drift."""
    first, last = (np.log(p / (1 - p)) for p in (p_start, p_end))
    theta = np.linspace(first, last, 2001)
    p = np.asarray(success_probability(theta))
    slowness = 1 / (eta * np.asarray(_group(p, size, ddof).drift))
    return np.asarray(cumulative_trapezoid(slowness, theta, initial=0)), p


def curve(axes: Axes) -> None:
    """Draw the mean path of the success probability at one step size and several group sizes."""
    for size, colour in _SIZES:
        t, p = _rise(0.05, 0.999, size, eta=0.1, ddof=1)
        axes.plot(t, p, color=COLOURS[colour], label=f"G = {size}")
    axes.set_ylim(0, 1)
    axes.set_xlim(0, 400)
    axes.set_title("one step size, no KL, ddof 1")
    axes.set_xlabel("step k")
    axes.set_ylabel("success probability p")
    axes.legend(loc="lower right")


def noise(axes: Axes) -> None:
    """Draw G times the variance of a group's drift against p, and its leading order."""
    p = np.linspace(0.005, 0.995, 199)
    for size, colour in _SIZES[1:]:
        scaled = size * np.asarray(_group(p, size, 0).variance)
        axes.plot(p, scaled, color=COLOURS[colour], label=f"G = {size}")
    axes.plot(p, (1 - 2 * p) ** 2 / 4, "--", color=COLOURS["ink"], linewidth=1.2, label="leading")
    axes.set_ylim(0, 0.55)
    plain_ticks(axes)
    axes.set_title("noise of one group, times G")
    axes.set_xlabel("success probability p")
    axes.set_ylabel("G × variance of the drift")
    axes.legend(loc="upper center")
