"""The step of a printed row, from the progress bar that shares the terminal with it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

__all__ = ["Bars"]

_BAR = re.compile(r"(\d{1,9})/(\d{1,9}) \[")
_SHORTEST_WIPE = 10


@dataclass
class _Session:
    """One training: its rows, and where its bar stood."""

    rows: list[int] = field(default_factory=list)
    #: Where the bar stood just before each row.
    before: list[int] = field(default_factory=list)
    #: Where it stood each time it was wiped for a printed row and drawn again.
    redrawn: list[int] = field(default_factory=list)
    #: By a bar's total: its last place. The bar of the training is the one that moved most often.
    moves: dict[int, int] = field(default_factory=dict)
    last: dict[int, int] = field(default_factory=dict)
    #: By a bar's total: the rows printed under it. The training's bar has the most.
    under: dict[int, int] = field(default_factory=dict)
    #: Whether the bar began past its start, as that of a resumed training does.
    resumed: bool = False
    ended: bool = False

    def falls_back(self, place: int, total: int) -> bool:
        """Whether a bar that stands lower than before is another training's.

        Of the bars most rows are printed under, only one lower than the last row's is: those of
        two processes may take turns, one a step behind.
        """
        if not self.rows or place <= 1:
            return bool(self.rows)
        usual = max(self.under, key=self.under.__getitem__, default=0)
        return total == usual and place < self.before[-1]


class Bars:
    r"""Progress bars and rows in the order of the file.

    A row is printed when the bar stands at its step, but the two go through different buffers, so
    the bar before a row may be later than the row. Three readings, the first that fits counts: the
    place of the bar before each row, if those are equally spaced; the places at which the bar was
    wiped and drawn again, if there is one for each row; the steps of a finished bar, divided by
    the rows, unless it is a resumed one's. A bar that falls back begins another training.
    """

    def __init__(self) -> None:
        self.how = ""
        self._sessions = [_Session()]
        self._wiped = False
        self._last: tuple[int, int] | None = None

    def line(self, line: str) -> None:
        """Take a line that is no row."""
        if len(line) >= _SHORTEST_WIPE and not line.strip():
            self._wiped = True
            return
        for found in _BAR.finditer(line):
            place, total = int(found[1]), int(found[2])
            session = self._sessions[-1]
            if place < session.last.get(total, 0) and session.falls_back(place, total):
                session = self._open()
                session.resumed = place > 1
            if self._wiped and self._last == (place, total):
                session.redrawn.append(place)
            if session.last.get(total) != place:
                session.moves[total] = session.moves.get(total, 0) + 1
            session.last[total] = place
            self._wiped = False
            self._last = (place, total)

    def row(self, row: int, *, ends: bool = False) -> None:
        """Take a row; `ends` if it is the summary of a training."""
        session = self._sessions[-1]
        if session.ended:
            session = self._open()
        session.ended = ends
        if ends:
            return
        session.rows.append(row)
        session.before.append(self._last[0] if self._last else -1)
        if self._last:
            session.under[self._last[1]] = session.under.get(self._last[1], 0) + 1

    def steps(self) -> dict[int, float] | None:
        """Return the step of each row, or None if the bars do not tell."""
        found: dict[int, float] = {}
        how = set()
        for session in self._sessions:
            if not session.rows:
                continue
            told = _told(session)
            if told is None:
                return None
            how.add(told[0])
            found |= dict(zip(session.rows, told[1], strict=True))
        self.how = ", ".join(sorted(how))
        return found

    def _open(self) -> _Session:
        self._sessions.append(_Session())
        return self._sessions[-1]


def _told(session: _Session) -> tuple[str, list[float]] | None:
    if not session.moves:
        return None
    total = max(session.moves, key=lambda each: session.moves[each])
    rows = len(session.rows)
    if _even(session.before):
        return "its place before each row", [float(place) for place in session.before]
    redrawn = session.redrawn[:rows]
    if rows <= len(session.redrawn) <= rows + 1 and _even(redrawn):
        return "redrawn after each row", [float(place) for place in redrawn]
    if not session.resumed and session.last[total] == total and total % rows == 0:
        return "its total over the rows", [total / rows * (n + 1) for n in range(rows)]
    return None


def _even(places: list[int]) -> bool:
    """Whether the places are those of rows logged every so many steps, and more than one."""
    between = np.diff(places)
    return len(places) > 1 and min(places[0], between[0]) > 0 and len(set(between.tolist())) == 1
