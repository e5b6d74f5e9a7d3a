"""Tables of separated values: plain CSV, and what W&B exports, one column a run or one a key."""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.json_lines import wandb
from numerics.logs.numerals import number
from numerics.logs.store import Reading, Store
from numerics.logs.text import lines, opened

__all__ = ["delimiter_of", "read_csv"]

_DELIMITERS = ",;\t|"
#: W&B writes the extremes of what it thinned out beside each value.
_EXTREMES = ("__MIN", "__MAX")


def delimiter_of(first: str, second: str) -> str | None:
    """Return what separates the columns of a table with these two lines; None if it is no table.

    A header has a name that is known, and the next line as many fields.
    """
    if "{" in first:  # a printed dict
        return None
    for delimiter in _DELIMITERS:
        header = next(csv.reader([first], delimiter=delimiter), [])
        fields = next(csv.reader([second], delimiter=delimiter), []) if second else header
        known = any(_is_known(name.rpartition(" - ")[2]) for name in header)
        if len(header) > 1 and known and abs(len(fields) - len(header)) <= 1:
            return delimiter
    # A table of names nobody knows is still a table: it is refused for that, not as no log.
    header, fields = (next(csv.reader([line]), []) for line in (first, second))
    if len(header) == len(fields) == 1 and _is_known(header[0].strip()):
        return "," if math.isfinite(number(fields[0])) else None  # a reward and nothing else
    numbers = sum(math.isfinite(number(field)) for field in fields)
    return "," if len(header) == len(fields) > 1 and 2 * numbers >= len(fields) else None


def read_csv(path: Path, delimiter: str) -> Reading:
    """Read a table whose first line names its columns."""
    with opened(path) as stream:
        text = (line for line in lines(stream) if line.strip() and not line.startswith("#"))
        table = csv.reader(text, delimiter=delimiter, skipinitialspace=True, strict=True)
        place = 1
        try:
            header = [name.strip() for name in next(table)]
            store = Store(decimal_comma=delimiter == ";")
            reading = Reading("CSV", store)
            runs = _run_columns(header)
            twice = [name for name, count in Counter(header).items() if name and count > 1]
            reading.notes += [
                f"column {n!r} is there more than once: the last one counts" for n in twice
            ]
            for place, fields in enumerate(table, start=2):
                if any(field.strip() for field in fields[len(header) :]):
                    reading.unread += 1
                    reading.refused.append(
                        f"line {place}: {len(fields)} fields under {len(header)} columns"
                    )
                elif fields == header or [f.strip() for f in fields] == header:
                    reading.unread += 1
                    reading.notes.append(f"line {place} repeats the header")
                elif runs:
                    for run, columns in runs.items():
                        row = {name: fields[at] for at, name in columns if at < len(fields)}
                        if any(row[name] for _, name in columns[_shared(header):] if name in row):
                            store.add(row, run)
                else:
                    store.add(dict(zip(header, fields, strict=False)))
        except csv.Error as error:
            raise InvalidInput(f"broken CSV after line {place}: {error}") from None
    reading.refused[5:] = (
        [f"{len(reading.refused) - 5} more lines"] if len(reading.refused) > 5 else []
    )
    if runs or "_step" in header or any(n.startswith(("train/", "_runtime")) for n in header):
        reading.format = "W&B CSV export"
        wandb(reading)
    if any(name.endswith(_EXTREMES) for name in header):
        reading.notes.append("__MIN and __MAX columns of the W&B export are left out")
    return reading


def _is_known(name: str) -> bool:
    return (
        vocabulary.step_rank(name) is not None
        or vocabulary.is_evaluation(name)
        or vocabulary.find(name, "").quantity != "other"
    )


def _run_columns(header: list[str]) -> dict[str, list[tuple[int, str]]]:
    """Return of each run the places and names of its columns, where W&B wrote ``run - key``."""
    if not any(" - " in name and _is_known(name.rpartition(" - ")[2]) for name in header):
        return {}
    shared = [(at, name) for at, name in enumerate(header) if " - " not in name]
    runs: dict[str, list[tuple[int, str]]] = {}
    for at, name in enumerate(header):
        run, dash, key = name.rpartition(" - ")
        if dash and not key.endswith(_EXTREMES):
            runs.setdefault(run, list(shared)).append((at, key))
    # The step's own column is also exported once a run; the shared one is enough.
    return {
        run: [pair for pair in columns if pair[0] < len(shared) or pair[1] != "_step"]
        for run, columns in runs.items()
    }


def _shared(header: list[str]) -> int:
    return sum(" - " not in name for name in header)
