r"""The experiment drawn: measured borders on the exact curves, and theorem 7 beside them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from numerics.experiments.bandit.locate import climb
from numerics.experiments.bandit.plan import LAG_MODELS, Schedule, delay, lag_model
from numerics.experiments.bandit.prediction import predicted
from numerics.experiments.bandit.run import Experiment
from numerics.experiments.bandit.systems import Many
from numerics.experiments.bandit.two_arm import Case
from numerics.plots import COLOURS, RINGS, panel, plain_ticks, standing_alone
from numerics.simulation import STALENESS, ConstantLag, Sawtooth

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["figures"]

# Colour, line width and marker size of each setting: where two coincide, the first shows outside.
_LOOKS = (("blue", 2.8, 7.0), ("green", 1.4, 4.2))
_BETWEEN = 3  # lags drawn between two that were run
_WORDS = {
    "delayed-gradient": "delayed gradient",
    "stale-samples": "stale samples, no ratio",
    "stale-samples-ratio": "stale samples, ratio",
}


def figures(experiment: Experiment) -> dict[str, str]:
    """Return file name -> SVG: borders for each staleness, lag model and momentum; the systems."""
    found = {}
    for staleness, model, mu in product(STALENESS, LAG_MODELS, experiment.plan.momenta):
        name = f"bandit_{staleness}_{model}_mu{mu:g}"
        cases = [
            case
            for case in experiment.cases
            if (case.staleness, lag_model(case.schedule), case.mu) == (staleness, model, mu)
        ]
        found[f"{name}.svg"] = standing_alone(panel(name, partial(_borders, experiment, cases)))
    found["bandit_mean_field.svg"] = standing_alone(
        panel("bandit_mean_field", partial(_systems, experiment.systems))
    )
    return found


def _borders(experiment: Experiment, cases: Sequence[Case], axes: Axes) -> None:
    grid = climb(experiment.plan.search)
    for (colour, width, size), (beta, p_star) in zip(_LOOKS, _settings(cases), strict=True):
        some = [case for case in cases if case.beta == beta]
        share, mu = some[0].stale_share, some[0].mu
        schedules = list(_between([case.schedule for case in some]))
        lags = [delay(schedule) for schedule in schedules]
        said = [predicted(s, mu=mu, stale_share=share, grid=grid) for s in schedules]
        for border, marker in (("threshold", "o"), ("onset", "s")):
            for theory, style in (("exact", "-"), ("theorem-7", "--")):
                curve = [getattr(borders[theory], border) for borders in said]
                axes.plot(
                    lags, _floats(curve), style, color=COLOURS[colour],
                    linewidth=width if theory == "exact" else 1.4,
                )  # fmt: skip
            ran = _floats(getattr(case.run, border) for case in some)
            axes.plot(
                [delay(case.schedule) for case in some], ran, color=COLOURS[colour],
                **{**RINGS, "marker": marker, "markersize": size},
            )  # fmt: skip
        label = f"p* = {p_star:.2g}, stale share {share:.2g}"
        axes.plot([], [], color=COLOURS[colour], label=label)
    first = cases[0]
    if first.staleness != "delayed-gradient":
        rule = [predicted(s, mu=first.mu, stale_share=1.0, grid=grid) for s in schedules]
        for border in ("threshold", "onset"):
            curve = _floats(getattr(borders["share-1"], border) for borders in rule)
            axes.plot(lags, curve, ":", color=COLOURS["orange"])
        axes.plot([], [], ":", color=COLOURS["orange"], label="theorem 7, all of it stale")
    ink = COLOURS["faint"]
    axes.plot([], [], "--", color=ink, label="theorem 7, this share")
    axes.plot([], [], color=ink, label="threshold: exact, and run", **{**RINGS, "linestyle": "-"})
    axes.plot(
        [], [], color=ink, label="transition: exact, and run",
        **{**RINGS, "linestyle": "-", "marker": "s"},
    )  # fmt: skip
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks([delay(case.schedule) for case in some])
    plain_ticks(axes)
    low, high = axes.get_ylim()
    axes.set_yticks([10.0**k for k in range(-6, 3) if low <= 10.0**k <= high])
    axes.set_ylim(low / (high / low) ** 0.55, high)  # room for the legend
    constant = lag_model(first.schedule) == "constant"
    axes.set_title(
        f"{_WORDS[first.staleness]}; {'constant lag' if constant else 'sawtooth'}; μ = {first.mu:g}"
    )
    axes.set_xlabel("lag d, steps" if constant else "refresh N, steps")
    axes.set_ylabel("step size ηK")
    axes.legend(loc="lower left", fontsize=7.6, labelspacing=0.25)


def _settings(cases: Iterable[Case]) -> list[tuple[float, float]]:
    return list(dict.fromkeys((case.beta, case.p_star) for case in cases))


def _between(schedules: Sequence[Schedule]) -> Iterable[Schedule]:
    """Return the schedules that were run and some between."""
    steps = [delay(schedule) for schedule in schedules]
    count = (len(steps) - 1) * (_BETWEEN + 1) + 1
    more = np.geomspace(min(steps), max(steps), count).round().astype(int)
    kind = ConstantLag if lag_model(schedules[0]) == "constant" else Sawtooth
    return [kind(int(step)) for step in sorted({*steps, *more.tolist()})]


def _floats(values: Iterable[float | None]) -> list[float]:
    return [np.nan if value is None else value for value in values]


def _systems(rows: Sequence[Many], axes: Axes) -> None:
    names = list(dict.fromkeys(row.system for row in rows))
    marks = (
        ("threshold", "o", "blue"), ("transition", "s", "green"), ("relaxation time", "^", "orange")
    )  # fmt: skip
    for place, name in enumerate(names):
        some = [row for row in rows if row.system == name]
        for shift, (what, marker, colour) in zip((0.22, 0.0, -0.22), marks, strict=True):
            ratios = [ratio for row in some if (ratio := _ratio(row, what)) is not None]
            axes.plot(
                ratios, np.full(len(ratios), -place + shift), color=COLOURS[colour],
                **{**RINGS, "marker": marker}, label=what if place == 0 else None,
            )  # fmt: skip
    axes.axvline(1, color=COLOURS["ink"], linewidth=0.9)
    axes.set_xscale("log")
    axes.set_xticks([0.03, 0.1, 0.3, 1, 3, 10])
    axes.set_yticks([-place for place in range(len(names))], [_broken(name) for name in names])
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_title("how far one scalar coordinate misses")
    axes.set_xlabel("found by running, over the scalar theory")
    axes.legend(loc="upper left", handletextpad=0.1)


def _broken(name: str) -> str:
    """Break a name in two where it is long."""
    words = name.split()
    half = (len(words) + 1) // 2
    return f"{' '.join(words[:half])}\n{' '.join(words[half:])}"


def _ratio(row: Many, what: str) -> float | None:
    measured, said = {
        "threshold": (row.run.threshold, row.scalar.threshold),
        "transition": (row.run.onset, row.scalar.onset),
        "relaxation time": (row.relaxation, row.scalar_relaxation),
    }[what]
    return None if measured is None or said is None else measured / said
