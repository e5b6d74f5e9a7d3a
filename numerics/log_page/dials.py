"""The four dials: what each diagnostic reads, what it said as the log grew, and what it says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from numerics.diagnose import Finding
from numerics.diagnose.trend import Floats
from numerics.log_page.course import Said
from numerics.log_page.curve import Learned
from numerics.log_page.drawing import dot_size, dots, label, legend, limits
from numerics.log_page.marks import MARKS, badge
from numerics.log_page.parts import listed, ranged, to
from numerics.logs import Run
from numerics.pages import number, text
from numerics.plots import COLOURS, panel, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["card"]

#: What each diagnostic reads: the first of these that the log holds, and what stands beside it.
_READ: dict[str, tuple[tuple[str, ...], ...]] = {
    "train-eval coupling": (("true_reward", "eval_reward", "reward"),),
    "advantage degeneracy": (
        ("dead_fraction",), ("live_fraction",), ("all_good_fraction", "all_bad_fraction"),
    ),
    "policy concentration": (("entropy", "truncated_fraction"),),
    "dynamical instability": ((),),
}  # fmt: skip
_COLOURS = ("blue", "orange", "green")
_SPREAD = 20.0  # of the values, but for their tails: from there on a logarithmic axis reads better
_Line = tuple[str, Floats, Floats]


def card(
    name: str, run: Run, evaluation: Run | None, learned: Learned, finding: Finding,
    course: Sequence[Said],
) -> str:  # fmt: skip
    """Return one dial; `name` is the prefix of its ids."""
    drawn = ""
    lines = _lines(run, evaluation, learned, finding.name) if course else []
    if lines:
        svg = _figure(name, lines, finding, course)
        alt = f"{finding.name} by step: {', '.join(line[0] for line in lines)}"
        drawn = f'<figure role="img" aria-label="{text(alt)}">{svg}</figure>'
    return (
        f'<article class="dial"><h4>{text(finding.name)} {badge(finding.verdict, finding.kind)}'
        f"</h4>{_value(finding)}{_when(finding)}{drawn}{_words(finding)}</article>\n"
    )


def _value(finding: Finding) -> str:
    if finding.value is None or not finding.value_name:
        return ""
    unit = f" {text(finding.value.unit)}" if finding.value.unit else ""
    return (
        f'<p class="value">{text(finding.value_name)}: <b>{number(finding.value.value)}</b>{unit} '
        f"{ranged(finding.value)}</p>"
    )


def _when(finding: Finding) -> str:
    parts = []
    if finding.onset is not None:
        parts.append(
            f"onset at step {number(finding.onset.step, 6)} "
            f"{to(finding.onset.low, finding.onset.high)}"
        )
    if finding.called_at is not None:
        parts.append(f"could be called at step {number(finding.called_at, 6)}")
    return f"<p>{'; '.join(parts)}</p>" if parts else ""


def _words(finding: Finding) -> str:
    parts = [listed(finding.evidence)]
    if finding.missing:
        parts.append(f"<p><b>Missing</b></p>{listed(finding.missing)}")
    if finding.rivals:
        rivals = (f"{rival.explanation}. To tell: {rival.test}." for rival in finding.rivals)
        parts.append(f"<details><summary>What else it may be</summary>{listed(rivals)}</details>")
    if finding.measures:
        rows = "".join(
            f"<dt>{text(name)}</dt><dd>{number(measure.value)} {ranged(measure)} "
            f"{text(measure.unit)}</dd>"
            for name, measure in finding.measures.items()
        )
        parts.append(
            f'<details><summary>Further numbers</summary><dl class="terms">{rows}</dl></details>'
        )
    return "".join(parts)


def _lines(run: Run, evaluation: Run | None, learned: Learned, name: str) -> list[_Line]:
    if name == "dynamical instability":
        return _swing(run, learned)
    for choice in _READ[name]:
        held = [_line(run, quantity) for quantity in choice if run.has(quantity)]
        lines = [line for line in held if np.ptp(line[2]) > 0] or held[:1]
        if lines and name == "train-eval coupling" and evaluation is not None:
            held_out = next(
                (q for q in ("eval_reward", "true_reward", "reward") if evaluation.has(q)), None
            )
            if held_out is not None:
                column, step, value = _line(evaluation, held_out)
                lines.insert(0, (f"evaluation {column}", step, value))
        if lines:
            return lines
    return []


def _line(run: Run, quantity: str) -> _Line:
    return run.column(quantity).name, *run.series(quantity)


def _swing(run: Run, learned: Learned) -> list[_Line]:
    """What is left of the reward above the fitted curve."""
    if learned.ranked is None:
        return [_line(run, "reward")]
    best = learned.ranked.best
    return [("reward minus fitted curve", best.series.step, best.residual)]


def _figure(name: str, lines: Sequence[_Line], finding: Finding, course: Sequence[Said]) -> str:
    valued = any(_shares(said.finding, finding) for said in course)

    def draw(axes: Axes) -> None:
        canvas = axes.figure
        axes.remove()
        top, low = canvas.subplots(
            2, 1, sharex=True, gridspec_kw={"height_ratios": (5, 3) if valued else (8, 1)}
        )
        _read(top, lines, apart=finding.name == "policy concentration")
        _said(low, finding, course, valued)
        for each in (top, low):
            _onset(each, finding)
        low.set_xlabel("step")

    return panel(name, draw)


def _read(axes: Axes, lines: Sequence[_Line], apart: bool) -> None:
    """Draw what was read; what is `apart` is another quantity, with an axis of its own."""
    other = axes.twinx() if apart and len(lines) > 1 else axes
    for place, (column, step, value) in enumerate(lines):
        where, colour = (other if place else axes), COLOURS[_COLOURS[place]]
        where.plot(
            *dots(step, value), ".-", linewidth=0.6, markersize=dot_size(value), color=colour,
            label=label(column),
        )  # fmt: skip
    if other is axes:
        _scale(axes, [value for _, _, value in lines])
    else:
        for where, (_, _, value), colour in zip((axes, other), lines, _COLOURS, strict=False):
            _scale(where, [value])
            where.tick_params(axis="y", labelcolor=COLOURS[colour])
        other.grid(False)
    legend(axes, *([other] if other is not axes else []))


def _scale(axes: Axes, values: Sequence[Floats]) -> None:
    every = np.concatenate(values)
    low, high = np.quantile(every, (0.05, 0.95))
    if every.min() > 0 and high > _SPREAD * low:
        axes.set_yscale("log")
    else:
        axes.set_ylim(*limits(every))
    plain_ticks(axes)


def _said(axes: Axes, finding: Finding, course: Sequence[Said], valued: bool) -> None:
    """Draw the value as the log grew, and the verdict of each length as its marker."""
    for said in course:
        mark = MARKS[said.finding.verdict]
        value = said.finding.value
        style: dict[str, Any] = {
            "marker": mark.marker, "color": mark.colour, "markersize": 6, "clip_on": False,
            "linestyle": "none",
        }  # fmt: skip
        if value is not None and _shares(said.finding, finding):
            ends = np.nan_to_num([value.low, value.high], posinf=1e300, neginf=-1e300)
            axes.vlines(said.step, *ends, color=mark.colour, linewidth=1.3)
            axes.plot(said.step, value.value, **style)
        else:
            height = 0.06 if valued else 0.5
            axes.plot(said.step, height, transform=axes.get_xaxis_transform(), **style)
    if not valued:
        axes.set_yticks([])
        axes.set_ylabel("verdict", rotation=0, ha="right", va="center")
        return
    known = [s.finding.value for s in course if _shares(s.finding, finding)]
    values = np.array([value.value for value in known if value is not None])
    last = known[-1]
    bounds = () if last is None else (last.low, last.high)
    axes.set_ylim(*limits(values, *(end for end in bounds if np.isfinite(end))))
    axes.set_title(label(finding.value_name), parse_math=False)
    plain_ticks(axes)


def _shares(one: Finding, other: Finding) -> bool:
    """Whether two findings give the same quantity a finite value."""
    return (
        one.value is not None
        and one.value_name == other.value_name
        and bool(np.isfinite(one.value.value))
    )


def _onset(axes: Axes, finding: Finding) -> None:
    if finding.onset is not None:
        low, high = finding.onset.low, finding.onset.high
        axes.axvspan(low, high, color=COLOURS["orange"], alpha=0.15, linewidth=0)
        axes.axvline(finding.onset.step, color=COLOURS["orange"], linewidth=1.0)
    if finding.called_at is not None:
        axes.axvline(finding.called_at, color=COLOURS["ink"], linewidth=1.0, linestyle=":")
