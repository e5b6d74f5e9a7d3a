"""`diagnose` as a user calls it: text for 80 columns, JSON, refusals in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from diagnose_logs import make_log, make_run, rise

from numerics.commands import diagnose as command
from numerics.commands.arguments import Parser
from numerics.diagnose import THRESHOLDS, VERDICTS, Diagnosis, diagnose
from numerics.inputs import InvalidInput, UnknownName
from numerics.trainers import TRAINERS

Call = Callable[..., str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> str:
        parser = Parser(prog="grpo-dynamics diagnose")
        command.configure(parser)
        assert command.run(parser.parse_args([str(part) for part in arguments])) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    random = np.random.default_rng(60)
    rows = [
        {
            "step": k + 1, "reward": float(p + 0.05 * random.standard_normal()), "kl": 0.01,
            "frac_reward_zero_std": float(random.integers(0, 5)) / 8, "loss": 0.0,
            "entropy": float(h), "completions/clipped_ratio": 0.0, "grad_norm": 0.2,
        }
        for k, (p, h) in enumerate(zip(rise(120, 30), np.geomspace(0.9, 0.08, 120), strict=True))
    ]  # fmt: skip
    path = tmp_path / "trainer_state.json"
    path.write_text(json.dumps({"log_history": rows, "logging_steps": 1}), "utf-8")
    return path


def test_the_text_fits_a_terminal_and_begins_with_the_summary(call: Call, log: Path) -> None:
    text = call(log, "--group-size", 8, "--prompts", 8)
    assert text.startswith("fault: policy concentration (collapse from step")
    assert max(map(len, text.splitlines())) <= 80
    for name in ("train-eval coupling", "advantage degeneracy", "dynamical instability"):
        assert f"\n{name}: " in text


def test_the_json_holds_every_finding(call: Call, log: Path) -> None:
    found = json.loads(call(log, "--json"))
    (run,) = found["runs"]
    assert run["verdict"] == "fault"
    assert [finding["name"] for finding in run["findings"]] == [
        "train-eval coupling", "advantage degeneracy", "policy concentration",
        "dynamical instability",
    ]  # fmt: skip
    for finding in run["findings"]:
        assert finding["verdict"] in VERDICTS
        assert finding["evidence"]
        if finding["verdict"] in ("warning", "fault"):
            assert finding["rivals"]
            assert all(rival["told_apart_by"] for rival in finding["rivals"])
        if finding["verdict"] == VERDICTS[0]:
            assert finding["missing"]


def test_a_configuration_gives_the_lag(call: Call, log: Path, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    settings = {"gradient_accumulation_steps": 4, "steps_per_generation": 16, "num_iterations": 1}
    config.write_text(json.dumps(settings), "utf-8")
    found = json.loads(call(log, "--config", config, "--trainer", "trl", "--json"))
    evidence = " ".join(found["runs"][0]["findings"][3]["evidence"])
    assert "mean lag of 1.5 (at most 3)" in evidence


def test_another_log_as_evaluation(call: Call, log: Path, tmp_path: Path) -> None:
    other = tmp_path / "eval.csv"
    lines = [f"{step},{0.6 - 0.002 * step:.4f}" for step in range(10, 121, 10)]
    other.write_text("\n".join(["step,reward", *lines]), "utf-8")
    found = json.loads(call(log, "--eval", other, "--json"))
    assert found["runs"][0]["findings"][0]["verdict"] == "fault"


@pytest.mark.parametrize("flag", ["--group-size", "--prompts", "--eval-items"])
def test_numbers_are_checked_before_any_work(
    flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    parser = Parser(prog="grpo-dynamics diagnose")
    command.configure(parser)
    with pytest.raises(SystemExit) as stopped:
        parser.parse_args(["no such log", flag, "0"])
    assert stopped.value.code == 2
    assert "whole number" in capsys.readouterr().err


def test_a_trainer_without_a_configuration_is_refused(call: Call, log: Path) -> None:
    with pytest.raises(InvalidInput, match="give --config"):
        call(log, "--trainer", "trl")


def test_the_trainers_are_those_of_the_package() -> None:
    assert tuple(TRAINERS) == command.TRAINERS


def refused(log: object, **told: object) -> str:
    with pytest.raises(InvalidInput) as error:
        diagnose(log, **told)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    return str(error.value)


def test_what_cannot_be_diagnosed_is_refused() -> None:
    good = make_log(make_run(reward=rise(50, 10)))
    assert "3 reward rows are too few" in refused(make_log(make_run(reward=np.arange(3.0))))
    assert "nothing to judge" in refused(make_log(make_run(reward=np.full(50, 0.5))))
    assert "group_size" in refused(good, group_size=1)
    assert "prompts" in refused(good, prompts=0)
    assert "lag" in refused(good, lag=(3.0, 1.0))
    assert "positive" in refused(good, limits={"trend_z": -1})
    with pytest.raises(UnknownName, match="trend_z"):
        diagnose(good, limits={"trend": 3})


def test_every_threshold_has_a_reason_and_can_be_changed() -> None:
    assert all(len(threshold.reason) > 30 for threshold in THRESHOLDS.values())
    random = np.random.default_rng(61)
    entropy = np.geomspace(1, 0.25, 100)
    run = make_run(reward=rise(100, 50) + 0.03 * random.standard_normal(100), entropy=entropy)
    assert diagnose(make_log(run))[0].verdict == "warning"
    assert diagnose(make_log(run), limits={"entropy_fall_fault": 3.5})[0].verdict == "fault"


def test_a_finding_is_got_by_name() -> None:
    found: Diagnosis = diagnose(make_log(make_run(reward=rise(50, 10))))[0]
    assert found.finding("dynamical").name == "dynamical instability"
    with pytest.raises(InvalidInput, match="no diagnostic"):
        found.finding("vibes")


def test_runs_keep_their_own_settings() -> None:
    random = np.random.default_rng(62)
    runs = [make_run(name=name, reward=random.random(60)) for name in ("a", "b")]
    told = {"a": {"group_size": 4, "prompts_per_step": 2}, "b": {}}
    found = diagnose(make_log(*runs, runs=told))
    assert [one.run for one in found] == ["a", "b"]
    assert found[0].finding("dynamical").value_name == "swing over sampling noise"
    assert found[1].finding("dynamical").value_name == "modulus of the leading root"


@pytest.mark.parametrize(
    ("reward", "said"),
    [
        (np.r_[rise(50, 10), 1e300], "as large as 1e+300"),
        (np.r_[rise(50, 10), -1e308, 1e308], "as large as 1e+308"),
        (1e-160 * rise(50, 10), "rescale"),
        (1e-298 * rise(50, 10), "rescale"),
    ],
)
def test_numbers_that_cannot_be_squared_are_refused(reward: np.ndarray, said: str) -> None:
    good = make_log(make_run(reward=rise(50, 10)))
    assert said in refused(make_log(make_run(reward=reward)))
    assert said in refused(good, evaluation=make_log(make_run(reward=reward)))


def test_an_evaluation_of_several_runs_must_name_the_one() -> None:
    random = np.random.default_rng(63)
    low, high = (level + 0.01 * random.standard_normal(50) for level in (0.2, 0.8))
    both = make_log(make_run(name="a", reward=low), make_run(name="b", reward=high))
    told = refused(make_log(make_run(reward=rise(50, 10))), evaluation=both)
    assert "2 runs (a, b)" in told
    (found,) = diagnose(make_log(make_run(name="b", reward=rise(50, 10))), evaluation=both)
    assert found.best_step == diagnose(
        make_log(make_run(reward=rise(50, 10))), evaluation=make_log(make_run(reward=high))
    )[0].best_step  # fmt: skip


def test_names_of_a_log_cannot_command_the_terminal(call: Call, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    curve = enumerate(rise(50, 10), start=1)
    rows = [f"{name},{k},{p:.4f}" for k, p in curve for name in ("a\x1b[2J", "b")]
    log.write_text("\n".join(["run,step,reward", *rows]), "utf-8")
    text = call(log)
    assert "\x1b" not in text
    assert text.startswith("a\\x1b[2J: ")
