r"""E1 and E2: the group size sets the speed of the mean path, as the finite-group drift says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

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

_INFINITE = 100_000
_QUANTITY = "steps to {level:.0%}"


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


def _theories(normaliser: str) -> dict[str, tuple[str, int | None, int]]:
    """Return theory -> what it is, group size (None: the run's own), ddof."""
    if normaliser == "none":
        return {"exact": ("(G - 1)/G", None, 1), "source": ("no G", _INFINITE, 1)}
    return {
        "exact": ("finite groups, ddof 1", None, 1),
        "rival": ("finite groups, ddof 0", None, 0),
        "source": ("no G", _INFINITE, 1),
    }


def _level(plan_level: float) -> float:
    return float(np.log(plan_level / (1 - plan_level)))


_TARGET = 0.7


def _times(run: Run, group_size: int | None, ddof: int) -> tuple[float, float]:
    """Return measured and predicted steps to the level."""
    setting = run.setting
    force = drift(group_size or setting.group_size, setting.normaliser, ddof=ddof)
    return (
        crossing(run.logit[:, 0], _level(_TARGET)),
        crossing(mean_path(run, force), _level(_TARGET)),
    )


def _rows(runs: Sequence[Run], *, experiment: str, normaliser: str) -> list[Row]:
    cases = []
    for (task, size), some in _grouped(runs).items():
        for theory, (_, group_size, ddof) in _theories(normaliser).items():
            times = np.array([_times(run, group_size, ddof) for run in some])
            measured, predicted = times.T
            # Each seed is another network with a prediction of its own: the ratio is what they share.
            middle = float(predicted.mean())
            cases.append((
                f"{task}, G {size}", _QUANTITY.format(level=_TARGET), theory, middle,
                measured / predicted * middle,
            ))  # fmt: skip
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
    names = {"exact": "finite groups, ddof 1", "rival": "ddof 0", "source": "G is a temperature only"}
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
