"""What the figures of a log share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numerics.diagnose.trend import Floats, blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["dot_size", "dots", "label", "legend", "limits"]

#: More rows than this are drawn as means of several.
_MOST_DOTS = 500
_LONGEST = 44
_LINE = 62  # letters of a legend that fit beside each other


def dots(step: Floats, value: Floats) -> tuple[Floats, Floats]:
    """Return the rows as they are drawn: means over blocks where there are very many."""
    return blocks(step, value, _MOST_DOTS)


def dot_size(value: Floats) -> float:
    """Return the size of a marker that still lets so many be told apart."""
    return 5.0 if len(value) <= 100 else 3.0


def label(name: str) -> str:
    """Return a log's own name as a figure can write it, in one line, with the letters it has."""
    drawn = "".join(c if c.isprintable() and _has_glyph(c) else "?" for c in name)
    short = drawn if len(drawn) <= _LONGEST else f"{drawn[: _LONGEST - 4]} ..."
    return short.lstrip("_") or "?"  # matplotlib leaves out what begins with an underscore


def legend(axes: Axes, *others: Axes) -> None:
    """Add a legend above the axes, where no data is; its names are taken literally."""
    lines = [line for each in (axes, *others) for line in each.get_legend_handles_labels()[0]]
    names = [str(line.get_label()) for line in lines]
    letters = sum(map(len, names)) + 6 * len(names)
    drawn = axes.legend(
        lines, names, loc="lower left", bbox_to_anchor=(0, 1), borderaxespad=0.1,
        columnspacing=1.2, ncols=len(names) if letters <= _LINE else 1,
    )  # fmt: skip
    for words in drawn.get_texts():
        words.set_parse_math(False)


def limits(value: Floats, *more: float) -> tuple[float, float]:
    """Return where an axis begins and ends so that all values are inside it."""
    low, high = min([float(value.min()), *more]), max([float(value.max()), *more])
    room = 0.08 * (high - low) or 0.05 * abs(high) or 0.05
    return low - room, high + room


def _has_glyph(character: str) -> bool:
    """Whether the font of the figures is sure to have it: Latin and Greek."""
    return ord(character) < 0x250 or 0x391 <= ord(character) <= 0x3C9
