"""What the experiment found, as tables: CSV for machines, a summary for 80 columns."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import groupby

from numerics.experiments.bandit.run import Experiment, case_row, system_row
from numerics.experiments.bandit.verdicts import Verdict

__all__ = ["render", "tables"]

_COLUMNS, _OF, _RANGE = 80, 39, 17
_MEASURE = {"p14": "onset, shortest to longest lag", "p15": "found over predicted"}


def tables(experiment: Experiment) -> dict[str, str]:
    """Return file name -> CSV: a row a case, a row a bandit of several parameters, a row a verdict.

    Borders are in x = eta K. An empty field is a border that is not there.
    """
    return {
        "bandit.csv": _csv(map(case_row, experiment.cases)),
        "systems.csv": _csv(map(system_row, experiment.systems)),
        "verdicts.csv": _csv(
            {name: value for name, value in verdict.json().items() if name != "ranges"}
            for verdict in experiment.verdicts
        ),
    }


def _csv(rows: Iterable[Mapping[str, object]]) -> str:
    rows = [{name: _cell(value) for name, value in row.items()} for row in rows]
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return " ".join(map(_cell, value))
    return repr(value) if isinstance(value, float) else str(value)


def render(experiment: Experiment) -> str:
    """Return the verdicts for a terminal of 80 columns, with the numbers they rest on."""
    search = experiment.plan.search
    lines = [
        f"{len(experiment.cases)} bandits of two arms and {len(experiment.systems)} larger ones; "
        f"eta K from {search.lowest:g} to {search.highest:g},",
        f"threshold to {50 * search.width:.2g} %, transition to "
        f"{100 * search.onset_tolerance:.2g} %; every verdict is tested, none proved",
    ]
    for (claim, held), some in groupby(experiment.verdicts, lambda v: (v.claim, v.held)):
        rows = list(some)
        columns = list(dict.fromkeys(name for row in rows for name in row.ranges))[:2]
        heads = "".join(f"{name:<{_RANGE}}" for name in columns)
        lines += [
            "",
            f"{claim}  {held}",
            f"{_MEASURE[claim]:<{_OF}}{heads}",
            "-" * _COLUMNS,
            *(line for row in rows for line in _row(row, columns)),
        ]
    lines += ["", *_beyond(experiment)]
    surprises = sum(not verdict.as_expected for verdict in experiment.verdicts)
    words = f"{surprises} NOT" if surprises else "all"
    lines += ["", f"{len(experiment.verdicts)} readings, {words} as expected"]
    return "\n".join(line.rstrip() for line in lines)


def _beyond(experiment: Experiment) -> Iterable[str]:
    """Say what became of the runs past the threshold."""
    for k, factor in enumerate(experiment.plan.beyond):
        fates = Counter(case.beyond[k].kind for case in experiment.cases if case.beyond)
        told = ", ".join(f"{count} {kind.removesuffix('s')}" for kind, count in fates.most_common())
        yield f"at {factor:g} times the threshold: {told}"


def _row(verdict: Verdict, columns: list[str]) -> Iterable[str]:
    cells = [_range(verdict.ranges.get(name, (None, None)), verdict.claim) for name in columns]
    word = verdict.word if verdict.word == "holds" else "REFUTED"
    yield f"{verdict.of:<{_OF}}{''.join(f'{cell:<{_RANGE}}' for cell in cells)}{word}"
    for name in list(verdict.ranges)[len(columns) :]:
        if (told := _range(verdict.ranges[name], verdict.claim)) != "1":
            yield f"  {name} {told}"
    if verdict.unforeseen:
        yield f"  found in {verdict.unforeseen} of {verdict.n} where none is predicted"
    if not verdict.as_expected:
        yield f"  ! expected: {verdict.expected or 'nothing, it is not in the plan'}"


def _range(ends: tuple[float | None, float | None], claim: str) -> str:
    low, high = ("none" if x is None else f"{x:.{2 if claim == 'p14' else 3}g}" for x in ends)
    if claim == "p14":
        return f"{low} to {high}"
    return "-" if low == high == "none" else low if low == high else f"{low} to {high}"
