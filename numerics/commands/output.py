"""How a command prints a result: for machines, and for an 80-column terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["print_json", "printable", "table", "wrapped"]

_COLUMNS = 80


def print_json(schema: str, result: Mapping[str, object]) -> None:
    """Print `result` as strict JSON, its `schema` first: a NaN or an infinity is a bug.

    The names are those of the documents in ``numerics/schemas/``, which say what may be in it.
    """
    import json  # only a command that prints it pays for it

    print(json.dumps({"schema": schema, **result}, indent=2, allow_nan=False))


def printable(text: str) -> str:
    """Return lines with the control characters that a log's names may hold written out."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode() for c in text
    )


def wrapped(text: str, *, indent: int, hanging: int) -> str:
    """Return `text` wrapped at 80 columns; a word is never cut, so a formula stays whole."""
    import textwrap

    return textwrap.fill(
        text, _COLUMNS, initial_indent=" " * indent, subsequent_indent=" " * (indent + hanging),
        break_long_words=False, break_on_hyphens=False,
    )


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Return rows of a name and a text, the texts aligned and wrapped."""
    rows = list(rows)
    width = max((len(name) for name, _ in rows), default=0) + 2
    return "\n".join(
        wrapped(f"{name:<{width}}{text}", indent=2, hanging=width) for name, text in rows
    )
