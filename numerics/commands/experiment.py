"""``grpo-dynamics experiment``: claims that no algebra decides, put to a simulation."""

from __future__ import annotations

import argparse
from pathlib import Path

from numerics.commands.arguments import Parser, UsageError, choice

__all__ = ["EXPERIMENTS", "configure", "run"]

#: The experiments there are; each is a room of ``numerics.experiments``.
EXPERIMENTS = ("bandit",)

# Files whose names are known before the run, so that what stands in their place is found then.
_FILES = ("bandit.json", "bandit.csv", "systems.csv", "verdicts.csv", "bandit_mean_field.svg")


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "name", metavar="NAME", type=choice("experiment", EXPERIMENTS),
        help="bandit: transition and threshold of the simulated bandit (claims p14, p15)",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("bandit"),
        help="where bandit.json, tables (CSV) and figures (SVG) go (default bandit)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer lags, to a coarser resolution"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Do the experiment; 1 if a verdict is not the expected one."""
    import json

    from numerics.experiments.bandit import make, render, tables
    from numerics.experiments.bandit.figure import figures
    from numerics.progress import progress
    from numerics.publish import staged

    if not args.out.name:
        raise UsageError("--out needs the name of a directory")
    with staged(args.out, _FILES) as scratch:
        experiment = make(
            quick=args.quick,
            progress=lambda results, total: progress(results, "experiment", total),
        )
        text = json.dumps(experiment.json(), indent=2, allow_nan=False)
        files = {"bandit.json": f"{text}\n", **tables(experiment), **figures(experiment)}
        for name, content in files.items():
            (scratch / name).write_text(content, encoding="utf-8")
    if args.json:
        print(text)
    else:
        print(render(experiment), f"\n{args.out}: {len(files)} files", sep="\n")
    return 0 if experiment.as_expected else 1
