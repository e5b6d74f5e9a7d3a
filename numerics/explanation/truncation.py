r"""What theorem 7 loses by its truncation: the threshold, the onset, and how far apart they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics import dynamics
from numerics.exact import Configuration
from numerics.plots import COLOURS, RINGS, plain_ticks
from numerics.predict.oscillator import truncated_onset

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["onset_factor", "swing_and_loss", "threshold_factor"]

Floats = NDArray[np.float64]

_MOMENTA = ((0.0, "blue"), (0.5, "green"), (0.9, "orange"), (0.99, "purple"))
_TICKS = (1, 2, 4, 8, 16, 32, 64, 128, 256)


def _lags(last: int) -> NDArray[np.int64]:
    return np.unique(np.geomspace(1, last, 40).round().astype(np.int64))


def threshold_factor(axes: Axes) -> None:
    """Draw the exact threshold over prop-9's, for a constant lag and for a refresh."""
    lags = _lags(256)
    for mu, colour in _MOMENTA:
        rule = (1 - mu) / lags
        late = dynamics.threshold("heavy-ball", mu=mu, stale_share=1, lag=lags).value
        saw = dynamics.threshold("heavy-ball", mu=mu, stale_share=1, refresh=lags[1:]).value
        axes.plot(lags, late / rule, color=COLOURS[colour], label=f"μ = {mu:g}")
        axes.plot(lags[1:], saw / rule[1:], "--", color=COLOURS[colour])
    axes.plot([], [], color=COLOURS["faint"], label="lag d")
    axes.plot([], [], "--", color=COLOURS["faint"], label="refresh every N")
    axes.axhline(math.pi / 2, linestyle=":", color=COLOURS["ink"], linewidth=1.0)
    axes.annotate("π/2", (1, math.pi / 2), xytext=(2, 3), textcoords="offset points")
    axes.set_xscale("log")
    axes.set_xticks(_TICKS)
    plain_ticks(axes)
    axes.set_ylim(0, 5.3)
    axes.set_title("how much more x is stable than the rule says")
    axes.set_xlabel("lag d, or refresh interval N, steps")
    axes.set_ylabel("exact threshold over the rule's")
    axes.legend(loc="upper right", ncols=2)


def onset_factor(axes: Axes) -> None:
    """Draw theorem 7's onset of oscillation over the exact one."""
    lags = [0, *(int(lag) for lag in _lags(256))]
    for mu, colour in _MOMENTA:
        exact = dynamics.onset("heavy-ball", mu=mu, stale_share=1, lag=lags)
        modelled = [
            truncated_onset(Configuration("heavy-ball", "constant", mu, 1, lag=lag), None)
            for lag in lags
        ]
        ratio = np.array(modelled, dtype=float) / exact
        axes.plot(lags[1:], ratio[1:], color=COLOURS[colour], label=f"μ = {mu:g}")
        # A logarithm has no place for 0.
        axes.plot(0.5, ratio[0], color=COLOURS[colour], **RINGS)
    axes.axhline(1, color=COLOURS["faint"], linewidth=0.8)
    limit = (math.sqrt(2) - 1) * math.e
    axes.axhline(limit, linestyle=":", color=COLOURS["ink"], linewidth=1.0)
    axes.annotate("(√2 − 1) e", (0.5, limit), xytext=(2, 3), textcoords="offset points")
    axes.set_xscale("log")
    axes.set_xticks([0.5, *_TICKS])
    plain_ticks(axes)
    axes.set_xticklabels(["0", *(f"{tick}" for tick in _TICKS)])
    axes.set_ylim(0.4, 1.25)
    axes.set_title("where swings begin: theorem 7 over exact")
    axes.set_xlabel("lag d, steps")
    axes.set_ylabel("theorem 7's onset over the exact one")
    axes.legend(loc="lower right")


def swing_and_loss(axes: Axes) -> None:
    """Draw the onset of oscillation and the loss of stability against momentum."""
    mu = np.concatenate([np.linspace(0, 0.9, 46), 1 - np.geomspace(0.1, 0.01, 30)[1:]])
    for lag, colour in ((0, "blue"), (8, "orange")):
        swings = dynamics.onset("heavy-ball", mu=mu, stale_share=1, lag=lag)
        lost = dynamics.threshold("heavy-ball", mu=mu, stale_share=1, lag=lag).value
        axes.fill_between(mu, swings, lost, color=COLOURS[colour], alpha=0.13, linewidth=0)
        axes.semilogy(mu, lost, color=COLOURS[colour], label=f"lag {lag}: unstable above")
        axes.semilogy(mu, swings, "--", color=COLOURS[colour], label=f"lag {lag}: swings above")
    axes.set_ylim(1e-6, 10)
    axes.set_yticks([1e-4, 1e-2, 1])
    plain_ticks(axes)
    axes.set_title("swinging (shaded) and unstable")
    axes.set_xlabel("momentum μ")
    axes.set_ylabel("stiffness per step x = ηK")
    axes.legend(loc="lower left")
