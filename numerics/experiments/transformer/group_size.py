r"""E1 and E2: the group size sets the speed of the mean path, as the finite-group drift says."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.figure import standing_alone
from numerics.experiments.transformer.scalar import crossing, drift, mean_path
from numerics.experiments.transformer.setting import Run, Setting
from numerics.plots import COLOURS, panel, plain_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MEAN_ONLY", "STD_NORMALISED"]

_TARGET = 0.7
_LEVEL = math.log(_TARGET / (1 - _TARGET))
_QUANTITY = f"steps to {_TARGET:.0%}"

# Theory -> what the drift has instead of the run's own group size and the trainer's ddof.
_THEORIES: dict[str, dict[str, Any]] = {"exact": {}, "rival": {"ddof": 0}, "source": {"size": None}}


def _settings(plan: Plan, normaliser: str) -> list[Setting]:
    return [
        Setting(
            task=task["name"], answers=task["answers"], policy_seed=seed, seed=seed,
            p_ref=plan["p_start"], pace=task["pace"],
            group_size=size, normaliser=normaliser, steps=plan["steps"], until=plan["until"],
            measures=("gain-along",),
        )
        for task, size, seed in product(plan["tasks"], plan["group_sizes"], range(plan["seeds"]))
    ]  # fmt: skip


def _times(run: Run, *, ddof: int = 1, **other: int | None) -> tuple[float, float]:
    """Return measured and predicted steps to the level."""
    setting = run.setting
    force = drift(other.get("size", setting.group_size), setting.normaliser, ddof=ddof)
    return crossing(run.logit[:, 0], _LEVEL), crossing(mean_path(run, force), _LEVEL)


def _rows(runs: Sequence[Run], *, experiment: str, normaliser: str) -> list[Row]:
    cases = []
    theories = [name for name in _THEORIES if normaliser != "none" or name != "rival"]
    for (task, size), some in _grouped(runs).items():
        for theory in theories:
            measured, predicted = np.array([_times(run, **_THEORIES[theory]) for run in some]).T
            # Each seed is another network with its own prediction; they share the ratio.
            middle = float(predicted.mean())
            case = f"{task}, G {size}"
            cases.append((case, _QUANTITY, theory, middle, measured / predicted * middle))
    return compare(experiment, cases)


def _grouped(runs: Iterable[Run]) -> dict[tuple[str, int], list[Run]]:
    found: dict[tuple[str, int], list[Run]] = {}
    for run in runs:
        setting = run.setting
        task = f"{setting.task}, {setting.answers} answers"
        found.setdefault((task, setting.group_size), []).append(run)
    return found


def _figures(runs: Sequence[Run], rows: Sequence[Row], *, name: str) -> dict[str, str]:
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, rows)))}


def _draw(rows: Sequence[Row], axes: Axes) -> None:
    tasks = list(dict.fromkeys(row.case.rsplit(",", 1)[0] for row in rows))
    styles = {"exact": "-", "rival": ":", "source": "--"}
    names = {"exact": "finite groups, ddof 1", "rival": "ddof 0", "source": "no G in the mean path"}
    for task, colour in zip(tasks, ("blue", "orange", "green"), strict=False):
        for theory, style in styles.items():
            some = [r for r in rows if r.case.startswith(f"{task},") and r.theory == theory]
            if not some:
                continue
            sizes = [int(row.case.rsplit(" ", 1)[1]) for row in some]
            axes.plot(sizes, [row.predicted for row in some], style, color=COLOURS[colour])
            if theory == "exact":
                axes.errorbar(
                    sizes, [row.measured for row in some],
                    yerr=[[r.measured - r.low for r in some], [r.high - r.measured for r in some]],
                    fmt="o", color=COLOURS[colour], markerfacecolor="none", capsize=2.5, label=task,
                )  # fmt: skip
    present = {row.theory for row in rows}
    for theory in (t for t in styles if t in present):
        axes.plot([], [], styles[theory], color=COLOURS["faint"], label=names[theory])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sorted({int(row.case.rsplit(" ", 1)[1]) for row in rows}))
    axes.set_yticks([20, 50, 100, 200, 500])
    plain_ticks(axes)
    axes.set_xlabel("group size G")
    axes.set_ylabel(f"steps to {_TARGET:.0%} success")
    axes.set_title("a transformer's mean path against the group size")
    axes.legend(fontsize=7.6)


STD_NORMALISED = Experiment(
    id="E1",
    title="group size and the mean path, std-normalised",
    question="Does the group size change the speed of the mean path, and by how much?",
    settings=partial(_settings, normaliser="group-std"),
    rows=partial(_rows, experiment="E1", normaliser="group-std"),
    figures=partial(_figures, name="transformer_group_size"),
    headline="one-token, 2 answers, G 4 / steps to 70% / exact",
)

MEAN_ONLY = Experiment(
    id="E2",
    title="group size and the mean path, mean only",
    question="Without the standard deviation, is the speed (G - 1)/G of that of large groups?",
    settings=partial(_settings, normaliser="none"),
    rows=partial(_rows, experiment="E2", normaliser="none"),
    figures=partial(_figures, name="transformer_mean_only"),
    headline="one-token, 2 answers, G 2 / steps to 70% / exact",
)
