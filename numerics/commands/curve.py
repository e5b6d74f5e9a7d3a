"""Which curve of which log a command is about: its flags, and how its answer begins."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import Parser, exact, quoted
from numerics.commands.output import wrapped

if TYPE_CHECKING:
    from numerics.fit import Curve

__all__ = ["add_curve", "curve_of", "head", "head_lines", "whole_from"]


def add_curve(parser: Parser) -> None:
    """Add the log and what says which curve of it is meant and how it was measured."""
    parser.add_argument("log", metavar="LOG", type=Path, help="a training log, as `read` takes it")
    parser.add_argument("--run", metavar="NAME", help="which run, where the log holds several")
    parser.add_argument(
        "--column", metavar="NAME", help="the reward, by the log's name; default the total one"
    )
    parser.add_argument(
        "--group-size", metavar="G", type=whole_from(2), help="completions per prompt"
    )
    parser.add_argument("--prompts", metavar="P", type=exact, help="prompts per step")
    parser.add_argument(
        "--bounds", metavar="LOW,HIGH", type=_bounds, help="least and greatest reward there can be"
    )
    parser.add_argument(
        "--origin", metavar="STEP", type=exact,
        help="where a curve from rest starts; default half a step before the first row",
    )  # fmt: skip


def whole_from(least: int) -> Callable[[str], int]:
    """Return the reader of a whole number that is at least `least`."""

    def parse(text: str) -> int:
        number = text.strip()
        if number.isascii() and number.isdigit() and len(number) <= 9 and int(number) >= least:
            return int(number)
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} is not a whole number from {least}, of at most 9 digits"
        )

    return parse


def _bounds(text: str) -> tuple[float, float]:
    parts = text.split(",")
    if len(parts) != 2:
        raise argparse.ArgumentTypeError(f"{text!r} is not two numbers; write LOW,HIGH such as 0,1")
    low, high = (float(exact(part)) for part in parts)
    return low, high


def curve_of(args: argparse.Namespace) -> Curve:
    """Return the curve that the flags of `add_curve` ask for."""
    from numerics.fit import curve_of_log
    from numerics.logs import read_log

    return curve_of_log(
        read_log(args.log), run=args.run, column=args.column, group_size=args.group_size,
        prompts=None if args.prompts is None else float(args.prompts), bounds=args.bounds,
        origin=None if args.origin is None else float(args.origin),
    )  # fmt: skip


def head(args: argparse.Namespace, curve: Curve, **measured: object) -> dict[str, Any]:
    """Return how an answer about a curve begins, as data; `measured` stands before its notes."""
    given = curve.series
    return {
        "path": str(args.log),
        "run": curve.run.name,
        "column": curve.column.name,
        "meaning": curve.column.meaning,
        "rows": len(given),
        "first_step": float(given.step[0]),
        "last_step": float(given.step[-1]),
        **measured,
        "notes": list(curve.notes),
    }


def head_lines(found: dict[str, Any]) -> list[str]:
    """Return the same for people."""
    named = f" of run {found['run']}" if found["run"] else ""
    return [
        wrapped(
            f"{found['column']}{named}: {found['rows']} rows, steps {found['first_step']:g} to "
            f"{found['last_step']:g}", indent=0, hanging=2,
        ),
        *(wrapped(note, indent=2, hanging=2) for note in found["notes"]),
    ]  # fmt: skip
