"""The fenced code blocks of a Markdown file, each with the mark that stands above it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_FENCE = re.compile(
    r"(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})"
    r"(?:\{(?P<directive>[\w:+-]+)\}.*|(?P<language>[\w+-]*))"
)
#: Directives that show code as code. A plain fence shows it too, and is run.
_CODE_DIRECTIVES = {"code", "code-block", "sourcecode", "literalinclude"}
_MARK = re.compile(r"<!-- (?P<mark>[\w-]+:.*?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block; `line` is the file's line (from 1) of the first line of `text`.

    `mark` is the HTML comment directly above the fence, such as ``ci:test``, or empty.
    """

    path: Path
    line: int
    language: str
    text: str
    mark: str

    @property
    def place(self) -> str:
        """Where the block is, as editors and terminals link it."""
        return f"{self.path}:{self.line}"


def blocks(path: Path) -> Iterator[Block]:
    """Yield the fenced blocks of `path` in order.

    A directive of the site, such as a note, is no block; the blocks in its body are.

    Raises
    ------
    SyntaxError
        If a fence is never closed: the rest of the page would silently not be run. If a directive
        shows code, which would not be run either.
    """
    yield from _blocks(path, list(enumerate(path.read_text("utf-8").splitlines(), start=1)))


def _blocks(path: Path, numbered: list[tuple[int, str]]) -> Iterator[Block]:
    mark = ""
    lines = iter(numbered)
    for number, line in lines:
        fence = _FENCE.fullmatch(line.rstrip())
        if fence is None:
            found = _MARK.fullmatch(line.strip())
            mark = found["mark"] if found else mark if not line.strip() else ""
            continue
        body: list[tuple[int, str]] = []
        for inner_number, inner in lines:
            if inner.strip().startswith(fence["fence"]) and not inner.strip(" `~"):
                break
            body.append((inner_number, inner.removeprefix(fence["indent"])))
        else:
            raise SyntaxError(f"{path}:{number}: the code block is never closed")
        if fence["directive"] in _CODE_DIRECTIVES:
            raise SyntaxError(f"{path}:{number}: show code in a plain fence, so that it is run")
        if fence["directive"]:
            yield from _blocks(path, body)
        else:
            text = "\n".join(inner for _, inner in body) + "\n"
            yield Block(path, number + 1, fence["language"], text, mark)
        mark = ""


def command(path: Path, mark: str) -> str:
    """Return the text of the one block of `path` with this mark, such as ``ci:test``.

    Raises
    ------
    LookupError
        If there is not exactly one.
    """
    found = [block.text for block in blocks(path) if block.mark == mark]
    if len(found) != 1:
        raise LookupError(f"{path} has {len(found)} code blocks marked <!-- {mark} -->, not one")
    return found[0]
