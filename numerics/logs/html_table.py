"""Tables in notebooks and saved pages: the one a trainer shows while it trains."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html.parser import HTMLParser
from pathlib import Path

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.console import console
from numerics.logs.json_stream import elements
from numerics.logs.store import Reading, Store
from numerics.logs.text import lines, opened

__all__ = ["read_html", "read_notebook"]

_LONGEST_CELL = 64_000_000
_TABLE = re.compile(r"<table", re.IGNORECASE)


def read_html(path: Path) -> Reading:
    """Read the tables of a page."""
    reading = Reading("HTML table", Store())
    parser = _Tables(reading)
    with opened(path) as stream:
        for line in lines(stream):
            parser.feed(line)
    parser.close()
    return _checked(reading)


def read_notebook(path: Path) -> Reading:
    """Read the tables in the outputs of a notebook's cells, or else the rows printed there."""
    reading = Reading("notebook HTML table", Store())
    printed: list[str] = []
    with opened(path) as stream:
        for key, _, cell in elements(stream, longest=_LONGEST_CELL):
            if key != "cells" or not isinstance(cell, Mapping):
                continue
            for output in cell.get("outputs") or []:
                text = _text((output.get("data") or {}).get("text/html"))
                if _TABLE.search(text):
                    parser = _Tables(reading)
                    parser.feed(text)
                    parser.close()
                printed += [line for line in _text(output.get("text")).splitlines() if "{" in line]
    if not reading.store.rows and printed:  # no table, but what a console would show
        reading = console(printed)
        reading.format += " in a notebook"
    return _checked(reading)


def _checked(reading: Reading) -> Reading:
    if not reading.store.rows:
        raise InvalidInput("no table of a training log in it (columns Step, reward, ...)")
    return reading


def _text(value: object) -> str:
    """Return what a notebook holds as one text or as a list of lines."""
    return "".join(map(str, value)) if isinstance(value, list) else str(value or "")


class _Tables(HTMLParser):
    """Put the rows of every table with a known header into the store, as they close."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(convert_charrefs=True)
        self._reading = reading
        self._header: list[str] | None = None
        self._row: list[str] | None = None
        self._cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self._header = None
        elif tag == "tr":
            self._row = []
        elif tag in ("td", "th"):
            self._end_cell()
            self._cell = []

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._end_cell()
        elif tag == "tr" and self._row is not None:
            self._end_cell()
            self._end_row(self._row)
            self._row = None

    def _end_cell(self) -> None:
        if self._cell is not None and self._row is not None:
            self._row.append(" ".join("".join(self._cell).split()))
        self._cell = None

    def _end_row(self, row: list[str]) -> None:
        if self._header is None:
            self._header = row
        elif row and _of_a_log(self._header):
            self._reading.store.add({
                name: value for name, value in zip(self._header, row, strict=False)
                if name and value != "No log"
            })  # fmt: skip


def _of_a_log(header: list[str]) -> bool:
    return any(
        vocabulary.find(name, "trl").quantity in ("reward", "loss") for name in header
    ) and any(vocabulary.step_rank(name) is not None for name in header)
