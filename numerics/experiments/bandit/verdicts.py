r"""Claims p14 and p15 of the record, each in its readings, judged by what was measured.

A verdict rests on the examples that were run, so its rung is ``tested``. What counts as agreement
is the resolution of the search, given in the plan before anything is run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product

from numerics.experiments.bandit.comparison import Comparison, Range, ranges, summary
from numerics.experiments.bandit.plan import LAG_MODELS, Plan, Search, delay, lag_model
from numerics.experiments.bandit.prediction import Borders
from numerics.experiments.bandit.systems import Many
from numerics.experiments.bandit.two_arm import Case
from numerics.simulation import STALENESS

__all__ = ["CLAIMS", "Verdict", "judge"]

#: The claims judged here, in the words of the record.
CLAIMS: Mapping[str, str] = {
    "p14": "Sweeping the refresh interval, training goes from overdamped to oscillatory.",
    "p15": "The softmax bandit reproduces transition and threshold at the independently measured "
    "stiffness; the mean-field assumption is exact there.",
}

_TANGENT = 1e-6  # allowed of the borders found without running, relative
_SWEEP = "a longer lag turns the return oscillatory, at one step size"
_THEORIES = {
    "exact": "the exact linear map, at the measured slopes",
    "theorem-7": "theorem 7, at the measured share",
    "share-1": "theorem 7 as its source has it, the whole force stale",
}
_ASSUMPTIONS = {
    "scalar": "one scalar coordinate, the success rate",
    "by-mode": "a scalar coordinate for each mode",
}
_SIDES = {"below": "p*<1/2", "above": "p*>1/2"}

@dataclass(frozen=True)
class Verdict:
    r"""What became of one reading of a claim.

    Attributes
    ----------
    id, claim, held, of
        Permanent name, claim of the record, what is held against the bandit, and which bandit.
    word
        ``holds`` or ``refuted``.
    expected
        The word that does not alarm.
    n
        Number of comparisons.
    tolerance
        The largest relative deviation that counts as none.
    ranges
        p14: for each momentum, the onset at the shortest and at the longest lag, in x = eta K, None
        where there is none. p15: for each border, the lowest and the highest ratio of measured to
        predicted; None for both if nothing could be compared.
    unforeseen
        In how many comparisons a border was found where none is predicted.
    says
        The same in words, with the case that is furthest off.
    """

    id: str
    claim: str
    held: str
    of: str
    word: str
    expected: str
    n: int
    tolerance: float
    ranges: Mapping[str, Range]
    unforeseen: int
    says: str

    @property
    def as_expected(self) -> bool:
        """Whether the word is the expected one."""
        return self.word == self.expected

    def json(self) -> dict[str, object]:
        """Return the verdict as plain data."""
        return {
            "id": self.id, "claim": self.claim, "held": self.held, "of": self.of,
            "verdict": self.word, "expected": self.expected, "rung": "tested", "n": self.n,
            "tolerance": self.tolerance,
            "ranges": {name: list(ends) for name, ends in self.ranges.items()},
            "unforeseen": self.unforeseen, "says": self.says,
        }  # fmt: skip


def judge(plan: Plan, cases: Sequence[Case], systems: Sequence[Many]) -> list[Verdict]:
    """Judge every reading of p14 and p15."""

    def verdict(
        id: str, held: str, of: str, holds: bool, n: int, tolerance: float,
        ranges: Mapping[str, Range], unforeseen: int, says: str,
    ) -> Verdict:  # fmt: skip
        word, expected = "holds" if holds else "refuted", plan.expected.get(id, "")
        claim = id.partition("/")[0]
        return Verdict(id, claim, held, of, word, expected, n, tolerance, ranges, unforeseen, says)

    sweeps = [verdict(*found) for found in _sweeps(plan, cases)]
    compared = [*_reproductions(plan, cases), *_assumptions(plan, systems)]
    return sweeps + [
        verdict(
            id, held, of, all(row.agrees for row in rows), len(rows),
            max(row.tolerance for row in rows), ranges(rows),
            sum(row.unforeseen for row in rows), summary(rows),
        )
        for id, held, of, rows in compared
    ]  # fmt: skip


def _sweeps(
    plan: Plan, cases: Sequence[Case]
) -> Iterator[tuple[str, str, str, bool, int, float, Mapping[str, Range], int, str]]:
    """Judge p14: at a fixed step size, does a longer lag bring the oscillation on?"""
    for staleness, model, side in product(STALENESS, LAG_MODELS, _SIDES):
        chosen = [
            case
            for case in _of(cases, staleness, model)
            if (case.p_star < 0.5) == (side == "below")
        ]
        chosen.sort(key=lambda case: (case.mu, delay(case.schedule)))
        sweeps = [list(rows) for _, rows in groupby(chosen, key=lambda case: case.mu)]
        told = [_sweep(rows, plan.search) for rows in sweeps]
        yield (
            f"p14/{staleness}/{model}/{side}",
            _SWEEP,
            f"{staleness}, {model}, {_SIDES[side]}",
            all(turned for turned, _ in told),
            len(chosen),
            plan.search.onset_tolerance,
            {f"mu {rows[0].mu:g}": (rows[0].run.onset, rows[-1].run.onset) for rows in sweeps},
            0,
            "; ".join(words for _, words in told),
        )


def _of(cases: Sequence[Case], staleness: str, model: str) -> list[Case]:
    return [c for c in cases if c.staleness == staleness and lag_model(c.schedule) == model]


def _sweep(rows: Sequence[Case], search: Search) -> tuple[bool, str]:
    """Look for a step size at which the first lag is overdamped and the last one oscillates."""
    first, last = rows[0], rows[-1]
    name = "lag" if lag_model(first.schedule) == "constant" else "refresh"
    begins, ends = first.run.onset, last.run.onset
    spans = (
        f"mu = {first.mu:g}: onset at eta K = {_number(begins)} for {name} "
        f"{delay(first.schedule)}, {_number(ends)} for {delay(last.schedule)}"
    )
    if ends is None:
        return False, f"{spans}: the lag never brings it on"
    room = min(x for x in (begins, first.run.threshold, last.run.threshold) if x is not None)
    if ends * (1 + search.onset_tolerance) >= room:
        later = begins is not None and ends > begins * (1 + search.onset_tolerance)
        return False, f"{spans}: a longer lag {'puts it off' if later else 'does not move it'}"
    x = (ends * room) ** 0.5
    before = [row for row in rows if row.run.onset is None or x < row.run.onset]
    return True, (
        f"{spans}; at {x:.3g} overdamped up to {name} {delay(before[-1].schedule)}, oscillating "
        f"and stable at {delay(last.schedule)}"
    )


def _number(x: float | None) -> str:
    return "none" if x is None else f"{x:.3g}"


def _reproductions(
    plan: Plan, cases: Sequence[Case]
) -> Iterator[tuple[str, str, str, list[Comparison]]]:
    """Compare for p15's first half: threshold and transition at the measured stiffness."""
    for theory, staleness, model in product(_THEORIES, STALENESS, LAG_MODELS):
        if theory == "share-1" and staleness == "delayed-gradient":
            continue  # there the share is 1, and this is the reading before
        rows = [
            row for case in _of(cases, staleness, model) for row in _compared(case, theory, plan)
        ]
        yield f"p15/{theory}/{staleness}/{model}", _THEORIES[theory], f"{staleness}, {model}", rows


def _compared(case: Case, theory: str, plan: Plan) -> list[Comparison]:
    name = "lag" if lag_model(case.schedule) == "constant" else "refresh"
    at = f"p_star {case.p_star:.2g}, mu {case.mu:g}, {name} {delay(case.schedule)}"
    borders = case.predicted["seen" if theory == "exact" else theory]
    rows = _pair(at, case.run, borders, plan.search)
    if theory == "exact":  # the tangent's eigenvalues have no resolution to speak of
        rows += [
            Comparison("threshold by the tangent", at, case.tangent.threshold, borders.threshold,
                        _TANGENT),
            Comparison("transition by the tangent", at, case.tangent.onset, borders.onset,
                        _TANGENT),
        ]  # fmt: skip
    return rows


def _pair(at: str, run: Borders, borders: Borders, search: Search) -> list[Comparison]:
    return [
        Comparison("threshold", at, run.threshold, borders.threshold, search.width / 2),
        Comparison("transition", at, run.onset, borders.onset, search.onset_tolerance),
    ]


def _assumptions(
    plan: Plan, systems: Sequence[Many]
) -> Iterator[tuple[str, str, str, list[Comparison]]]:
    """Compare for p15's second half: is one scalar coordinate exact?"""
    half = plan.search.width / 2

    def scalar(row: Many, at: str) -> list[Comparison]:
        times = (row.relaxation, row.scalar_relaxation)
        return [
            *_pair(at, row.run, row.scalar, plan.search),
            Comparison("relaxation time", at, *times, half),
        ]

    def by_mode(row: Many, at: str) -> list[Comparison]:
        return [Comparison("threshold", at, row.run.threshold, row.by_mode, half)]

    compared: tuple[Callable[[Many, str], list[Comparison]], ...] = (scalar, by_mode)
    for (key, compare), system in product(zip(_ASSUMPTIONS, compared, strict=True), plan.systems):
        rows = [
            comparison
            for row in systems
            if row.system == system.name
            for comparison in compare(row, f"{row.staleness}, mu {row.mu:g}")
        ]
        yield f"p15/{key}/{system.id}", _ASSUMPTIONS[key], system.name, rows
