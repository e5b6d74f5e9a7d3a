"""How the command line reads its arguments, and how it words what it cannot accept."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from itertools import takewhile
from typing import Any, NoReturn

__all__ = [
    "LAG_FLAGS",
    "LAG_MODELS",
    "NUMERIC_LAG_FLAGS",
    "NUMERIC_OPTIMIZERS",
    "OPTIMIZERS",
    "PROGRAM",
    "Parser",
    "UsageError",
    "add_update",
    "choice",
    "exact",
    "one_line",
    "or_list",
    "probabilities",
    "quoted",
    "times",
    "unknown",
    "whole",
]

PROGRAM = "grpo-dynamics"

# The names of `derivations.update`, repeated because that module costs SymPy; a test compares them.
OPTIMIZERS = ("heavy-ball", "ema", "nesterov")
LAG_MODELS = ("constant", "sawtooth")
#: The flag each lag model counts its steps with.
LAG_FLAGS = {"lag": "constant", "refresh": "sawtooth"}
#: What numbers are known of, but no derivation.
NUMERIC_OPTIMIZERS = (*OPTIMIZERS, "adam")
NUMERIC_LAG_FLAGS = {**LAG_FLAGS, "lag_law": "random"}

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?", re.IGNORECASE)
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]+")
_WHOLE = re.compile(r"[+-]?[0-9]{1,9}")
_MINUS = re.compile(r"-(?:\.?[0-9]|inf|nan)", re.IGNORECASE)
_LONGEST_NUMBER = 100
_LONGEST_LINE = 600


class UsageError(ValueError):
    """Flags that are each legal but do not go together."""


def one_line(text: object) -> str:
    """Return `text` as one printable line of bounded length, whatever a stranger put into it."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 4] + " ..."


def quoted(text: str) -> str:
    """Return `text` in quotes, cut where it is too long to be read."""
    return repr(text if len(text) <= 60 else f"{text[:56]} ...")


def or_list(names: Collection[str]) -> str:
    """Return ``a, b or c``."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def unknown(kind: str, given: str, allowed: Collection[str]) -> str:
    """Return the sentence that refuses a name, with the nearest legal one where one is near."""
    from difflib import get_close_matches  # only an error pays for it

    near = get_close_matches(given.lower().replace("_", "-"), allowed, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown {kind} {quoted(given)}; {hint}use {or_list(allowed)}"


def choice(
    kind: str,
    allowed: Collection[str],
    *,
    not_built: Collection[str] = (),
    short: Mapping[str, str] | None = None,
) -> Callable[[str], str]:
    """Return an argparse type that takes one of the names `allowed`.

    Names in `not_built` belong to the theory but not to this version; the refusal says so. `short`
    maps other spellings to the names they stand for.
    """

    def parse(text: str) -> str:
        text = (short or {}).get(text, text)
        if text in allowed:
            return text
        if text in not_built:
            raise argparse.ArgumentTypeError(
                f"{kind} {text!r} is not available in this version; use {or_list(allowed)}"
            )
        raise argparse.ArgumentTypeError(unknown(kind, text, allowed))

    return parse


def exact(text: str) -> Fraction:
    """Read a decimal or a ratio as exactly the rational it is written as.

    Bounded in length and magnitude, so that no flag can ask for an integer of a million digits.
    """
    number = text.strip()
    if len(number) <= _LONGEST_NUMBER and (_DECIMAL.fullmatch(number) or _RATIO.fullmatch(number)):
        try:
            value = Fraction(number)
        except ZeroDivisionError:
            raise argparse.ArgumentTypeError(f"{quoted(text)} divides by zero") from None
        if value and not Fraction(1, 10**300) <= abs(value) <= 10**300:
            raise argparse.ArgumentTypeError(f"{quoted(text)} is not from 1e-300 to 1e300 in size")
        return value
    raise argparse.ArgumentTypeError(
        f"{quoted(text)} is not a number; write a decimal or a ratio, such as 0.9, 1e-3 or 1/3"
    )


def times(text: str) -> list[Fraction]:
    """Read times separated by commas, each from 0."""
    read = [exact(part) for part in text.split(",")]
    if min(read) < 0:
        raise argparse.ArgumentTypeError(f"{quoted(text)} has a time before 0, the start from rest")
    return read


def probabilities(text: str) -> list[Fraction]:
    """Read the probabilities of lags 0, 1, ..., separated by commas, that sum to exactly 1."""
    read = [exact(part) for part in text.split(",")]
    if min(read) < 0:
        raise argparse.ArgumentTypeError(f"{quoted(text)} has a probability below 0")
    if sum(read) != 1:
        raise argparse.ArgumentTypeError(
            f"{quoted(text)} sums to {float(sum(read)):.12g}; probabilities must sum to exactly 1 "
            "(1/3 is exact, 0.333 is not)"
        )
    return read


def whole(text: str) -> int:
    """Read a whole number of steps."""
    if not _WHOLE.fullmatch(text.strip()):
        raise argparse.ArgumentTypeError(f"{quoted(text)} is not a whole number of steps")
    return int(text)


class Parser(argparse.ArgumentParser):
    """An argument parser whose every complaint is one line, with the nearest legal name."""

    def __init__(self, **settings: Any) -> None:
        self._flags: list[str] = []
        self._commands: dict[str, Parser] = {}
        super().__init__(allow_abbrev=False, **settings)

    def add_argument(self, *names: Any, **settings: Any) -> argparse.Action:
        """Add an argument as argparse does, and remember its flags for suggestions."""
        self._flags += [name for name in names if name.startswith("-")]
        return super().add_argument(*names, **settings)

    def add_commands(self, commands: dict[str, tuple[str, Callable[[Parser], None]]]) -> None:
        """Add one subparser for each name, from its one-line help and its ``configure``."""
        group = self.add_subparsers(dest="command", metavar="COMMAND", title="commands")
        for name, (summary, configure) in commands.items():
            parser = group.add_parser(name, help=summary, description=summary)
            configure(parser)
            self._commands[name] = parser

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse as argparse does, but refuse an unknown name before a missing argument."""
        tokens = self._bind_negative_numbers(args or [])
        own = takewhile(lambda token: token != "--" and token not in self._commands, tokens)
        for token in own:
            name = token.partition("=")[0]
            if name.startswith("-") and name != "-" and name not in self._flags:
                self.error(unknown("option", name, [f for f in self._flags if f != "-h"]))
            if self._commands and not name.startswith("-"):
                self.error(unknown("command", name, self._commands))
        return super().parse_known_args(tokens, namespace)

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with status 2."""
        self.exit(2, f"{PROGRAM}: error: {one_line(message.removeprefix('argument '))}\n")

    def _bind_negative_numbers(self, args: Sequence[str]) -> list[str]:
        """Join a flag and a negative number, which argparse would take for a flag if a ratio."""
        bound: list[str] = []
        for token in args:
            if bound and bound[-1] in self._flags and _MINUS.match(token):
                bound[-1] += f"={token}"
            else:
                bound.append(token)
        return bound


def add_update(parser: Parser, *, required: bool, numeric: bool = False) -> None:
    """Add the flags of an update rule but for the stale share, which has no common default.

    With `numeric` also those no derivation takes: Adam with a frozen second moment, a random lag.
    """
    optimizers = NUMERIC_OPTIMIZERS if numeric else OPTIMIZERS
    models = tuple((NUMERIC_LAG_FLAGS if numeric else LAG_FLAGS).values())
    parser.add_argument(
        "--optimizer", metavar="NAME", required=required, help=or_list(optimizers),
        type=choice("optimizer", optimizers, not_built=NUMERIC_OPTIMIZERS),
    )
    parser.add_argument(
        "--lag-model", metavar="NAME", required=required,
        type=choice("lag model", models, not_built=NUMERIC_LAG_FLAGS.values()),
        help="constant (always --lag steps)" + (", " if numeric else " or ")
        + "sawtooth (refreshed every --refresh steps)"
        + (" or random (drawn at every step from --lag-law)" if numeric else ""),
    )
    parser.add_argument("--lag", metavar="D", type=whole, help="constant lag in steps, from 0")
    parser.add_argument(
        "--refresh", metavar="N", type=whole, help="steps between refreshes, from 1 (on-policy)"
    )
    if numeric:
        parser.add_argument(
            "--lag-law", metavar="P0,P1,...", type=probabilities,
            help="probabilities of lag 0, 1, ..., summing to exactly 1",
        )
