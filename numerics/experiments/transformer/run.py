r"""The experiments as a whole: what is missing is run, what is there is compared and drawn."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from numerics.experiments.transformer.catalogue import EXPERIMENTS
from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.store import Store
from numerics.inputs import InvalidInput, known_name
from numerics.workers import in_processes

__all__ = ["RESULTS", "Found", "chosen", "do", "load", "look"]

#: The runs that are kept with the package.
RESULTS = Path(str(resources.files("numerics.experiments.transformer"))) / "results"

Progress = Callable[[Iterable[Any], int], Iterable[Any]]


@dataclass(frozen=True)
class Found:
    """One experiment, run and compared."""

    experiment: Experiment
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]

    def figures(self) -> dict[str, str]:
        """Return file name -> SVG."""
        return self.experiment.figures(self.runs, self.rows)


def load(experiment: Experiment, *, quick: bool) -> Plan:
    """Return the plan of an experiment; `quick` is the same with less of everything."""
    text = resources.files("numerics.experiments.transformer").joinpath("plan.toml")
    data: dict[str, Any] = tomllib.loads(text.read_text("utf-8"))
    plan: dict[str, Any] = data[experiment.id]
    return plan | data["quick"].get(experiment.id, {}) if quick else plan


def chosen(only: Sequence[str]) -> list[Experiment]:
    """Return the experiments named, or all."""
    for name in only:
        known_name("experiment", name, EXPERIMENTS)
    return [EXPERIMENTS[name] for name in EXPERIMENTS if not only or name in only]


def _do(job: tuple[Setting, Path, str]) -> Setting:
    from numerics.experiments.transformer.lab.trainer import train

    setting, directory, experiment = job
    Store(directory, experiment).keep(train(setting))
    return setting


def do(
    experiment: Experiment,
    directory: Path,
    *,
    quick: bool,
    progress: Progress = lambda results, total: results,
    processes: int | None = None,
) -> Found:
    """Do what is missing of an experiment, and compare.

    Parameters
    ----------
    experiment
        Which.
    directory
        Where its runs are kept. A run that is there with the same settings is not done again, so
        that an interrupted experiment goes on where it was.
    quick
        Less of everything.
    progress
        Wraps the iteration over the runs, given their number.
    processes
        How many processes share the work, as `numerics.workers.in_processes` takes it.
    """
    if find_spec("trl") is None:
        raise InvalidInput(
            "the transformer experiments train with trl, which is not installed: "
            "pip install 'grpo-dynamics[transformer]', or --redraw to draw the runs that are kept"
        )
    store = Store(directory, experiment.id)
    settings = list(dict.fromkeys(experiment.settings(load(experiment, quick=quick))))
    there = store.runs(settings)
    # The longest first, so that no process is left with one at the end.
    missing = sorted(set(settings) - set(there), key=lambda one: -one.steps * one.group_size)
    jobs = [(setting, directory, experiment.id) for setting in missing]
    for _ in progress(in_processes(_do, jobs, processes=processes) if jobs else (), len(jobs)):
        pass
    there = store.runs(settings)
    runs = tuple(there[setting] for setting in settings)
    store.close(runs, experiment.series)
    return Found(experiment, runs, tuple(experiment.rows(runs)))


def look(experiment: Experiment, directory: Path, *, quick: bool) -> Found:
    """Compare what has been run; needs no torch.

    Raises
    ------
    InvalidInput
        If a run of the plan is not there.
    """
    settings = list(dict.fromkeys(experiment.settings(load(experiment, quick=quick))))
    there = Store(directory, experiment.id).runs(settings)
    if len(there) < len(settings):
        raise InvalidInput(
            f"{directory}: {len(settings) - len(there)} of the {len(settings)} runs of "
            f"{experiment.id} are not there; do them with the extra transformer installed"
        )
    runs = tuple(there[setting] for setting in settings)
    return Found(experiment, runs, tuple(experiment.rows(runs)))
