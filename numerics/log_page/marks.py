"""How a verdict is marked, in words and in a figure: never by its colour alone."""

from __future__ import annotations

from dataclasses import dataclass

from numerics.diagnose import FAULT, HEALTHY, NOT_OBSERVABLE, WARNING
from numerics.pages import text
from numerics.plots import COLOURS

__all__ = ["MARKS", "Mark", "badge", "sign"]


@dataclass(frozen=True)
class Mark:
    """Class of a badge, the sign in it, and the marker and the colour in a figure."""

    kind: str
    sign: str
    marker: str
    colour: str


MARKS = {
    HEALTHY: Mark("holds", "✓", "o", COLOURS["green"]),
    WARNING: Mark("undecided", "!", "^", COLOURS["purple"]),
    FAULT: Mark("refuted", "✗", "X", COLOURS["orange"]),
    NOT_OBSERVABLE: Mark("unseen", "–", "_", COLOURS["faint"]),
}


def badge(verdict: str, kind: str = "") -> str:
    """Return the mark of a verdict, and of which kind it is."""
    mark = MARKS[verdict]
    short = "not observable" if verdict == NOT_OBSERVABLE else verdict
    said = f"{short}: {kind}" if kind else short
    return f'<span class="badge {mark.kind}">{mark.sign} {text(said)}</span>'


def sign(verdict: str) -> str:
    """Return the mark alone, for where the verdict is said beside it."""
    mark = MARKS[verdict]
    return f'<span class="badge {mark.kind}" aria-hidden="true">{mark.sign}</span>'
