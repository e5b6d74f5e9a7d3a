"""``grpo-dynamics fit``: a log in, verdicts out, at the terminal and for machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fit_cases import three_phase

from numerics.commands import fit
from numerics.commands.arguments import Parser, UsageError
from numerics.fit import curve_of_log, series
from numerics.inputs import InvalidInput
from numerics.logs import read_log


def written(path: Path, *, rows: int = 80, runs: int = 1) -> Path:
    """Write a CSV log of success rates of 8 prompts of 4."""
    draw = np.random.default_rng(1)
    mean = three_phase(rows, tau=12.0, rho=0.15)
    lines = ["run,step,reward,reward_std"] if runs > 1 else ["step,reward,reward_std"]
    for number in range(runs):
        for k, value in enumerate(draw.binomial(32, mean) / 32, start=1):
            lines.append((f"run{number}," if runs > 1 else "") + f"{k},{value},0.4")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def said(capsys: pytest.CaptureFixture[str], *flags: object) -> str:
    parser = Parser(prog="fit")
    fit.configure(parser)
    assert fit.run(parser.parse_args([str(flag) for flag in flags])) == 0
    return capsys.readouterr().out


def test_json_has_what_was_fitted_and_how_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.csv")
    flags = ["--group-size", 4, "--prompts", 8, "--optimizer", "ema", "--momentum", "0.9"]
    found: dict[str, Any] = json.loads(said(capsys, log, *flags, "--json"))
    assert (found["rows"], found["first_step"], found["last_step"]) == (80, 1, 80)
    assert found["bounds"] == [0, 1]
    assert len(found["models"]) == 10
    assert sum(model["weight"] for model in found["models"]) == pytest.approx(1)
    assert found["models"][0]["name"] == found["best"]
    plateau = found["intervals"]["three-phase"]["R_inf"]
    assert plateau["low"] < 0.8 < plateau["high"]
    assert plateau["determined"]
    assert found["noise"]["binomial_std"] == pytest.approx(0.075, abs=0.015)
    assert found["r_squared"]["ceiling_low"] < found["r_squared"]["ceiling_high"]
    assert found["claim"]["id"] == "p16"
    assert found["slow_start"]["verdict"] in (
        "inertia suffices", "less than inertia", "more than inertia", "not determined"
    )  # fmt: skip


def test_the_terminal_is_80_columns_wide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.csv")
    text = said(capsys, log, "--group-size", 4, "--prompts", 8)
    assert max(map(len, text.splitlines())) <= 80
    assert "reward: 80 rows, steps 1 to 80" in text
    assert "three-phase, 90 % intervals" in text
    assert "p16, three-phase law with R^2 >= 0.91" in text


def test_only_the_families_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = written(tmp_path / "log.csv", rows=12)
    found = json.loads(said(capsys, log, "--family", "constant", "--family", "exponential",
                            "--level", "0.5", "--json"))  # fmt: skip
    assert {model["name"] for model in found["models"]} == {"constant", "exponential"}
    assert found["claim"] is None
    assert found["level"] == 0.5
    assert all(model["tail_rmse"] is None for model in found["models"])


def test_a_run_is_named_where_there_are_several(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.csv", rows=20, runs=2)
    with pytest.raises(InvalidInput, match="holds 2 runs: name one of run0, run1"):
        said(capsys, log)
    flags = ["--run", "run1", "--family", "constant", "--json"]
    assert json.loads(said(capsys, log, *flags))["run"] == "run1"
    with pytest.raises(InvalidInput, match="did you mean 'run1'"):
        said(capsys, log, "--run", "runn1")


def test_flags_that_do_not_go_together_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.csv")
    with pytest.raises(UsageError, match="go with --optimizer"):
        said(capsys, log, "--lag", 3)
    with pytest.raises(UsageError, match="needs --momentum"):
        said(capsys, log, "--optimizer", "ema")
    with pytest.raises(InvalidInput, match=r"bounds are 0 and 0.5"):
        said(capsys, log, "--bounds", "0,0.5")
    with pytest.raises(InvalidInput, match="level is 2"):
        said(capsys, log, "--level", 2)


def test_a_column_by_the_logs_name(tmp_path: Path) -> None:
    log = read_log(written(tmp_path / "log.csv"))
    assert curve_of_log(log, column="reward").column.quantity == "reward"
    with pytest.raises(InvalidInput, match="reward"):
        curve_of_log(log, column="rewards")


def test_a_late_start_and_a_log_of_three_rows_are_told(tmp_path: Path) -> None:
    late = written(tmp_path / "late.csv", rows=20)
    header, *rows = late.read_text("utf-8").splitlines()
    moved = [f"{int(row.partition(',')[0]) + 100},{row.partition(',')[2]}" for row in rows]
    late.write_text("\n".join([header, *moved]), "utf-8")
    assert any("starts at step 101" in note for note in curve_of_log(read_log(late)).notes)
    late.write_text("\n".join([header, *moved[:3]]), "utf-8")
    with pytest.raises(InvalidInput, match="3 rows are no curve"):
        curve_of_log(read_log(late))


def test_the_words_of_flags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = written(tmp_path / "log.csv")
    with pytest.raises(InvalidInput, match="the log's one run has no name"):
        said(capsys, log, "--run", "nope")
    for wrong in ("1e9", "1", "9" * 5000):
        with pytest.raises(SystemExit):
            said(capsys, log, "--group-size", wrong)
        assert "is not a whole number from 2" in capsys.readouterr().err


@pytest.mark.parametrize("scale", [1e160, 1e308, 1e-160, 1e-298])
def test_numbers_that_cannot_be_squared_are_refused(scale: float) -> None:
    value = scale * np.r_[np.linspace(-1, 1, 30)]
    with pytest.raises(InvalidInput, match="rescale"):
        series(np.arange(30.0), value)


def test_names_of_a_log_cannot_command_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = written(tmp_path / "log.csv", rows=20, runs=2)
    log.write_text(log.read_text("utf-8").replace("run0", "a\x1b[31m"), "utf-8")
    text = said(capsys, log, "--run", "a\x1b[31m", "--family", "constant")
    assert "\x1b" not in text
    assert "of run a\\x1b[31m" in text
