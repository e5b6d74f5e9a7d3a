"""The same rows as every trainer and exporter would write them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Rows = Sequence[dict[str, Any]]


def as_trainer_state(rows: Rows, **state: Any) -> str:
    return json.dumps({"global_step": len(rows), "log_history": list(rows), **state}, indent=2)


def as_history(rows: Rows) -> str:
    return json.dumps(list(rows))


def as_lines(rows: Rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def as_csv(rows: Rows, delimiter: str = ",") -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    table = csv.DictWriter(out, names, delimiter=delimiter, restval="")
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


def as_verl_console(rows: Rows) -> str:
    lines = ["\x1b[36m(TaskRunner pid=7)\x1b[0m Training Progress:   0%|          | 0/9 [00:00<?]"]
    for row in rows:
        items = " - ".join(
            f"{name}:{f'np.float64({value})' if isinstance(value, float) else value}"
            for name, value in row.items() if name != "step"
        )  # fmt: skip
        lines.append(f"\x1b[36m(TaskRunner pid=7)\x1b[0m step:{row['step']} - {items}")
    return "\n".join(lines) + "\n"


def as_verl_file(rows: Rows) -> str:
    return as_lines([
        {"step": row["step"], "data": {k: v for k, v in row.items() if k != "step"}} for row in rows
    ])


def as_html(rows: Rows) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{name.replace('/', ' / ')}</th>" for name in names)
    body = "".join(
        f"<tr>{''.join(f'<td>{row.get(name, str())}</td>' for name in names)}</tr>\n"
        for row in rows
    )
    return f"<table border='1'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_notebook(rows: Rows) -> str:
    output = {"output_type": "display_data", "data": {"text/html": as_html(rows).splitlines(True)}}
    return json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}], "nbformat": 4})


def as_json_columns(rows: Rows) -> str:
    """As pandas writes a W&B history."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return json.dumps({n: {str(at): row.get(n) for at, row in enumerate(rows)} for n in names})


def as_trl_console(rows: Rows, every: int, *, late: bool = False, ended: bool = True) -> str:
    """Bars and rows as tqdm interleaves them; `late` if rows sit in a buffer behind the bars."""
    total = every * len(rows)
    text, waiting = "", ""
    for place in range(1, total + 1):
        bar = f"{100 * place // total:3}%|# | {place}/{total} [00:05<17:00,  5.13s/it]"
        text += f"\r{bar}"
        if place % every == 0:
            row = {k: v for k, v in rows[place // every - 1].items() if k != "step"}
            text += f"\r{' ' * len(bar)}\r"
            waiting += f"{row}\n"
            if not late or place == total:
                text, waiting = text + waiting, ""
            text += f"\r{bar}"
    return text + ("\n{'train_runtime': 9.5, 'train_loss': 0.1, 'epoch': 1.0}\n" if ended else "")


WRITERS: dict[str, Callable[[Rows], str]] = {
    "trl trainer_state.json": as_trainer_state,
    "trl log_history": as_history,
    "trl JSONL": as_lines,
    "CSV": as_csv,
    "notebook HTML table": as_notebook,
    "HTML table": as_html,
    "JSON by columns": as_json_columns,
    "verl console": as_verl_console,
    "verl file logger (JSONL)": as_verl_file,
}


def write(directory: Path, text: str, name: str = "log") -> Path:
    path = directory / name
    path.write_bytes(text.encode())
    return path
