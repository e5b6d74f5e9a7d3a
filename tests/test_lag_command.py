"""``grpo-dynamics lag``: flags, configuration files, errors, output."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from numerics import cli, trainers
from numerics.commands import lag
from numerics.trainers.settings import Setting

TRL_YAML = """
learning_rate: 1e-6
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
steps_per_generation: 16
num_generations: 8
beta: 0.04
optim: adamw_torch
"""
VERL = {
    "data": {"train_batch_size": 512},
    "trainer": {"total_epochs": 1},
    "actor_rollout_ref": {
        "actor": {"ppo_mini_batch_size": 32, "ppo_epochs": 1, "optim": {"betas": [0.9, 0.999]}},
        "rollout": {"n": 8},
    },
    "critic": {"ppo_mini_batch_size": "${actor_rollout_ref.actor.ppo_mini_batch_size}"},
}
OVERRIDES = """
- data.train_batch_size=512
- actor_rollout_ref.actor.ppo_mini_batch_size=32
- +actor_rollout_ref.rollout.n=8
"""
WANDB = """
wandb_version: 1
gradient_accumulation_steps: {desc: null, value: 4}
num_iterations: {desc: null, value: 2}
"""
TOML = 'trainer = "queue"\nmax_staleness = 3\n'


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(cli._COMMANDS, "lag", ("the lag of a trainer's configuration", lag))


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert cli.main(["lag", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    try:
        status = cli.main(["lag", *arguments])
    except SystemExit as leaving:
        status = leaving.code
    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err.startswith("grpo-dynamics: error: ")
    assert captured.err.count("\n") == 1
    return captured.err


def test_the_promised_answer(capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(
        capsys, "--trainer", "trl", "--gradient-accumulation-steps", "4",
        "--steps-per-generation", "16", "--num-iterations", "1",
    )  # fmt: skip
    assert found["lags"] == [[0] * 4, [1] * 4, [2] * 4, [3] * 4]
    assert (found["mean"], found["max"], found["ratio_is_one"]) == (1.5, 3, False)
    assert found["lag_law"] == [0.25] * 4
    assert found["border"]["threshold"] == pytest.approx(0.7306139791799446)
    assert {"code", "setting", "text"} == set(found["warnings"][0])


@pytest.mark.parametrize(
    ("name", "text", "trainer", "mean"),
    [("c.yaml", TRL_YAML, "trl", 1.5), ("c.json", json.dumps(VERL), "verl", 7.5),
     ("c.yml", OVERRIDES, "verl", 7.5), ("w.yaml", WANDB, "trl", 0.5), ("q.toml", TOML, "queue", 3),
     ("c.toml", "gradient_accumulation_steps = 4\nnum_iterations = 2", "trl", 0.5)],
)  # fmt: skip
def test_configuration_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
    name: str, text: str, trainer: str, mean: float,
) -> None:  # fmt: skip
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    found = answer(capsys, "--config", str(path))
    assert (found["trainer"], found["mean"]) == (trainer, mean)
    assert answer(capsys, "--config", str(path), "--trainer", trainer) == found


def test_flags_go_before_overrides_before_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(VERL), encoding="utf-8")
    mini = "actor_rollout_ref.actor.ppo_mini_batch_size=64"
    assert answer(capsys, "--config", str(path), mini)["mean"] == 3.5
    flags = ["--config", str(path), "--ppo-mini-batch-size", "128", mini]
    assert answer(capsys, *flags)["mean"] == 1.5


def test_overrides_alone(capsys: pytest.CaptureFixture[str]) -> None:
    written = answer(capsys, "data.train_batch_size=512", "async_training.require_batches=1")
    assert written == answer(
        capsys, "--trainer", "verl", "--train-batch-size", "512", "--require-batches", "1"
    )


def test_the_room_of_a_stiffness(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--trainer", "trl", "--num-iterations", "4", "--x", "0.01"]
    asked += ["--optimizer", "heavy-ball", "--momentum", "0.9"]
    border = answer(capsys, *asked)["border"]
    assert border["margin"] == pytest.approx(7.3061397918)
    assert border["stale_share"] == 1
    half = answer(capsys, *asked, "--stale-share", "1/2")["border"]
    assert half["threshold"] > border["threshold"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), "--trainer trl, verl or queue"),
        (("--trainer", "grpo"), "unknown trainer"),
        (("--trainer", "trl", "--gradient-accumulation-steps", "0"), "must be from 1"),
        (("--trainer", "trl", "--num-iterations", "-2"), "must be from 1"),
        (("--trainer", "trl", "--ppo-epochs", "2"), "is of verl, not trl"),
        (("--max-staleness", "2", "--ppo-epochs", "2"), "is of queue, not verl"),
        (("--train-batch-size", "8", "--ppo-mini-batch-size", "16"), "larger than"),
        (("--trainer", "trl", "nonsense"), "KEY=VALUE"),
        (("--trainer", "trl", "--optimizer", "ema"), "needs --momentum"),
        (("--max-staleness", "2", "--momentum", "0.5"), "needs --optimizer"),
        (("--max-staleness", "2", "--x", "0.5"), "needs --optimizer"),
        (("--max-staleness", "2", "--optimizer", "adam"), "needs --momentum"),
        (("--trainer", "trl", "--momentum", "1"), "must lie in"),
        (("--trainer", "trl", "--x", "0"), "above 0"),
        (("--config", "nope.yaml"), "nope.yaml: No such file"),
        (("--config", "."), "its name must end in"),
    ],
)
def test_refusals(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], error: str
) -> None:
    assert error in refused(capsys, *arguments)


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("c.json", b"", "not valid JSON"),
        ("c.yaml", b"", "holds no settings"),
        ("c.json", b'{"num_iterations": 2', "not valid JSON"),
        ("c.yaml", b"a: [1\nb: ]", "not valid YAML"),
        ("c.toml", b"a = ", "not valid TOML"),
        ("c.toml", b"\xff\xfe\x00", "not UTF-8"),
        ("c.json", b"[1, 2]", "holds no settings"),
        ("c.json", b"3", "holds no settings"),
        ("c.yaml", b"a: " + b"[" * 20_000, "nested too deeply"),
        ("c.toml", b".".join([b"a"] * 5000) + b" = 1", "nested too deeply"),
        ("c.yaml", b"a: &a {b: *a}", "nested too deeply"),
        ("c.json", b'{"a":1}' + b" " * 5_000_000, "that is no configuration"),
        ("c.json", b'{"trainer": "openrlhf", "rollout_batch_size": 8}', "'openrlhf' is unknown"),
        ("c.json", b'{"rollout_batch_size": 8, "n_samples_per_prompt": 8}', "whose configuration"),
        ("c.json", b'{"num_iterations": {"a": 1}}', "no setting of trl"),
        ("c.json", b'{"num_iterations": [1]}', "whole number"),
    ],
)
def test_files_that_are_no_configuration(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, error: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert error in refused(capsys, "--config", str(path))


def test_a_directory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "c.yaml").mkdir()
    assert "Is a directory" in refused(capsys, "--config", str(tmp_path / "c.yaml"))


@pytest.mark.parametrize(
    "arguments",
    [
        ("--trainer", "trl"),
        ("--trainer", "trl", "--gradient-accumulation-steps", "64", "--steps-per-generation", "48"),
        ("--trainer", "trl", "beta=0.04", "logging_steps=5", "--num-generations", "7"),
        ("--trainer", "verl", "--train-batch-size", "500", "--ppo-epochs", "3"),
        ("--trainer", "verl", "--staleness-threshold", "0.3", "--x", "0.01"),
        ("--trainer", "queue", "--lag-law", "1/3,1/3,1/3", "--updates-per-version", "3",
         "--optimizer", "nesterov", "--momentum", "0.9"),
    ],
)  # fmt: skip
def test_the_text_fits_80_columns(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert cli.main(["lag", *arguments]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("lag ") for line in lines)
    assert all(line == line.rstrip() for line in lines)


def test_the_command_knows_the_names_of_the_package() -> None:
    assert tuple(trainers.TRAINERS) == lag.TRAINERS == tuple(lag.SETTINGS)
    for name, flags in lag.SETTINGS.items():
        settings: tuple[Setting, ...] = trainers.TRAINERS[name].SETTINGS
        assert set(flags) <= {setting.name for setting in settings}
    assert set(trainers.OPTIMIZERS) == set(lag.NUMERIC_OPTIMIZERS)
