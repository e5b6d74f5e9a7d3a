r"""An audit as one HTML page for a reviewer: every claim as printed, as read, and as judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING

from derivations.markup import CSS as MATHEMATICS
from numerics.report.evidence import about, badge, evidence, formula, text
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
    style = resources.files("numerics.report").joinpath("page.css").read_text(encoding="utf-8")
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
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Audit: {text(', '.join(files))}</title>\n<style>\n{MATHEMATICS}{style}</style>\n"
        "</head>\n<body>\n<header>\n<h1>Audit</h1>\n"
        '<p class="lede">Printed formulas against what the update rule of GRPO gives. A verdict '
        "says what it rests on; a refuted claim is told where it fails, under which reading it "
        f'would hold, and which slip it may be.</p>\n<ul class="tally">{tally}</ul>\n</header>\n'
        f"<main>\n{sections}</main>\n</body>\n</html>\n"
    )


def _claim(row: Audited, on_the_map: str) -> str:
    claim = row.claim
    words = "".join(f"<p>{text(line)}</p>" for line in (claim.statement, claim.meaning) if line)
    drawn = counterexample(row)
    figure = f'<div style="max-width: 30rem">{drawn}</div>' if drawn else ""
    source = f" <small>{text(claim.source)}</small>" if str(claim.source) else ""
    return (
        f'<article id="{text(claim.id)}"><h3><span class="id">{text(claim.id)}</span> '
        f"{badge(row)}{source}</h3>{words}<p><small>{text(about(row))}</small></p>"
        f"{formula(row)}{evidence(row, {claim.id: on_the_map})}{figure}</article>\n"
    )
