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
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.scalar import crossing, drift, mean_path
from numerics.plots import COLOURS, panel, plain_ticks, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MEAN_ONLY", "STD_NORMALISED"]

_TARGET = 0.7
_LEVEL = math.log(_TARGET / (1 - _TARGET))
_QUANTITY = f"steps to {_TARGET:.0%}"

# Theory -> what the drift has instead of the run's own group size and the trainer's ddof.
_THEORIES: dict[str, dict[str, Any]] = {"exact": {}, "rival": {"ddof": 0}, "source": {"size": None}}
_STYLES = {"exact": "-", "rival": ":", "source": "--"}
_WORDS = {
    "exact": "predicted by finite groups, ddof 1",
    "rival": "the same with ddof 0",
    "source": "a temperature only: no G",
}


def _settings(plan: Plan, normaliser: str) -> list[Setting]:
    sizes = plan["group_sizes"]
    return [
        Setting(
            task=task["name"], answers=task["answers"], policy_seed=seed, seed=seed,
            p_ref=plan["p_start"], pace=task["pace"],
            group_size=size, normaliser=normaliser, steps=plan["steps"], until=plan["until"],
            measures=("gain-along",),
        )
        for task in plan["tasks"]
        for size, seed in product(task.get("group_sizes", sizes), range(plan["seeds"]))
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
        if setting.task == "several-token" and setting.pace < 0.1:
            task += ", half the pace"
        found.setdefault((task, setting.group_size), []).append(run)
    return found


def _figures(runs: Sequence[Run], rows: Sequence[Row], *, name: str) -> dict[str, str]:
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, rows)))}


def _draw(rows: Sequence[Row], axes: Axes) -> None:
    sizes = sorted({_size(row) for row in rows})
    # The sharp test, and the one nearest to it; the other tasks are in the tables.
    for case, colour in (("one-token, 2 answers", "blue"), ("one-token, 16 answers", "green")):
        some = [row for row in rows if row.case.startswith(f"{case}, G ")]
        for theory, style in _STYLES.items():
            curve = [(_size(row), row.predicted) for row in some if row.theory == theory]
            if curve and (colour == "blue" or theory == "exact"):
                axes.plot(*zip(*curve, strict=True), style, color=COLOURS[colour])
        exact = [row for row in some if row.theory == "exact"]
        if exact:
            axes.errorbar(
                [_size(row) for row in exact],
                [row.measured for row in exact],
                yerr=np.array([(r.measured - r.low, r.high - r.measured) for r in exact]).T,
                fmt="o", color=COLOURS[colour], markerfacecolor="none", capsize=2.5,
                label=f"trained: {case}",
            )  # fmt: skip
    for theory in dict.fromkeys(row.theory for row in rows):
        axes.plot([], [], _STYLES[theory], color=COLOURS["faint"], label=_WORDS[theory])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes)
    axes.set_yticks([20, 50, 100, 200, 500])
    plain_ticks(axes)
    axes.set_xlabel("group size G")
    axes.set_ylabel(f"steps to {_TARGET:.0%} success")
    axes.set_title("how fast a transformer learns, against G")
    axes.legend(fontsize=7.6)


def _size(row: Row) -> int:
    return int(row.case.rsplit(" ", 1)[1])


STD_NORMALISED = Experiment(
    id="E1",
    title="group size and the mean path, std-normalised",
    question="Does the group size change the speed of the mean path, and by how much?",
    settings=partial(_settings, normaliser="group-std"),
    rows=partial(_rows, experiment="E1", normaliser="group-std"),
    figures=partial(_figures, name="transformer_group_size"),
    headline="one-token, 2 answers, G 4 / steps to 70% / exact",
    series=("reward",),
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
