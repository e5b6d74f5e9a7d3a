"""The learning curve of a run: what was fitted to it, the picture, and what the fit says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from numerics.diagnose import SHAPES, Diagnosis
from numerics.diagnose.trend import Floats
from numerics.fit import (
    QUANTITIES,
    Comparison,
    Curve,
    Interval,
    ceiling,
    compare,
    curve_of_log,
    intervals,
    r_squared,
)
from numerics.forecast import Forecast, forecast
from numerics.inputs import InvalidInput
from numerics.log_page.drawing import dot_size, dots, label, legend, limits
from numerics.log_page.outlook import ahead, expected, room
from numerics.log_page.parts import facts, ranged, to
from numerics.logs import Log, Run
from numerics.pages import number, text
from numerics.plots import COLOURS, panel, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LEVEL", "Learned", "figure", "learn", "said"]

#: Coverage of every interval of a curve.
LEVEL = 0.9
_HALF = 1.6448536269514722  # standard deviations that hold 90 % of a normal distribution
_GRID = 240
_TOLD = ("R_inf", "tau", "inflection")


@dataclass(frozen=True)
class Learned:
    """What a run's rewards gave: the curve, its fits and a forecast, or `why` there are none."""

    curve: Curve | None = None
    ranked: Comparison | None = None
    ranges: Mapping[str, Interval] = field(default_factory=dict)
    forecast: Forecast | None = None
    why: str = ""


def learn(log: Log, run: Run, *, group_size: int | None, prompts: float | None) -> Learned:
    """Fit every family to a run and forecast it; what cannot be fitted says why."""
    try:
        curve = curve_of_log(log, run=run.name, group_size=group_size, prompts=prompts)
        ranked = compare(curve.series)
    except InvalidInput as refusal:
        return Learned(why=str(refusal))
    best = ranked.best
    told = [name for name in _TOLD if name in best.readings]
    ranges = intervals(best, told, level=LEVEL)
    return Learned(curve, ranked, ranges, forecast(curve.series, level=LEVEL))


def figure(name: str, run: Run, learned: Learned) -> str:
    """Draw the rewards, the best curve with the band that holds it, and the forecast."""
    step, value = run.series("reward")
    drawn = dots(step, value)
    found = learned.forecast

    def draw(axes: Axes) -> None:
        axes.plot(
            *drawn, ".", color=COLOURS["faint"], markersize=dot_size(value),
            label=label(run.column("reward").name),
        )  # fmt: skip
        if learned.ranked is not None:
            _fitted(axes, learned.ranked, step)
        if found is not None:
            ahead(axes, found)
        axes.set_ylim(*limits(drawn[1], *([] if found is None else room(found, drawn[1]))))
        axes.set_xlabel("step")
        legend(axes)
        plain_ticks(axes)

    return panel(name, draw)


def _fitted(axes: Axes, ranked: Comparison, step: Floats) -> None:
    along = np.linspace(step[0], step[-1], _GRID)
    middle, error = ranked.best.at(along)
    band = _HALF * error
    axes.fill_between(
        along, middle - band, middle + band, color=COLOURS["blue"], alpha=0.22, linewidth=0
    )
    axes.plot(along, middle, color=COLOURS["blue"], label=f"{ranked.best.family.name} curve")


def said(run: Run, learned: Learned, diagnosis: Diagnosis | None) -> str:
    """Return what the rewards are and what their curve says."""
    column = run.column("reward")
    rows = [("reward", f"<code>{text(column.name)}</code>: {text(column.meaning)}")]
    if diagnosis is not None:
        shape = diagnosis.shape
        rows += [
            ("shape", f"{text(shape.name)}: {text(SHAPES[shape.name])}"),
            ("first tenth", f"{number(shape.early.value)} {ranged(shape.early)}"),
            ("last tenth", f"{number(shape.late.value)} {ranged(shape.late)}"),
        ]
    if learned.ranked is None or learned.curve is None:
        return facts([*rows, ("curve", f"none: {text(learned.why)}")])
    ranked, best = learned.ranked, learned.ranked.best
    others = ", ".join(
        f"{text(name)} {number(ranked.weights[name], 2)}" for name in list(ranked.fits)[1:3]
    )
    weight = number(ranked.weights[best.family.name], 2)
    rows += [
        ("best curve", f"{text(best.family.name)}, {text(best.family.law)}"),
        ("its weight", f"{weight} of 1 (AICc)" + (f"; next {others}" if others else "")),
        *((f"{key}", _reading(key, interval)) for key, interval in learned.ranges.items()),
    ]
    noise, top = best.noise, ceiling(learned.curve.series, best)
    binomial = (
        "" if noise.binomial is None
        else f", of which {number(noise.binomial**0.5)} is counting successes"
    )  # fmt: skip
    rows += [
        ("noise of a row", f"standard deviation {number(noise.variance**0.5)}{binomial}"),
        (
            "R² on raw rows",
            f"{number(r_squared(best), 3)}; a perfect curve would have {number(top.value, 3)} "
            f"{to(top.low, top.high)}",
        ),
        *_averaged(run),
        *(("held", text(what)) for what in best.held),
        *(("note", text(note)) for note in learned.curve.notes),
    ]
    told = facts(rows)
    if learned.forecast is None:
        return told
    return f"{told}<h3>Forecast</h3>{expected(learned.forecast)}"


def _averaged(run: Run) -> list[tuple[str, str]]:
    rows = len(run.series("reward")[0])
    drawn = len(dots(*run.series("reward"))[0])
    return [("dots", f"{drawn}, each the mean of up to {-(-rows // drawn)} rows")] * (drawn < rows)


def _reading(name: str, interval: Interval) -> str:
    shown = f"{number(interval.estimate)} {to(interval.low, interval.high)}"
    meaning = f"<br><small>{text(QUANTITIES[name].meaning)}</small>"
    if interval.determined:
        return shown + meaning
    return f"not determined by this log; best {shown}{meaning}"
