r"""Runs on disk: a file each while an experiment goes on, two small tables when it is done.

``E1.runs.csv`` has a row a run (name, settings, facts, versions), ``E1.paths.csv`` a row a series
(run, series, values). Both are text, and all that figures and verdicts are made from.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.setting import Run, Setting
from numerics.inputs import InvalidInput

__all__ = ["Store"]

_RUNS = ("run", "setting", "facts", "versions")
_PATHS = ("run", "series", "values")


class Store:
    """The runs of one experiment, in a directory.

    Parameters
    ----------
    directory
        Where they are; made when the first is written.
    experiment
        Its id, such as ``E1``.
    """

    def __init__(self, directory: Path, experiment: str) -> None:
        self.directory = directory
        self.experiment = experiment
        self._parts = directory / "unfinished"

    def keep(self, run: Run) -> None:
        """Write one run, whole or not at all."""
        self._parts.mkdir(parents=True, exist_ok=True)
        text = json.dumps([_row(run), _series(run)])
        _write(self._parts / f"{self.experiment}.{run.setting.name}.json", text)

    def runs(self, settings: Iterable[Setting]) -> dict[Setting, Run]:
        """Return those of the runs that are there."""
        rows, series = self._tables()
        for path in sorted(self._parts.glob(f"{self.experiment}.*.json")):
            row, values = json.loads(path.read_text("utf-8"))
            rows[row["run"]] = row
            series[row["run"]] = values
        found = {}
        for setting in settings:
            row = rows.get(setting.name)
            if row is not None and row["setting"] == setting.text:
                found[setting] = _run(setting, row, series[setting.name])
        return found

    def close(self, runs: Iterable[Run], series: tuple[str, ...] = ()) -> None:
        """Write the tables of these runs with these series; remove the files of single runs."""
        kept = list(runs)
        self.directory.mkdir(parents=True, exist_ok=True)
        _write(self._path("runs"), _csv(_RUNS, map(_row, kept)))
        lines = [
            {"run": run.setting.name, "series": name, "values": values}
            for run in kept
            for name, values in _series(run).items()
            if name.startswith("logit") or name in series
        ]
        _write(self._path("paths"), _csv(_PATHS, lines))
        for path in self._parts.glob(f"{self.experiment}.*.json"):
            path.unlink()
        if self._parts.is_dir() and not any(self._parts.iterdir()):
            self._parts.rmdir()

    def _path(self, table: str) -> Path:
        return self.directory / f"{self.experiment}.{table}.csv"

    def _tables(self) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
        series: dict[str, dict[str, str]] = {}
        for line in _read(self._path("paths"), _PATHS):
            series.setdefault(line["run"], {})[line["series"]] = line["values"]
        return {row["run"]: row for row in _read(self._path("runs"), _RUNS)}, series


def _row(run: Run) -> dict[str, str]:
    return {
        "run": run.setting.name,
        "setting": run.setting.text,
        "facts": json.dumps(run.facts),
        "versions": json.dumps(run.versions),
    }


def _series(run: Run) -> dict[str, str]:
    logits = {f"logit {prompt}": column for prompt, column in enumerate(run.logit.T)}
    return {
        name: " ".join(f"{value:.5g}" for value in values)
        for name, values in (logits | {"reward": run.reward, "dead": run.dead}).items()
    }


def _run(setting: Setting, row: dict[str, str], series: dict[str, str]) -> Run:
    def values(name: str) -> NDArray[np.float64]:
        return np.array(series.get(name, "").split(), dtype=np.float64)

    logits = np.stack([values(f"logit {prompt}") for prompt in range(setting.prompts)], axis=1)
    facts: dict[str, Any] = json.loads(row["facts"])
    versions = json.loads(row["versions"])
    return Run(setting, logits, values("reward"), values("dead"), facts, versions)


def _csv(columns: tuple[str, ...], rows: Iterable[dict[str, str]]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _read(path: Path, columns: tuple[str, ...]) -> list[dict[str, str]]:
    if not path.exists():
        return []
    csv.field_size_limit(1 << 30)
    with path.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    if rows and tuple(rows[0]) != columns:
        raise InvalidInput(f"{path} has columns {', '.join(rows[0])}; give {', '.join(columns)}")
    return rows


def _write(path: Path, text: str) -> None:
    scratch = path.with_suffix(".new")
    scratch.write_text(text, encoding="utf-8")
    os.replace(scratch, path)
