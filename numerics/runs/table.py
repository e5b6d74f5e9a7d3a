"""The rows of a run, and the files they are written to: whole, or not at all."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput

__all__ = ["ROWS", "SUFFIXES", "Overflow", "Table", "replaced", "table", "write"]

#: The kinds of file `write` knows.
SUFFIXES = (".csv", ".jsonl")

_BLOCK = 10_000  # rows

#: What a row is: a recorded step of one chain, or of the mean over the chains.
ROWS = ("chain", "mean")


@dataclass(frozen=True)
class Overflow:
    """A chain that left the floating-point range, and the step at which it did."""

    chain: int
    step: int


@dataclass(frozen=True, eq=False)
class Table:
    r"""The recorded rows of a run, ascending in the step and, within it, the chain.

    Attributes
    ----------
    columns
        Arrays of one length by name; ``step`` first, then ``chain`` unless rows are means.
    overflows
        Chains that left the floating-point range. A row from that step on is not in the table, and
        neither is a mean over all chains.
    """

    columns: Mapping[str, NDArray[Any]]
    overflows: tuple[Overflow, ...]

    def __len__(self) -> int:
        return len(self.columns["step"])


def table(
    steps: NDArray[np.int64],
    values: Mapping[str, NDArray[np.float64]],
    overflow_step: NDArray[np.int64],
    *,
    rows: str,
) -> Table:
    r"""Return the rows of recorded `values`, each ``(records, chains)``."""
    running = (overflow_step < 0) | (steps[:, np.newaxis] < overflow_step)
    left = np.flatnonzero(overflow_step >= 0).tolist()
    overflows = tuple(Overflow(chain, int(overflow_step[chain])) for chain in left)
    if rows == "mean":
        kept = running.all(axis=1)
        # Divided first: a run about to overflow has a mean, though no sum.
        share = 1 / len(overflow_step)
        means = {name: (value[kept] * share).sum(axis=1) for name, value in values.items()}
        return Table({"step": steps[kept], **means}, overflows)
    record, chain = np.nonzero(running)
    chosen = {name: value[record, chain] for name, value in values.items()}
    return Table({"step": steps[record], "chain": chain, **chosen}, overflows)


def write(table: Table, path: Path) -> None:
    r"""Write the rows as CSV or, if the name ends in ``.jsonl``, as JSON lines.

    A float is written as the shortest text that reads back as the same float.
    """
    names, rows = tuple(table.columns), _rows(table)
    with path.open("w", encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            for row in rows:
                file.write(json.dumps(dict(zip(names, row, strict=True)), allow_nan=False) + "\n")
        else:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)


def _rows(table: Table) -> Iterator[tuple[Any, ...]]:
    """Yield the rows as Python numbers, which take memory: a block of them at a time."""
    for start in range(0, len(table), _BLOCK):
        block = slice(start, start + _BLOCK)
        yield from zip(*(column[block].tolist() for column in table.columns.values()), strict=True)


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path` that takes its place when the block succeeds.

    It is made at once, so that a place that cannot be written to is refused before the work and not
    after it.

    Raises
    ------
    InvalidInput
        If `path` exists and is not a regular file.
    OSError
        If it cannot be written.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        raise InvalidInput(f"{path} exists and is not a regular file; give another name")
    unfinished = target.with_name(f".unfinished-{os.getpid()}-{target.name}")
    try:
        unfinished.open("x").close()
    except FileNotFoundError:
        raise InvalidInput(f"{path}: there is no directory {target.parent}") from None
    try:
        yield unfinished
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)
