"""``grpo-dynamics derive``: one derivation, step by step, under the premises asked for."""

from __future__ import annotations

import argparse
from typing import Any

from numerics.commands.arguments import (
    LAG_FLAGS,
    Parser,
    UsageError,
    add_update,
    choice,
    exact,
    or_list,
    whole,
)
from numerics.commands.output import print_json, table

_FORMATS = ("text", "markdown", "latex", "json")
#: Premises that only some results have; the catalogue knows which, and their values.
CHOICES = {
    "staleness": "which part of the force the lag acts on",
    "kl": "estimator of the KL anchor",
    "normaliser": "normaliser of the advantage",
    "ddof": "degrees of freedom taken from the group's std",
    "curve": "curve of the reward",
}


def configure(parser: Parser) -> None:
    """Declare the flags; a premise left out is as the catalogue shows it first."""
    parser.add_argument("id", metavar="ID", nargs="?", help="the derivation to show; see --list")
    parser.add_argument("--list", action="store_true", help="list all derivations")
    parser.add_argument(
        "--format", metavar="NAME", default="text", type=choice("format", _FORMATS),
        help=f"{or_list(_FORMATS)} (default text)",
    )
    parser.add_argument(
        "--json", dest="format", action="store_const", const="json", help="same as --format json"
    )
    add_update(parser, required=False)
    parser.add_argument(
        "--stale-share", metavar="S", type=exact,
        help="share of the stiffness computed on the old policy, any number",
    )
    for name, meaning in CHOICES.items():
        kind = whole if name == "ddof" else str
        parser.add_argument(f"--{name}", metavar="NAME", type=kind, help=f"{meaning}; see --list")


def run(args: argparse.Namespace) -> int:
    """Derive, and print in the format asked for; or list what can be derived."""
    if args.list == (args.id is not None):
        raise UsageError("give the ID of one derivation, or --list to see them all")
    if args.list:
        _list(as_json=args.format == "json")
        return 0

    from derivations.catalogue import derivation
    from derivations.render import render

    print(render(derivation(args.id, **_premises(args)), args.format), end="")
    return 0


def _premises(args: argparse.Namespace) -> dict[str, Any]:
    """Return the premises given, with the lag model that a lone --lag or --refresh implies."""
    from derivations.notation import QUANTITIES
    from derivations.update import LAG_MODELS

    names = ("optimizer", "lag_model", "stale_share", *CHOICES)
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    for flag, model in LAG_FLAGS.items():
        steps = getattr(args, flag)
        if steps is None:
            continue
        if given.setdefault("lag_model", model) != model:
            raise UsageError(f"--{flag} belongs to --lag-model {model}; drop one of them")
        symbol = LAG_MODELS[model].parameter.name
        given["lag"] = int(QUANTITIES[symbol].domain.validate(f"--{flag}", steps))
    return given


def _list(*, as_json: bool) -> None:
    """Print every row of the catalogue with the premises it takes; nothing is derived for it."""
    from derivations.catalogue import PARTS
    from derivations.update import OPTIMIZERS

    rows: list[dict[str, Any]] = []
    for part, entries in PARTS.items():
        for entry in entries:
            premises = {name: list(values) for name, values in entry.choices.items()}
            if entry.lags:
                premises |= {"optimizer": list(OPTIMIZERS), "lag_model": list(entry.lags)}
            summary = (entry.derive.__doc__ or "").strip().partition("\n")[0]
            rows.append({"id": entry.id, "part": part, "summary": summary, "premises": premises})
    if as_json:
        print_json("grpo-dynamics/derivations/1", {"derivations": rows})
        return
    for part in PARTS:
        print(f"{part}\n")
        lines = []
        for row in rows:
            if row["part"] == part:
                lines.append((row["id"], row["summary"]))
                for name, values in row["premises"].items():
                    flag = name.replace("_", "-")
                    lines.append(("", f"--{flag} {'|'.join(map(str, values))}"))
        print(table(lines) + "\n")
