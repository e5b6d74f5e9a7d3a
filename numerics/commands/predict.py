"""``grpo-dynamics predict``: what a configuration will do, from the exact linear theory."""

from __future__ import annotations

import argparse
from fractions import Fraction

from numerics.commands.arguments import (
    LAG_FLAGS,
    Parser,
    UsageError,
    add_update,
    exact,
    times,
)
from numerics.commands.output import print_json

_TIMES = "0,1,10,100,1000"


def configure(parser: Parser) -> None:
    """Declare the flags; every convention that changes the answer is required."""
    parser.add_argument(
        "--momentum", metavar="MU", type=exact, required=True, help="momentum, in [0, 1)"
    )
    parser.add_argument(
        "--x", metavar="X", type=exact, required=True,
        help="dimensionless stiffness per step, eta*K, above 0",
    )
    add_update(parser, required=True)
    parser.add_argument(
        "--stale-share", metavar="S", type=exact, default=Fraction(1),
        help="share of the stiffness computed on the old policy, any number (default 1)",
    )
    parser.add_argument(
        "--times", metavar="T,T,...", type=times, default=_TIMES,
        help=f"times in steps at which to give the trajectory (default {_TIMES})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Predict, and print for people or for machines."""
    for flag, model in LAG_FLAGS.items():
        if (getattr(args, flag) is not None) != (args.lag_model == model):
            needs = f"needs --{flag}, a number of steps"
            excludes = f"has no --{flag}; that is of the {model} lag model"
            reason = needs if args.lag_model == model else excludes
            raise UsageError(f"--lag-model {args.lag_model} {reason}")

    from numerics.predict import predict, render

    result = predict(
        momentum=args.momentum,
        x=args.x,
        optimizer=args.optimizer,
        lag_model=args.lag_model,
        lag=args.lag,
        refresh=args.refresh,
        stale_share=args.stale_share,
        times=args.times,
    )
    if args.json:
        print_json(result)
    else:
        print(render(result))
    return 0
