"""What trainers print: trl's dict lines among progress bars, verl's ``step:1 - key:value``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.numerals import NUMERAL, integer, number
from numerics.logs.printed_config import PrintedConfig
from numerics.logs.progress_bars import Bars
from numerics.logs.store import Reading, Store
from numerics.logs.text import lines, opened

__all__ = ["console", "read_console"]

_COLOUR = re.compile(r"\x1b?\[\d{1,3}(?:;\d{1,3})*m|\x1b\[[0-9;?]*[A-Za-z]")
_REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\].*$")
_VERL = re.compile(r"(?:^|[\s\])])step:(\d+)\s+-\s+(\S.*)$")
_DICT = re.compile(r"\{\s*(?=['\"])[^{}]*\}")
_CUT = re.compile(r"\{\s*['\"](?:loss|reward)['\"]\s*:[^}]*$")
_ITEM = re.compile(r"""['"]([^'"]+)['"]\s*:\s*('[^']*'|"[^"]*"|[^,{}()'"]+(?:\([^()]*\))?)""")
_LOGGING_STEPS = re.compile(r"""['"]?\blogging_steps['"]?\s*[=:]\s*['"]?(\d{1,6})\b""")


def read_console(path: Path) -> Reading:
    """Read the rows among whatever else is printed, as `console` does."""
    with opened(path) as stream:
        return console(lines(stream))


def console(text: Iterable[str]) -> Reading:
    r"""Read the rows among the lines of a text.

    Raises
    ------
    InvalidInput
        No line is a row of a format that is known.
    """
    store = Store()
    reading = Reading("console", store)
    bars = Bars()
    printed = PrintedConfig()
    seen = {"verl": 0, "trl": 0}
    cut: list[int] = []
    for place, raw in enumerate(text, start=1):
        line = _REPEATED.sub("", _COLOUR.sub("", raw)).rstrip("\n")
        if (found := _VERL.search(line)) is not None:
            if row := _verl_row(found[2]):
                store.add({"step": integer(found[1]), **row})
                bars.row(store.rows - 1)
                seen["verl"] += 1
            continue
        done = 0
        for found in _DICT.finditer(line):
            if (each := _trl_row(found[0])) is not None:
                bars.line(line[done : found.start()])  # a bar may share the line
                store.add(each)
                bars.row(store.rows - 1, ends="train_runtime" in each)
                seen["trl"] += 1
                done = found.end()
        if done:
            bars.line(line[done:])
            continue
        if _CUT.search(line):
            cut.append(place)
        bars.line(line)
        printed.line(line)
        if "trl" in line or "TRL" in line:
            reading.version_hints += vocabulary.message_versions(line)
        if "logging_steps" in line and (told := _LOGGING_STEPS.search(line)):
            reading.configuration.setdefault("logging_steps", int(told[1]))
    if not store.rows:
        raise InvalidInput(
            "no row found: a console log has lines such as {'loss': 0.1, 'reward': 0.5, ...} or "
            "step:1 - critic/score/mean:0.5 - ..."
        )
    reading.version_hints = list(dict.fromkeys(reading.version_hints))
    if cut:
        reading.unread = len(cut)
        reading.refused.append(
            f"rows cut short on line {', '.join(map(str, cut[:5]))}{', ...' * (len(cut) > 5)}"
        )
    reading.configuration |= printed.found
    if seen["verl"] > seen["trl"]:
        reading.format, reading.trainer = "verl console", "verl"
    else:
        reading.format = "trl console"
        reading.trainer = vocabulary.trainer_of(store.names) or "trl"
        if not any(vocabulary.step_rank(name) is not None for name in store.names):
            _step_from_bars(reading, bars)
    return reading


def _step_from_bars(reading: Reading, bars: Bars) -> None:
    """Give the rows the steps their progress bars stood at, if that can be known."""
    steps = bars.steps()
    if steps is None:
        return
    column = np.full(reading.store.rows, np.nan)
    column[list(steps)] = list(steps.values())
    reading.store.set("step", column)
    reading.step_source = "progress bar"
    reading.notes.append(f"the rows carry no step: it is read from the progress bar ({bars.how})")


def _verl_row(text: str) -> dict[str, object]:
    row: dict[str, object] = {}
    for item in text.split(" - "):
        name, colon, value = item.partition(":")
        if ":" in value and "(" not in value:  # the name has a colon of its own
            name, colon, value = item.rpartition(":")
        if colon:
            row[name.strip()] = value.strip()
    return row


def _trl_row(text: str) -> dict[str, object] | None:
    """Return the items of a printed dict if it is a row of a log."""
    row: dict[str, object] = {name: value.strip(" '\"") for name, value in _ITEM.findall(text)}
    for name, value in row.items():
        if not isinstance(value, str) or not re.fullmatch(NUMERAL, value):
            continue
        bare = vocabulary.normal(name)
        if (
            bare in ("loss", "train_runtime")
            or vocabulary.is_evaluation(name)
            or vocabulary.find(name, "trl").quantity in ("reward", "true_reward")
        ) and not np.isinf(number(value)):
            return row
    return None
