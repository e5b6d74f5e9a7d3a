r"""Where the lag acts: the stale slope of three kinds of staleness, and what it does to a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from numerics import dynamics
from numerics.plots import COLOURS
from numerics.predict import slopes_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["both_ways", "stale_slope"]

_KINDS = (
    ("delayed-gradient", "blue", "whole gradient old (eq. 3)"),
    ("stale-samples", "orange", "old samples, no ratio"),
    ("stale-samples-ratio", "green", "old samples, ratio"),
)
_BETA = 2.0


def stale_slope(axes: Axes) -> None:
    """Draw the stale slope K_s against the fixed point, for the three kinds of staleness."""
    highest = 0.5 + 0.5 * _BETA / np.hypot(1, _BETA)  # beyond, no fixed point attracts
    points = np.linspace(0.01, highest - 0.002, 120)
    axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
    axes.axvline(0.5, ymax=0.62, linestyle=":", color=COLOURS["ink"], linewidth=1.0)
    for kind, colour, label in _KINDS:
        slopes = [slopes_at(kind, beta=_BETA, p_star=float(p)).stale for p in points]
        axes.plot(points, slopes, color=COLOURS[colour], label=label)
    axes.set_title(f"what the lag gets hold of (β = {_BETA:g})")
    axes.set_xlabel("success probability at the fixed point p*")
    axes.set_ylabel("stale slope $K_s$")
    axes.set_ylim(-0.3, 1.05)
    axes.legend(loc="upper right")


def both_ways(axes: Axes) -> None:
    """Draw the return to p* = 0.8 on fresh and on old samples, with the ratio and without."""
    steps = np.arange(241)
    mu, x, lag = 0.9, 0.006, 16
    axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
    fresh = dynamics.path("heavy-ball", mu=mu, x=x, stale_share=0, lag=0, times=steps)
    axes.plot(steps, fresh, color=COLOURS["ink"], linewidth=1.3, label="fresh samples")
    for kind, colour, label in _KINDS:
        share = slopes_at(kind, beta=_BETA, p_star=0.8)
        part = share.stale / share.stiffness
        q = dynamics.path("heavy-ball", mu=mu, x=x, stale_share=part, lag=lag, times=steps)
        axes.plot(steps, q, color=COLOURS[colour], label=f"{label}: s = {part:.2g}")
    axes.set_title(f"lag {lag}, p* = 0.8, μ = {mu:g}, x = {x:g}")
    axes.set_xlabel("step k")
    axes.set_ylabel("deviation q, of its start")
    axes.set_ylim(-0.9, 1.75)
    axes.legend(loc="upper right")
