"""``grpo-dynamics quantities``: what a claim can be about; symbols, domains, conventions."""

from __future__ import annotations

import argparse
from typing import Any

from numerics.commands.arguments import Parser, unknown
from numerics.commands.output import print_json, table, wrapped

__all__ = ["configure", "run"]

#: Quantities that are derived for one lag model only, or that the other one does not have.
_ONE_LAG_MODEL = {
    "autocovariance": "constant",
    "flip_threshold": "sawtooth",
    "neimark_sacker_threshold": "sawtooth",
}
_STEPS = {"constant": "lag", "sawtooth": "refresh"}


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "name", metavar="NAME", nargs="?", help="one quantity, with its symbols; all if left out"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """List the quantities, or show one in full."""
    from derivations.targets import TARGETS, TargetError

    if args.name is not None and args.name not in TARGETS:
        raise TargetError(unknown("quantity", args.name, TARGETS))
    rows = [_row(name) for name in TARGETS if args.name in (None, name)]
    if args.json:
        print_json("grpo-dynamics/quantities/1", {"quantities": rows})
    elif args.name is None:
        print(table((row["name"], row["meaning"]) for row in rows))
    else:
        print(_in_full(rows[0]))
    return 0


def _row(name: str) -> dict[str, Any]:
    """Return everything a claim about this quantity needs, as plain data."""
    from derivations.notation import QUANTITIES
    from derivations.targets import TARGETS
    from derivations.update import LAG_MODELS, OPTIMIZERS

    target = TARGETS[name]
    lag_models = [m for m in LAG_MODELS if m == _ONE_LAG_MODEL.get(name, m)]
    update = {
        "optimizer": list(OPTIMIZERS),
        "lag_model": lag_models,
        "stale_share": "any number; 1 if left out",
        " or ".join(_STEPS[m] for m in lag_models): "a whole number; every one if left out",
    }
    own = {choice: list(allowed) for choice, allowed in target.choices.items()}
    return {
        "name": name,
        "meaning": target.meaning,
        "unit": target.unit,
        "symbols": {
            symbol: {
                "meaning": QUANTITIES[symbol].meaning,
                "unit": QUANTITIES[symbol].unit,
                "domain": str(QUANTITIES[symbol].domain),
            }
            for symbol in target.symbols
        },
        "conventions": {**(update if target.linear else {}), **own},
    }


def _in_full(row: dict[str, Any]) -> str:
    head = wrapped(f"{row['name']}: {row['meaning']}, in {row['unit']}", indent=0, hanging=2)
    symbols = table(
        (name, f"{each['meaning']}; {each['domain']}") for name, each in row["symbols"].items()
    )
    conventions = table(
        (name, allowed if isinstance(allowed, str) else ", ".join(map(str, allowed)))
        for name, allowed in row["conventions"].items()
    )
    parts = [head, f"\nsymbols\n{symbols or '  none'}", f"\nconventions\n{conventions or '  none'}"]
    return "\n".join(parts)
