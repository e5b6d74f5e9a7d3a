r"""An audit as one HTML page for a reviewer: every claim as printed, as read, and as judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from derivations.markup import CSS as MATHEMATICS
from numerics.pages import document, text
from numerics.report.evidence import badge, evidence, formula
from numerics.report.sharpness import in_words, sharpness
from numerics.review.figure import counterexample

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["review_page"]


def review_page(rows: Sequence[tuple[Audited, str]]) -> str:
    """Return the page; it needs nothing but itself.

    Parameters
    ----------
    rows
        Each audited claim, and what the map does at its counterexample.
    """
    files = list(dict.fromkeys(row.file for row, _ in rows))
    sections = "".join(
        f"<section>\n<h2>{text(file or 'Claims')}</h2>\n"
        + "".join(_claim(row, there) for row, there in rows if row.file == file)
        + "</section>\n"
        for file in files
    )
    found = Counter(row.verdict.word.value for row, _ in rows)
    tally = "".join(
        f'<li class="{word}"><b>{found[word]}</b> {word}</li>'
        for word in ("holds", "refuted", "undecided")
    )
    return document(
        f"Audit: {', '.join(files)}",
        "<header>\n<h1>Audit</h1>\n"
        '<p class="lede">Printed formulas against what the update rule of GRPO gives. A verdict '
        "says what it rests on; a refuted claim is told where it fails, under which reading it "
        f'would hold, and which slip it may be.</p>\n<ul class="tally">{tally}</ul>\n</header>\n'
        f"<main>\n{sections}</main>",
        styles=[MATHEMATICS],
    )


def _claim(row: Audited, on_the_map: str) -> str:
    claim = row.claim
    words = "".join(f"<p>{text(line)}</p>" for line in (claim.statement, claim.meaning) if line)
    drawn = counterexample(row)
    figure = f'<div style="max-width: 30rem">{drawn}</div>' if drawn else ""
    # `evidence` tells what the claim is about; a difference that is zero all over is not told.
    shown = replace(row, verdict=replace(row.verdict, difference=row.differs))
    searched = f"<p>{text(row.in_vain)}</p>" if row.in_vain else ""
    searched += "".join(f"<p>{text(line)}</p>" for line in in_words(sharpness(row)))
    source = f" <small>{text(claim.source)}</small>" if str(claim.source) else ""
    return (
        f'<article id="{text(claim.id)}"><h3><span class="id">{text(claim.id)}</span> '
        f"{badge(row)}{source}</h3>{words}{formula(row)}"
        f"{evidence(shown, {claim.id: on_the_map})}{searched}{figure}</article>\n"
    )
