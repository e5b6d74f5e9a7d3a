"""The command line: ``grpo-dynamics COMMAND ...``.

Exit status: 0 as expected; 1 a refutation or a drift that was not expected; 2 bad input; 130
interrupted. Only errors that this project raises by name, and the system's own, become one line;
anything else is a bug and keeps its traceback.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper

from numerics.commands import (
    audit,
    derive,
    diagnose,
    experiment,
    fit,
    forecast,
    lag,
    predict,
    quantities,
    read,
    report,
    simulate,
)
from numerics.commands.arguments import PROGRAM, Parser, one_line

__all__ = ["main", "parser"]

_COMMANDS = {
    "report": ("derive everything, audit the record, write the report", report),
    "derive": ("show a derivation, step by step", derive),
    "audit": ("judge the formulas in a claims file", audit),
    "predict": ("say what a configuration will do", predict),
    "lag": ("tell the lag that a trainer's configuration really has", lag),
    "read": ("say what a training log holds, and where every row of it went", read),
    "fit": ("fit learning curves to the reward of a log", fit),
    "forecast": ("say whether a run still gains, how much and until when", forecast),
    "diagnose": ("say which of four failures a training log shows, if any", diagnose),
    "quantities": ("list what a claim can be about", quantities),
    "simulate": ("run the scalar map or a bandit from a file", simulate),
    "experiment": ("put claims that no algebra decides to a simulation", experiment),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    if isinstance(sys.stdout, TextIOWrapper):  # a Greek letter must not end a run on any terminal
        sys.stdout.reconfigure(errors="backslashreplace")
    if sys.stdout is None:  # closed before we were started
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  (lives as long as we do)
    try:
        status = _run(parser().parse_args(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _abandon_output()
        return 141  # what a shell reports for a program that SIGPIPE ended
    except OSError as error:
        if error.filename is not None:
            return _refuse(f"{error.filename}: {error.strerror}")
        _abandon_output()  # no file is named: it was standard output that could not be written
        return _refuse(f"cannot write the output: {error.strerror}")
    except ValueError as error:
        if not _is_ours(error):
            raise
        return _refuse(error)
    return status


def parser() -> Parser:
    """Return the parser of every command and flag there is."""
    whole = Parser(
        prog=PROGRAM,
        description="Derive, audit, predict and simulate the dynamics of Group Relative Policy "
        "Optimization.",
        epilog=f"Each command explains itself: {PROGRAM} COMMAND --help",
    )
    whole.add_argument("--version", action="store_true", help="print the version and exit")
    whole.add_commands(
        {name: (summary, module.configure) for name, (summary, module) in _COMMANDS.items()}
    )
    return whole


def _run(args: argparse.Namespace) -> int:
    if args.version:
        from numerics import __version__

        print(f"{PROGRAM} {__version__}")
        return 0
    if args.command is None:
        return _refuse(f"no command given; use {', '.join(_COMMANDS)}, or --help")
    status: int = _COMMANDS[args.command][1].run(args)
    return status


def _is_ours(error: ValueError) -> bool:
    """Whether one of our own error classes speaks: those are worded for the user."""
    return type(error).__module__.partition(".")[0] in ("derivations", "numerics")


def _refuse(reason: object) -> int:
    print(f"{PROGRAM}: error: {one_line(reason)}", file=sys.stderr)
    return 2


def _abandon_output() -> None:
    """Point standard output at nothing, so that the interpreter's last flush cannot fail too."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
