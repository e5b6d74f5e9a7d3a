"""The monitor of a running training, fed by a loop that needs no transformers."""

from __future__ import annotations

import json
import logging
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_trainer import Loop, rising
from log_files import as_trainer_state, write

from numerics.diagnose import FAULT, diagnose
from numerics.fit import curve_of_log
from numerics.forecast import forecast
from numerics.inputs import InvalidInput
from numerics.integrations import (
    Findings,
    Monitor,
    StopOnFault,
    log_of_rows,
    trainer_callback,
)
from numerics.logs import read_log

ENTROPY = "policy concentration"


def quiet(**settings: Any) -> tuple[Monitor, list[str]]:
    said: list[str] = []
    return Monitor(say=said.append, **settings), said


def untimed(monitor: Monitor) -> dict[str, Any]:
    assert monitor.findings is not None
    return monitor.findings.to_json() | {"seconds": None}


def test_it_looks_every_so_many_rows_and_stops_nothing_by_itself() -> None:
    monitor, said = quiet(every=20)
    loop = Loop(monitor)
    assert loop.train(rising(100, narrows_at=20)) == 100
    assert not loop.control.should_training_stop
    assert not loop.control.should_save
    assert monitor.stopped is None
    looks = [line for line in said if " looks took " not in line]
    assert looks[0].startswith("grpo-dynamics, step 20: ")
    assert "fault: policy concentration (collapse" in looks[-1]
    assert said[-1].startswith("grpo-dynamics, step 100: 5 looks took ")
    assert monitor.findings is not None
    assert (monitor.findings.step, monitor.findings.rows) == (100, 100)


def test_diagnosis_and_forecast_are_those_of_the_log(tmp_path: Path) -> None:
    rows = rising(80, narrows_at=20)
    monitor, _ = quiet(every=80)
    Loop(monitor).train(rows)
    path = write(tmp_path, as_trainer_state(rows, logging_steps=1))
    log = read_log(path)
    [expected] = diagnose(log)
    assert monitor.findings is not None
    assert monitor.findings.diagnosis is not None
    assert monitor.findings.diagnosis.to_json() == expected.to_json()
    ahead = forecast(curve_of_log(log).series)
    assert monitor.findings.forecast is not None
    assert monitor.findings.forecast.plateau == ahead.plateau
    assert untimed(monitor)["forecast"]["remaining"]["high"] == ahead.remaining.high


def test_what_was_said_is_not_said_again() -> None:
    monitor, said = quiet(every=5)
    Loop(monitor).train([{"loss": 0.1, "step": k} for k in range(1, 51)])
    assert len(said) == 2
    assert "reward" in said[0]


@pytest.mark.parametrize(("after", "stops"), [(0, 60), (61, 80), (1000, 80)])
def test_a_fault_stops_at_the_first_look_from_after_on(after: int, stops: int) -> None:
    monitor, said = quiet(every=20, stop=[StopOnFault(ENTROPY)], after=after)
    loop = Loop(monitor, save_strategy="steps")
    assert loop.train(rising(80, narrows_at=20)) == stops
    stopped = after < 1000
    assert loop.control.should_training_stop is stopped
    assert loop.control.should_save is stopped
    assert (monitor.stopped is not None) is stopped
    assert any("training stops: fault: policy concentration" in line for line in said) is stopped


def test_a_fault_of_another_diagnostic_does_not_stop() -> None:
    monitor, _ = quiet(every=60, stop=[StopOnFault("dynamical instability")], after=0)
    assert Loop(monitor).train(rising(60, narrows_at=20)) == 60
    assert monitor.findings is not None
    assert monitor.findings.diagnosis is not None
    assert monitor.findings.diagnosis.finding(ENTROPY).verdict == FAULT


def test_a_trainer_that_saves_nothing_is_not_made_to() -> None:
    for args in ({}, {"save_strategy": "no"}, {"save_strategy": SimpleNamespace(value="no")}):
        monitor, _ = quiet(every=1, stop=[lambda findings: "enough"], after=2)
        loop = Loop(monitor, **args)
        assert loop.train(rising(3)) == 2
        assert not loop.control.should_save


def test_any_function_of_the_findings_is_a_rule() -> None:
    asked: list[int] = []

    def rule(findings: Findings) -> str | None:
        asked.append(findings.rows)
        return "six are enough" if findings.rows >= 6 else None

    monitor, said = quiet(every=2, stop=[rule], after=4)
    assert Loop(monitor).train(rising(9)) == 6
    assert asked == [4, 6]
    assert monitor.stopped == "six are enough"
    assert "grpo-dynamics, step 6: training stops: six are enough" in said


def test_another_process_neither_works_nor_speaks(tmp_path: Path) -> None:
    monitor, said = quiet(every=10, file="found.json", stop=[lambda findings: "now"], after=0)
    assert Loop(monitor, tmp_path, first=False).train(rising(40)) == 40
    assert said == []
    assert monitor.findings is None
    assert list(tmp_path.iterdir()) == []


def test_every_process_stops_where_the_first_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bool] = []

    def broadcast(told: list[bool], src: int) -> None:
        assert src == 0
        told[0] = sent.pop(0) if answering else sent.append(told[0]) or told[0]

    distributed = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, broadcast_object_list=broadcast
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=distributed))
    ends = []
    for answering in (False, True):
        monitor, _ = quiet(every=20, stop=[StopOnFault(ENTROPY)], after=40)
        ends.append(Loop(monitor, first=not answering).train(rising(100, narrows_at=20)))
    assert ends == [60, 60]
    assert sent == []  # as many were asked for as were sent


def test_a_log_that_is_too_short_is_no_error() -> None:
    monitor, said = quiet(every=1)
    Loop(monitor).train(rising(3))
    assert "too few" in said[0]
    assert monitor.findings is not None
    assert monitor.findings.diagnosis is None
    assert monitor.findings.problems


def test_a_training_without_rows_ends_in_peace() -> None:
    monitor, said = quiet()
    Loop(monitor).train([])
    assert "reward" in said[0]


def test_a_resume_changes_nothing() -> None:
    rows = rising(80, narrows_at=20)
    whole, _ = quiet(every=30)
    Loop(whole).train(rows)
    resumed, said = quiet(every=30)
    Loop(resumed).train(rows[50:], resumed=rows[:50])
    assert said[0] == "grpo-dynamics, step 50: resumed with 50 logged rows; next look at row 60"
    assert said[1].startswith("grpo-dynamics, step 60: ")
    assert untimed(resumed) == untimed(whole)


def test_a_monitor_can_watch_one_training_after_another() -> None:
    monitor, said = quiet(every=5, stop=[lambda findings: "now"], after=5)
    ends = [Loop(monitor).train(rising(9)) for _ in range(2)]
    assert ends == [5, 5]
    untimed = [line.partition("(")[0].partition(" took ")[0] for line in said]
    assert len(untimed) == 6
    assert untimed[:3] == untimed[3:]


def test_the_file_is_strict_json_of_the_last_look(tmp_path: Path) -> None:
    monitor, _ = quiet(every=20, stop=[StopOnFault(ENTROPY)], after=0, file="found.json")
    out = tmp_path / "not yet" / "there"
    Loop(monitor, out).train(rising(100, narrows_at=20))
    assert [path.name for path in out.iterdir()] == ["found.json"]

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    told = json.loads((out / "found.json").read_text(encoding="utf-8"), parse_constant=refuse)
    assert told["step"] == 60
    assert told["stopped"] == monitor.stopped
    assert told["stopped"].startswith("fault: policy concentration")
    assert told["diagnosis"]["verdict"] == "fault"
    assert [look["step"] for look in told["looks"]] == [20, 40, 60]
    seconds = [look["seconds"] for look in told["looks"]]
    assert min(seconds) > 0
    assert told["seconds_of_all_looks"] >= sum(seconds) - 1e-3  # rounded; with what the rules took


def test_a_file_that_cannot_be_written_is_said_and_training_goes_on(tmp_path: Path) -> None:
    (tmp_path / "found.json").mkdir()
    monitor, said = quiet(every=2, file="found.json")
    assert Loop(monitor, tmp_path).train(rising(4)) == 4
    assert any("found.json is not written" in line for line in said)


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monitor, said = quiet(every=2, file="found.json")
    Loop(monitor, tmp_path).train(rising(4))
    before = (tmp_path / "found.json").read_bytes()

    def full(*paths: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    Loop(monitor, tmp_path).train(rising(6))
    assert any("No space left" in line for line in said)
    assert (tmp_path / "found.json").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"]


def test_no_global_generator_is_touched() -> None:
    random.seed(3)
    np.random.seed(3)
    before = random.getstate(), np.random.get_state()
    monitor, _ = quiet(every=30)
    Loop(monitor).train(rising(60, narrows_at=20))
    assert random.getstate() == before[0]
    after = np.random.get_state()
    assert isinstance(after, tuple)
    assert after[0] == before[1][0]
    np.testing.assert_array_equal(after[1], before[1][1])
    assert after[2:] == before[1][2:]


def test_the_rows_of_the_trainer_stay_as_they_are() -> None:
    monitor, _ = quiet(every=20)
    loop = Loop(monitor)
    loop.train(rising(20))
    assert loop.state.log_history[:20] == rising(20)


def test_a_fault_of_the_analysis_is_told_whole_and_training_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*args: object, **kwargs: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("numerics.integrations.findings.diagnose", broken)
    monitor, said = quiet(every=2)
    with caplog.at_level(logging.ERROR):
        assert Loop(monitor).train(rising(4)) == 4
    assert "the analysis failed: ZeroDivisionError: division by zero" in said[0]
    assert "Traceback" in caplog.text


def test_the_arguments_of_trl_tell_group_prompts_and_lag(monkeypatch: pytest.MonkeyPatch) -> None:
    # An installed trl that other tests imported would bring its release along.
    monkeypatch.delitem(sys.modules, "trl", raising=False)
    rows = rising(60)
    monitor, _ = quiet(every=60)
    schedule = {
        "num_generations": 8, "per_device_train_batch_size": 4, "world_size": 2,
        "gradient_accumulation_steps": 4, "steps_per_generation": 16, "num_iterations": 1,
        "generation_batch_size": 128,
    }  # fmt: skip
    Loop(monitor, **schedule).train(rows)
    log = log_of_rows(rows, {"group_size": 8, "prompts_per_step": 16})
    [expected] = diagnose(log, lag=(1.5, 3.0))
    [blind] = diagnose(log_of_rows(rows))
    assert monitor.findings is not None
    assert monitor.findings.diagnosis is not None
    assert monitor.findings.diagnosis.to_json() == expected.to_json() != blind.to_json()
    assert monitor.findings.problems == ()

    given, _ = quiet(every=60, group_size=8, prompts=16, lag=(1.5, 3.0))
    Loop(given).train(rows)
    assert untimed(given) == untimed(monitor)


def test_arguments_that_trl_refuses_cost_the_lag_only() -> None:
    monitor, _ = quiet(every=60)
    Loop(monitor, num_generations=8, gradient_accumulation_steps=99_991,
         steps_per_generation=100_000).train(rising(60))  # fmt: skip
    assert monitor.findings is not None
    assert monitor.findings.diagnosis is not None
    assert any("gradient_accumulation_steps" in problem for problem in monitor.findings.problems)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"every": 0}, "every is 0"),
        ({"every": 2.5}, "every is 2.5"),
        ({"stop": [StopOnFault(ENTROPY)]}, "stop rules need after"),
        ({"stop": StopOnFault(ENTROPY), "after": 0}, "give a list of rules"),
        ({"stop": ["policy concentration"], "after": 0}, "a stop rule is 'policy"),
        ({"after": -1}, "after is -1"),
        ({"file": "a/b.json"}, "give a name, not a path"),
        ({"file": ""}, "give a name, not a path"),
        ({"file": ".."}, "give a name, not a path"),
        ({"file": 3}, "file is 3"),
        ({"group_size": 1}, "group_size is 1"),
        ({"prompts": 0}, "prompts is 0"),
        ({"lag": (2.0, 1.0)}, "lag is"),
        ({"evaluation_items": 0}, "evaluation_items is 0"),
    ],
)
def test_bad_settings_are_refused_before_training(settings: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        Monitor(**settings)


def test_it_imports_without_transformers_and_says_on_use_what_is_missing() -> None:
    code = (
        "import sys; sys.modules['transformers'] = None\n"
        "from numerics.integrations import Monitor, trainer_callback\n"
        "assert not {'torch', 'sympy', 'trl'} & sys.modules.keys()\n"
        "trainer_callback(Monitor())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'grpo-dynamics[transformers]'" in done.stderr.splitlines()[-1]
    assert "During handling" not in done.stderr


def test_the_callback_hands_its_events_to_the_monitor(monkeypatch: pytest.MonkeyPatch) -> None:
    class TrainerCallback:
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None: ...

    library = ModuleType("transformers")
    library.TrainerCallback = TrainerCallback  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transformers", library)
    monkeypatch.delitem(sys.modules, "numerics.integrations.callback", raising=False)
    monitor, _ = quiet(every=3, stop=[lambda findings: "now"], after=0)
    callback = trainer_callback(monitor)
    monkeypatch.delitem(sys.modules, "numerics.integrations.callback")
    assert isinstance(callback, TrainerCallback)
    loop = Loop(monitor)
    events = (loop.args, loop.state, loop.control)
    assert callback.on_train_begin(*events, model=None) is loop.control
    for row in rising(3):
        loop.state.log_history.append(row)
        loop.state.global_step = row["step"]
        callback.on_step_end(*events)
        assert callback.on_log(*events, logs=row) is loop.control
    assert loop.control.should_training_stop
    assert callback.on_train_end(*events) is loop.control
    assert monitor.stopped == "now"
