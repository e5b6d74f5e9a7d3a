"""Which format a file is in, by what it holds and not by its name; then the log."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from numerics.inputs import InvalidInput
from numerics.logs.assemble import assemble
from numerics.logs.console import read_console
from numerics.logs.csv_table import delimiter_of, read_csv
from numerics.logs.document import read_document
from numerics.logs.html_table import read_html, read_notebook
from numerics.logs.json_lines import json_object, read_json_lines
from numerics.logs.store import Reading
from numerics.logs.table import Log
from numerics.logs.tensorboard import event_files, is_event_file, read_events
from numerics.logs.text import head, opened, printable

__all__ = ["read_log"]

_PEEK = 1 << 16


def read_log(path: str | os.PathLike[str]) -> Log:
    r"""Read a training log of any format that is known.

    The file is read once, a part at a time; what is kept is its numbers. Nothing is filled in and
    nothing is left out without a count in `Log.rows`.

    Parameters
    ----------
    path : path
        A file, gzipped or not, or a directory of TensorBoard event files.

    Raises
    ------
    InvalidInput
        Not a log, or a log without a reward curve: one line that says what was found.
    OSError
        The file cannot be opened.
    """
    file = Path(path)
    reader = _reader(file)
    try:
        return assemble(file, reader(file))
    except InvalidInput as error:
        text = str(error)
        named = text if text.startswith(str(file)) else f"{file}: {text}"
        raise InvalidInput(printable(named)) from None


def _reader(path: Path) -> Callable[[Path], Reading]:
    if path.is_dir():
        if event_files(path):
            return read_events
        raise InvalidInput(f"{path} is a directory without TensorBoard event files; give a file")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path} is not a regular file; give a log file")
    start = head(path)
    if is_event_file(path, start):
        return read_events
    if not start.strip():
        raise InvalidInput(f"{path}: empty file; nothing to read")
    with opened(path) as stream:
        text = stream.read(_PEEK).lstrip("\ufeff \t\n")
    if text.startswith("<") and "<t" in text.lower():
        return read_html
    if text[:1] in ("{", "["):
        json_reader = _json_reader(text)
        if json_reader is not None:
            return json_reader
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    # JSON lines, after a first one that is broken?
    if sum(json_object(line) is not None for line in lines[1:8]) > 3:
        return read_json_lines
    if lines and not lines[0].startswith(("{", "step:")):
        delimiter = delimiter_of(lines[0], lines[1] if len(lines) > 1 else "")
        if delimiter is not None:
            return partial(read_csv, delimiter=delimiter)
    return read_console


def _json_reader(text: str) -> Callable[[Path], Reading] | None:
    """Return the reader of a text that starts like JSON; None if it is none."""
    inner = text[1:].lstrip()
    if text[0] == "{" and inner[:1] not in ('"', "}", ""):
        return None  # a Python dict, as trl prints it
    if text[0] == "[" and inner[:1] not in ("{", "]", '"', "[", "n", "N", "-", *"0123456789", ""):
        return None  # a console line such as [2024-01-01 ...]
    if text[0] == "[":
        return read_document if inner[:1] in ("{", "") or _starts_json(text) else None
    first, end, rest = text.partition("\n")
    row = json_object(first)
    # One object on the first line: rows follow, or it is the whole document.
    if end and row is not None and (
        rest.strip() or not any(isinstance(value, list) for value in row.values())
    ):
        return read_json_lines
    if '"cells"' in text and ('"nbformat' in text or '"cell_type"' in text):
        return read_notebook
    if not end and row is not None and not any(
        isinstance(value, list | dict) for value in row.values()
    ):
        return read_json_lines
    return read_document


def _starts_json(text: str) -> bool:
    """Whether a bracket opens a list of JSON and not the time stamp of a console line."""
    line = text.splitlines()[0].rstrip()
    return line.endswith((",", "[", "]")) or line == "["
