"""A file as text, whatever it is packed and encoded in, and never all of it at once."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from numerics.inputs import InvalidInput

__all__ = ["LONGEST", "head", "lines", "opened", "printable"]

#: No line and no single JSON value of a log is longer, in characters.
LONGEST = 16_000_000
_PEEK = 1 << 16
_GZIP = b"\x1f\x8b"
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",  # what a redirection in PowerShell writes
    codecs.BOM_UTF16_BE: "utf-16",
}


def head(path: Path) -> bytes:
    """Return the first bytes of the file, unpacked."""
    try:
        with gzip.open(path, "rb") if _is_gzip(path) else path.open("rb") as file:
            return file.read(_PEEK)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{path}: broken gzip file ({error}); copy it again") from None


@contextmanager
def opened(path: Path) -> Iterator[IO[str]]:
    """Open the file as text: unpacked, without its byte-order mark, every line end as one newline.

    A carriage return alone ends a line too: that is how progress bars write over themselves.

    Raises
    ------
    InvalidInput
        The file is not text.
    """
    start = head(path)
    encoding = next((name for bom, name in _BOMS.items() if start.startswith(bom)), "utf-8")
    if _binary(start, encoding):
        raise InvalidInput(f"{path}: binary data, not text; give a log, as text or gzip")
    with (
        gzip.open(path, "rb") if _is_gzip(path) else path.open("rb") as raw,
        io.TextIOWrapper(raw, encoding=encoding, errors="replace") as stream,
    ):
        try:
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise InvalidInput(f"{path}: broken gzip file ({error}); copy it again") from None


def lines(stream: IO[str]) -> Iterator[str]:
    """Yield the lines with their ends, each of bounded length."""
    number = 0
    while line := stream.readline(LONGEST):
        number += 1
        if len(line) == LONGEST and not line.endswith("\n"):
            raise InvalidInput(
                f"line {number} is longer than {LONGEST // 1_000_000} million characters; "
                "no log has such a line"
            )
        yield line


def printable(text: str) -> str:
    """Return the text with control characters, line ends too, as Python escapes them."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(2) == _GZIP


def _binary(start: bytes, encoding: str) -> bool:
    """Whether more than a few characters are none that a text holds."""
    text = start.decode(encoding, errors="replace")
    odd = sum(c == "�" or (c < " " and c not in "\t\n\r\x0b\x0c\x1b\x08") for c in text)
    return "\0" in text or odd > max(2, len(text) // 50)
