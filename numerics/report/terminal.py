"""The report for a terminal of 80 columns: one row a reading, and what it comes to."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from numerics.report.run import Report

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["render"]

_COLUMNS = 80
_ID, _VERDICT, _RUNG = 5, 10, 9
_READING = _COLUMNS - _ID - _VERDICT - _RUNG - 2
_WORDS = {"holds": "holds", "refuted": "REFUTED", "undecided": "UNDECIDED"}


def render(report: Report) -> str:
    """Return the verdict table of the record, then one line a part of the report."""
    head = f"{'id':<{_ID}}{'read as':<{_READING}}  {'verdict':<{_VERDICT}}evidence"
    lines = [head, "-" * _COLUMNS]
    for judged in report.record:
        label = judged.entry.id
        for name, audited in judged.readings:
            lines += _row(label, name, audited)
            label = ""
        if judged.entry.measured:
            lines.append(f"{label:<{_ID}}measured: grpo-dynamics {judged.entry.measured}")
    rungs = [rung for shown in report.derivations for rung in shown.rungs]
    steps, argued = len(rungs), rungs.count("none")
    readings = [audited for judged in report.record for _, audited in judged.readings]
    lines += [
        "-" * _COLUMNS,
        f"the record   {len(report.record)} entries, {_counts(readings)}",
        f"the theory   {len(report.statements)} statements, {_counts(report.statements)}",
        f"derivations  {len(report.derivations)}, {argued} of {steps} steps argued in words, "
        "all others checked",
        *_crosschecks(report),
        *_evidence(report),
    ]
    return "\n".join(lines)


def _row(label: str, name: str, audited: Audited) -> Iterator[str]:
    verdict = audited.verdict
    first, *more = textwrap.wrap(name, _READING, break_on_hyphens=False)
    word, rung = _WORDS[verdict.word.value], verdict.evidence.rung.word
    yield f"{label:<{_ID}}{first:<{_READING}}  {word:<{_VERDICT}}{rung}".rstrip()
    for line in more:
        yield f"{'':<{_ID}}{line}"
    if not audited.as_expected:
        yield f"{'':<{_ID}}! expected: {audited.claim.expect.value}"


def _counts(rows: Iterable[Audited]) -> str:
    rows = list(rows)
    found = Counter(row.verdict.word.value for row in rows)
    surprises = sum(not row.as_expected for row in rows)
    words = f"{found['holds']} hold, {found['refuted']} refuted, {found['undecided']} undecided"
    return f"{words}; {f'{surprises} NOT' if surprises else 'all'} as expected"


def _crosschecks(report: Report) -> Iterator[str]:
    rows = report.crosschecks
    failed = [row for row in rows if not row.passed]
    cases = sum(row.cases for row in rows)
    yield f"the map      {len(rows)} cross-checks in {cases} cases, {len(failed)} failed"
    for row in failed:
        yield f"             ! {row.name}: {row.deviation:.3g}, allowed {row.allowed:.3g}"
        yield f"               at {row.at}"


def _evidence(report: Report) -> Iterator[str]:
    slid = sum(change.slid for change in report.changes)
    words = f", {slid} slid, {len(report.changes) - slid} changed" if report.changes else ""
    yield f"evidence     {len(report.evidence.claims)} claims against the evidence record{words}"
    for change in report.changes:
        mark = "!" if change.slid else "+"
        yield textwrap.fill(
            f"{mark} {change}", _COLUMNS, initial_indent=" " * 13, subsequent_indent=" " * 15,
            break_on_hyphens=False,
        )  # fmt: skip
    if report.changes:
        how = "accepted" if report.accepted else "to accept: grpo-dynamics report --accept"
        yield f"             {how}"
