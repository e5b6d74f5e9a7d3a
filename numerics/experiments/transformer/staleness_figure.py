r"""E5's figures: the multiplier of a refresh interval, measured, and the exact map's by formula."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import mean_interval
from numerics.experiments.transformer.staleness_case import Case
from numerics.experiments.transformer.theory.cycles import jackknifed
from numerics.experiments.transformer.theory.staleness_theory import multiplier, rule
from numerics.plots import COLOURS, panel, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figures"]

FloatArray = NDArray[np.float64]

_CONFIDENCE = 0.95  # of each interval drawn
_KINDS = {
    "delayed-gradient": ("orange", "whole gradient old"),
    "stale-samples": ("green", "samples old, no ratio"),
    "stale-samples-ratio": ("blue", "samples old, ratio"),
}


def figures(cases: Sequence[Case]) -> dict[str, str]:
    """Return file name -> SVG: a panel for each fixed point and momentum."""
    found = {}
    for name, mu, above in (("low", 0.0, False), ("high", 0.0, True), ("momentum", None, None)):
        some = [
            case
            for case in cases
            if (bool(case.setting.mu) if mu is None else not case.setting.mu)
            and above in (None, case.p_star > 0.5)
        ]
        if some:
            file = f"transformer_staleness_{name}"
            found[f"{file}.svg"] = standing_alone(panel(file, partial(_draw, some)))
    return found


def _draw(cases: Sequence[Case], axes: Axes) -> None:
    momentum = cases[0].setting.mu
    last = max(case.refreshes[-1] for case in cases)
    lowest, highest = (0.8, 1.3) if momentum else (-2.45, 1.0)
    unstable = (1.0, highest) if momentum else (lowest, -1.0)
    axes.axhspan(*unstable, color=COLOURS["grid"], alpha=0.65, linewidth=0)
    if not momentum:
        axes.axhline(0, color=COLOURS["faint"], linewidth=0.9)
    for case in cases:
        _draw_case(case, axes, last)
    axes.set_xlim(0, last + 1)
    axes.set_ylim(lowest, highest)
    axes.set_xlabel("refresh N: steps between two samplings of the policy")
    axes.set_ylabel("size of the multiplier" if momentum else "multiplier of a refresh interval")
    title = f"a transformer at {cases[0].p_star:.0%} success"
    axes.set_title(f"{title}, momentum {momentum}" if momentum else title)
    allowed = float(np.mean([_published(case) for case in cases]))
    axes.axvline(allowed, color=COLOURS["ink"], linestyle=(0, (4, 2.5)), linewidth=1.1)
    _note(axes, "published rule:\nunstable from here", (allowed, highest), (5, -3), "ink")
    border = 1.0 if momentum else -1.0
    _note(axes, "settles", (0, border), _INSIDE[momentum > 0])
    _note(axes, "grows", (0, border), _INSIDE[momentum == 0])
    axes.legend(loc="lower right" if momentum else "upper right", fontsize=8)
    if cases[0].p_star > 0.5 and not momentum:
        axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.5), fontsize=8)


#: Where a word stands beside the border: above it, and below.
_INSIDE = ((4, 10), (4, -3))


def _note(
    axes: Axes, words: str, at: tuple[float, float], offset: tuple[float, float],
    colour: str = "faint",
) -> None:  # fmt: skip
    axes.annotate(
        words, at, offset, textcoords="offset points", va="top", fontsize=8,
        color=COLOURS[colour],
    )  # fmt: skip


def _draw_case(case: Case, axes: Axes, last: int) -> None:
    colour, name = _KINDS[case.setting.staleness]
    slopes = case.theory()
    x = case.pace(case.seeds) * slopes.stiffness
    steps = np.arange(1, last + 1)
    exact = [
        multiplier(x, share=slopes.share, refresh=int(n), mu=case.setting.mu) for n in steps
    ]
    curve = np.array([abs(one) if case.setting.mu else one.real for one in exact])
    axes.plot(steps, curve, color=COLOURS[colour], label=name)
    low, middle, high = _intervals(case)
    axes.errorbar(
        case.refreshes, middle, yerr=[middle - low, high - middle], fmt="o", markersize=4.2,
        color=COLOURS[colour], markerfacecolor="white", capsize=2, elinewidth=1,
    )  # fmt: skip


def _published(case: Case) -> float:
    return rule(case.pace(case.seeds) * case.theory().stiffness, case.setting.mu)


def _intervals(case: Case) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return low end, value and high end at each refresh."""

    def values(seeds: Sequence[int]) -> FloatArray:
        return np.array([one.value for one in case.multipliers(seeds)])

    _, each = jackknifed(values, case.seeds)
    middle, low, high = np.array(
        [mean_interval(column, confidence=_CONFIDENCE) for column in each.T]
    ).T
    return low, middle, high
