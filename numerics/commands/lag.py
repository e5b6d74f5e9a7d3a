"""``grpo-dynamics lag``: the lag that a trainer's configuration really has."""

from __future__ import annotations

import argparse
from pathlib import Path

from numerics.commands.arguments import (
    NUMERIC_OPTIMIZERS,
    Parser,
    UsageError,
    choice,
    exact,
    or_list,
)
from numerics.commands.output import print_json

__all__ = ["SETTINGS", "TRAINERS", "configure", "run"]

# The names of `numerics.trainers`, repeated because that costs NumPy; a test compares them.
TRAINERS = ("trl", "verl", "queue")
SETTINGS = {
    "trl": (
        "gradient_accumulation_steps", "steps_per_generation", "generation_batch_size",
        "num_iterations", "num_generations", "per_device_train_batch_size", "num_processes",
        "trainer_version",
    ),
    "verl": (
        "train_batch_size", "ppo_mini_batch_size", "ppo_epochs", "rollout_n",
        "staleness_threshold", "require_batches", "trigger_parameter_sync_step",
    ),
    "queue": ("max_staleness", "lag_law", "updates_per_version"),
}  # fmt: skip


def configure(parser: Parser) -> None:
    """Declare the flags: every setting by the trainer's own name for it."""
    parser.add_argument(
        "overrides", metavar="KEY=VALUE", nargs="*",
        help="any setting by the trainer's own key, as verl and hydra take it",
    )
    parser.add_argument(
        "--trainer", metavar="NAME", type=choice("trainer", TRAINERS),
        help=f"{or_list(TRAINERS)}; left out, the configuration tells",
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path,
        help="the trainer's configuration: .json, .yaml or .toml; flags and KEY=VALUE go before it",
    )
    for trainer, names in SETTINGS.items():
        for name in names:
            parser.add_argument(
                _flag(name), dest=name, metavar="P0,P1,..." if name == "lag_law" else "N",
                help=f"{trainer}: {name}",
            )
    parser.add_argument(
        "--optimizer", metavar="NAME", type=choice("optimizer", NUMERIC_OPTIMIZERS),
        help=f"for the threshold: {or_list(NUMERIC_OPTIMIZERS)}; left out, the trainer's",
    )
    parser.add_argument(
        "--momentum", metavar="MU", type=exact,
        help="for the threshold: momentum (Adam's beta1), in [0, 1); left out, the trainer's",
    )
    parser.add_argument(
        "--stale-share", metavar="S", type=exact, default="1",
        help="for the threshold: share of the stiffness computed on the old policy, any number "
        "(default 1)",
    )
    parser.add_argument("--x", metavar="X", type=exact, help="stiffness per step: tells the room")
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Find the lags, the threshold, and print for people or for machines."""
    flags = {
        name: getattr(args, name)
        for names in SETTINGS.values()
        for name in names
        if getattr(args, name) is not None
    }
    expected = args.trainer or _owner(next(iter(flags), ""))
    for name in flags:
        if _owner(name) != expected:
            raise UsageError(f"{_flag(name)} is of {_owner(name)}, not {expected}")
    if args.trainer is None and args.config is None and not flags and not args.overrides:
        raise UsageError(f"give --trainer {or_list(TRAINERS)}, or --config FILE")
    if args.x is not None and args.x <= 0:
        raise UsageError("--x: stiffness per step must be above 0")
    if args.momentum is None and args.optimizer not in (None, "adam"):
        raise UsageError(f"--optimizer {args.optimizer} needs --momentum")

    from numerics.trainers import as_json, border, lag_table, overrides, read_config, render

    written = {} if args.config is None else read_config(args.config)
    table = lag_table(expected, written, overrides(args.overrides), flags)
    own = table.optimizer
    optimizer = args.optimizer or (own.name if own else None)
    momentum = args.momentum if args.momentum is not None else (own.momentum if own else None)
    if optimizer is None and momentum is not None:
        raise UsageError("--momentum needs --optimizer: the configuration names none")
    if optimizer is None and args.x is not None:
        raise UsageError("--x needs --optimizer and --momentum: the configuration names none")
    if optimizer == "adam" and momentum is None:
        raise UsageError("--optimizer adam needs --momentum: the configuration has no beta1")
    found = (
        None
        if optimizer is None or momentum is None
        else border(table, optimizer=optimizer, mu=momentum, stale_share=args.stale_share)
    )
    if args.json:
        print_json("grpo-dynamics/lag/1", as_json(table, found, args.x))
    else:
        print(render(table, found, args.x))
    return 0


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _owner(setting: str) -> str | None:
    """Return the trainer whose setting this is."""
    return next((trainer for trainer, names in SETTINGS.items() if setting in names), None)
