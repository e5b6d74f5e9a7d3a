"""Writing a set of files so that they appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["OutputError", "staged"]


class OutputError(ValueError):
    """The place to write to cannot be one."""


@contextmanager
def staged(out: Path, names: Iterable[str] = ()) -> Iterator[Path]:
    """Yield an empty directory whose files are moved into `out` when the block succeeds.

    The directory is made at once, on the file system of `out`, so that a place that cannot be
    written to is refused before the work and not after it.

    Parameters
    ----------
    out
        Where the files go.
    names
        Names of files to be written, each refused at once where a directory is in its place.

    Raises
    ------
    OutputError
        If `out` exists and is not a directory, or a name is taken by one.
    OSError
        If it cannot be written to.
    """
    out = out.absolute()
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out} is a file; give --out a directory")
    if out.is_symlink() and not out.exists():
        raise OutputError(f"{out} is a link that leads nowhere; give --out a directory")
    _check_free(out, names)
    out.parent.mkdir(parents=True, exist_ok=True)
    home = out if out.is_dir() else out.parent
    with TemporaryDirectory(prefix=".unfinished-", dir=home) as scratch:
        yield Path(scratch)
        out.mkdir(exist_ok=True)
        made = sorted(Path(scratch).iterdir())
        _check_free(out, [path.name for path in made])  # all of them, before the first is moved
        for path in made:
            os.replace(path, out / path.name)


def _check_free(out: Path, names: Iterable[str]) -> None:
    for name in names:
        if (out / name).is_dir():
            raise OutputError(f"{out / name} is a directory where a file would be written")
