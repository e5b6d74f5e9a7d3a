"""What the monitor reads its rows as, and when its rules say stop."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from fake_trainer import Loop, rising
from log_files import as_trainer_state, write

from numerics.diagnose import FAULT, WARNING, diagnose
from numerics.fit import curve_of_log
from numerics.forecast import forecast
from numerics.inputs import InvalidInput, UnknownName
from numerics.integrations import (
    DIAGNOSTIC_NAMES,
    Findings,
    Monitor,
    StopOnFault,
    StopWhenLittleIsLeft,
    log_of_rows,
)
from numerics.logs import Log, read_log

ENTROPY = "policy concentration"


def same(one: Log, other: Log) -> None:
    for name in ("format", "version", "rows", "gaps", "refused", "notes", "configuration"):
        assert getattr(one, name) == getattr(other, name), name
    for ours, theirs in zip(
        one.runs + one.evaluations, other.runs + other.evaluations, strict=True
    ):
        assert (ours.name, ours.columns, ours.spacing, ours.averaged, ours.step_source) == (
            theirs.name, theirs.columns, theirs.spacing, theirs.averaged, theirs.step_source
        )  # fmt: skip
        np.testing.assert_array_equal(ours.step, theirs.step)
        assert ours.values.keys() == theirs.values.keys()
        for name in ours.values:
            np.testing.assert_array_equal(ours.values[name], theirs.values[name])


def test_rows_in_memory_are_read_as_the_file_of_them_is(tmp_path: Path) -> None:
    rows = rising(30)
    rows[4]["reward"] = float("nan")
    rows[7]["reward"] = None
    del rows[9]["entropy"]
    rows.insert(20, {"eval_loss": 0.1, "eval_reward": 0.4, "step": 20})
    rows += [dict(row, reward=0.9) for row in rows[25:29]]  # a resume
    rows.append({"train_runtime": 5.0, "step": 30})
    path = write(tmp_path, as_trainer_state(rows, logging_steps=1))
    told = {"logging_steps": 1, "global_step": len(rows)}
    same(log_of_rows(rows, told), read_log(path))


def test_a_known_release_settles_what_reward_std_means() -> None:
    rows = rising(10)
    [unknown] = log_of_rows(rows).runs
    meanings = [
        log_of_rows(rows, release=release).runs[0].column("reward_std").meaning
        for release in ((0, 26), (0, 27), (1, 16))
    ]
    assert meanings[1] == meanings[2] != meanings[0]
    assert unknown.column("reward_std").meaning not in meanings


def test_a_warning_does_not_stop() -> None:
    def finding(verdict: str) -> Any:
        found = SimpleNamespace(name=ENTROPY, verdict=verdict, kind="collapse", evidence=("It.",))
        return SimpleNamespace(finding=lambda name: found)

    rule = StopOnFault(ENTROPY)
    assert rule(Findings(1, 1, finding(WARNING))) is None
    assert rule(Findings(1, 1, finding(FAULT))) == "fault: policy concentration (collapse): It."
    assert rule(Findings(1, 1)) is None


def ahead(rows: list[dict[str, Any]]) -> Findings:
    series = curve_of_log(log_of_rows(rows)).series
    return Findings(len(rows), len(rows), forecast=forecast(series))


def test_little_is_left_at_the_end_of_a_rise_and_not_before() -> None:
    # 0.8 - 0.6 exp(-k/40): 22 % of the gain remain after 60 steps, 0.06 % after 300.
    rule = StopWhenLittleIsLeft(share=0.1, probability=0.9)
    assert rule(ahead(rising(60))) is None
    told = rule(ahead(rising(300)))
    assert told is not None
    assert told.startswith("with probability 0.9 at most 0.1 of the whole gain remains")
    assert StopWhenLittleIsLeft(0.001, 0.9)(ahead(rising(300))) is None
    assert StopWhenLittleIsLeft(0.1, 0.9999)(ahead(rising(300))) is None
    monitor = Monitor(every=150, stop=[rule], after=0, say=lambda line: None)
    assert Loop(monitor).train(rising(400)) in (150, 300)
    assert monitor.stopped is not None
    assert monitor.stopped.startswith("with probability 0.9")


def test_much_is_left_while_it_rises_and_unknown_before_it_does() -> None:
    rule = StopWhenLittleIsLeft(share=0.1, probability=0.9)
    random = np.random.default_rng(4)
    noise = 0.02 * random.standard_normal(120)
    steady = [{"reward": 0.1 + 0.005 * k + noise[k], "step": k + 1} for k in range(120)]
    flat = [{"reward": 0.1 + noise[k], "step": k + 1} for k in range(120)]
    falling = [{"reward": 0.9 - 0.005 * k + noise[k], "step": k + 1} for k in range(120)]
    for rows in (steady, flat, falling, rising(10)):
        assert rule(ahead(rows)) is None
    assert rule(Findings(1, 1)) is None


@pytest.mark.parametrize(
    ("share", "probability", "told"),
    [(0.0, 0.9, "share is 0"), (1.0, 0.9, "share is 1"), (0.1, 0.5, "probability is 0.5"),
     (0.1, 1.0, "probability is 1"), (float("nan"), 0.9, "share"), ("0.1", 0.9, "share")],
)  # fmt: skip
def test_a_share_and_a_probability_have_bounds(share: Any, probability: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        StopWhenLittleIsLeft(share, probability)


def test_the_names_of_the_diagnostics_are_theirs() -> None:
    [found] = diagnose(log_of_rows(rising(20)))
    assert tuple(finding.name for finding in found.findings) == DIAGNOSTIC_NAMES


def test_a_misspelt_diagnostic_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'policy concentration'"):
        StopOnFault("policy-concentration")
