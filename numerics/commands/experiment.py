"""``grpo-dynamics experiment``: claims that no algebra decides, put to a simulation."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from numerics.commands.arguments import Parser, UsageError, choice

__all__ = ["EXPERIMENTS", "configure", "run"]

#: The experiments there are; each is a room of ``numerics.experiments``.
EXPERIMENTS = ("bandit", "transformer")

# Files whose names are known before the run, so that what stands in their place is found then.
_FILES = {
    "bandit": ("bandit.json", "bandit.csv", "systems.csv", "verdicts.csv", "bandit_mean_field.svg"),
    "transformer": ("transformer.json", "verdicts.csv"),
}


class _Made(Protocol):
    @property
    def as_expected(self) -> bool: ...

    def json(self) -> dict[str, object]: ...


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "name", metavar="NAME", type=choice("experiment", EXPERIMENTS),
        help="bandit: transition and threshold of the simulated bandit (claims p14, p15); "
        "transformer: every prediction on a tiny transformer trained by trl",
    )
    parser.add_argument(
        "--out", metavar="DIR", type=Path,
        help="where JSON, tables (CSV) and figures (SVG) go (default: a directory of NAME)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="less of everything, to a coarser resolution"
    )
    parser.add_argument(
        "--only", metavar="E1,E2", type=lambda text: tuple(text.split(",")),
        help="transformer: these experiments only",
    )
    parser.add_argument(
        "--redraw", action="store_true",
        help="transformer: train nothing; compare and draw the runs that are kept (needs no torch)",
    )
    parser.add_argument(
        "--runs", metavar="DIR", type=Path,
        help="transformer: where its runs are kept, and looked for, so that it goes on where it "
        "was interrupted (default: runs under --out; with --redraw those of the package)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Do the experiment; 1 if a verdict is not the expected one."""
    import json

    from numerics.publish import staged

    out = args.out if args.out is not None else Path(args.name)
    if not out.name:
        raise UsageError("--out needs the name of a directory")
    if args.name == "bandit" and (args.only or args.redraw or args.runs):
        raise UsageError("--only, --redraw and --runs are of transformer; leave them out")
    with staged(out, _FILES[args.name]) as scratch:
        make = _bandit if args.name == "bandit" else _transformer
        made, rendered, files = make(args, out)
        text = json.dumps(made.json(), indent=2, allow_nan=False)
        files = {f"{args.name}.json": f"{text}\n", **files}
        for name, content in files.items():
            (scratch / name).write_text(content, encoding="utf-8")
    if args.json:
        print(text)
    else:
        print(rendered, f"\n{out}: {len(files)} files", sep="\n")
    return 0 if made.as_expected else 1


def _bandit(args: argparse.Namespace, out: Path) -> tuple[_Made, str, dict[str, str]]:
    from numerics.experiments.bandit import make, render, tables
    from numerics.experiments.bandit.figure import figures
    from numerics.progress import progress

    experiment = make(
        quick=args.quick,
        progress=lambda results, total: progress(results, "experiment", total),
    )
    return experiment, render(experiment), {**tables(experiment), **figures(experiment)}


def _in_order(bar: Callable[..., Iterable[Any]]) -> Callable[[Iterable[Any], int], Iterable[Any]]:
    return lambda results, total: bar(results, total=total)


def _transformer(args: argparse.Namespace, out: Path) -> tuple[_Made, str, dict[str, str]]:
    from numerics.experiments.transformer import RESULTS, Findings, chosen, do, look, render, table
    from numerics.progress import progress

    found = []
    for experiment in chosen(args.only or ()):
        if args.redraw:
            found.append(look(experiment, args.runs or RESULTS, quick=args.quick))
            continue
        bar = partial(progress, description=f"experiment {experiment.id}")
        found.append(
            do(experiment, args.runs or out / "runs", quick=args.quick, progress=_in_order(bar))
        )
    findings = Findings(tuple(found), args.quick)
    figures = {name: svg for one in found for name, svg in one.figures().items()}
    return findings, render(findings), {"verdicts.csv": table(findings), **figures}
