"""One JSON document: trainer_state.json, log_history, W&B exports, sweeps, columns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.json_lines import wandb
from numerics.logs.json_stream import elements
from numerics.logs.numerals import number
from numerics.logs.store import Reading, Store
from numerics.logs.text import opened

__all__ = ["read_document"]

#: What a trainer's state says of the run, kept as its configuration.
_STATE = (
    "logging_steps", "max_steps", "eval_steps", "save_steps", "train_batch_size",
    "num_train_epochs", "global_step",
)  # fmt: skip
_NAMES = ("name", "run", "tag", "run_name", "id", "run_id", "label", "experiment")
_ENDINGS = ("_trace", "_history", "_curve", "_log", "_values", "_series", "s")
_EVALUATIONS = ("eval", "evaluation", "validation", "val", "test")
#: Entries looked at before it is decided whether a list holds rows or whole runs.
_HELD = 64
_LONGEST_COLUMN = 5_000_000
_SETTINGS = ("group_size", "lr", "learning_rate", "seed", "model", "num_generations", "beta")


def read_document(path: Path) -> Reading:
    """Read a JSON document, row by row where it holds a list of them."""
    document = _Document()
    with opened(path) as stream:
        for key, listed, value in elements(stream):
            document.take(key, listed, value)
    return document.finish()


class _Document:
    def __init__(self) -> None:
        self.reading = Reading("JSON", Store())
        self.kept: dict[str, Any] = {}
        self.columns: dict[str, list[Any]] = {}
        self.held: dict[str, list[Mapping[str, Any]]] = {}
        self.sweep: set[str] = set()
        self.lists: list[str] = []

    def take(self, key: str, listed: bool, value: Any) -> None:
        if not listed:
            self.kept[key] = value
        elif not isinstance(value, Mapping):
            column = self.columns.setdefault(key, [])
            if not key or len(column) == _LONGEST_COLUMN:
                raise InvalidInput(
                    f"a JSON list of {type(value).__name__} where rows are expected; a log is a "
                    "list of objects, or an object of named lists"
                )
            column.append(value)
        else:
            self._entry(key, value)

    def _entry(self, key: str, entry: Mapping[str, Any]) -> None:
        """Take an element of a list: a row, or a whole run with lists of its own."""
        if key not in self.lists:
            self.lists.append(key)
            self.held[key] = []
        held = self.held[key]
        if key in self.sweep:
            self._run(key, entry)
        elif _series(entry) is not None:
            self.sweep.add(key)
            for each in [*held, entry]:
                self._run(key, each)
            held.clear()
        elif len(held) < _HELD and not (held and held[0] is _ROWS):
            held.append(entry)
        else:
            self._release(key)
            held[:] = [_ROWS]
            self._row(key, entry)

    def _release(self, key: str) -> None:
        for row in self.held[key]:
            if row is not _ROWS:
                self._row(key, row)

    def _row(self, key: str, row: Mapping[str, Any]) -> None:
        if key in _EVALUATIONS:
            row = {name if vocabulary.step_rank(name) is not None else f"eval/{name}": value
                   for name, value in row.items()}  # fmt: skip
            key = ""
        self.reading.store.add(row, key)

    def _run(self, key: str, entry: Mapping[str, Any]) -> None:
        """Add the rows of a whole run, or refuse it with what it says of itself."""
        count = len(self.reading.configuration.setdefault("runs", {}))  # type: ignore[arg-type]
        name = next((str(entry[n]) for n in _NAMES if entry.get(n)), f"run {count + 1}")
        series = _series(entry)
        if series is None:
            status = entry.get("status") or entry.get("state") or "no status"
            self.reading.unread += 1
            self.reading.refused.append(
                f"entry {name!r} of {key or 'the list'}: no reward series in it ({status})"
            )
            return
        runs = self.reading.configuration["runs"]
        assert isinstance(runs, dict)
        if name in runs:
            name = f"{name} ({count + 1})"
        runs[name] = {
            s: value for s in _SETTINGS
            if isinstance(value := entry.get(s), str) or math.isfinite(number(value))
        }  # fmt: skip
        for row in series:
            self.reading.store.add(row, name)

    def finish(self) -> Reading:
        """Decide what the document was."""
        reading = self.reading
        for key in self.lists:
            if key not in self.sweep:
                self._release(key)
        if not self.sweep and len(set(reading.store.labels) - {""}) == 1:
            reading.store.labels = [""] * reading.store.rows  # one list is no run beside others
        if self.sweep:
            reading.format = "sweep JSON (several runs)"
        elif not reading.store.rows:
            self._by_columns()
        reading.configuration |= {
            key: value for key, value in self.kept.items()
            if key in _STATE and isinstance(value, int | float) and math.isfinite(number(value))
        }  # fmt: skip
        names = reading.store.names
        for key in self.lists:
            if strays := self.columns.get(key):
                reading.unread += len(strays)
                reading.refused.append(f"{len(strays)} entries of {key!r} are not objects")
        if "log_history" in self.lists:
            reading.format = "trl trainer_state.json"
            reading.restarts = False
            reading.keeps_because = "the trainer goes on from its last checkpoint"
            reading.trainer = vocabulary.trainer_of(names) or "trl"
        elif "_step" in names or any(name.startswith("train/global_step") for name in names):
            reading.format = "W&B JSON export"
            wandb(reading)
        elif self.lists == [""] and vocabulary.trainer_of(names) == "trl":
            reading.format = "trl log_history"
        elif self.lists == [""]:
            reading.format = "JSON list of rows"
        if not reading.store.rows and not self.sweep:
            keys = ", ".join([*self.kept, *self.columns][:8])
            raise InvalidInput(f"JSON without a list of rows; its keys are {keys or 'none'}")
        return reading

    def _by_columns(self) -> None:
        """Read column by column: lists of one length, or objects with one entry a row."""
        columns: dict[str, dict[str, Any]] = {
            key: {str(n): v for n, v in enumerate(values)} for key, values in self.columns.items()
        }
        tables = {k: v for k, v in self.kept.items() if isinstance(v, Mapping)}
        columns |= {
            key: dict(value) for key, value in tables.items()
            if value and not any(isinstance(v, Mapping | list) for v in value.values())
        }  # fmt: skip
        if columns and any(vocabulary.find(k, "").quantity == "reward" for k in columns):
            self.reading.format = "JSON by columns"
            keys = dict.fromkeys(key for column in columns.values() for key in column)
            for key in keys:
                self.reading.store.add({n: column.get(key) for n, column in columns.items()})
            return
        for name, run in tables.items():  # one run under each key
            if (series := _series(run)) is not None:
                self.sweep.add(name)
                self.reading.format = "sweep JSON (several runs)"
                for row in series:
                    self.reading.store.add(row, name)


_ROWS: Mapping[str, Any] = {}


def _series(entry: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the rows of a whole run: its list of rows, or its lists of numbers side by side."""
    for value in entry.values():
        if isinstance(value, list) and value and all(isinstance(v, Mapping) for v in value):
            if any(vocabulary.find(k, "").quantity == "reward" for row in value[:9] for k in row):
                return value
            return None
    lists = {
        _bare(name): value for name, value in entry.items()
        if isinstance(value, list) and value
        and all(v is None or isinstance(v, int | float | str) for v in value)
    }  # fmt: skip
    rewards = [
        name for name in lists if vocabulary.find(name, "").quantity in ("reward", "true_reward")
    ]
    if not rewards or (rewards[0] in entry and _is_row(entry)):
        return None
    length = len(lists[rewards[0]])
    alike = {name: value for name, value in lists.items() if len(value) == length}
    return [{name: value[n] for name, value in alike.items()} for n in range(length)]


def _is_row(entry: Mapping[str, Any]) -> bool:
    """Whether the entry is of one step, so that its lists run over samples."""
    return any(
        vocabulary.normal(name).endswith("step") and vocabulary.step_rank(name) is not None
        and isinstance(value, int | float) for name, value in entry.items()
    )  # fmt: skip


def _bare(name: str) -> str:
    """Return ``reward`` of ``reward_trace``; a name that is known stays as it is."""
    if vocabulary.find(name, "").quantity == "reward" or vocabulary.step_rank(name) is not None:
        return name
    for ending in _ENDINGS:
        bare = name.removesuffix(ending)
        if bare != name and (
            vocabulary.find(bare, "").quantity != "other" or vocabulary.step_rank(bare) is not None
        ):
            return bare
    return name
