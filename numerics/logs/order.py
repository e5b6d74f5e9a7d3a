"""One run from rows in the order of the file: restarts, resumes, duplicates, gaps, spacing."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Ordered", "missing", "ordered", "spacing"]

Same = Callable[[int, int], str]
#: At least this share of the steps between rows must agree before the rest are called gaps.
_REGULAR = 0.9


@dataclass
class Ordered:
    """Which rows make a run, by increasing step, and what became of the others."""

    rows: list[int] = field(default_factory=list)
    duplicate: list[int] = field(default_factory=list)
    superseded: list[int] = field(default_factory=list)
    #: Rows that hold other columns of a step that has a row: (that row, this one).
    merged: list[tuple[int, int]] = field(default_factory=list)


def ordered(
    step: NDArray[np.float64], same: Same, *, keeps: str, restarts: bool, ended: NDArray[np.bool_]
) -> list[Ordered]:
    r"""Split rows, in the order of the file, into runs of strictly increasing step.

    A step that falls back to the first step of the run, and so to the start of training, begins
    another run, unless all rows up to the next fall only repeat what is there. Any other step that
    falls back is that of a resumed run: of two rows of one step the one that `keeps` names
    ("later" or "earlier") counts, and with "later" every row from the step that was fallen back
    to on is superseded, for the policy that made it was given up.

    Parameters
    ----------
    step : (rows,) array
        Finite.
    same : callable
        Of two rows of one step: "equal", "complement" (no column in common) or "different".
    ended : (rows,) array
        Whether a training ended between the row before and this one.
    """
    runs = [Ordered()]
    usual = _usual(np.diff(step))
    first, last = np.inf, -np.inf
    place: dict[float, int] = {}
    again = _logged_again(step)
    for row, now in enumerate(step.tolist()):
        run = runs[-1]
        if now <= last:
            held = place.get(now)
            how = "different" if held is None else same(held, row)
            at_start = restarts and now <= first and now <= max(1.0, usual)
            fell = step[row - 1] != now or not again[row] > now
            if at_start and fell and _starts_anew(step, same, place, row, ended=bool(ended[row])):
                runs.append(Ordered([row]))
                first, last, place = now, now, {now: row}
                continue
            if how == "equal":
                run.duplicate.append(row)
                continue
            if how == "complement" and held is not None:
                run.merged.append((held, row))
                continue
            if keeps == "later":
                while run.rows and step[run.rows[-1]] >= now:  # they increase
                    given_up = run.rows.pop()
                    del place[float(step[given_up])]
                    run.superseded.append(given_up)
            else:
                run.superseded.append(row)
                continue
        run.rows.append(row)
        place[now] = row
        first, last = min(first, now), now
    return runs


def _starts_anew(
    step: NDArray[np.float64], same: Same, place: dict[float, int], row: int, *, ended: bool
) -> bool:
    """Whether the rows from this one to the next fall of the step are another run's.

    Two runs may begin with equal rows; they differ later. If a training ended before the row,
    rows past the old ones are another run's too. Where the step stood still, it falls where it
    stands still again.
    """
    goes_on = operator.gt if step[row - 1] == step[row] else operator.ge
    end = row + 1
    while end < step.size and goes_on(step[end], step[end - 1]):
        end += 1
    hows = [
        "new" if (held := place.get(now)) is None else same(held, row + n)
        for n, now in enumerate(step[row:end].tolist())
    ]
    return hows[0] == "new" or "different" in hows or (ended and "new" in hows)


def _logged_again(step: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the greatest step that two rows in a row have, from each row to the next fall.

    Where it is greater than the row's own, steps are logged more than once each.
    """
    found = np.full(step.size, -np.inf)
    for row in range(step.size - 2, -1, -1):
        if step[row + 1] == step[row]:
            found[row] = max(found[row + 1], step[row])
        elif step[row + 1] > step[row]:
            found[row] = found[row + 1]
    return found


def spacing(step: NDArray[np.float64]) -> float | None:
    r"""Return the common step between rows; None when they differ or there are fewer than two.

    Rows may be missing: up to a tenth of the differences may be a multiple of the common one. A
    first row of its own (trainers that log every tenth step may log the first too) is left out.
    """
    between = np.diff(step)
    if between.size == 0:
        return None
    usual = _usual(between)
    rest = between[1:] if between.size > 1 and between[0] < usual else between
    if np.mean(np.isclose(rest, usual)) < _REGULAR:
        return None
    times = rest / usual
    return usual if np.allclose(times, np.round(times), atol=1e-6) else None


def missing(step: NDArray[np.float64]) -> list[tuple[float, float, int]]:
    """Return after which step, before which, and how many rows are missing."""
    usual = spacing(step)
    if usual is None:
        return []
    between = np.diff(step)
    return [
        (float(step[at]), float(step[at + 1]), round(between[at] / usual) - 1)
        for at in np.flatnonzero(between > 1.5 * usual)
    ]


def _usual(between: NDArray[np.float64]) -> float:
    """Return the most frequent positive difference, the smaller of two equally frequent ones."""
    values, counts = np.unique(between[between > 0], return_counts=True)
    return float(values[np.argmax(counts)]) if values.size else 1.0
