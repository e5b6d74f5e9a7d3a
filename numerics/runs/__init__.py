"""Runs described by a file: read, checked, simulated, and written as rows."""

from __future__ import annotations

from pathlib import Path

from numerics.runs import bandit, scalar
from numerics.runs.fields import Field, RunFileError, named, read_table, tables
from numerics.runs.plot import PLOT_SUFFIXES, plot
from numerics.runs.settings import Run, Settings, settings
from numerics.runs.table import ROWS, SUFFIXES, Overflow, Table, replaced, write

__all__ = [
    "PLOT_SUFFIXES",
    "ROWS",
    "SUFFIXES",
    "Overflow",
    "Run",
    "RunFileError",
    "Settings",
    "Table",
    "plot",
    "read_run",
    "replaced",
    "write",
]

_KINDS = {"scalar": (scalar.TABLES, scalar.run), "bandit": (bandit.TABLES, bandit.run)}


def read_run(path: str | Path) -> Run:
    """Return the run that a TOML file describes, checked but not yet run.

    Raises
    ------
    RunFileError
        On anything unknown, missing or outside its domain: one line, with the file and the key.
    OSError
        If the file cannot be read.
    """
    path = Path(path)
    content = tables(path)
    anything = {key: Field(lambda value: value, None) for key in content}
    kind = read_table(content, {**anything, "kind": Field(named("kind", tuple(_KINDS)))}, str(path))
    tables_of, build = _KINDS[kind["kind"]]
    return build(*settings(content, str(path), kinds=_KINDS, tables=tables_of))
