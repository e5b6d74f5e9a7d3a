r"""The story's own figures: inertia, temperature, and what makes a start slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics import dynamics
from numerics.exact import trajectory
from numerics.kernels import oscillator
from numerics.plots import COLOURS, plain_ticks
from numerics.simulation import ConstantLag, simulate_two_arm_chains, success_probability
from numerics.simulation.response import linear_response

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["inertia", "slow_start", "temperature"]

Floats = NDArray[np.float64]

_DECAY = 0.02  # x/(1 - mu): stiffness over friction, the same for every momentum
_MOMENTA = ((0.0, "blue"), (0.9, "green"), (0.98, "orange"))


def inertia(axes: Axes) -> None:
    """Draw the return from rest at three momenta, of the map and of the oscillator."""
    steps = np.arange(301)
    fine = np.linspace(0, steps[-1], 601)
    axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
    for mu, colour in _MOMENTA:
        x = _DECAY * (1 - mu)
        mass, damping, stiffness = oscillator.heavy_ball_constant(mu=mu, x=x, d=0, s=1.0)
        axes.plot(
            fine, trajectory(mass, damping, stiffness, fine), color=COLOURS[colour],
            label=f"μ = {mu:g}",
        )  # fmt: skip
        q = dynamics.path("heavy-ball", mu=mu, x=x, stale_share=1, lag=0, times=steps)
        axes.plot(
            steps[::12], q[::12], linestyle="none", marker="o", markersize=3, color=COLOURS[colour]
        )
    axes.set_title("the same x/(1 − μ), three momenta")
    axes.set_xlabel("step k")
    axes.set_ylabel("deviation q, of its start")
    axes.legend(loc="upper right")


_ETA, _MU, _BETA, _REFERENCE = 0.02, 0.9, 2.0, 0.0


def temperature(axes: Axes) -> None:
    """Draw one sampled run at two group sizes, each in the band that the exact map predicts."""
    steps, settled = 1500, 500
    for group_size, colour in ((8, "orange"), (128, "blue")):
        run = simulate_two_arm_chains(
            "stale-samples", "heavy-ball", ConstantLag(0), group_size=group_size,
            normaliser="std", ddof=0, eps=0, beta=_BETA, theta_ref=_REFERENCE, initial=1.2,
            eta=_ETA, mu=_MU, steps=steps + settled, chains=1, seed=1, record_every=1,
        )  # fmt: skip
        point, spread = settles(group_size)
        low, high = (success_probability(np.array(point + side * spread)) for side in (-2, 2))
        axes.axhspan(float(low), float(high), color=COLOURS[colour], alpha=0.2, linewidth=0)
        axes.plot(
            success_probability(run.path[settled:, 0]), color=COLOURS[colour], linewidth=1.0,
            label=f"G = {group_size}",
        )  # fmt: skip
    axes.set_title("one run each, in its ± 2 σ band")
    axes.set_xlabel("step, after the start has died away")
    axes.set_ylabel("success probability p")
    axes.set_ylim(0.69, 0.79)
    axes.legend(loc="upper right", ncols=2)


def settles(group_size: int) -> tuple[float, float]:
    """Return where the logit of the figure's run settles, and its exact stationary deviation."""

    def group(theta: Floats) -> dynamics.GroupMoments:
        return dynamics.group_moments(
            p=success_probability(theta), correlation=0, group_size=group_size,
            baseline="group-mean", normaliser="group-std", ddof=0, eps=0,
        )  # fmt: skip

    def drift(theta: Floats, theta_old: Floats) -> Floats:
        p = success_probability(theta)
        anchor = _BETA * p * (1 - p) * (theta - _REFERENCE)
        return np.asarray(group(theta_old).drift - anchor)

    found = linear_response(drift, 1.2)
    point = float(found.point[0])
    variance = dynamics.stationary_variance(
        "heavy-ball", mu=_MU, x=_ETA * found.only_mode.rate.real, stale_share=1, lag=0,
        noise_enters="gradient",
    )  # fmt: skip
    noise = float(group(np.array(point)).noise_strength(1))
    return point, float(_ETA * np.sqrt(noise * variance))


_START, _STEP = 0.1, 0.04
_UNEQUAL = (0.01, 0.055, 0.235)  # the same mean


def slow_start(axes: Axes) -> None:
    """Draw four curves of one start: the exponential, with inertia, nonlinear, and mixed."""
    t = np.arange(501)
    for mu, colour, style, label in (
        (0.0, "ink", ":", "single exponential"),
        (0.9, "blue", "-", "with inertia, μ = 0.9"),
    ):
        q = dynamics.path("heavy-ball", mu=mu, x=0.01 * (1 - mu), stale_share=1, lag=0, times=t)
        axes.plot(t, 1 - (1 - _START) * q, style, color=COLOURS[colour], label=label)
    for starts, colour, label in (
        ((_START,), "green", "no KL, no momentum"),
        (_UNEQUAL, "orange", "the same, unequal prompts"),
    ):
        each = dynamics.no_kl_path("std", eta=_STEP, p=np.array(starts)[:, None], t=t).success
        axes.plot(t, each.mean(axis=0), color=COLOURS[colour], label=label)
    axes.set_title(f"four rises from p = {_START:g}")
    axes.set_xlabel("step k")
    axes.set_ylabel("success probability p")
    axes.set_ylim(0, 1)
    plain_ticks(axes)
    axes.legend(loc="lower right")
