"""``grpo-dynamics read``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from log_files import as_lines, as_trainer_state, write

from numerics.commands import read
from numerics.commands.arguments import Parser


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    parser = Parser(prog="read")
    read.configure(parser)
    assert read.run(parser.parse_args(arguments)) == 0
    return capsys.readouterr().out


ROWS: list[dict[str, Any]] = [
    {"step": 10 * n, "loss": 0.0, "reward": n / 50, "completion_length": 90.0, "kl": float("nan")}
    for n in range(1, 50) if n not in (20, 21)
]  # fmt: skip
EVALUATION = {"step": 100, "eval_loss": 0.1, "eval_reward": 0.5}
ALL = [*ROWS[:12], EVALUATION, *ROWS[9:], {"step": 490, "train_runtime": 5.0}]


def test_json_says_where_every_row_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, as_trainer_state(ALL, logging_steps=10))
    found = json.loads(printed(capsys, str(path), "--json"))
    assert found["format"] == "trl trainer_state.json"
    assert found["version"] == "trl before 0.17"
    assert found["reward_rows"] == 47
    assert found["eval_rows"] == 1
    assert found["duplicates"] == 3
    assert found["gaps"] == [{"run": "", "after": 190, "before": 220, "missing": 2}]
    assert found["refused"] == []
    assert found["rows"] == {"reward": 47, "duplicate": 3, "evaluation": 1, "summary": 1}
    assert sum(found["rows"].values()) == len(ALL)
    assert found["columns"][0]["name"] == "reward"
    assert {"name", "quantity", "meaning"} == set(found["columns"][0])
    assert found["runs"] == [
        {
            "name": "", "reward_rows": 47, "first_step": 10, "last_step": 490, "spacing": 10,
            "averaged": True, "step_source": "logged",
        }
    ]  # fmt: skip
    assert found["configuration"]["logging_steps"] == 10


def test_text_fits_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"run": "a-name-of-a-run-" + "x" * 90, "step": n, "reward": 0.5, "metric " * 12 + "y": 1.0}
        for n in range(1, 9)
    ]  # fmt: skip
    rows += [{**row, "run": "b"} for row in rows]
    for text in (as_lines(rows), as_trainer_state(ALL, logging_steps=10)):
        out = printed(capsys, str(write(tmp_path, text)))
        assert max(map(len, out.splitlines())) <= 80
    assert "2 missing between step 190 and 220" in out
    assert "each a mean over the steps since the last" in out.replace("\n    ", " ")
    assert "columns without a number: kl" in out


def test_names_do_nothing_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"run": run, "step": n, "reward": 0.5, "evil\x1b]0;x\x07": 1.0}
        for run in ("\x1b[2J\u202ea", "b") for n in range(1, 5)
    ]  # fmt: skip
    out = printed(capsys, str(write(tmp_path, as_lines(rows))))
    assert all(c.isprintable() or c == "\n" for c in out)
    assert max(map(len, out.splitlines())) <= 80
    assert r"\x1b[2J\u202ea" in out
    assert r"evil\x1b]0;x\x07" in out
