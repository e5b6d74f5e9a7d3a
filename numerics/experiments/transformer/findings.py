r"""What all experiments found: beside what was expected, as text, CSV, Markdown and JSON."""

from __future__ import annotations

import csv
import io
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.run import RESULTS, Found, chosen, look
from numerics.inputs import known_name

__all__ = ["SCHEMA", "Findings", "key", "markdown", "render", "row", "table", "tally"]

SCHEMA = "grpo-dynamics/experiment-transformer/1"

@dataclass(frozen=True)
class Findings:
    """What experiments found.

    Attributes
    ----------
    found
        One experiment each.
    quick
        Whether they were done with less of everything; then a row may agree for want of seeds.
    """

    found: tuple[Found, ...]
    quick: bool

    @property
    def surprises(self) -> tuple[Row, ...]:
        """Rows whose agreement is not the expected one, as ``plan.toml`` lists it.

        The list is that of the full runs: of the quick ones, only misses of the exact map count.
        """
        differs = _expected_to_differ()
        return tuple(
            row
            for one in self.found
            for row in one.rows
            if (key(row) in differs) == row.agrees
            and not (self.quick and (row.agrees or row.theory != "exact"))
        )

    @property
    def as_expected(self) -> bool:
        """Whether there is no surprise."""
        return not self.surprises

    def json(self) -> dict[str, object]:
        """Return everything as plain data."""
        return {
            "schema": SCHEMA,
            "quick": self.quick,
            "as_expected": self.as_expected,
            "surprises": [key(row) for row in self.surprises],
            "experiments": [
                {
                    "id": one.experiment.id,
                    "title": one.experiment.title,
                    "question": one.experiment.question,
                    "runs": len(one.runs),
                    "rows": [row.json() for row in one.rows],
                }
                for one in self.found
            ],
        }


def key(row: Row) -> str:
    """Return what names a row."""
    return f"{row.experiment} / {row.case} / {row.quantity} / {row.theory}"


def _expected_to_differ() -> frozenset[str]:
    text = resources.files("numerics.experiments.transformer").joinpath("plan.toml")
    return frozenset(tomllib.loads(text.read_text("utf-8"))["differs"])


def _verdict(row: Row) -> str:
    return "agrees" if row.agrees else f"differs by {100 * row.off:+.2g} %"


def _interval(row: Row) -> str:
    return f"{row.measured:.4g} ({row.low:.4g} to {row.high:.4g})"


@lru_cache
def _kept(experiment: str) -> Found:
    (one,) = chosen((experiment,))
    return look(one, RESULTS, quick=False)


def row(name: str) -> Row:
    """Return a row of the runs that are kept with the package, by its name.

    Parameters
    ----------
    name
        ``experiment / case / quantity / theory``, as `key` gives it.

    Raises
    ------
    UnknownName
        If there is no such row; the nearest name is told.
    """
    rows = {key(one): one for one in _kept(name.split(" / ")[0]).rows}
    return rows[known_name("row", name, rows)]


def tally() -> tuple[int, int]:
    """Return how many rows of the exact map agree, of how many, in the runs that are kept."""
    exact = [row for one in chosen(()) for row in _kept(one.id).rows if row.theory == "exact"]
    return sum(row.agrees for row in exact), len(exact)


def render(findings: Findings) -> str:
    """Return the findings for a terminal."""
    lines: list[str] = []
    for one in findings.found:
        lines += [f"{one.experiment.id}  {one.experiment.title}; {len(one.runs)} runs"]
        lines += [f"    {one.experiment.question}", ""]
        for case, rows in _by_case(one):
            lines.append(f"    {case}, {rows[0].seeds} seeds")
            lines += [
                f"      {row.theory:<10} {row.predicted:<9.4g} measured {_interval(row)}: "
                f"{_verdict(row)}"
                for row in rows
            ]
        lines.append("")
    lines += [f"not as expected: {key(row)}, {_verdict(row)}" for row in findings.surprises]
    if findings.as_expected:
        lines.append("as expected")
    return "\n".join(lines)


def _by_case(one: Found) -> Iterator[tuple[str, list[Row]]]:
    groups: dict[str, list[Row]] = {}
    for row in one.rows:
        groups.setdefault(f"{row.case}, {row.quantity}", []).append(row)
    yield from groups.items()


def table(findings: Findings) -> str:
    """Return all rows as CSV."""
    out = io.StringIO()
    rows = [row.json() for one in findings.found for row in one.rows]
    writer = csv.DictWriter(out, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def markdown(findings: Findings) -> str:
    """Return a table with a line an experiment: its headline, and how many rows agree."""
    lines = [
        "| experiment | case | predicted | measured, interval | verdict "
        "| rows of the exact map | rerun: `experiment transformer` |",
        "|---|---|---|---|---|---|---|",
    ]
    for one in findings.found:
        head = next(row for row in one.rows if key(row).endswith(one.experiment.headline))
        exact = [row for row in one.rows if row.theory == "exact"]
        agree = sum(row.agrees for row in exact)
        lines.append(
            f"| {one.experiment.id}, {one.experiment.title} | {head.case}, {head.quantity} | "
            f"{head.predicted:.4g} | {_interval(head)} | {_verdict(head)} | "
            f"{agree} of {len(exact)} agree | "
            f"`--only {one.experiment.id}` |"
        )
    return "\n".join(lines) + "\n"
