"""JSON lines: one object a row; verl's file logger, tinker, W&B and whoever else writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from numerics.inputs import InvalidInput
from numerics.logs.numerals import integer
from numerics.logs.store import Reading, Store
from numerics.logs.text import lines, opened
from numerics.logs.vocabulary import trainer_of

__all__ = ["json_object", "read_json_lines", "wandb"]


def read_json_lines(path: Path) -> Reading:
    """Read one JSON object a line; a line that is none is refused and counted."""
    store = Store()
    reading = Reading("JSONL", store)
    nested = False
    broken: list[tuple[int, str]] = []
    with opened(path) as stream:
        for number, line in enumerate(lines(stream), start=1):
            if not line.strip():
                continue
            row = json_object(line)
            if row is None:
                broken.append((number, line.strip()[:40]))
                continue
            if isinstance(row.get("data"), dict) and "step" in row:
                nested = True
                row |= row.pop("data")
            store.add(row)
    if not store.rows:
        raise InvalidInput(f"no line is a JSON object; the first is {broken[0][1]!r}")
    reading.unread = len(broken)
    reading.refused += [
        f"line {number} is not a JSON object{' (cut short?)' if text.startswith('{') else ''}: "
        f"{text!r}" for number, text in broken[:5]
    ]  # fmt: skip
    if len(broken) > 5:
        reading.refused.append(f"{len(broken) - 5} more lines that are not JSON objects")
    trainer = trainer_of(store.names)
    if nested:
        reading.format = "verl file logger (JSONL)"
    elif "_step" in store.names:
        wandb(reading)
        reading.format = "W&B JSON export (lines)"
    elif trainer == "tinker":
        reading.format = "tinker JSONL"
    elif trainer:
        reading.format = f"{trainer} JSONL"
    return reading


def wandb(reading: Reading) -> None:
    """Apply the rule of W&B: what was logged first at a step stays."""
    reading.keeps = "earlier"
    reading.keeps_because = "W&B keeps the old rows when a run is resumed"


def json_object(line: str) -> dict[str, Any] | None:
    """Return the JSON object that the line is; None if it is none."""
    try:
        row = json.loads(line, parse_int=integer)
    except (json.JSONDecodeError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
