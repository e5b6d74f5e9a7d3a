"""What is no log, or no reward curve, is refused in one line that says what was found."""

from __future__ import annotations

import gzip
import json
import os
import random
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from log_files import as_csv, as_lines, as_trainer_state, as_verl_console, write

from numerics.inputs import InvalidInput
from numerics.logs import read_log

ROWS = [{"step": n, "reward": n / 50, "loss": 0.1} for n in range(1, 50)]
STATE = as_trainer_state(ROWS)
NOISE = random.Random(5).randbytes(4000)
END_POINTS = [{"run_name": f"r{n}", "num_rollouts": 4, "final_accuracy": 0.5} for n in range(9)]

REFUSED: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "empty file"),
    "blank": ("\n \n", "empty file"),
    "truncated": (STATE[: len(STATE) // 2], "truncated JSON"),
    "truncated in one line": (json.dumps(ROWS)[:700], "truncated JSON"),
    "two documents": (json.dumps(ROWS) + "x", "follows the end"),
    "binary": (NOISE, "binary data"),
    "picture": (b"\x89PNG\r\n\x1a\n" + NOISE, "binary data"),
    "cut gzip": (gzip.compress(as_lines(ROWS).encode())[:-9], "broken gzip"),
    "only a loss": (as_lines([{"step": n, "loss": 0.1} for n in range(9)]), "not a reward"),
    "no number": ("step,reward\n1,nan\n2,\n", "holds no number"),
    "no row": ("step,reward\n", "no row"),
    "prose": ("Dear all,\nthe run went well.\n", "no row found"),
    "a list of numbers": ("[1, 2, 3]", "list of int"),
    "a configuration": ('{"learning_rate": 1e-5, "num_generations": 8}', "no reward"),
    "deep": ("[" * 100_000, "nested too deeply"),
    "an open quote": ('step,reward\n1,"0.5\n2,0.4\n', "broken CSV"),
    "end points": (as_csv(END_POINTS), "end points"),
    "names that clear the screen": ("\x1b[2Ja,b\n1,2\n", r"the log has \x1b[2Ja, b"),
    "names nobody knows": ("a,b,c\n1,2,3\n", "no reward; the log has a, b, c"),
    "a page": ("<html><table><tr><td>a</td></tr></table></html>", "no table of a training log"),
    "a notebook": (json.dumps({"cells": [{"cell_type": "code"}], "nbformat": 4}), "no table"),
    "after filtering": (
        as_csv([{"step": n, "filtered_reward": 0.5} for n in range(9)]), "about 0.5"
    ),
    "after OpenRLHF's filter": (
        as_lines([{"train/global_step": n, "train/reward": 0.5, "train/policy_loss": 0.0,
                   "train/dynamic_filtering_pass_rate": 0.3} for n in range(9)]),
        "the groups were filtered first",
    ),
    "after verl's filter": (
        as_verl_console([{"step": n, "critic/score/mean": 0.5, "train/num_gen_batches": 2.0}
                         for n in range(9)]),
        "batches were drawn until",
    ),
    "after verl's filter, as configured": (
        "{'algorithm': {'filter_groups': {'enable': True}}}\n"
        + as_verl_console([{"step": n, "critic/score/mean": 0.5} for n in range(9)]),
        "filter_groups.enable is True",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_line_with_what_was_found(case: str, tmp_path: Path) -> None:
    content, why = REFUSED[case]
    path = tmp_path / "log"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InvalidInput) as refusal:
        read_log(path)
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert message.count(str(path)) == 1
    assert why in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 330


def test_a_directory_and_a_name_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is a directory"):
        read_log(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_log(tmp_path / "none")


def test_an_unfiltered_reward_is_read_beside_a_filtered_one(tmp_path: Path) -> None:
    rows = [{"step": n, "reward": n / 50, "filtered_reward": 0.5} for n in range(1, 30)]
    log = read_log(write(tmp_path, as_csv(rows)))
    assert log.rows == {"reward": 29}
    assert log.runs[0].column("reward").name == "reward"
    assert "filtered_reward" in log.refused[0]


class Endless:
    """A file of one line of a gigabyte, without its gigabyte."""

    def __init__(self, start: str, more: str) -> None:
        self.parts = self._parts(start, more)
        self.left = ""

    def _parts(self, start: str, more: str) -> Iterator[str]:
        yield start
        for _ in range(1_000):
            yield more * (1_000_000 // len(more))

    def read(self, size: int) -> str:
        while len(self.left) < size and (part := next(self.parts, "")):
            self.left += part
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    readline = read


@pytest.mark.parametrize(("start", "more"), [("x", "x"), ("step,reward\n", "1"), ("[", "0,")])
def test_a_line_of_a_gigabyte_is_given_up_early(start: str, more: str) -> None:
    from numerics.logs.text import lines

    stream: Any = Endless(start, more)
    tracemalloc.start()
    with pytest.raises(InvalidInput, match="longer than 16 million"):
        list(lines(stream))
    assert tracemalloc.get_traced_memory()[1] < 150e6
    tracemalloc.stop()


@pytest.mark.parametrize(("start", "more"), [('{"a": "', "x"), ("[[", "0,"), ('[{"a": [', "0,")])
def test_a_value_of_a_gigabyte_is_given_up_early(start: str, more: str) -> None:
    from numerics.logs.json_stream import elements

    stream: Any = Endless(start, more)
    with pytest.raises(InvalidInput, match="longer than 16 million"):
        list(elements(stream))


def test_a_long_log_is_read_in_parts(tmp_path: Path) -> None:
    """What is held is the numbers and a window on the file, never its text."""
    rows = [
        {"step": n, "reward": n / 7, "critic/score/mean": n / 7, "completion": "word " * 5000}
        for n in range(1, 501)
    ]
    for text in (as_lines(rows), json.dumps(rows), as_csv(rows), as_verl_console(rows)):
        path = write(tmp_path, text)
        assert os.path.getsize(path) > 12_000_000
        del text
        tracemalloc.start()
        log = read_log(path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert log.rows == {"reward": 500}
        assert peak < 5_000_000


@settings(deadline=None)  # the files, and the first import of a library, take their time
@given(st.binary(max_size=300))
def test_no_bytes_end_in_anything_but_a_refusal(tmp_path_factory: Any, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "log"
    path.write_bytes(content)
    with pytest.raises(InvalidInput):
        read_log(path)


TEXTS = [as_lines(ROWS), STATE, json.dumps(ROWS), as_csv(ROWS), as_verl_console(
    [{"step": row["step"], "critic/score/mean": row["reward"]} for row in ROWS]
)]  # fmt: skip


@settings(deadline=None)
@given(st.sampled_from(TEXTS), st.integers(0, 3000), st.text(max_size=12), st.integers(0, 40))
def test_a_damaged_log_is_read_or_refused(
    tmp_path_factory: Any, text: str, place: int, wedge: str, lost: int
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "log"
    damaged = text[:place] + wedge + text[place + lost :]
    path.write_bytes(damaged.encode("utf-8", errors="surrogatepass"))
    try:
        log = read_log(path)
    except InvalidInput as refusal:
        message = str(refusal)
    else:
        message = ""
        assert sum(log.rows.values()) > 0
        assert all(run.has("reward") for run in log.runs)
    assert "\n" not in message
