r"""One verdict on a page: its mark, its evidence, and the formula as mathematics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from derivations import typeset
from derivations.audit import read_formula
from numerics.pages import text

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["MARKS", "about", "badge", "evidence", "formula"]

MARKS = {"holds": "✓ holds", "refuted": "✗ refuted", "undecided": "? undecided"}


def badge(audited: Audited) -> str:
    """Return the mark of a verdict, its rung, and whether it is a surprise."""
    word = audited.verdict.word.value
    surprise = "" if audited.as_expected else ' <b class="badge failed">not as expected</b>'
    return (
        f'<span class="verdict"><span class="badge {word}">{MARKS[word]}</span>'
        f'<span class="rung">{text(audited.verdict.evidence.rung.word)}</span>{surprise}</span>'
    )


def about(audited: Audited) -> str:
    """Return of what, how and under which conventions a claim speaks."""
    claim = audited.claim
    relation = claim.relation.value
    if claim.order is not None:
        relation += f" to order {claim.order} in {claim.small}"
    conventions = (f"{name} {value}" for name, value in audited.conventions.items())
    return ", ".join((claim.quantity, relation, *conventions)).replace("_", " ")


def formula(audited: Audited) -> str:
    """Return the printed formula, in the theory's symbols, as mathematics."""
    read = read_formula(audited.claim)
    parts = read.relations or (read.expression,)
    return "".join(map(typeset.mathml_block, parts))


def evidence(audited: Audited, on_the_map: Mapping[str, str]) -> str:
    """Return what a verdict rests on, and what is near a refuted claim."""
    claim, verdict = audited.claim, audited.verdict
    point = ", ".join(f"{name} = {value}" for name, value in verdict.counterexample.items())
    there = "; ".join(filter(None, (verdict.witness, on_the_map.get(claim.id, ""))))
    formulas = (
        ("printed", claim.says),
        ("derived", verdict.derived),
        ("derived − printed", audited.differs),
        ("printed / derived", audited.explanation.ratio),
        ("fails at", point),
    )
    words = (
        ("there", there),
        ("evidence", verdict.evidence.method),
        ("over", verdict.evidence.domain),
        ("about", about(audited)),
        *(("agrees", where) for where in audited.explanation.agrees),
        *(("holds", reading) for reading in audited.explanation.readings),
        *(("holds after", change) for change in audited.explanation.corrections),
        *(("note", note) for note in verdict.notes),
    )
    items = [f"<dt>{n}</dt><dd><code>{text(v)}</code></dd>" for n, v in formulas if v]
    items += [f"<dt>{n}</dt><dd>{text(v)}</dd>" for n, v in words if v]
    return f'<dl class="terms">{"".join(items)}</dl>'
