"""``grpo-dynamics diagnose``: which of four failures a training log shows, if any."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from numerics.commands.arguments import Parser, choice, or_list, quoted
from numerics.commands.output import print_json

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
        "--eval-items", metavar="N", dest="items", type=_from(1),
        help="held-out prompts behind one evaluation, for its sampling error",
    )
    parser.add_argument("--group-size", metavar="G", type=_from(2), help="answers to one prompt")
    parser.add_argument("--prompts", metavar="P", type=_from(1), help="prompts (groups) in a step")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Read the log, judge it, and print for people or for machines."""
    from numerics.diagnose import diagnose, noise_of_sweep, render
    from numerics.inputs import InvalidInput
    from numerics.logs import read_log

    if args.trainer is not None and args.config is None:
        raise InvalidInput("--trainer says whose --config it is: give --config FILE")
    lag = None if args.config is None else _lag(args.trainer, args.config)
    log = read_log(args.log)
    found = diagnose(
        log,
        evaluation=None if args.evaluation is None else read_log(args.evaluation),
        group_size=args.group_size,
        prompts=args.prompts,
        evaluation_items=args.items,
        lag=lag,
    )
    exponent = noise_of_sweep(log)
    if args.json:
        runs = [one.to_json() for one in found]
        told = None if exponent is None else exponent.to_json()
        print_json({"log": str(args.log), "runs": runs, "noise_exponent": told})
        return 0
    print(render(found))
    if exponent is not None:
        print(f"\nOver the runs of one model the noise goes as G^a, a = {exponent};\n"
              "sampling the groups alone gives -0.5.")  # fmt: skip
    return 0


def _lag(trainer: str | None, path: Path) -> tuple[float, float]:
    """Return mean and largest lag of a configuration, in steps."""
    from numerics.trainers import lag_table, read_config

    table = lag_table(trainer, read_config(path))
    return float(table.mean), float(table.max)


def _from(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if text.strip().isdigit() and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number from {least}")

    return parse
