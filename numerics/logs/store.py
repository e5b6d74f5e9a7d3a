"""The rows of a log, packed: what a reader of a format fills and `assemble` makes runs from."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.logs.numerals import number

__all__ = ["Reading", "Store"]

_MOST_COLUMNS = 5_000
_MOST_CELLS = 30_000_000
#: Columns, by their last part, whose text tells runs apart.
_LABELS = (
    "run", "run_id", "run_name", "experiment", "experiment_name", "trial", "tag", "exp", "seed",
)  # fmt: skip
_SPACES = str.maketrans(" -", "__")


class Store:
    """Rows of numbers by column name. An absent number costs nothing; 16 bytes hold one."""

    def __init__(self, *, decimal_comma: bool = False) -> None:
        self.rows = 0
        self.labels: list[str] = []
        #: Text of the columns that may name runs: column -> row -> text.
        self.texts: dict[str, dict[int, str]] = {}
        self._decimal_comma = decimal_comma
        self._cells: dict[str, tuple[array[int], array[float]]] = {}

    @property
    def names(self) -> list[str]:
        """Names of the columns, in the order they were met."""
        return list(self._cells)

    def add(self, row: Mapping[str, Any], label: str = "") -> None:
        """Append a row. None is an absence; what is there but no number becomes NaN."""
        for name, value in _flat(row):
            if value is None or value == "":
                continue
            if isinstance(value, str | int) and _is_label(name):
                self.texts.setdefault(name, {})[self.rows] = str(value)
            if name not in self._cells:
                if len(self._cells) == _MOST_COLUMNS:
                    raise InvalidInput(f"more than {_MOST_COLUMNS} columns; no log has so many")
                self._cells[name] = (array("q"), array("d"))
            places, values = self._cells[name]
            if places and places[-1] == self.rows:  # a key twice in one row: the later counts
                values[-1] = number(value, decimal_comma=self._decimal_comma)
                continue
            places.append(self.rows)
            values.append(number(value, decimal_comma=self._decimal_comma))
        self.labels.append(label)
        self.rows += 1

    def present(self, name: str) -> NDArray[np.bool_]:
        """Return which rows have the column at all, a number in it or not."""
        mask = np.zeros(self.rows, dtype=bool)
        mask[np.frombuffer(self._cells[name][0], dtype=np.int64)] = True
        return mask

    def dense(self, name: str) -> NDArray[np.float64]:
        """Return the column, (rows,), NaN where there is no number."""
        places, values = self._cells[name]
        column = np.full(self.rows, np.nan)
        column[np.frombuffer(places, dtype=np.int64)] = np.frombuffer(values)
        return column

    def set(self, name: str, column: NDArray[np.float64]) -> None:
        """Put a whole column, as a reader does that finds out about it in the end."""
        places = np.flatnonzero(np.isfinite(column))
        self._cells[name] = (array("q", places.tolist()), array("d", column[places].tolist()))

    def check_size(self) -> None:
        """Refuse a table that would not fit when it is written out."""
        if self.rows * len(self._cells) > _MOST_CELLS:
            raise InvalidInput(
                f"{self.rows} rows of {len(self._cells)} different keys: too many for a log"
            )


@dataclass
class Reading:
    """What the reader of a format found beside the rows in its store."""

    format: str
    store: Store
    trainer: str = ""
    #: Which of two rows of one step counts, "later" or "earlier", and why.
    keeps: str = "later"
    keeps_because: str = "a resumed run goes on from the later row"
    #: Whether a step that falls back to the start begins another run.
    restarts: bool = True
    step_source: str = "logged"
    #: Rows that were seen and could not be read; `refused` says why.
    unread: int = 0
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    configuration: dict[str, object] = field(default_factory=dict)
    #: What a trainer's own messages say of its version: trainer, since, before.
    version_hints: list[tuple[str, str, str]] = field(default_factory=list)


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the row's values; those of an inner object by its keys joined with a slash."""
    for name, value in row.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}/")
        elif not isinstance(value, list):
            yield f"{prefix}{name}", value


def _is_label(name: str) -> bool:
    return name.strip().lower().translate(_SPACES).rpartition("/")[2] in _LABELS
