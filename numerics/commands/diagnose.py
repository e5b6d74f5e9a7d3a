"""``grpo-dynamics diagnose``: which of four failures a training log shows, if any."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import Parser, UsageError, choice, or_list
from numerics.commands.curve import whole_from
from numerics.commands.output import print_json, printable

if TYPE_CHECKING:
    from numerics.trainers import LagTable

__all__ = ["configure", "run"]

# The names of `numerics.trainers`, repeated because that costs NumPy; a test compares them.
TRAINERS = ("trl", "verl", "queue")


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "log", metavar="LOG", type=Path,
        help="a training log, in any format that `grpo-dynamics read` takes",
    )  # fmt: skip
    parser.add_argument(
        "--config", metavar="FILE", type=Path,
        help="the trainer's configuration, for the lag: .json, .yaml or .toml",
    )
    parser.add_argument(
        "--trainer", metavar="NAME", type=choice("trainer", TRAINERS),
        help=f"whose configuration it is: {or_list(TRAINERS)}; left out, the configuration tells",
    )
    parser.add_argument(
        "--eval", metavar="LOG2", dest="evaluation", type=Path,
        help="another log of the same run, whose reward is the evaluation",
    )
    parser.add_argument(
        "--eval-items", metavar="N", dest="items", type=whole_from(1),
        help="held-out prompts behind one evaluation, for its sampling error",
    )
    parser.add_argument(
        "--group-size", metavar="G", type=whole_from(2), help="answers to one prompt"
    )
    parser.add_argument(
        "--prompts", metavar="P", type=whole_from(1), help="prompts (groups) in a step"
    )
    parser.add_argument(
        "--html", metavar="PAGE", type=Path,
        help="write a page for people to this file: curve, forecast, dials, what was read",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Read the log, judge it, and print for people or for machines."""
    from numerics.diagnose import diagnose, noise_of_sweep, render
    from numerics.inputs import InvalidInput
    from numerics.logs import read_log

    if args.trainer is not None and args.config is None:
        raise InvalidInput("--trainer says whose --config it is: give --config FILE")
    if args.html is not None:
        _check_place(args)
    lag = None if args.config is None else _lag(args.trainer, args.config)
    log = read_log(args.log)
    told: dict[str, Any] = {
        "evaluation": None if args.evaluation is None else read_log(args.evaluation),
        "group_size": args.group_size,
        "prompts": args.prompts,
        "evaluation_items": args.items,
    }
    means = None if lag is None else (float(lag.mean), float(lag.max))
    found = diagnose(log, **told, lag=means)
    if args.html is not None:
        from numerics.log_page import log_page
        from numerics.publish import staged

        text = log_page(log, found, **told, lag=lag)
        with staged(args.html.parent, [args.html.name]) as folder:
            (folder / args.html.name).write_text(text, encoding="utf-8")
    exponent = noise_of_sweep(log)
    if args.json:
        runs = [one.to_json() for one in found]
        slope = None if exponent is None else exponent.to_json()
        found_json = {"log": str(args.log), "runs": runs, "noise_exponent": slope}
        print_json("grpo-dynamics/diagnose/1", found_json)
        return 0
    print(printable(render(found)))
    if exponent is not None:
        print(f"\nOver the runs of one model the noise goes as G^a, a = {exponent};\n"
              "sampling the groups alone gives -0.5.")  # fmt: skip
    return 0


def _lag(trainer: str | None, path: Path) -> LagTable:
    from numerics.trainers import lag_table, read_config

    return lag_table(trainer, read_config(path))


def _check_place(args: argparse.Namespace) -> None:
    """Refuse, before the work, a page that would be a directory or one of the files read."""
    if args.html.is_dir():
        raise UsageError(f"{args.html} is a directory; give --html a file to write")
    for read in (args.log, args.evaluation, args.config):
        if read is not None and read.resolve() == args.html.resolve():
            raise UsageError(f"--html would overwrite {read}, which is read; give another name")
