r"""The claims on the page: the record as a table of readings, the theory's own statements.

Everything that is put into the page is escaped where it is put, by `text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from numerics.pages import terms, text
from numerics.report.evidence import MARKS, about, badge, evidence, formula
from numerics.report.run import Report

if TYPE_CHECKING:
    from derivations.record import JudgedEntry

__all__ = ["record", "statements"]

_RUNGS = (
    ("proved", "exact algebra, or a solver over the whole region; for a refutation, an exact "
     "counterexample"),
    ("certified", "ball arithmetic, or an exact decision, at every drawn rational point"),
    ("tested", "drawn examples within a stated tolerance"),
    ("none", "nothing spoke for or against: undecided"),
)  # fmt: skip


def _glance(record: Iterable[JudgedEntry]) -> str:
    """Return every entry as a chip with the mark of each reading, linked to its row."""
    chips = []
    for judged in record:
        words = [audited.verdict.word.value for _, audited in judged.readings]
        marks = "".join(f'<i class="{word}">{MARKS[word][0]}</i>' for word in words)
        id = text(judged.entry.id)
        chips.append(f'<a href="#{id}" title="{text(", ".join(words))}">{id} {marks}</a>')
    return f'<p class="glance">{"".join(chips)}</p>'


def record(report: Report) -> str:
    """Return the record: a glance at all of it, then one row an entry."""
    rows = "".join(_entry(judged, report.on_the_map) for judged in report.record)
    return (
        f"{_glance(report.record)}\n"
        '<p class="dim">Words can be meant in several ways, and a verdict without its reading says '
        "nothing, so each reading has its own. Open one for its formula and evidence.</p>\n"
        '<table class="record"><thead><tr><th>Claim</th><th>Verdict on each reading</th>'
        f"<th>What it means if you train</th></tr></thead><tbody>{rows}</tbody></table>\n"
        f"<h3>What a verdict rests on</h3>{terms(dict(_RUNGS))}"
    )


def _entry(judged: JudgedEntry, on_the_map: Mapping[str, str]) -> str:
    entry = judged.entry
    readings = "".join(
        f'<details class="reading {audited.verdict.word.value}"><summary>{badge(audited)}'
        f"<span>{text(name)}</span></summary>{evidence(audited, on_the_map)}</details>"
        for name, audited in judged.readings
    )
    left = f'<p class="left">Left to data: {text(entry.left)}</p>' if entry.left else ""
    if entry.measured:
        command = f"grpo-dynamics {entry.measured}"
        left += f'<p class="left">Measured by <code>{text(command)}</code></p>'
    id = text(entry.id)
    return (
        f'<tr id="{id}"><td><span class="id"><a href="#{id}">{id}</a></span> '
        f"<p>{text(entry.statement)}</p><small>{text(entry.source)} · "
        f"{text(entry.provenance.value)}</small></td><td>{readings}</td>"
        f"<td><p>{text(entry.meaning)}</p>{left}</td></tr>\n"
    )


def statements(report: Report) -> str:
    """Return the theory's statements, one row each."""
    rows = "".join(
        f'<tr><td><span class="id">{text(row.claim.id)}</span><br>'
        f"<small>{text(row.claim.provenance or '')}</small></td>"
        f"<td><small>{text(about(row))}</small>{formula(row)}</td>"
        f'<td><details class="reading {row.verdict.word.value}"><summary>{badge(row)}<span></span>'
        f"</summary>{evidence(row, report.on_the_map)}</details></td></tr>\n"
        for row in report.statements
    )
    return (
        '<p class="dim">Typed by hand, then compared with what the derivations give; results are '
        "never typed in.</p>\n"
        '<table class="statements"><thead><tr><th>Statement</th><th>Formula</th><th>Verdict</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


