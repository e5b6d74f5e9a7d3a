r"""E8: prompts of unequal difficulty, their dead groups and their stretched saturation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.scalar import crossing, drift
from numerics.plots import COLOURS, panel, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["UNEQUAL_PROMPTS"]

_EARLY, _LATE = 0.7, 0.8


def _settings(plan: Plan) -> list[Setting]:
    spread = tuple(plan["p_start"])
    return [
        Setting(
            task="one-token", answers=4, prompts=len(spread), policy_seed=seed, seed=seed,
            p_ref=spread, pace=plan["pace"], group_size=size, steps=plan["steps"],
            until=plan["until"], measures=("mean-field",),
        )
        for size, seed in product(plan["group_sizes"], range(plan["seeds"]))
    ]  # fmt: skip


def dead_fraction(p: NDArray[np.float64], group_size: int) -> NDArray[np.float64]:
    """Return the probability that all of a group's rewards are equal."""
    return p**group_size + (1 - p) ** group_size


def one_coordinate(run: Run) -> NDArray[np.float64]:
    r"""Return the mean success that one scalar coordinate predicts, (steps + 1,).

    All prompts are taken to be the mean prompt, moved with the gain and the mean success that the
    run begins with: what the mean-field assumption of the source reduces it to.
    """
    start = float(run.p[0].mean())
    logit = float(np.log(start / (1 - start)))
    force = drift(run.setting.group_size, run.setting.normaliser)
    # Every prompt has its own slopes; a step on one moves it by the gain over the prompts.
    step = run.facts["eta"] * run.facts["gain"] / run.setting.prompts
    path = [logit]
    for _ in range(run.setting.steps):
        path.append(path[-1] + step * force(path[-1]))
    return np.asarray(1 / (1 + np.exp(-np.array(path))))


def _late(path: NDArray[np.float64]) -> float:
    """Return how many steps a path takes from the early level to the late one."""
    return crossing(path, _LATE) - crossing(path, _EARLY)


def _rows(runs: Sequence[Run]) -> list[Row]:
    cases = []
    for size in dict.fromkeys(run.setting.group_size for run in runs):
        some = [run for run in runs if run.setting.group_size == size]
        case = f"8 prompts, G {size}"
        dead = np.array([run.dead.mean() for run in some])
        said = {
            "exact": [dead_fraction(run.p[:-1], size).mean() for run in some],
            "source": [dead_fraction(run.p[:-1].mean(1), size).mean() for run in some],
        }
        for theory, values in said.items():
            # Each run has its own path of p, and so its own prediction.
            middle = float(np.mean(values))
            cases.append((case, "share of dead groups", theory, middle, dead - values + middle))
        for quantity, measure in (
            (f"steps to {_EARLY:.0%}", partial(crossing, level=_EARLY)),
            (f"steps from {_EARLY:.0%} to {_LATE:.0%}", _late),
        ):
            measured = np.array([measure(run.p.mean(1)) for run in some])
            for theory, path in (
                ("exact", lambda run: np.array(run.facts["mean_field"])),
                ("source", one_coordinate),
            ):
                predicted = np.array([measure(path(run)) for run in some])
                middle = float(predicted.mean())
                cases.append((case, quantity, theory, middle, measured / predicted * middle))
    return compare("E8", cases)


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    name = "transformer_prompts"
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, runs)))}


def _draw(runs: Sequence[Run], axes: Axes) -> None:
    size = runs[0].setting.group_size
    some = [run for run in runs if run.setting.group_size == size]
    for run, colour in zip(some, ("blue", "green", "purple"), strict=False):
        axes.plot(run.p.mean(1), color=COLOURS[colour], linewidth=1.1)
        axes.plot(run.facts["mean_field"], "--", color=COLOURS[colour], linewidth=1.3)
    one = np.mean([one_coordinate(run) for run in some], axis=0)
    faint = COLOURS["faint"]
    axes.plot([], [], color=faint, linewidth=1.1, label="trained, a colour a network")
    axes.plot([], [], "--", color=faint, label="mean drift, each prompt its own")
    axes.plot(one, ":", color=COLOURS["orange"], label="one scalar coordinate")
    axes.set_xlabel("step")
    axes.set_ylabel("success probability, mean of the prompts")
    axes.set_title(f"eight prompts of unequal difficulty, G = {size}")
    axes.legend(loc="lower right", fontsize=7.6)


UNEQUAL_PROMPTS = Experiment(
    id="E8",
    title="prompts of unequal difficulty",
    question="How many groups are dead, and how late is the rest of the gain, when prompts differ?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    headline="8 prompts, G 4 / steps to 70% / exact",
    series=("dead",),
)
