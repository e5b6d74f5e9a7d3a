"""Writing a set of files so that they appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["FILES", "OutputError", "staged"]

#: The files of a report.
FILES = ("index.html", "report.json")


class OutputError(ValueError):
    """The place to write to cannot be one."""


@contextmanager
def staged(out: Path) -> Iterator[Path]:
    """Yield an empty directory whose files are moved into `out` when the block succeeds.

    The directory is made at once, on the file system of `out`, so that a place that cannot be
    written to is refused before the work and not after it.

    Raises
    ------
    OutputError
        If `out` exists and is not a directory.
    OSError
        If it cannot be written to.
    """
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; give --out a directory")
    if out.is_symlink() and not out.exists():
        raise OutputError(f"{out} is a link that leads nowhere; give --out a directory")
    for name in FILES:
        if (out / name).is_dir():
            raise OutputError(f"{out / name} is a directory where the report would write a file")
    out.parent.mkdir(parents=True, exist_ok=True)
    home = out if out.is_dir() else out.parent
    with TemporaryDirectory(prefix=".unfinished-", dir=home) as scratch:
        yield Path(scratch)
        out.mkdir(exist_ok=True)
        for path in sorted(Path(scratch).iterdir()):
            os.replace(path, out / path.name)
