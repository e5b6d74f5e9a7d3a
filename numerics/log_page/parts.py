"""Small pieces of the page."""

from __future__ import annotations

from collections.abc import Iterable

from numerics.diagnose import Estimate
from numerics.pages import number, text

__all__ = ["breakable", "facts", "listed", "ranged", "to"]


def breakable(name: str) -> str:
    """Return a name of a file or a column with places to break a line at."""
    shown = text(name)
    for sign in "_/.":
        shown = shown.replace(sign, f"{sign}<wbr>")
    return shown


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """Return names and what they stand for; the second of each is HTML."""
    items = "".join(f"<dt>{text(name)}</dt><dd>{html}</dd>" for name, html in rows)
    return f'<dl class="terms">{items}</dl>'


def listed(sentences: Iterable[object]) -> str:
    """Return a list of sentences, nothing for none."""
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return f"<ul>{items}</ul>" if items else ""


def to(low: float | None, high: float | None) -> str:
    """Return the ends of an interval, open where there is none."""
    ends = ("open" if end is None else number(end) for end in (low, high))
    return f"<small>[{', '.join(ends)}]</small>"


def ranged(estimate: Estimate) -> str:
    """Return the interval of an estimate."""
    return to(estimate.low, estimate.high)
