r"""E6: heavy ball, EMA and Nesterov: what they gain, by how much they trail, when they swing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import path
from numerics.experiments.transformer import ramp, ring_down
from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.curve import Curve, sampled_drift
from numerics.experiments.transformer.theory.seeds import alike
from numerics.plots import COLOURS, panel, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOMENTUM"]

_EXPERIMENT = "E6"
_COLOURS = {"heavy-ball": "blue", "ema": "orange", "nesterov": "green"}
_SHOWN = 0.9  # the momentum whose ramps are drawn


def _settings(plan: Plan) -> list[Setting]:
    return [*ramp.settings(plan), *ring_down.settings(plan)]


def _split(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    return [run for run in runs if not run.setting.beta], [run for run in runs if run.setting.beta]


def _rows(runs: Sequence[Run]) -> list[Row]:
    ramps, rings = _split(runs)
    return compare(_EXPERIMENT, [*ramp.cases(ramps), *ring_down.cases(rings)])


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    ramps, rings = _split(runs)
    drawings = {
        "transformer_momentum_ramp": partial(_draw_ramp, ramps),
        "transformer_momentum_ring_down": partial(_draw_rings, rings),
    }
    return {f"{name}.svg": standing_alone(panel(name, draw)) for name, draw in drawings.items()}


def _draw_ramp(runs: Sequence[Run], axes: Axes) -> None:
    """Draw how far each optimizer is behind what it would be at without inertia."""
    for run in runs:
        setting = run.setting
        if setting.seed or setting.mu not in (0.0, _SHOWN):
            continue
        curve, logit = Curve.of(run), run.logit[:, 0]
        push = curve.slope_at(logit[:-1]) * sampled_drift(run)
        gain = ramp.gain(setting.optimizer, setting.mu)
        clock = np.concatenate([[0.0], np.cumsum(push)])
        behind = (clock - curve.arc(logit) / run.facts["eta"] / gain) / push.mean()
        name = f"{setting.optimizer}, mu {setting.mu:g}"
        colour = _COLOURS[setting.optimizer] if setting.mu else "faint"
        dashed = "--" if setting.optimizer == "ema" else "-"
        axes.plot(behind, dashed, color=COLOURS[colour], label=name)
    exact = sorted({ramp.delay(name, _SHOWN) for name in _COLOURS} | {0.0})
    axes.set_yticks(exact)
    axes.axhline((1 + _SHOWN) / (2 - 2 * _SHOWN), color=COLOURS["ink"], linestyle=":", linewidth=1)
    axes.annotate("M/C of theorem-7", (0.98, 9.6), xycoords=("axes fraction", "data"), ha="right",
                  va="bottom", fontsize=8)  # fmt: skip
    axes.set_ylim(-0.5, 11)
    axes.set_xlabel("step")
    axes.set_ylabel("steps behind a steady push")
    axes.set_title("inertia of a transformer's logit")
    axes.legend(loc="center right", fontsize=7.6)


def _draw_rings(runs: Sequence[Run], axes: Axes) -> None:
    """Draw the heavy ball coming to rest, below and above the onset, against the linear map."""
    families = [some for some in alike(runs) if some[0].setting.optimizer == "heavy-ball"]
    families.sort(key=lambda some: (some[0].setting.mu, some[0].setting.pace))
    for mu, place, colour in ((0.5, 0, "blue"), (0.5, -1, "orange"), (0.9, 0, "green")):
        of_mu = [some for some in families if some[0].setting.mu == mu]
        if not of_mu:
            continue
        some = of_mu[place]
        rest = ring_down.rest_of(some[0].setting).logit
        seen = np.array([run.logit[:, 0] - rest for run in some])
        times = np.arange(seen.shape[1])
        xs = [ring_down.stiffness(run) for run in some]
        linear = np.array([_linear(run, x, rest) for run, x in zip(some, xs, strict=True)])
        axes.fill_between(times, seen.min(0), seen.max(0), color=COLOURS[colour], alpha=0.25, lw=0)
        axes.plot(times, seen.mean(0), "o", markersize=2.2, color=COLOURS[colour])
        axes.plot(times, linear.mean(0), color=COLOURS[colour], linewidth=1,
                  label=f"mu {mu:g}, x {np.mean(xs):.2g}")  # fmt: skip
    axes.set_xlabel("step")
    axes.set_ylabel("logit less that of the fixed point")
    axes.set_title("let go beside the fixed point: runs, and the linear map")
    axes.legend(loc="lower right", fontsize=7.6)


def _linear(run: Run, x: float, rest: float) -> NDArray[np.float64]:
    times = np.arange(run.setting.steps + 1)
    unit = path("heavy-ball", mu=run.setting.mu, x=x, stale_share=0.0, lag=0, times=times)
    return np.asarray((run.logit[0, 0] - rest) * unit)


MOMENTUM = Experiment(
    id=_EXPERIMENT,
    title="momentum: gain, inertia, and when it swings",
    question="What do heavy ball, EMA and Nesterov do to the speed and the delay of the logit?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    series=("reward",),
    headline=f"ramp, heavy-ball, mu 0.9 / {ramp.DELAY} / exact",
)
