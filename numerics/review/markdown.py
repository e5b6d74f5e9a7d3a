r"""An audit as a Markdown table, to paste into a review."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["markdown"]

#: What Markdown could take for markup; an underscore inside a word is none.
_MARKUP = re.compile(r"[\\`*{}\[\]<>#|~&$]|(?<!\w)_|_(?!\w)")


def markdown(rows: Iterable[tuple[Audited, str]]) -> str:
    """Return the audited claims, each with what the map does at its counterexample, as a table."""
    lines = ["| claim | printed | verdict | derived | why |", "|---|---|---|---|---|"]
    for row, on_the_map in rows:
        verdict = row.verdict
        word = f"**{verdict.word.value}** ({verdict.evidence.rung.word})"
        cells = (_prose(row.claim.id), _code(row.claim.says), word, _code(verdict.derived))
        lines.append(f"| {' | '.join(cells)} | {_prose(_why(row, on_the_map))} |")
    return "\n".join(lines) + "\n"


def _why(row: Audited, on_the_map: str) -> str:
    verdict, near = row.verdict, row.explanation
    if verdict.word.value != "refuted":
        return verdict.evidence.method
    point = ", ".join(f"{name} = {value}" for name, value in verdict.counterexample.items())
    said = [f"at {point}: {verdict.witness}" if point else verdict.witness, on_the_map]
    said += [f"holds {reading}" for reading in near.readings]
    said += [f"holds after one change: {change}" for change in near.corrections[:1]]
    said.append(row.in_vain)
    return "; ".join(filter(None, said))


def _prose(words: str) -> str:
    """Return words that stay as they are, inside one cell."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(words.split()))


def _code(formula: str) -> str:
    """Return a formula as code inside one cell; a backtick in it is answered by a longer fence."""
    if not formula:
        return ""
    fence = "``" if "`" in formula else "`"
    body = " ".join(formula.split()).replace("|", "\\|")
    return f"{fence}{body}{fence}"
