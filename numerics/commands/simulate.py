"""``grpo-dynamics simulate``: a run described by a file, to rows and a figure."""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import Parser, UsageError, or_list
from numerics.commands.output import print_json, table, wrapped

if TYPE_CHECKING:
    from numerics.runs import Run, Table

# The names of `numerics.runs`, repeated because that costs NumPy; a test compares them.
SUFFIXES = (".csv", ".jsonl")
PLOT_SUFFIXES = (".svg", ".png")


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument("file", metavar="FILE", type=Path, help="the run, in TOML")
    parser.add_argument(
        "--out", metavar="FILE", type=Path,
        help="where the rows go: a name that ends in .csv, or in .jsonl for JSON lines",
    )
    parser.add_argument(
        "--plot", metavar="FILE", type=Path,
        help="where a figure goes: a name that ends in .svg or .png",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def run(args: argparse.Namespace) -> int:
    """Simulate, write and summarise; 1 if a chain left the floating-point range."""
    for flag, path, suffixes in (
        ("--out", args.out, SUFFIXES),
        ("--plot", args.plot, PLOT_SUFFIXES),
    ):
        if path is not None and path.suffix not in suffixes:
            raise UsageError(f"{flag} {path}: give a name that ends in {or_list(suffixes)}")
        if path is not None and path.resolve() == args.file.resolve():
            raise UsageError(f"{flag} {path} is the run file itself; give another name")

    from numerics.runs import plot, read_run, replaced, write

    asked = read_run(args.file)
    with ExitStack() as files:
        out, figure = (
            None if path is None else files.enter_context(replaced(path))
            for path in (args.out, args.plot)
        )
        found = asked.execute()
        if out is not None:
            write(found, out)
        if figure is not None:
            plot(found, figure)
    summary = _summary(asked, found)
    if args.json:
        print_json("grpo-dynamics/simulate/1", summary)
    else:
        print(_text(summary, [path for path in (args.out, args.plot) if path is not None]))
    return 1 if found.overflows else 0


def _summary(asked: Run, found: Table) -> dict[str, Any]:
    """Return what the run was and how it ended, JSON-ready."""
    common = asked.settings
    columns = {name: column for name, column in found.columns.items() if name != "chain"}
    last = columns["step"] == columns["step"].max(initial=-1)
    # Divided first: chains about to overflow have a mean, though no sum.
    share = 1 / max(1, int(last.sum()))
    return {
        "kind": asked.kind,
        "steps": common.steps,
        "chains": common.chains,
        "record_every": common.record_every,
        "seed": common.seed,
        **asked.conventions,
        "rows": len(found),
        "columns": list(found.columns),
        "last": {name: float((column[last] * share).sum()) for name, column in columns.items()},
        "overflows": [{"chain": left.chain, "step": left.step} for left in found.overflows],
    }


def _text(summary: dict[str, Any], written: list[Path]) -> str:
    """Return the summary for people: where it ended, what overflowed, what was written."""
    chains = summary["chains"]
    lines = [
        f"{summary['kind']} run of {summary['steps']} steps, {chains} chain{'s' * (chains != 1)}; "
        f"{summary['rows']} rows",
        "",
        f"at the last recorded step{', mean over the chains' if chains > 1 else ''}:",
        table((name, f"{value:.6g}") for name, value in summary["last"].items()),
    ]
    left = summary["overflows"]
    if left:
        first = min(left, key=lambda overflow: overflow["step"])
        lines += ["", wrapped(
            f"{len(left)} of {chains} chains left the floating-point range, the first (chain "
            f"{first['chain']}) at step {first['step']}; rows from that step on are left out",
            indent=0, hanging=0,
        )]  # fmt: skip
    return "\n".join([*lines, *(["", *map(str, written)] if written else [])])
