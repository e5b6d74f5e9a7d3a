"""The figures of E4: the noise of a step against the success probability, and against G."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.theory.anchored import Anchor, weight_for
from numerics.experiments.transformer.theory.stationary import STEP, Family, size_sweeps
from numerics.plots import COLOURS, panel, plain_ticks, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figures"]

_COLOURS = {"reverse": COLOURS["blue"], "k3": COLOURS["orange"]}
_LABELS = {"reverse": "k3 times the ratio", "k3": "k3 in the loss"}


def figures(found: Sequence[Family], rows: Sequence[Row]) -> dict[str, str]:
    """Return file name -> SVG."""
    noise = {row.case: row for row in rows if row.quantity == STEP and row.theory == "exact"}
    drawn = {
        "transformer_noise": _against_success,
        "transformer_noise_group_size": _against_group_size,
    }
    return {
        f"{name}.svg": standing_alone(panel(name, partial(draw, found, noise)))
        for name, draw in drawn.items()
    }


def _seen(some: Sequence[Family], noise: dict[str, Row], scale: float) -> NDArray[np.float64]:
    """Return the measured noise of a group and how far its interval goes down and up, (3, n)."""
    points = []
    for family in some:
        row = noise[family.name]
        unit = scale * np.mean([family.noise(run) for run in family.runs]) / row.predicted
        ends = (row.measured, row.measured - row.low, row.high - row.measured)
        points.append([unit * end for end in ends])
    return np.transpose(points)


def _points(
    axes: Axes, at: Sequence[float], seen: NDArray[np.float64], colour: str, label: str, fill: str
) -> None:
    axes.errorbar(
        at, seen[0], yerr=seen[1:], fmt="o", color=colour, markerfacecolor=fill, capsize=2.5,
        label=label,
    )  # fmt: skip


def _against_success(found: Sequence[Family], noise: dict[str, Row], axes: Axes) -> None:
    # The sweep of the success probability is what most cases share a reference and a size with.
    shared = Counter((family.anchor.p_ref, family.anchor.group_size) for family in found)
    p_ref, size = shared.most_common(1)[0][0]
    chosen = [f for f in found if (f.anchor.p_ref, f.anchor.group_size) == (p_ref, size)]
    places = np.linspace(p_ref + 0.05, max(f.rest.p for f in chosen) + 0.03, 81)
    for kl, colour in _COLOURS.items():
        curve = []
        for p in places:
            anchor = Anchor(size, weight_for(p, group_size=size, kl=kl, p_ref=p_ref), kl, p_ref)
            curve.append(size * anchor.rest(float(np.log(p / (1 - p)))).noise)
        axes.plot(places, curve, color=colour)
        for answers in sorted({family.answers for family in chosen}):
            some = [f for f in chosen if f.anchor.kl == kl and f.answers == answers]
            if some:
                many = answers > 2
                label = f"{answers} answers" if many else _LABELS[kl]
                fill = colour if many else "none"
                seen = _seen(some, noise, size)
                _points(axes, [f.rest.p for f in some], seen, colour, label, fill)
    free = (1 - 2 * places) ** 2 / 4
    axes.plot(places, free, ":", color=COLOURS["faint"], label="(1 - 2p)\u00b2/4")
    axes.axvline(1 - p_ref, color=COLOURS["faint"], linewidth=0.7)
    axes.set_ylim(0, None)
    axes.set_xlabel("success probability at rest")
    axes.set_ylabel("noise of a group, times G")
    axes.set_title(f"a transformer's noise at rest, p_ref = {p_ref:g}, G = {size}")
    axes.legend(fontsize=7.6)


def _against_group_size(found: Sequence[Family], noise: dict[str, Row], axes: Axes) -> None:
    sizes: set[int] = set()
    for sweep, colour in zip(size_sweeps(found), ("blue", "orange", "green"), strict=False):
        at = [family.anchor.group_size for family in sweep]
        sizes.update(at)
        first, last = sweep[0], sweep[-1]
        axes.plot(at, [family.rest.noise for family in sweep], color=COLOURS[colour])
        axes.plot(
            at, [last.rest.noise * at[-1] / size for size in at], "--", color=COLOURS[colour],
            linewidth=1.0,
        )  # fmt: skip
        ends = sorted({f"{first.rest.p:.2f}", f"{last.rest.p:.2f}"})
        label = f"{first.anchor.kl}, at rest at {' to '.join(ends)}"
        _points(axes, at, _seen(sweep, noise, 1.0), COLOURS[colour], label, "none")
    axes.plot([], [], "--", color=COLOURS["faint"], linewidth=1.0, label="1/G, through the largest")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted(sizes))
    plain_ticks(axes)
    axes.set_xlabel("group size G")
    axes.set_ylabel("noise of a group")
    axes.set_title("a transformer's noise at rest against the group size")
    axes.legend(fontsize=7.6)
