"""Where every row of a log goes: resumes, restarts, duplicates, gaps, evaluations, no numbers."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_files import as_csv, as_history, as_lines, as_trainer_state, as_verl_console, write

from numerics.inputs import InvalidInput
from numerics.logs import Log, read_log
from numerics.logs.order import ordered


def rows(*steps: float, shift: float = 0.0) -> list[dict[str, Any]]:
    return [{"step": s, "loss": 0.1, "reward": 0.01 * s + shift} for s in steps]


def read(tmp_path: Path, text: str) -> Log:
    return read_log(write(tmp_path, text))


def test_the_later_segment_of_a_resumed_trainer_counts(tmp_path: Path) -> None:
    resumed = rows(*range(1, 31)) + rows(*range(21, 41), shift=0.5)
    for text in (as_trainer_state(resumed), as_lines(resumed), as_csv(resumed)):
        log = read(tmp_path, text)
        step, reward = log.runs[0].series("reward")
        assert step.tolist() == list(range(1, 41))
        np.testing.assert_allclose(reward, 0.01 * step + 0.5 * (step > 20))
        assert log.rows == {"reward": 40, "superseded": 10}
        assert any("later" in note for note in log.notes)


def test_a_resume_gives_up_what_was_logged_past_its_checkpoint(tmp_path: Path) -> None:
    """Also the steps that the resumed run has not reached yet: their policy is gone."""
    log = read(tmp_path, as_trainer_state(rows(*range(1, 31)) + rows(21, 22, shift=0.5)))
    assert log.runs[0].step.tolist() == list(range(1, 23))
    assert log.rows == {"reward": 22, "superseded": 10}


def test_wandb_keeps_the_old_rows(tmp_path: Path) -> None:
    old = rows(*range(1, 31))
    new = rows(*range(21, 41), shift=0.5)
    logged = [
        {"_step": n, "train/global_step": r["step"], "train/reward": r["reward"]}
        for n, r in enumerate(old + new)
    ]
    for text in (as_csv(logged), as_history(logged), as_lines(logged)):
        log = read(tmp_path, text)
        step, reward = log.runs[0].series("reward")
        assert step.tolist() == list(range(1, 41))
        np.testing.assert_allclose(reward, 0.01 * step + 0.5 * (step > 30))
        assert any("old rows" in note for note in log.notes)


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(2, 30), st.sampled_from([1, 10]))
def test_a_step_back_at_the_start_is_another_run(one: int, two: int, every: int) -> None:
    steps = [every * n for n in range(1, one + 1)], [every * n for n in range(1, two + 1)]
    text = as_lines(rows(*steps[0]) + rows(*steps[1], shift=0.5))
    with tempfile.TemporaryDirectory() as directory:
        log = read(Path(directory), text)
    assert [run.step.tolist() for run in log.runs] == list(steps)
    assert [run.name for run in log.runs] == ["start 1", "start 2"]


def test_a_start_of_one_row_is_a_run_too(tmp_path: Path) -> None:
    text = as_lines(rows(0) + rows(*range(6), shift=0.1) + rows(*range(45), shift=0.2))
    log = read(tmp_path, text)
    assert [run.step.size for run in log.runs] == [1, 6, 45]


def test_a_log_that_starts_late_and_falls_back_there_was_resumed(tmp_path: Path) -> None:
    log = read(tmp_path, as_lines(rows(*range(101, 131)) + rows(*range(101, 121), shift=1)))
    assert log.runs[0].step.tolist() == list(range(101, 121))
    assert log.rows == {"reward": 20, "superseded": 30}


@pytest.mark.parametrize("alike", [1, 2, 5])
def test_two_runs_may_begin_with_equal_rows(alike: int, tmp_path: Path) -> None:
    """Rewards of 0 in the first steps are common; the rows after them tell the runs apart."""
    one = [{"step": n, "reward": 0.0 if n < alike else 0.1} for n in range(20)]
    two = [{"step": n, "reward": 0.0 if n < alike else 0.2} for n in range(9)]
    log = read(tmp_path, as_lines(one + two))
    assert [run.step.size for run in log.runs] == [20, 9]
    assert log.runs[0].series("reward")[1].tolist() == [row["reward"] for row in one]
    assert log.rows == {"reward": 29}


def test_what_follows_a_summary_and_goes_further_is_another_run(tmp_path: Path) -> None:
    end = {"train_runtime": 5.0}
    log = read(tmp_path, as_lines([*rows(1, 2), end, *rows(*range(1, 9)), end]))
    assert [run.step.size for run in log.runs] == [2, 8]
    log = read(tmp_path, as_lines([*rows(1, 2), *rows(*range(1, 9)), end]))
    assert [run.step.size for run in log.runs] == [8]
    assert log.rows == {"reward": 8, "duplicate": 2, "summary": 1}
    log = read(tmp_path, as_lines([*rows(1, 2, 3), end] * 2))
    assert log.rows == {"reward": 3, "duplicate": 3, "summary": 2}


def test_steps_logged_twice_each_are_one_run(tmp_path: Path) -> None:
    twice = [row for n in range(1, 31) for row in rows(n) + rows(n, shift=0.5)]
    log = read(tmp_path, as_csv(twice))
    assert log.rows == {"reward": 30, "superseded": 30}
    [run] = log.runs
    np.testing.assert_allclose(run.series("reward")[1], 0.01 * run.step + 0.5)


def printed(count: int, shift: float, *, epoch: bool = True) -> str:
    logged = [{"loss": 0.0, "reward": 0.01 * n + shift} for n in range(1, count + 1)]
    return "".join(
        f"{row | {'epoch': n / 50} if epoch else row}\n" for n, row in enumerate(logged)
    )


def test_without_steps_a_falling_epoch_or_a_summary_splits_runs(tmp_path: Path) -> None:
    end = "{'train_runtime': 5.0, 'train_loss': 0.1}\n"
    texts = (
        printed(12, 0.0) + printed(7, 0.5),
        printed(12, 0.0) + end + printed(7, 0.5) + end,
        printed(12, 0.0, epoch=False) + end + printed(7, 0.5, epoch=False) + end,
    )
    for text in texts:
        log = read(tmp_path, text)
        assert [run.step.tolist() for run in log.runs] == [list(range(1, 13)), list(range(1, 8))]
    log = read(tmp_path, printed(12, 0.0, epoch=False) + printed(7, 0.5, epoch=False))
    assert [run.step.size for run in log.runs] == [19]


@pytest.mark.parametrize("crash", [100, 93, 58])
def test_the_bar_of_a_resumed_run_falls_back(crash: int, tmp_path: Path) -> None:
    """Training of 200 steps, a row each 5, that crashes and goes on from step 50."""
    text = ""
    for first, last in ((1, crash), (51, 200)):
        for place in range(first, last + 1):
            text += f"{place // 2}%|# | {place}/200 [00:19<11:20,  3.49s/it]\r"
            if place % 5 == 0:
                text += f"{{'loss': 0.0, 'reward': {0.001 * place + first}}}\n"
    log = read(tmp_path, text)
    assert log.rows == {"reward": 40, "superseded": (crash - 50) // 5}
    [run] = log.runs
    assert run.step.tolist() == list(range(5, 201, 5))
    np.testing.assert_allclose(
        run.series("reward")[1], 0.001 * run.step + np.where(run.step > 50, 51, 1)
    )


def test_bars_that_take_turns_are_no_resume(tmp_path: Path) -> None:
    text = ""
    for place in range(1, 101):
        for shown in (place, place - 1, place):
            text += f"{shown}%|# | {shown}/100 [00:19<11:20,  3.49s/it]\r"
        if place % 5 == 0:
            text += f"{{'loss': 0.0, 'reward': {0.001 * place}}}\n"
    [run] = read(tmp_path, text).runs
    assert run.step.tolist() == list(range(5, 101, 5))


def test_equal_rows_are_duplicates_whenever_they_were_written(tmp_path: Path) -> None:
    logged = [{**row, "timestamp": 1e9 + row["step"]} for row in rows(*range(1, 21))]
    again = [{**row, "timestamp": row["timestamp"] + 500} for row in logged]
    log = read(tmp_path, as_lines(logged + again))
    assert log.rows == {"reward": 20, "duplicate": 20}
    assert len(log.runs) == 1


def test_halves_of_a_row_are_put_together(tmp_path: Path) -> None:
    halves: list[dict[str, Any]] = []
    for step in range(1, 11):
        halves += [{"step": step, "loss": 1.0}, {"step": step, "reward": step}]
    log = read(tmp_path, as_lines(halves))
    assert log.rows == {"reward": 10, "merged": 10}
    assert log.runs[0].values["loss"].tolist() == [1.0] * 10


def test_rows_out_of_order_are_sorted(tmp_path: Path) -> None:
    shuffled = rows(*range(1, 21))
    random.Random(1).shuffle(shuffled)
    log = read(tmp_path, as_lines(shuffled))
    assert log.runs[0].step.tolist() == list(range(1, 21))
    assert log.runs[0].values["reward"].tolist() == [0.01 * s for s in range(1, 21)]


@pytest.mark.parametrize("column", ["run", "run_name", "experiment", "run_id", "seed"])
def test_runs_told_apart_by_a_column(column: str, tmp_path: Path) -> None:
    a = [{column: "a", **row} for row in rows(*range(1, 8))]
    b = [{column: "b", **row} for row in rows(*range(1, 11))]
    mixed = [row for pair in zip(a, b, strict=False) for row in pair] + b[7:]
    for order in (a + b, mixed):
        for text in (as_csv(order), as_lines(order)):
            log = read(tmp_path, text)
            assert [(run.name, run.step.size) for run in log.runs] == [("a", 7), ("b", 10)]


def test_missing_steps_are_gaps_and_nothing_is_filled_in(tmp_path: Path) -> None:
    steps = [s for s in range(1, 101) if s not in (40, 41, 70)]
    log = read(tmp_path, as_csv(rows(*steps)))
    assert [(g.after, g.before, g.missing) for g in log.gaps] == [(39, 42, 2), (69, 71, 1)]
    assert log.runs[0].spacing == 1
    assert log.runs[0].step.tolist() == steps


def test_a_sampled_history_is_irregular(tmp_path: Path) -> None:
    steps = sorted(random.Random(2).sample(range(1, 1001), 500))
    log = read(tmp_path, as_csv(rows(*steps)))
    assert log.runs[0].spacing is None
    assert log.runs[0].averaged is None
    assert log.gaps == ()
    assert any("not equally spaced" in note for note in log.notes)


def test_the_first_step_of_its_own_leaves_the_spacing(tmp_path: Path) -> None:
    log = read(tmp_path, as_trainer_state(rows(1, *range(10, 101, 10)), logging_steps=10))
    assert log.runs[0].spacing == 10


def test_a_log_that_starts_at_step_101(tmp_path: Path) -> None:
    log = read(tmp_path, as_history(rows(*range(101, 151))))
    assert log.runs[0].step[0] == 101
    assert log.gaps == ()


def test_rows_of_generations_among_rows_of_updates(tmp_path: Path) -> None:
    """steps_per_generation 16 over accumulation 4: reward on rows 1, 5, 9, ...; loss on all."""
    logged = [
        {"step": s, "loss": 0.1, **({"reward": s} if s % 4 == 1 else {})} for s in range(1, 41)
    ]
    log = read(tmp_path, as_trainer_state(logged, logging_steps=1))
    [run] = log.runs
    assert log.rows == {"reward": 10, "without reward": 30}
    assert run.spacing == 4
    assert run.averaged is False
    assert log.gaps == ()
    assert run.series("reward")[0].tolist() == list(range(1, 41, 4))
    assert np.isnan(run.values["reward"]).sum() == 30
    assert run.series("loss")[0].size == 40


@pytest.mark.parametrize(
    "nothing", [float("nan"), float("inf"), -float("inf"), "nan", "NaN", "n/a"]
)
def test_what_is_no_number_is_counted_as_such(nothing: Any, tmp_path: Path) -> None:
    logged = rows(*range(1, 11))
    logged[4]["reward"] = nothing
    logged[6]["loss"] = nothing
    for text in (as_lines(logged), as_history(logged), as_csv(logged)):
        log = read(tmp_path, text)
        assert log.rows == {"reward": 9, "reward is no number": 1}
        assert log.runs[0].series("reward")[0].tolist() == [1, 2, 3, 4, 6, 7, 8, 9, 10]
        assert log.runs[0].series("loss")[0].size == 9


def test_null_is_an_absence(tmp_path: Path) -> None:
    logged: list[dict[str, Any]] = rows(*range(1, 11))
    logged[4]["reward"] = None
    for text in (as_lines(logged), as_history(logged), as_csv(logged)):
        log = read(tmp_path, text)
        assert log.rows == {"reward": 9, "without reward": 1}
        assert log.runs[0].step.size == 10


def test_a_row_with_eval_loss_is_an_evaluation_whatever_else_it_holds(tmp_path: Path) -> None:
    logged: list[dict[str, Any]] = rows(*range(1, 21))
    evaluation = {"step": 10, "eval_loss": 0.1, "eval_runtime": 3.0, "reward": 0.9, "kl": 0.1}
    log = read(tmp_path, as_trainer_state([*logged[:10], evaluation, *logged[10:]]))
    assert log.rows == {"reward": 20, "evaluation": 1}
    assert log.runs[0].step.size == 20
    step, reward = log.evaluations[0].series("eval_reward")
    assert (step.tolist(), reward.tolist()) == ([10], [0.9])


def test_evaluations_repeat_the_step_in_other_rows(tmp_path: Path) -> None:
    logged: list[dict[str, Any]] = []
    for row in rows(*range(21)):
        logged.append(row)
        if row["step"] % 10 == 0:
            logged.append({"step": row["step"], "eval/pass_at_1": 0.5 + row["step"]})
    log = read(tmp_path, as_lines(logged))
    assert log.rows == {"reward": 21, "evaluation": 3}
    assert log.evaluations[0].series("eval_reward")[0].tolist() == [0, 10, 20]


def test_evaluations_belong_to_their_start(tmp_path: Path) -> None:
    one = [*rows(1, 2, 3), {"step": 3, "eval/reward": 0.25}]
    two = [*rows(1, 2, 3, shift=1), {"step": 3, "eval/reward": 0.5}]
    log = read(tmp_path, as_lines(one + two))
    found = [(run.name, run.series("eval_reward")[1].tolist()) for run in log.evaluations]
    assert found == [("start 1", [0.25]), ("start 2", [0.5])]


def test_summaries_are_no_training_rows(tmp_path: Path) -> None:
    last = {"step": 10, "train_runtime": 9.0, "train_loss": 0.05, "total_flos": 0.0}
    log = read(tmp_path, as_trainer_state([*rows(*range(1, 11)), last, last]))
    assert log.rows == {"reward": 10, "summary": 2}


def test_a_name_that_changes_on_the_way_is_one_column(tmp_path: Path) -> None:
    logged = [{**row, "completion_length": 90.0} for row in rows(*range(1, 11))]
    logged += [{**row, "completions/mean_length": 80.0} for row in rows(*range(11, 21))]
    log = read(tmp_path, as_history(logged))
    assert log.runs[0].series("length")[1].tolist() == [90.0] * 10 + [80.0] * 10
    assert any("one column" in note for note in log.notes)


def test_cut_rows_are_counted_and_told(tmp_path: Path) -> None:
    log = read(tmp_path, as_lines(rows(1, 2, 3)) + '{"step": 4, "rew')
    assert log.rows == {"reward": 3, "refused": 1}
    assert "line 4" in log.refused[0]
    row = "{'loss': 0.1, 'reward': 0.5}\n"
    log = read(tmp_path, f"{row}{row[:20]}\n{row.replace('5', '6')}")
    assert log.rows == {"reward": 2, "refused": 1}
    log = read(tmp_path, as_csv(rows(1, 2, 3)) + "4,0.1,0.2,0.3,0.4\n")
    assert log.rows == {"reward": 3, "refused": 1}


@settings(deadline=None)
@given(st.data())
def test_the_counts_add_up_to_the_rows(data: st.DataObject) -> None:
    """Whatever is thrown together: every row has one fate, and steps increase."""
    step = st.integers(0, 12)
    kinds = st.sampled_from(["reward", "loss", "eval", "nan", "summary"])
    logged: list[dict[str, Any]] = rows(0, 1)
    for at, kind in data.draw(st.lists(st.tuples(step, kinds), max_size=40)):
        key = {"eval": "eval/reward", "summary": "train_runtime", "nan": "reward"}.get(kind, kind)
        value = float("nan") if kind == "nan" else data.draw(st.sampled_from([0.25, 0.5]))
        logged.append({"step": at, key: value})
    with tempfile.TemporaryDirectory() as directory:
        log = read(Path(directory), as_lines(logged))
    assert sum(log.rows.values()) == len(logged)
    for run in (*log.runs, *log.evaluations):
        assert np.all(np.diff(run.step) > 0)
        for values in run.values.values():
            assert values.shape == run.step.shape


def test_series_says_what_there_is(tmp_path: Path) -> None:
    [run] = read(tmp_path, as_verl_console(
        [{"step": s, "critic/score/mean": 0.5, "critic/rewards/mean": 0.25} for s in (1, 2, 3)]
    )).runs  # fmt: skip
    assert run.series("reward")[1].tolist() == [0.5] * 3
    assert run.series("reward", "critic/rewards/mean")[1].tolist() == [0.25] * 3
    assert run.has("reward")
    assert not run.has("entropy")
    with pytest.raises(InvalidInput, match=r"no entropy column.*it has reward"):
        run.series("entropy")
    with pytest.raises(InvalidInput, match=r"'acc'.*'critic/score/mean'"):
        run.series("reward", "acc")
    with pytest.raises(InvalidInput, match="did you mean 'entropy'"):
        run.has("entropi")


def test_json_documents_with_more_than_rows(tmp_path: Path) -> None:
    text = json.dumps({"config": {"lr": 1e-5}, "history": rows(1, 2, 3), "summary": {"reward": 9}})
    log = read(tmp_path, text)
    assert log.rows == {"reward": 3}
    text = json.dumps({"train": rows(1, 2, 3), "eval": [{"step": 2, "reward": 0.5}]})
    log = read(tmp_path, text)
    assert log.rows == {"reward": 3, "evaluation": 1}


def test_a_step_that_stands_still_numbers_nothing(tmp_path: Path) -> None:
    text = "step,reward\n" + "".join(f"0,{0.001 * row}\n" for row in range(5000))
    log = read_log(write(tmp_path, text, "log.csv"))
    assert log.runs[0].step_source == "counted"
    assert log.runs[0].step.size == 5000
    assert any("the step column 'step' stands still" in note for note in log.notes)


def test_a_step_that_nearly_stands_still_is_read_in_linear_time() -> None:
    asked = []

    def same(one: int, other: int) -> str:
        asked.append(other)
        return "equal" if other % 7 else "different"

    for stands, starts in ((1.0, 286), (7.0, 1)):
        step = np.append(np.full(2000, stands), stands + 1)
        found = ordered(step, same, keeps="later", restarts=True, ended=np.zeros(2001, dtype=bool))
        assert (len(found), found[-1].rows[-1]) == (starts, 2000)
    assert len(asked) <= 3 * 4002
