r"""The report as one HTML page that needs nothing but itself.

Everything that is put into the page is escaped where it is put, by `_text`; the only raw pieces are
SVG and MathML made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from derivations import typeset
from derivations.catalogue import PARTS
from derivations.formula import parse_formula
from derivations.markup import CSS as MATHEMATICS
from derivations.notation import QUANTITIES, quantity
from derivations.targets import TARGETS
from derivations.update import LAG_MODELS, OPTIMIZERS
from numerics.report.crosscheck import Crosscheck
from numerics.report.plots import Figure
from numerics.report.run import Report, Shown

if TYPE_CHECKING:
    from derivations.audit import Audited
    from derivations.record import JudgedEntry

__all__ = ["render"]

_MARKS = {"holds": "✓ holds", "refuted": "✗ refuted", "undecided": "? undecided"}

_RUNGS = (
    ("proved", "exact algebra, or a solver over the whole region; for a refutation, an exact "
     "counterexample"),
    ("certified", "ball arithmetic, or an exact decision, at every drawn rational point"),
    ("tested", "drawn examples within a stated tolerance"),
    ("none", "nothing spoke for or against: undecided"),
)  # fmt: skip


def render(report: Report) -> str:
    """Return the page."""
    style = resources.files("numerics.report").joinpath("page.css").read_text(encoding="utf-8")
    sections = (
        _section("verdicts", "The published record", _record(report)),
        _section("figures", "What the exact map says", "".join(map(_figure, report.figures))),
        _section("statements", "The theory’s own statements", _statements(report)),
        _section("crosschecks", "Cross-checks against the map", _crosschecks(report.crosschecks)),
        _section("derivations", "The derivations, step by step", _derivations(report.derivations)),
        _section("conventions", "Conventions", _conventions()),
        _section("versions", "Made with", _terms(report.versions)),
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<title>GRPO dynamics: derived and audited</title>\n"
        f"<style>\n{style}{MATHEMATICS}</style>\n</head>\n<body>\n"
        f"{_head(report)}\n<main>\n{''.join(sections)}</main>\n</body>\n</html>\n"
    )


def _text(words: object) -> str:
    return escape(str(words))


def _section(id: str, title: str, body: str) -> str:
    return f'<section id="{id}">\n<h2>{_text(title)}</h2>\n{body}\n</section>\n'


def _terms(rows: Mapping[str, str]) -> str:
    items = "".join(f"<dt>{_text(name)}</dt><dd>{_text(value)}</dd>" for name, value in rows.items())
    return f'<dl class="terms">{items}</dl>'


# --- the first screen --------------------------------------------------------------------------


def _head(report: Report) -> str:
    readings = [audited for judged in report.record for _, audited in judged.readings]
    found = Counter(audited.verdict.word.value for audited in readings)
    passed = sum(row.passed for row in report.crosschecks)
    tally = (
        (len(report.record), "published claims", ""),
        (len(readings), "readings of them", ""),
        (found["holds"], "hold", "holds"),
        (found["refuted"], "refuted", "refuted"),
        (found["undecided"], "undecided", "undecided"),
        (f"{passed}/{len(report.crosschecks)}", "cross-checks passed", ""),
    )
    places = (
        ("verdicts", "Verdicts"), ("figures", "Figures"), ("statements", "Statements"),
        ("crosschecks", "Cross-checks"), ("derivations", "Derivations"),
        ("conventions", "Conventions"), ("versions", "Versions"),
    )  # fmt: skip
    alarm = "" if report.as_expected else (
        '<p class="alarm"><b>Not everything is as expected.</b> Look for the words “not as '
        "expected” and “failed” below.</p>"
    )
    return (
        "<header>\n<h1>GRPO dynamics, derived and audited</h1>\n"
        '<p class="lede">What has been published about the training dynamics of Group Relative '
        "Policy Optimization, held against what follows from its own update rule. Every formula "
        "used to judge was derived by steps that were checked when they were made; every verdict "
        "says what it rests on.</p>\n"
        '<ul class="tally">'
        + "".join(f'<li class="{kind}"><b>{n}</b> {_text(words)}</li>' for n, words, kind in tally)
        + f"</ul>\n{alarm}</header>\n<nav><ul>"
        + "".join(f'<li><a href="#{id}">{_text(title)}</a></li>' for id, title in places)
        + "</ul></nav>"
    )


# --- claims ------------------------------------------------------------------------------------


def _badge(audited: Audited) -> str:
    word = audited.verdict.word.value
    surprise = "" if audited.as_expected else ' <b class="badge failed">not as expected</b>'
    return (
        f'<span class="verdict"><span class="badge {word}">{_MARKS[word]}</span>'
        f'<span class="rung">{_text(audited.verdict.evidence.rung.word)}</span>{surprise}</span>'
    )


def _glance(record: Iterable[JudgedEntry]) -> str:
    """Return every entry as a chip with the mark of each reading, linked to its row."""
    chips = []
    for judged in record:
        words = [audited.verdict.word.value for _, audited in judged.readings]
        marks = "".join(f'<i class="{word}">{_MARKS[word][0]}</i>' for word in words)
        id = _text(judged.entry.id)
        chips.append(f'<a href="#{id}" title="{_text(", ".join(words))}">{id} {marks}</a>')
    return f'<p class="glance">{"".join(chips)}</p>'


def _record(report: Report) -> str:
    rows = "".join(_entry(judged, report.on_the_map) for judged in report.record)
    return (
        f"{_glance(report.record)}\n"
        '<p class="dim">Words can be meant in several ways, and a verdict without its reading says '
        "nothing, so each reading has its own. Open one for its formula and evidence.</p>\n"
        '<table class="record"><thead><tr><th>Claim</th><th>Verdict on each reading</th>'
        f"<th>What it means if you train</th></tr></thead><tbody>{rows}</tbody></table>\n"
        f"<h3>What a verdict rests on</h3>{_terms(dict(_RUNGS))}"
    )


def _entry(judged: JudgedEntry, on_the_map: Mapping[str, str]) -> str:
    entry = judged.entry
    readings = "".join(
        f'<details class="reading {audited.verdict.word.value}"><summary>{_badge(audited)}'
        f"<span>{_text(name)}</span></summary>{_evidence(audited, on_the_map)}</details>"
        for name, audited in judged.readings
    )
    left = f'<p class="left">Left to data: {_text(entry.left)}</p>' if entry.left else ""
    id = _text(entry.id)
    return (
        f'<tr id="{id}"><td><span class="id"><a href="#{id}">{id}</a></span> '
        f"<p>{_text(entry.statement)}</p><small>{_text(entry.source)} · "
        f"{_text(entry.provenance.value)}</small></td><td>{readings}</td>"
        f"<td><p>{_text(entry.meaning)}</p>{left}</td></tr>\n"
    )


def _evidence(audited: Audited, on_the_map: Mapping[str, str]) -> str:
    claim, verdict = audited.claim, audited.verdict
    conventions = ", ".join(f"{name} {value}" for name, value in audited.conventions.items())
    point = ", ".join(f"{name} = {value}" for name, value in verdict.counterexample.items())
    there = "; ".join(filter(None, (verdict.witness, on_the_map.get(claim.id, ""))))
    formulas = (
        ("printed", claim.says),
        ("derived", verdict.derived),
        ("derived − printed", verdict.difference if verdict.difference != "0" else ""),
        ("fails at", point),
    )
    words = (
        ("there", there),
        ("evidence", verdict.evidence.method),
        ("over", verdict.evidence.domain),
        ("meant", ", ".join(filter(None, (claim.quantity, claim.relation.value, conventions)))),
        *(("note", note) for note in verdict.notes),
    )
    items = [f"<dt>{n}</dt><dd><code>{_text(v)}</code></dd>" for n, v in formulas if v]
    items += [f"<dt>{n}</dt><dd>{_text(v)}</dd>" for n, v in words if v]
    return f'<dl class="terms">{"".join(items)}</dl>'


def _statements(report: Report) -> str:
    rows = "".join(
        f'<tr><td><span class="id">{_text(row.claim.id)}</span><br>'
        f"<small>{_text(row.claim.provenance.value)}</small></td>"
        f'<td><small>{_text(row.claim.quantity)}</small><div class="math">{_formula(row)}</div></td>'
        f'<td><details class="reading {row.verdict.word.value}"><summary>{_badge(row)}<span></span>'
        f"</summary>{_evidence(row, report.on_the_map)}</details></td></tr>\n"
        for row in report.statements
    )
    return (
        '<p class="dim">Typed by hand, then compared with what the derivations give; results are '
        "never typed in.</p>\n"
        '<table class="statements"><thead><tr><th>Statement</th><th>Formula</th><th>Verdict</th>'
        f"</tr></thead><tbody>{rows}</tbody></table>"
    )


def _formula(audited: Audited) -> str:
    """Return the printed formula as mathematics; as typed it stands with the evidence."""
    claim = audited.claim
    names = {name: quantity(name) for name in TARGETS[claim.quantity].symbols}
    formula = parse_formula(claim.says, names)
    parts = formula.relations or (formula.expression,)
    return ", ".join(typeset.mathml(part) for part in parts)


# --- the rest ----------------------------------------------------------------------------------


def _figure(figure: Figure) -> str:
    return (
        f'<figure id="{figure.id}"><h3>{_text(figure.title)}</h3>'
        f'<div class="panels" role="img" aria-label="{_text(figure.alt)}">'
        f"{''.join(figure.panels)}</div><figcaption>{_text(figure.caption)}</figcaption></figure>\n"
    )


def _crosschecks(rows: Iterable[Crosscheck]) -> str:
    body = "".join(
        f'<tr><td><span class="id">{_text(row.name)}</span></td>'
        f'<td data-label="deviation">{_text(row.measure)}</td>'
        f'<td class="number" data-label="cases">{row.cases}</td>'
        f'<td class="number" data-label="worst">{row.deviation:.2g}</td>'
        f'<td data-label="allowed">{row.allowed:.2g}<br><small>{_text(row.reason)}</small></td>'
        f'<td><span class="badge {"passed" if row.passed else "failed"}">'
        f"{'✓ passed' if row.passed else '✗ failed'}</span></td></tr>\n"
        for row in rows
    )
    return (
        '<p class="dim">The exact results come from characteristic roots; the map is stepped from '
        "equation (3). They share no code.</p>\n"
        "<table><thead><tr><th>Quantity</th><th>Deviation</th><th>Cases</th><th>Worst</th>"
        f"<th>Allowed</th><th></th></tr></thead><tbody>{body}</tbody></table>"
    )


def _derivations(rows: Iterable[Shown]) -> str:
    shown = {row.id: row for row in rows}
    parts = "".join(
        f"<h3>{_text(title)}</h3>{''.join(_derivation(shown[entry.id]) for entry in entries)}"
        for title, entries in PARTS.items()
    )
    return (
        '<p class="dim">Each is a function of its premises, shown under the first ones; for others '
        "<code>grpo-dynamics derive ID --optimizer NAME --lag-model NAME</code>.</p>\n"
        f'<div class="results">{parts}</div>'
    )


def _derivation(row: Shown) -> str:
    return (
        f'<details><summary><span class="id">{_text(row.id)}</span> {_text(row.title)} '
        f'<span class="rung">{_text(row.provenance)}, {_text(row.rung)}</span></summary>'
        f"{row.html}</details>\n"
    )


def _conventions() -> str:
    symbols = {
        q.name: f"{q.meaning}; {q.domain}{'' if q.unit == '1' else f', unit {q.unit}'}"
        for q in QUANTITIES.values()
    }
    optimizers = {
        row.name: f"memory {row.memory}, intake {row.intake}, direct {row.direct}, passed {row.passed}; "
        f"{row.source}"
        for row in OPTIMIZERS.values()
    }
    lags = {f"{row.name} ({row.parameter})": row.source for row in LAG_MODELS.values()}
    return (
        "<p>A step is v = memory·v + intake·g, then q = q + direct·g + passed·v, with the force "
        "g = −((1 − s)·x·q + s·x·q(lag steps ago)).</p>"
        f"<h3>Optimizers</h3>{_terms(optimizers)}<h3>Lag models</h3>{_terms(lags)}"
        f"<h3>Symbols</h3>{_terms(symbols)}"
    )
