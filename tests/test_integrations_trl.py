"""The callback in trl's real trainer: run on request, for it needs torch and trl.

GRPO_DYNAMICS_TRAINER_TESTS=1 python -m pytest -n 0 tests/test_integrations_trl.py

Asked for, nothing is left out: a library that is missing is then a failure. What the callback does
is tested without these libraries in tests/test_integrations.py.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_trl import trainer

from numerics.integrations import Monitor, StopOnFault, trainer_callback
from numerics.integrations.together import decided_by_first
from numerics.logs import read_log

pytestmark = [
    pytest.mark.skipif(
        os.environ.get("GRPO_DYNAMICS_TRAINER_TESTS") != "1",
        reason="trains with trl: asked for by GRPO_DYNAMICS_TRAINER_TESTS=1",
    ),
    pytest.mark.filterwarnings("default"),  # the libraries' own
]


def monitor(**settings: Any) -> tuple[Monitor, list[str]]:
    said: list[str] = []
    return Monitor(say=said.append, file="found.json", **settings), said


def untimed(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    times = ("runtime", "time", "per_second")
    return [{k: v for k, v in row.items() if not k.endswith(times)} for row in history]


def test_training_goes_as_without_it_and_the_findings_are_those_of_its_log(tmp_path: Path) -> None:
    alone = trainer(tmp_path / "alone", [], max_steps=60)
    alone.train()
    watching, said = monitor(every=20)
    watched = trainer(tmp_path / "watched", [trainer_callback(watching)], max_steps=60)
    watched.train()
    assert len(alone.state.log_history) == 61
    assert untimed(watched.state.log_history) == untimed(alone.state.log_history)

    log = read_log(tmp_path / "watched" / "checkpoint-60" / "trainer_state.json")
    told = json.loads((tmp_path / "watched" / "found.json").read_text(encoding="utf-8"))
    assert [look["step"] for look in told["looks"]] == [20, 40, 60]
    assert told["diagnosis"]["rows"] == log.rows["reward"] == 60
    assert told["stopped"] is None
    step, reward = log.runs[0].series("reward")
    np.testing.assert_array_equal(step, np.arange(1, 61))
    assert reward[-10:].mean() > 2 * reward[:10].mean()  # it did learn
    assert said[-1].startswith("grpo-dynamics, step 60: 3 looks took ")
    # The arguments of trl told group size, prompts and lag.
    evidence = " ".join(one for each in told["diagnosis"]["findings"] for one in each["evidence"])
    assert "G = 8 answers to 2 equally hard prompts" in evidence
    assert "The lag is 0" in evidence


def test_it_stops_at_a_fault_with_a_checkpoint_and_takes_up_a_resume(tmp_path: Path) -> None:
    fault = StopOnFault("policy concentration")  # its answers grow into the limit of four tokens
    watching, _ = monitor(every=10, stop=[fault], after=31)
    first = trainer(tmp_path, [trainer_callback(watching)], max_steps=60)
    first.train()
    assert watching.stopped is not None
    ended = first.state.global_step
    assert ended in (40, 50)
    assert (tmp_path / f"checkpoint-{ended}").is_dir()

    watching, said = monitor(every=10)
    second = trainer(tmp_path, [trainer_callback(watching)], max_steps=60)
    second.train(resume_from_checkpoint=str(tmp_path / f"checkpoint-{ended}"))
    assert said[0] == (
        f"grpo-dynamics, step {ended}: resumed with {ended} logged rows; "
        f"next look at row {ended + 10}"
    )
    assert second.state.global_step == 60
    assert watching.findings is not None
    assert watching.findings.diagnosis is not None
    assert watching.findings.diagnosis.rows == 60


def one_of_two(rank: int, directory: str) -> None:
    import torch.distributed as distributed

    distributed.init_process_group(
        "gloo", init_method=f"file://{directory}/meeting", rank=rank, world_size=2
    )
    decided = [decided_by_first(rank == 0), decided_by_first(rank == 1)]
    (Path(directory) / str(rank)).write_text(str(decided), encoding="utf-8")
    distributed.destroy_process_group()


def test_two_processes_decide_as_the_first(tmp_path: Path) -> None:
    import torch.multiprocessing as processes

    processes.spawn(one_of_two, (str(tmp_path),), nprocs=2)
    for rank in "01":
        assert (tmp_path / rank).read_text(encoding="utf-8") == "[True, False]"
