"""`forecast` as a user calls it: text for 80 columns, JSON, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from numerics.commands import forecast as command
from numerics.commands.arguments import Parser
from numerics.fit import curve_of_log
from numerics.forecast import forecast
from numerics.inputs import InvalidInput
from numerics.logs import read_log

Call = Callable[..., str]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> str:
        parser = Parser(prog="grpo-dynamics forecast")
        command.configure(parser)
        assert command.run(parser.parse_args([str(part) for part in arguments])) == 0
        return capsys.readouterr().out

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path, random = tmp_path / "log.csv", np.random.default_rng(5)
    mean = 0.75 - 0.5 * np.exp(-np.arange(1, 121) / 30)
    rows = (f"{k},{random.binomial(64, m) / 64}" for k, m in enumerate(mean, start=1))
    path.write_text("\n".join(["step,reward", *rows]) + "\n", encoding="utf-8")
    return path


def test_json_is_what_python_returns(call: Call, log: Path) -> None:
    said = json.loads(call(log, "--group-size", 8, "--prompts", 8, "--share", "1/2", "--json"))
    given = curve_of_log(read_log(log), group_size=8, prompts=8.0).series
    found = forecast(given, share=0.5)
    assert said["verdict"] == found.verdict
    assert said["models"] == dict(found.models)
    assert said["plateau"] == {
        "middle": found.plateau.middle, "low": found.plateau.low, "high": found.plateau.high,
    }  # fmt: skip
    assert said["rows"] == 120
    assert said["end_step"] == said["last_step"] + said["horizon"]


@pytest.mark.parametrize("flags", [(), ("--horizon", 30), ("--column", "reward", "--level", 0.5)])
def test_text_fits_80_columns(call: Call, log: Path, flags: tuple[object, ...]) -> None:
    text = call(log, *flags)
    assert max(map(len, text.splitlines())) <= 80
    assert "plateau" in text
    assert "P(gain above it)" in text


def test_an_interval_of_a_lower_level_is_narrower(call: Call, log: Path) -> None:
    wide, narrow = (
        json.loads(call(log, "--level", level, "--json"))["plateau"] for level in (0.9, 0.5)
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]


def test_refusals_name_what_was_given(call: Call, log: Path) -> None:
    for flags, said in (
        (("--share", 2), "share is 2"), (("--horizon", -3), "horizon is -3"),
        (("--column", "loss"), "loss"), (("--run", "b"), "run"),
    ):  # fmt: skip
        with pytest.raises(InvalidInput, match=said):
            call(log, *flags)


def test_an_interval_without_width_is_not_written() -> None:
    one: dict[str, float | None] = {"middle": 2616.11, "low": 2616.11, "high": 2616.11}
    assert command._steps(one) == "step 2616.11, if there is a visible gain at all"
    beyond = {"middle": None, "low": 30.0, "high": None}
    assert command._steps(beyond).startswith("open   step 30 .. open")
    assert command._range({"middle": 1.0, "low": 1.0, "high": 1.0}) == "1"


def test_names_of_a_log_cannot_command_the_terminal(call: Call, log: Path) -> None:
    header, *rows = log.read_text("utf-8").split()
    named = [f"{name},{row}" for name in ("a\x1b[2J", "b") for row in rows]
    log.write_text("\n".join([f"run,{header}", *named]), "utf-8")
    text = call(log, "--run", "a\x1b[2J")
    assert "\x1b" not in text
    assert "a\\x1b[2J" in text
