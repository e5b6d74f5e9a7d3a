"""One table, whatever format it was written in."""

from __future__ import annotations

import gzip
import json
import math
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_files import (
    WRITERS,
    as_csv,
    as_lines,
    as_trainer_state,
    as_trl_console,
    as_verl_console,
    write,
)

from numerics.inputs import InvalidInput
from numerics.logs import Log, read_log

TRL = [
    {
        "step": n, "loss": 0.001 * n, "reward": n / 7, "reward_std": 0.5,
        "rewards/f/mean": n / 7, "kl": 1e-5 * n, "completions/mean_length": 100.0 + n,
    }
    for n in range(1, 21)
]  # fmt: skip
VERL = [
    {"step": n, "critic/score/mean": n / 7, "actor/entropy": 1 / n, "critic/advantages/max": 1.5}
    for n in range(1, 21)
]


def rows_of(format: str) -> list[dict[str, Any]]:
    return VERL if format.startswith("verl") else TRL


def check_agrees(log: Log, rows: list[dict[str, Any]]) -> None:
    [run] = log.runs
    held = {name.replace(" / ", "/"): values for name, values in run.values.items()}
    assert run.step.tolist() == [row["step"] for row in rows]
    for name in rows[0]:
        if name != "step":
            wanted = [math.nan if row[name] is None else row[name] for row in rows]
            np.testing.assert_array_equal(held[name], wanted, err_msg=name)


@pytest.mark.parametrize("format", WRITERS)
def test_each_format_gives_the_rows_and_its_name(format: str, tmp_path: Path) -> None:
    rows = rows_of(format)
    log = read_log(write(tmp_path, WRITERS[format](rows)))
    assert log.format == format
    assert log.rows == {"reward": 20}
    assert log.runs[0].spacing == 1
    assert log.runs[0].step_source == "logged"
    assert log.runs[0].averaged is False
    check_agrees(log, rows)


FINITE = st.floats(allow_nan=False, allow_infinity=False, width=64)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    first, apart = draw(st.integers(1, 500)), draw(st.integers(1, 20))
    numbers = draw(st.lists(st.tuples(FINITE, FINITE, FINITE | st.none()), min_size=2, max_size=30))
    rows = [
        {"step": first + apart * at, "reward": reward, "kl": kl, "entropy": entropy}
        for at, (reward, kl, entropy) in enumerate(numbers)
    ]
    rows[0]["entropy"] = 0.5
    return rows


@settings(deadline=None)
@given(tables(), st.sampled_from(sorted(set(WRITERS) - {"HTML table"})))
def test_any_table_reads_the_same_from_any_format(rows: list[dict[str, Any]], format: str) -> None:
    # The writers of HTML and verl's console know no null.
    if "console" in format or "HTML" in format:
        rows = [{k: 0.5 if v is None else v for k, v in row.items()} for row in rows]
    if format.startswith("verl"):
        names = {"reward": "critic/score/mean"}
        rows = [{names.get(k, k): v for k, v in row.items()} for row in rows]
    with tempfile.TemporaryDirectory() as directory:
        log = read_log(write(Path(directory), WRITERS[format](rows)))
    assert log.rows == {"reward": len(rows)}
    check_agrees(log, rows)


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("every", [1, 5])
def test_rows_without_step_take_it_from_the_bar(every: int, late: bool, tmp_path: Path) -> None:
    log = read_log(write(tmp_path, as_trl_console(TRL, every, late=late)))
    assert log.format == "trl console"
    assert log.rows == {"reward": 20, "summary": 1}
    assert log.runs[0].step.tolist() == [every * n for n in range(1, 21)]
    assert log.runs[0].step_source == "progress bar"
    assert log.runs[0].averaged is (every > 1)
    np.testing.assert_array_equal(log.runs[0].values["reward"], [row["reward"] for row in TRL])


def test_a_bar_that_shares_the_line_of_its_row(tmp_path: Path) -> None:
    text = "".join(
        f"\r{n:3}%|# | {5 * n}/100 [00:05<17:00,  5.13s/it]{{'loss': 0.1, 'reward': {n / 8}}}\n"
        for n in range(1, 9)
    )
    log = read_log(write(tmp_path, text))
    assert log.runs[0].step.tolist() == list(range(5, 41, 5))


def test_rows_printed_without_a_bar_are_counted(tmp_path: Path) -> None:
    bare = [{k: v for k, v in row.items() if k != "step"} for row in TRL]
    log = read_log(write(tmp_path, "".join(f"{row}\n" for row in bare)))
    assert log.runs[0].step_source == "counted"
    assert log.runs[0].averaged is None
    assert log.runs[0].step.tolist() == list(range(1, 21))
    text = "GRPOConfig(logging_steps=5)\n" + "".join(f"{row}\n" for row in bare)
    log = read_log(write(tmp_path, text))
    assert log.runs[0].step.tolist() == list(range(5, 101, 5))


def test_two_trainings_in_one_console_are_two_runs(tmp_path: Path) -> None:
    other = [{**row, "reward": 0.5 * row["reward"]} for row in TRL]
    text = as_trl_console(TRL[:6], 5) + as_trl_console(other[:9], 5)
    log = read_log(write(tmp_path, text))
    assert [run.step.size for run in log.runs] == [6, 9]
    assert [run.name for run in log.runs] == ["start 1", "start 2"]


def test_what_newer_trainers_print_as_strings(tmp_path: Path) -> None:
    text = "".join(
        f"{{'loss': '{0.1:.4g}', 'reward': '{n / 8:.4g}', 'kl': 'nan', 'epoch': '0.{n}'}}\n"
        for n in range(1, 9)
    )
    log = read_log(write(tmp_path, text))
    assert log.runs[0].values["reward"].tolist() == [n / 8 for n in range(1, 9)]


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("np.float64(0.5)", 0.5), ("np.float32(5e-1)", 0.5), ("tensor(0.5, device='cuda:0')", 0.5),
        ("0.50", 0.5), ("5E-01", 0.5), (".5", 0.5), ("1", 1.0), ("-2", -2.0), ("nan", math.nan),
        ("None", math.nan), ("np.float64(nan)", math.nan), ("[1, 2]", math.nan),
    ],
)  # fmt: skip
def test_numbers_as_verl_prints_them(written: str, number: float, tmp_path: Path) -> None:
    second = "actor/entropy:np.float64(0.5)"
    text = as_verl_console(VERL).replace(second, f"actor/entropy:{written}")
    [run] = read_log(write(tmp_path, text)).runs
    np.testing.assert_equal(run.values["actor/entropy"][1], number)
    assert run.values["actor/entropy"][2] == 1 / 3


def test_verl_tells_its_configuration(tmp_path: Path) -> None:
    config = """(TaskRunner pid=7) {'actor_rollout_ref': {'actor': {'optim': {'lr': 1e-06},
(TaskRunner pid=7)                                  'ppo_mini_batch_size': 64},
(TaskRunner pid=7)                        'rollout': {'n': 5, 'val_kwargs': {'n': 1}}},
(TaskRunner pid=7)  'algorithm': {'filter_groups': {'enable': False}},
(TaskRunner pid=7)  'data': {'train_batch_size': 128}}
"""
    log = read_log(write(tmp_path, config + as_verl_console(VERL)))
    assert log.configuration["group_size"] == 5
    assert log.configuration["prompts_per_step"] == 128
    assert log.configuration["learning_rate"] == 1e-6
    command = "python -m verl actor_rollout_ref.rollout.n=5 data.train_batch_size=8\n"
    log = read_log(write(tmp_path, command + as_verl_console(VERL)))
    assert log.configuration["group_size"] == 5
    assert log.configuration["prompts_per_step"] == 8


def test_verl_validates_before_it_trains(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"step": 0, "val-core/gsm8k/reward/mean@1": 0.25}, *VERL[:9]]
    rows[5] = {**rows[5], "val-core/gsm8k/reward/mean@1": 0.5}
    log = read_log(write(tmp_path, as_verl_console(rows)))
    assert log.rows == {"evaluation": 1, "reward": 9}
    [evaluation] = log.evaluations
    step, score = evaluation.series("eval_reward")
    assert step.tolist() == [0, 5]
    assert score.tolist() == [0.25, 0.5]
    assert "critic/score/mean" not in evaluation.values


def test_wandb_chart_export_of_two_runs(tmp_path: Path) -> None:
    text = (
        '"train/global_step","sun-1 - train/reward","sun-1 - train/reward__MIN",'
        '"sun-1 - train/reward__MAX","rain-2 - train/reward"\n'
        '"10","0.1","0.1","0.1","0.3"\n"20","0.2","0.2","0.2",""\n"30","0.25","0.2","0.3","0.5"\n'
    )
    log = read_log(write(tmp_path, text))
    assert log.format == "W&B CSV export"
    series = {run.name: run.series("reward") for run in log.runs}
    assert series["sun-1"][0].tolist() == [10, 20, 30]
    assert series["sun-1"][1].tolist() == [0.1, 0.2, 0.25]
    assert series["rain-2"][0].tolist() == [10, 30]


def test_wandb_history_by_global_step_not_by_wandb_step(tmp_path: Path) -> None:
    rows = [
        {"_step": 3 * n, "_timestamp": 1e9 + n, "train/global_step": 10 * n, "train/reward": n / 9}
        for n in range(1, 9)
    ]
    for text in (as_lines(rows), json.dumps(rows), as_csv(rows)):
        log = read_log(write(tmp_path, text))
        assert log.format.startswith("W&B")
        assert log.runs[0].step.tolist() == [10 * n for n in range(1, 9)]


def test_a_sweep_is_several_runs_and_a_failed_entry_is_told(tmp_path: Path) -> None:
    entries = [
        {"tag": "broken", "status": "failed", "error": "403"},
        {"tag": "G2", "group_size": 2, "lr": 1e-5, "reward_trace": [0.0, 0.5, 0.5]},
        {"tag": "G8", "group_size": 8, "lr": 1e-5, "reward_trace": [0.1, 0.2, None, 0.3]},
    ]
    log = read_log(write(tmp_path, json.dumps({"campaign": "c", "results": entries})))
    assert [run.name for run in log.runs] == ["G2", "G8"]
    assert log.rows == {"reward": 6, "without reward": 1, "refused": 1}
    assert "broken" in log.refused[0]
    runs = log.configuration["runs"]
    assert isinstance(runs, dict)
    assert runs["G8"]["group_size"] == 8
    nested = [{"name": n, "history": [{"step": k, "reward": k} for k in range(5)]} for n in "ab"]
    log = read_log(write(tmp_path, json.dumps(nested)))
    assert [(run.name, run.step.size) for run in log.runs] == [("a", 5), ("b", 5)]


def test_several_runs_in_one_document(tmp_path: Path) -> None:
    rows = [{"step": n, "reward": n / 9} for n in range(1, 9)]
    for text in (
        json.dumps({"a": rows, "b": rows[:5]}),
        json.dumps({"a": {"step": [3, 4, 5], "reward": [0.1, 0.2, 0.3]}, "b": {"reward": [1, 2]}}),
    ):
        log = read_log(write(tmp_path, text))
        assert [run.name for run in log.runs] == ["a", "b"]
        assert log.rows == {"reward": sum(run.step.size for run in log.runs)}
    assert [run.step.tolist() for run in log.runs] == [[3, 4, 5], [1, 2]]
    assert [run.step_source for run in log.runs] == ["logged", "counted"]


def test_a_notebook_without_a_table_is_read_like_a_console(tmp_path: Path) -> None:
    printed = [f"{{'loss': 0.1, 'reward': {n / 8}, 'epoch': 0.1}}\n" for n in range(1, 9)]
    output = {"output_type": "stream", "name": "stdout", "text": ["Start\n", *printed]}
    text = json.dumps({"cells": [{"cell_type": "code", "outputs": [output]}], "nbformat": 4})
    log = read_log(write(tmp_path, text))
    assert log.format == "trl console in a notebook"
    assert log.rows == {"reward": 8}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-8"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("write_as", [as_csv, as_lines, as_trainer_state, as_verl_console])
def test_encodings_and_line_ends(write_as: Any, end: str, encoding: str, tmp_path: Path) -> None:
    rows = VERL if write_as is as_verl_console else TRL
    text = write_as(rows).replace("\r\n", "\n").replace("\n", end)
    path = tmp_path / "log"
    path.write_bytes(text.encode(encoding))
    check_agrees(read_log(path), rows)
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress(text.encode(encoding)))
    check_agrees(read_log(packed), rows)


def test_a_table_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    text = as_csv(TRL, delimiter=";").replace(".", ",")
    check_agrees(read_log(write(tmp_path, text)), TRL)


def test_tensorboard_is_asked_for_when_it_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.backend.event_processing.event_accumulator", None)
    with pytest.raises(InvalidInput, match=r"pip install 'grpo-dynamics\[tensorboard\]'"):
        read_log(write(tmp_path, "", name="events.out.tfevents.1"))


def test_tensorboard_events_with_their_own_writer(tmp_path: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(tmp_path / "runs"))
    for n in range(1, 1501):  # more than the library keeps when it is not asked for all
        values = [
            Summary.Value(tag="train/reward", simple_value=n / 1500),
            Summary.Value(tag="train/frac_reward_zero_std", simple_value=0.25),
        ]
        writer.add_event(Event(step=n, wall_time=1e9 + n, summary=Summary(value=values)))
    writer.close()
    [file] = (tmp_path / "runs").iterdir()
    for path in (file, tmp_path / "runs"):
        log = read_log(path)
        assert log.format == "TensorBoard event file"
        assert log.rows == {"reward": 1500}
        step, reward = log.runs[0].series("reward")
        np.testing.assert_allclose(reward, step / 1500, rtol=1e-6)


HUGE = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f'[{{"step": 1, "reward": {HUGE}}}, {{"step": 2, "reward": 0.5}}]',
        f'{{"step": 1, "reward": {HUGE}}}\n{{"step": 2, "reward": 0.5}}\n',
        f'{{"step": 1, "reward": 0.5}}\n{{"step": 2, "reward": -{HUGE}}}\n',
        f'{{"log_history": [{{"step": 1, "reward": {HUGE}}}, {{"step": 2, "reward": 0.5}}], '
        f'"global_step": {HUGE}}}',
        f"step:1 - critic/score/mean:{HUGE}\nstep:2 - critic/score/mean:0.5\n",
    ],
)
def test_an_integer_that_no_float_holds_is_no_number(text: str, tmp_path: Path) -> None:
    log = read_log(write(tmp_path, text))
    assert log.rows == {"reward": 1, "reward is no number": 1}
    assert log.runs[0].series("reward")[1].tolist() == [0.5]
    assert "global_step" not in log.configuration


def test_steps_that_no_float_holds_are_told(tmp_path: Path) -> None:
    logged = [{"step": 10**400 + n, "reward": 0.5} for n in (1, 2)]
    log = read_log(write(tmp_path, as_lines(logged)))
    assert log.runs[0].step_source == "counted"
    assert any("'step' holds no number that can be a step" in note for note in log.notes)


def test_a_column_that_is_there_twice_is_told(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "step,reward,reward\n1,0.1,0.3\n2,0.2,0.4\n"))
    assert log.runs[0].series("reward")[1].tolist() == [0.3, 0.4]
    assert any("'reward' is there more than once: the last" in note for note in log.notes)


def test_a_column_of_rewards_is_a_table(tmp_path: Path) -> None:
    log = read_log(write(tmp_path, "reward\n0.1\n0.2\n0.3\n"))
    assert log.runs[0].series("reward")[1].tolist() == [0.1, 0.2, 0.3]
    assert log.runs[0].step.tolist() == [1, 2, 3]


def test_rewards_of_the_samples_of_a_step_are_no_run(tmp_path: Path) -> None:
    logged = [{"step": n, "reward": [0, 1, 1, 0]} for n in range(1, 9)]
    for text in (json.dumps(logged), as_lines(logged)):
        with pytest.raises(InvalidInput, match="no reward; the log has step"):
            read_log(write(tmp_path, text))
    swept = [{"name": n, "global_step": 4, "reward_trace": [0.1, 0.2, 0.3, 0.4]} for n in "ab"]
    assert len(read_log(write(tmp_path, json.dumps(swept))).runs) == 2


def test_what_is_no_row_among_rows_is_counted(tmp_path: Path) -> None:
    text = '{"log_history": [1, {"step": 1, "reward": 0.1}, "x", {"step": 2, "reward": 0.2}]}'
    log = read_log(write(tmp_path, text))
    assert log.rows == {"reward": 2, "refused": 2}
    assert log.refused == ("2 entries of 'log_history' are not objects",)
