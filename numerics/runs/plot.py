"""A run as a figure: one panel a column, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.plots import COLOURS
from numerics.runs.table import Table

__all__ = ["PLOT_SUFFIXES", "plot"]

#: Endings of the figures that can be written.
PLOT_SUFFIXES = (".svg", ".png")

#: Columns that say little in a figure.
_NOT_DRAWN = ("step", "chain", "effective_arms", "advantage_min", "advantage_max", "theta")
_MOST_LINES = 20  # more chains than this are a grey smear; the mean shows
_TALLEST = 1e100


Line = tuple[NDArray[Any], NDArray[Any]]


def plot(table: Table, path: Path) -> None:
    """Draw every column against the step: chains thin, their mean bold, an overflow as a line.

    SVG or, if the name ends in ``.png``, PNG.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    names = [name for name in table.columns if name not in _NOT_DRAWN]
    wide = min(2, len(names))
    high = -(-len(names) // wide)
    style = {"svg.hashsalt": "grpo-dynamics", "svg.fonttype": "path", "font.family": "DejaVu Sans"}
    with mpl.rc_context({**style, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(4.8 * wide, 2.6 * high), layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(high, wide, squeeze=False, sharex=True).flat
        for panel, name in zip(panels, names, strict=False):
            for steps, values in _chains(table, name):
                panel.plot(steps, values, color=COLOURS["faint"], linewidth=0.7)
            panel.plot(*_mean(table, name), color=COLOURS["blue"], linewidth=1.6)
            for left in table.overflows[:_MOST_LINES]:
                panel.axvline(left.step, color=COLOURS["orange"], linewidth=0.8, linestyle=":")
            panel.set_title(name, loc="left", fontsize=10)
            panel.grid(color=COLOURS["grid"], linewidth=0.7)
        for panel in list(figure.axes)[len(names) :]:
            panel.set_axis_off()
        for panel in figure.axes[max(0, len(names) - wide) : len(names)]:
            panel.set_xlabel("step")
            panel.tick_params(labelbottom=True)
        undated = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
        figure.savefig(path, format=path.suffix[1:], dpi=150, metadata=undated)


def _chains(table: Table, name: str) -> Iterator[Line]:
    """Yield the column of each of the first chains; of none if rows are means."""
    chain = table.columns.get("chain")
    for number in range(0 if chain is None else min(_MOST_LINES, int(chain.max(initial=-1)) + 1)):
        own = chain == number
        yield table.columns["step"][own], _drawable(table.columns[name][own])


def _mean(table: Table, name: str) -> Line:
    """Return the mean over the chains, for as long as all of them run."""
    steps, values = table.columns["step"], _drawable(table.columns[name])
    found, first, count = np.unique(steps, return_index=True, return_counts=True)
    whole = count == count.max(initial=0)
    sums = np.add.reduceat(values, first) if len(first) else values
    return found[whole], sums[whole] / count[whole]


def _drawable(values: NDArray[Any]) -> NDArray[Any]:
    """Bound what an axis cannot have as its end: a run about to overflow."""
    bounded: NDArray[Any] = np.clip(values, -_TALLEST, _TALLEST)
    return bounded
