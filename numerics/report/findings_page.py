r"""The tables of `docs/findings.md`: the record as it was last judged, and what the runs gave.

Nothing is judged or trained here. The verdicts are those of the evidence record, which `report`
checks against the judge; the runs are those kept with the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from derivations.evidence import EvidenceRecord, load_evidence
from derivations.record import Entry, load_record

__all__ = ["stale", "write"]

_PAGE = "findings.md"
_MANY = {"holds": "hold"}


def _record() -> str:
    evidence = load_evidence()
    lines = ["| claim | says | verdict | if you train |", "|---|---|---|---|"]
    lines += [
        f"| {entry.id} | {_cell(entry.statement)} | {_verdicts(entry, evidence)} | "
        f"{_cell(entry.meaning)} |"
        for entry in load_record()
    ]
    return "\n".join(lines) + "\n"


def _verdicts(entry: Entry, evidence: EvidenceRecord) -> str:
    """Return how many readings hold and how many are refuted, on which rungs, and what was run."""
    words: dict[str, list[str]] = {}
    for _, claim in entry.readings:
        standing = evidence.claims[claim.id]
        words.setdefault(standing.verdict, []).append(standing.rung)
    said = [
        f"{len(rungs)} {_MANY.get(verdict, verdict)} ({', '.join(dict.fromkeys(rungs))})"
        if len(entry.readings) > 1
        else f"{verdict} ({rungs[0]})"
        for verdict, rungs in words.items()
    ]
    if entry.measured:
        said.append(f"measured: `{entry.measured}`")
    return "; ".join(said)


def _cell(text: str) -> str:
    """Escape what a table or Markdown would take for its own."""
    for mark in "|*_<":
        text = text.replace(mark, f"\\{mark}")
    return text


def _transformer() -> str:
    from numerics.experiments.transformer import RESULTS, Findings, chosen, look, markdown

    found = tuple(look(experiment, RESULTS, quick=False) for experiment in chosen(()))
    return markdown(Findings(found, quick=False))


_TABLES: Mapping[str, Callable[[], str]] = {"record": _record, "transformer": _transformer}


def _marks(table: str) -> tuple[str, str]:
    return f"<!-- generated: {table} -->\n", f"<!-- end of {table} -->\n"


def _made(page: str) -> str:
    """Return the page with every table made anew between its marks."""
    for table, make in _TABLES.items():
        begin, end = _marks(table)
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{make()}\n{end}{rest.partition(end)[2]}"
    return page


def _read(folder: Path) -> tuple[str, list[str]]:
    page = (folder / _PAGE).read_text(encoding="utf-8")
    missing = [mark for table in _TABLES for mark in _marks(table) if page.count(mark) != 1]
    return page, [f"{_PAGE}: give it one line {mark.strip()}" for mark in missing]


def stale(folder: Path) -> list[str]:
    """Return what is wrong with the page in a folder: no marks, or other tables between them."""
    page, missing = _read(folder)
    if missing:
        return missing
    return [] if page == _made(page) else [f"{_PAGE}: its tables are not what record and runs give"]


def write(folder: Path) -> None:
    """Write the tables into the page.

    Raises
    ------
    ValueError
        If the page has no marks to write them between.
    """
    page, missing = _read(folder)
    if missing:
        raise ValueError("; ".join(missing))
    (folder / _PAGE).write_text(_made(page), encoding="utf-8")
