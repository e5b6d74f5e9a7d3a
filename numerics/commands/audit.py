"""``grpo-dynamics audit``: the formulas of a file against the derived ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from numerics.commands.arguments import PROGRAM, Parser, UsageError, one_line
from numerics.commands.output import print_json, table, wrapped

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["configure", "render", "run"]

_J = TypeVar("_J")
_R = TypeVar("_R")

#: Refused claims that are named; a file of hundreds has one cause.
MOST_REFUSALS = 40


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="a TOML file of [[claim]] tables")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")
    parser.add_argument(
        "--markdown", action="store_true", help="print a table to paste into a review"
    )
    parser.add_argument("--html", metavar="PAGE", help="write a page for reviewers to this file")


def run(args: argparse.Namespace) -> int:
    """Judge every claim; 1 if a verdict is not the one its file expects, 2 if one is refused."""
    if args.json and args.markdown:
        raise UsageError("--json and --markdown are two ways to print; give one of them")

    from derivations.audit import audit_files
    from derivations.claim_file import ClaimFileError
    from numerics.progress import progress
    from numerics.report.witness import confirm
    from numerics.workers import in_processes

    def spread(judge: Callable[[_J], _R], jobs: Sequence[_J]) -> Iterable[_R]:
        return progress(in_processes(judge, jobs, worth=8), "audit", len(jobs))

    try:
        audited = audit_files(args.files, spread, explained=True)
    except ClaimFileError as error:
        return _refuse(error.refusals)
    rows = [(row, confirm(row)) for row in audited]
    if args.html is not None:
        _write(Path(args.html), rows)
    if args.markdown:
        from numerics.review import markdown

        print(markdown(rows), end="")
    elif args.json:
        claims = [_data(row, on_the_map) for row, on_the_map in rows]
        print_json("grpo-dynamics/audit/1", {"claims": claims})
    else:
        print(render(rows))
    return 0 if all(row.as_expected for row, _ in rows) else 1


def _data(row: Audited, on_the_map: str) -> dict[str, object]:
    from numerics.report.sharpness import sharpness

    points = [point.json() for point in sharpness(row)]
    return {**row.json(), "on_the_map": on_the_map, "sharpness": points}


def _refuse(refusals: Sequence[str]) -> int:
    """Say what cannot be judged as written, one line a claim."""
    for reason in refusals[:MOST_REFUSALS]:
        print(f"{PROGRAM}: error: {one_line(reason)}", file=sys.stderr)
    if len(refusals) > MOST_REFUSALS:
        more = len(refusals) - MOST_REFUSALS
        print(f"{PROGRAM}: error: and {more} more claims cannot be judged", file=sys.stderr)
    return 2


def _write(page: Path, rows: list[tuple[Audited, str]]) -> None:
    """Write the reviewer's page, whole or not at all."""
    from numerics.publish import staged
    from numerics.review import review_page

    if page.is_dir():
        raise UsageError(f"{page} is a directory; give --html a file to write")
    with staged(page.parent, [page.name]) as folder:
        (folder / page.name).write_text(review_page(rows), encoding="utf-8")


def render(rows: Iterable[tuple[Audited, str]]) -> str:
    """Return verdicts for an 80-column terminal, each with its reason, and a summary.

    Parameters
    ----------
    rows
        Each audited claim, and what the discrete map does at its counterexample.
    """
    rows = list(rows)
    unexpected = sum(not row.as_expected for row, _ in rows)
    claims = "1 claim" if len(rows) == 1 else f"{len(rows)} claims"
    blocks = [_block(row, on_the_map) for row, on_the_map in rows]
    return "\n".join([*blocks, f"{claims}, {unexpected} not as expected"])


def _block(row: Audited, on_the_map: str) -> str:
    from numerics.report.sharpness import in_words, sharpness

    claim, verdict = row.claim, row.verdict
    word = f"{verdict.word.value.upper()} ({verdict.evidence.rung.word})"
    if not row.as_expected:
        word += f", expected {claim.expect.value}"
    conventions = ", ".join(f"{name} {value}" for name, value in row.conventions.items())
    point = ", ".join(f"{name} = {value}" for name, value in verdict.counterexample.items())
    lines = [
        ("printed", claim.says),
        ("as read", row.as_read if row.as_read != claim.says else ""),
        ("relation", claim.relation.value),
        ("derived", verdict.derived),
        ("differs", row.differs),
        ("smallest", ": ".join(filter(None, (point, verdict.witness)))),
        ("simulated", on_the_map),
        ("ratio", row.explanation.ratio),
        *(("agrees", where) for where in row.explanation.agrees),
        *(("reading", f"holds {reading}") for reading in row.explanation.readings),
        ("reading", row.in_vain),
        *(("slip?", f"holds after one change: {each}") for each in row.explanation.corrections),
        *(("sharp?", line) for line in in_words(sharpness(row))),
        ("evidence", "; ".join(filter(None, (verdict.evidence.method, verdict.evidence.domain)))),
        *(("note", note) for note in verdict.notes),
    ]
    head = wrapped(f"{claim.id}  {claim.quantity}; {conventions}  {word}", indent=0, hanging=2)
    return f"{head}\n{table((name, text) for name, text in lines if text)}\n"
