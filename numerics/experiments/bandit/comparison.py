r"""Measured borders against predicted ones, and how far they are apart in numbers and in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

__all__ = ["Comparison", "Range", "ranges", "summary"]

Range = tuple[float | None, float | None]


@dataclass(frozen=True)
class Comparison:
    """A measured border against a predicted one; None where there is none."""

    what: str
    at: str
    measured: float | None
    predicted: float | None
    tolerance: float

    @property
    def ratio(self) -> float | None:
        if self.measured is None or self.predicted is None:
            return None
        return self.measured / self.predicted

    @property
    def unforeseen(self) -> bool:
        return self.predicted is None and self.measured is not None

    @property
    def agrees(self) -> bool:
        if self.ratio is None:
            return self.measured is self.predicted
        return abs(self.ratio - 1) <= self.tolerance


def _by_what(rows: Iterable[Comparison]) -> dict[str, list[Comparison]]:
    found: dict[str, list[Comparison]] = {}
    for row in rows:
        found.setdefault(row.what, []).append(row)
    return found


def ranges(rows: Iterable[Comparison]) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for what, some in _by_what(rows).items():
        ratios = [row.ratio for row in some if row.ratio is not None]
        found[what] = (min(ratios), max(ratios)) if ratios else (None, None)
    return found


def summary(rows: Sequence[Comparison]) -> str:
    """Say for each border between which multiples of the prediction it was measured, and where."""
    return "; ".join(f"{what} {_told(some)}" for what, some in _by_what(rows).items())


def _told(rows: Sequence[Comparison]) -> str:
    ratios = {row.at: row.ratio for row in rows if row.ratio is not None}
    words = []
    if ratios and all(abs(ratio - 1) <= rows[0].tolerance for ratio in ratios.values()):
        worst = max(abs(ratio - 1) for ratio in ratios.values())
        words.append(f"within {worst:.2g} of the prediction")
    elif ratios:
        at = max(ratios, key=lambda name: abs(log(ratios[name])))
        low, high = min(ratios.values()), max(ratios.values())
        words.append(f"{low:.3g} to {high:.3g} times the prediction, furthest at {at}")
    unforeseen = sum(row.unforeseen for row in rows)
    missing = sum(row.predicted is not None and row.measured is None for row in rows)
    if unforeseen:
        words.append(f"{unforeseen} of {len(rows)} where none is predicted")
    if missing:
        words.append(f"none found in {missing} of {len(rows)} where one is predicted")
    return "; ".join(words) or "none, as predicted"
