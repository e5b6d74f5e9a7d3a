"""``grpo-dynamics read``: what a training log holds, and where every row of it went."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numerics.commands.arguments import Parser
from numerics.commands.output import print_json, table, wrapped

if TYPE_CHECKING:
    from numerics.logs import Log, Run

__all__ = ["configure", "run"]

_MOST_RUNS = 8
#: Quantities whose columns are listed by name only: they need no explanation, or have none.
_BY_NAME = ("time", "other")


def configure(parser: Parser) -> None:
    """Declare the flags."""
    parser.add_argument(
        "log", metavar="LOG", type=Path,
        help="a training log: of trl, verl, OpenRLHF or tinker, a W&B export, JSON lines, CSV, "
        "a notebook, or TensorBoard events",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print JSON, for machines")


def run(args: argparse.Namespace) -> int:
    """Read the log and say what is in it."""
    from numerics.logs import read_log

    log = read_log(args.log)
    if args.json:
        print_json("grpo-dynamics/read/1", summary(log))
    else:
        print(_text(_printable(summary(log))))
    return 0


def summary(log: Log) -> dict[str, Any]:
    """Return what was read, JSON-ready."""
    return {
        "path": log.path,
        "format": log.format,
        "version": log.version,
        "columns": _columns(log.runs),
        "eval_columns": _columns(log.evaluations),
        "reward_rows": sum(_rewards(run) for run in log.runs),
        "eval_rows": sum(run.step.size for run in log.evaluations),
        "duplicates": log.rows.get("duplicate", 0) + log.rows.get("superseded", 0),
        "gaps": [
            {"run": gap.run, "after": gap.after, "before": gap.before, "missing": gap.missing}
            for gap in log.gaps
        ],
        "refused": list(log.refused),
        "runs": [
            {
                "name": run.name,
                "reward_rows": steps.size,
                "first_step": float(steps[0]),
                "last_step": float(steps[-1]),
                "spacing": run.spacing,
                "averaged": run.averaged,
                "step_source": run.step_source,
            }
            for run, (steps, _) in ((run, run.series("reward")) for run in log.runs)
        ],
        "rows": dict(log.rows),
        "notes": list(log.notes),
        "configuration": dict(log.configuration),
    }


def _rewards(run: Run) -> int:
    return int(run.series("reward")[0].size)


def _columns(runs: Iterable[Run]) -> list[dict[str, str]]:
    """Return the columns of all runs, those with a known quantity first."""
    columns = {column.name: column for run in runs for column in run.columns}
    known = sorted(columns.values(), key=lambda column: column.quantity == "other")
    return [{"name": c.name, "quantity": c.quantity, "meaning": c.meaning} for c in known]


def _text(found: dict[str, Any]) -> str:
    """Return the summary for people, in 80 columns."""
    lines = [
        wrapped(f"{found['format']}; version: {found['version']}", indent=0, hanging=2),
        "",
        "rows",
        table((kind, str(count)) for kind, count in sorted(found["rows"].items())),
        "",
        "runs",
        *(wrapped(_of_run(each), indent=2, hanging=2) for each in found["runs"][:_MOST_RUNS]),
    ]
    if len(found["runs"]) > _MOST_RUNS:
        lines.append(f"  and {len(found['runs']) - _MOST_RUNS} more (--json has all)")
    for title, key in (("columns", "columns"), ("evaluation columns", "eval_columns")):
        named = [column for column in found[key] if column["quantity"] not in _BY_NAME]
        if named:
            lines += ["", title]
            for column in named:
                lines.append(f"  {_short(column['name'])}: {column['quantity']}")
                lines.append(wrapped(column["meaning"], indent=6, hanging=0))
        for quantity in _BY_NAME:
            names = [_short(c["name"]) for c in found[key] if c["quantity"] == quantity]
            if names:
                lines.append(wrapped(f"{quantity}: {', '.join(names)}", indent=2, hanging=2))
    gaps = [
        f"{gap['missing']} missing between step {gap['after']:g} and {gap['before']:g}"
        + (f" of {gap['run']}" if gap["run"] else "")
        for gap in found["gaps"]
    ]
    settings = [
        f"{name} {value}"
        for name, value in found["configuration"].items() if not isinstance(value, dict)
    ]  # fmt: skip
    for title, texts in (
        ("gaps", _first(gaps)), ("refused", _first(found["refused"])),
        ("notes", found["notes"]), ("told by the log", settings),
    ):  # fmt: skip
        if texts:
            lines += ["", title, *(wrapped(text, indent=2, hanging=2) for text in texts)]
    return "\n".join(lines)


def _of_run(run: dict[str, Any]) -> str:
    name = f"{_short(run['name'])}: " if run["name"] else ""
    spaced = "" if run["spacing"] is None else f", every {run['spacing']:g}"
    irregular = ", not equally spaced" if run["spacing"] is None and run["reward_rows"] > 2 else ""
    mean = ", each a mean over the steps since the last" if run["averaged"] else ""
    rows = "1 reward row" if run["reward_rows"] == 1 else f"{run['reward_rows']} reward rows"
    return (
        f"{name}{rows}, steps {run['first_step']:g} to "
        f"{run['last_step']:g} ({run['step_source']}){spaced}{irregular}{mean}"
    )


def _printable(found: Any) -> Any:
    """Escape, in all texts, what a name from the log could do to the terminal."""
    from numerics.logs.text import printable

    if isinstance(found, dict):
        return {_printable(key): _printable(value) for key, value in found.items()}
    if isinstance(found, list):
        return [_printable(value) for value in found]
    return printable(found) if isinstance(found, str) else found


def _short(name: str) -> str:
    return name if len(name) <= 50 else f"{name[:46]} ..."


def _first(texts: list[str]) -> list[str]:
    return texts if len(texts) <= 6 else [*texts[:5], f"and {len(texts) - 5} more"]
