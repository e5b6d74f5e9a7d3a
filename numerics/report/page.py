r"""The report as one HTML page that needs nothing but itself.

The only pieces that are put into it raw are SVG and MathML made here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby

from derivations.markup import CSS as MATHEMATICS
from derivations.notation import QUANTITIES
from derivations.update import LAG_MODELS, OPTIMIZERS
from numerics.pages import document, terms, text
from numerics.plots import Figure
from numerics.report.claims import record, statements
from numerics.report.crosscheck import Crosscheck
from numerics.report.run import Report, Shown

__all__ = ["render"]


def render(report: Report) -> str:
    """Return the page."""
    # The name in the list of places, the heading, and what stands under it.
    sections = (
        ("Verdicts", "The published record", record(report)),
        ("Figures", "What the exact map says", "".join(map(_figure, report.figures))),
        ("Statements", "The theory’s own statements", statements(report)),
        ("Cross-checks", "Cross-checks against the map", _crosschecks(report.crosschecks)),
        ("Evidence", "Against the evidence record", _evidence(report)),
        ("Derivations", "The derivations, step by step", _derivations(report.derivations)),
        ("Conventions", "Conventions", _conventions()),
        ("Versions", "Made with", terms(report.versions)),
    )
    places = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name, _, _ in sections)
    body = "".join(
        f'<section id="{name.lower()}">\n<h2>{text(title)}</h2>\n{inner}\n</section>\n'
        for name, title, inner in sections
    )
    return document(
        "GRPO dynamics: derived and audited",
        f"{_head(report)}\n<nav><ul>{places}</ul></nav>\n<main>\n{body}</main>",
        styles=[MATHEMATICS],
    )


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
    shown = "".join(
        f'<li class="{kind}"><b>{number}</b> {text(words)}</li>' for number, words, kind in tally
    )
    alarm = (
        '<p class="alarm"><b>Not everything is as expected.</b> Look for the words “not as '
        "expected”, “failed” and “slid” below.</p>"
    )
    return (
        "<header>\n<h1>GRPO dynamics, derived and audited</h1>\n"
        '<p class="lede">What has been published about the training dynamics of Group Relative '
        "Policy Optimization, held against what follows from its own update rule. Every formula "
        "used to judge was derived step by step, each checked when it was made or marked as "
        "argued in words; every verdict "
        f'says what it rests on.</p>\n<ul class="tally">{shown}</ul>\n'
        f"{'' if report.as_expected else alarm}</header>"
    )


def _figure(figure: Figure) -> str:
    return (
        f'<figure id="{figure.id}"><h3>{text(figure.title)}</h3>'
        f'<div class="panels" role="img" aria-label="{text(figure.alt)}">'
        f"{''.join(figure.panels)}</div><figcaption>{text(figure.caption)}</figcaption></figure>\n"
    )


def _crosschecks(rows: Iterable[Crosscheck]) -> str:
    body = "".join(
        f'<tr><td><span class="id">{text(row.name)}</span></td>'
        f'<td data-label="deviation">{text(row.measure)}</td>'
        f'<td class="number" data-label="cases">{row.cases}</td>'
        f'<td class="number" data-label="worst">{row.deviation:.2g}</td>'
        f'<td data-label="allowed">{row.allowed:.2g}<br><small>{text(row.reason)}</small></td>'
        f'<td><span class="badge {"passed" if row.passed else "failed"}">'
        f"{'✓ passed' if row.passed else '✗ failed'}</span></td></tr>\n"
        for row in rows
    )
    return (
        '<p class="dim">The exact results come from characteristic roots; the map is stepped from '
        "equation (3). They share no code. Proofs of the solver are decided again without it.</p>\n"
        "<table><thead><tr><th>Quantity</th><th>Deviation</th><th>Cases</th><th>Worst</th>"
        f"<th>Allowed</th><th></th></tr></thead><tbody>{body}</tbody></table>"
    )


def _evidence(report: Report) -> str:
    about = (
        f'<p class="dim">What {len(report.evidence.claims)} verdicts rest on, each with its rung, '
        "method and domain, is compared with a record kept with the source, so that none steps "
        "down unseen.</p>\n"
    )
    if not report.changes:
        return f'{about}<p><span class="badge passed">✓ all as recorded</span></p>'
    slid = '<span class="badge failed">✗ slid</span>'
    other = '<span class="badge passed">changed</span>'
    items = "".join(
        f"<li>{slid if change.slid else other} {text(change)}</li>" for change in report.changes
    )
    how = "<p>Accepted.</p>" if report.accepted else ""
    return f"{about}<ul>{items}</ul>{how}"


def _derivations(rows: Iterable[Shown]) -> str:
    parts = "".join(
        f"<h3>{text(title)}</h3>{''.join(map(_derivation, group))}"
        for title, group in groupby(rows, lambda row: row.part)
    )
    return (
        '<p class="dim">Each is a function of its premises, shown under the first ones; for others '
        "<code>grpo-dynamics derive ID --optimizer NAME --lag-model NAME</code>.</p>\n"
        f'<div class="results">{parts}</div>'
    )


def _derivation(row: Shown) -> str:
    return (
        f'<details><summary><span class="id">{text(row.id)}</span> {text(row.title)} '
        f'<span class="rung">{text(row.provenance)}, {text(row.rung)}</span></summary>'
        f"{row.html}</details>\n"
    )


def _conventions() -> str:
    symbols = {
        q.name: f"{q.meaning}; {q.domain}{'' if q.unit == '1' else f', unit {q.unit}'}"
        for q in QUANTITIES.values()
    }
    optimizers = {
        row.name: f"memory {row.memory}, intake {row.intake}, direct {row.direct}, "
        f"passed {row.passed}; {row.source}"
        for row in OPTIMIZERS.values()
    }
    lags = {f"{row.name} ({row.parameter})": row.source for row in LAG_MODELS.values()}
    return (
        "<p>A step is v = memory·v + intake·g, then q = q + direct·g + passed·v, with the force "
        "g = −((1 − s)·x·q + s·x·q(lag steps ago)).</p>"
        f"<h3>Optimizers</h3>{terms(optimizers)}<h3>Lag models</h3>{terms(lags)}"
        f"<h3>Symbols</h3>{terms(symbols)}"
    )
