"""``grpo-dynamics predict``: what a configuration will do, from the exact linear theory."""

from __future__ import annotations

import argparse

from numerics.commands.arguments import (
    NUMERIC_LAG_FLAGS,
    Parser,
    UsageError,
    add_update,
    choice,
    exact,
    or_list,
    times,
)
from numerics.commands.output import print_json

_TIMES = "0,1,10,100,1000"
# What `numerics.simulation` and `numerics.predict` have, repeated because they cost NumPy; a test
# compares them.
STALENESS = {
    "delayed": "delayed-gradient",
    "samples": "stale-samples",
    "ratio": "stale-samples-ratio",
}
PARAMETERS = ("logit", "logits")
LONGEST_LAW = 128

#: Flag, metavar and help of what `numerics.predict.Settings` takes as a number.
_SETTINGS = {
    "x": ("X", "stiffness per step, eta*K, above 0"),
    "tau": ("STEPS", "measured relaxation time of this run, its lag included, in place of --x"),
    "eta": ("E", "step size in place of --x: K is then the two-arm bandit's, from what follows"),
    "beta": ("B", "with --eta: KL weight, above 0"),
    "p-star": ("P", "with --eta: success probability at the fixed point"),
    "p-ref": ("P", "with --eta, in place of --p-star: that of the reference policy"),
    "second-moment": ("V", "with --eta and adam: v, frozen"),
    "adam-eps": ("EPS", "with --eta and adam: added to sqrt(v)"),
    "stale-share": ("S", "with --x or --tau: share of the stiffness computed on the old policy, "
                         "any number (default 1)"),
}  # fmt: skip


def configure(parser: Parser) -> None:
    """Declare the flags; every convention that changes the answer is required."""
    parser.add_argument(
        "--momentum", metavar="MU", type=exact, required=True,
        help="momentum (Adam's beta1), in [0, 1)",
    )
    add_update(parser, required=True, numeric=True)
    for flag, (metavar, meaning) in _SETTINGS.items():
        parser.add_argument(f"--{flag}", metavar=metavar, type=exact, help=meaning)
    parser.add_argument(
        "--staleness", metavar="NAME",
        type=choice("staleness", [*STALENESS, *STALENESS.values()], short=STALENESS),
        help=f"with --eta: {or_list(STALENESS)}, or in full {or_list(STALENESS.values())}",
    )
    parser.add_argument(
        "--parameters", metavar="NAME", type=choice("parameters", PARAMETERS),
        help="with --eta: logit (of success, one parameter) or logits (one for each arm: the logit "
        "moves twice as fast)",
    )
    parser.add_argument(
        "--times", metavar="T,T,...", type=times, default=_TIMES,
        help=f"times in steps at which to give the trajectory (default {_TIMES})",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")
    parser.epilog = f"A --lag-law reaches to lag {LONGEST_LAW} at most."


def run(args: argparse.Namespace) -> int:
    """Predict, and print for people or for machines."""
    _check_eta(args)
    for name, model in NUMERIC_LAG_FLAGS.items():
        if (getattr(args, name) is not None) != (args.lag_model == model):
            flag = f"--{name.replace('_', '-')}"
            needs = f"needs {flag}" + ("" if model == "random" else ", a number of steps")
            excludes = f"has no {flag}; that is of the {model} lag model"
            reason = needs if args.lag_model == model else excludes
            raise UsageError(f"--lag-model {args.lag_model} {reason}")

    from numerics.predict import predict, render

    given = {flag.replace("-", "_") for flag in _SETTINGS} | {"staleness", "parameters"}
    result = predict(
        optimizer=args.optimizer,
        lag_model=args.lag_model,
        momentum=args.momentum,
        times=args.times,
        **{name: getattr(args, name) for name in (*NUMERIC_LAG_FLAGS, *sorted(given))},
    )
    if args.json:
        print_json("grpo-dynamics/predict/1", result)
    else:
        print(render(result))
    return 0


def _check_eta(args: argparse.Namespace) -> None:
    """Refuse --eta without what it needs, in the words of the command line."""
    if args.eta is None:
        return
    values = {"beta": "B", "staleness": or_list(STALENESS), "parameters": or_list(PARAMETERS)}
    missing = [f"--{name} {value}" for name, value in values.items() if getattr(args, name) is None]
    if missing:
        raise UsageError(f"--eta needs {' and '.join(missing)}: each changes the answer")
