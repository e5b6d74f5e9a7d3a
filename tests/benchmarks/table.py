"""All rows, run one after the other, as a table at the terminal and as docs/performance.md."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.harness import ROOT, Figure, Row

PAGE = ROOT / "docs" / "performance.md"

#: Modules of the rows, in the order of the table.
ROWS = (
    "noisy_map",
    "sweep",
    "two_arm",
    "bandit",
    "kernels",
    "thresholds",
    "variance",
    "certified",
    "fitting",
    "audits",
    "growth",
    "imports",
)


def main(arguments: Sequence[str]) -> int:
    """Run the rows asked for; return 1 if one is below its bar and does not say why."""
    parser = argparse.ArgumentParser(prog="python tests/benchmarks", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"of {', '.join(ROWS)}")
    parser.add_argument("--quick", action="store_true", help="small problems: does it run?")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    options = parser.parse_args(arguments)
    unknown = set(options.rows) - set(ROWS)
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; choose of {', '.join(ROWS)}")
    if options.write and (options.rows or options.quick):
        parser.error("--write is for all rows at full size")
    start = time.perf_counter()
    rows: dict[str, Row] = {}
    for name in options.rows or ROWS:
        rows[name] = importlib.import_module(f"benchmarks.{name}").measure(options.quick)
        print(as_text(rows[name]), end="\n\n", flush=True)
    print(f"{time.perf_counter() - start:.0f} s")
    if options.quick:
        print("Small problems are mostly overhead: their ratios and verdicts mean nothing.")
    if options.write:
        PAGE.write_text(page(rows), encoding="utf-8")
    unexplained = [name for name, row in rows.items() if not row.passed and not row.why_below]
    if unexplained and not options.quick:
        print(f"below the bar, and no reason given: {', '.join(unexplained)}", file=sys.stderr)
        return 1
    return 0


def number(figure: Figure, of: float) -> str:
    """Return one number of a figure, in as many digits as mean something."""
    text = f"{of:.2e}" if of and not 1e-3 <= abs(of) < 1e5 else f"{of:.3g}"
    return f"{text} {figure.unit}" if figure.unit not in ("", "x") else text + figure.unit


def spread(figure: Figure) -> str:
    """Return the extremes, if they differ."""
    if figure.low == figure.high:
        return ""
    return f"{number(figure, figure.low)} to {number(figure, figure.high)}"


def verdict(passed: bool | None) -> str:
    """Return the word for it."""
    return {True: "pass", False: "below", None: ""}[passed]


def bar(figure: Figure) -> str:
    """Return the bar of a figure in signs."""
    limits = ((">=", figure.least), ("<=", figure.most))
    return ", ".join(f"{sign} {limit:g}" for sign, limit in limits if limit is not None)


def as_text(row: Row) -> str:
    """Return a row for the terminal."""
    lines = [f"{row.work}   [{row.bar}]"]
    for figure in row.figures:
        lines.append(
            f"  {verdict(figure.passed):<6}{number(figure, figure.median):>12}  {figure.what}"
            + (f"  ({spread(figure)})" if spread(figure) else "")
            + (f"  wall {number(figure, figure.wall)}" if figure.wall is not None else "")
        )
    if not row.passed:
        lines.append(f"  {row.why_below or 'below the bar; no reason is given'}")
    return "\n".join(lines)


def page(rows: Mapping[str, Row]) -> str:
    """Return docs/performance.md."""
    parts = [
        "# Performance",
        "",
        "Ratios of CPU time, measured side by side in one process: every round runs each",
        "contestant once, in turns, and the ratio is taken within the round. The median over the",
        "rounds is held against the bar; the extremes stand beside it. A figure without a bar is",
        "there to be seen. One core is used.",
        "",
        "This page is written by the command that measures it, in under five minutes:",
        "",
        "<!-- no-run: takes minutes, and rewrites this page -->",
        "",
        "```bash",
        "python tests/benchmarks --write",
        "```",
        "",
        "Without `--write` it prints the table; a row's name (such as `kernels`) runs that row",
        "alone, and `--quick` runs small problems, to see that everything works.",
        "",
        *_table(("work", "bar", "measured", ""), _summary(rows)),
        "",
        *_table(("measured on", ""), machine().items()),
        "",
    ]
    for name, row in rows.items():
        parts += [f"## {row.work}", ""]
        parts += _table(
            ("figure", "bar", "median", "lowest to highest", "by wall time", ""),
            [
                (
                    figure.what,
                    bar(figure),
                    number(figure, figure.median),
                    spread(figure),
                    "" if figure.wall is None else number(figure, figure.wall),
                    verdict(figure.passed),
                )
                for figure in row.figures
            ],
        )
        parts += ["", *(f"{note}\n" for note in row.notes)]
        if not row.passed:
            parts += [f"**Below its bar.** {row.why_below}\n"]
        parts += [f"Source: `tests/benchmarks/{name}.py`.", ""]
    return "\n".join(parts).rstrip() + "\n"


def _summary(rows: Mapping[str, Row]) -> Iterable[tuple[str, ...]]:
    for row in rows.values():
        judged = [figure for figure in row.figures if figure.passed is not None]
        measured = "; ".join(number(figure, figure.median) for figure in judged)
        yield row.work, row.bar, measured, verdict(row.passed)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]


def machine() -> dict[str, str]:
    """Return what the figures depend on."""
    packages = ("numpy", "scipy", "sympy", "mpmath", "python-flint")
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in packages},
    }


def _processor() -> str:
    """Return its name; `platform.processor` knows none on Linux."""
    listing = Path("/proc/cpuinfo")
    if listing.is_file():
        for line in listing.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
