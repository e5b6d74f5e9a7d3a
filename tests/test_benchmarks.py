"""The benchmarks run, judge rightly and cover the whole table. No test here asserts a time."""

from __future__ import annotations

import importlib
import math
import re
import subprocess
import sys

import pytest
from benchmarks import table
from benchmarks.harness import ROOT, Figure, Row, Times, faster, measured, rate, slope, value


def test_contestants_take_turns_and_start_in_turn() -> None:
    calls: list[str] = []
    times = measured(
        {name: lambda name=name: calls.append(name) for name in "abc"}, rounds=3, at_least=0
    )
    warm_up, rounds = calls[:6], calls[6:]
    assert warm_up == list("aabbcc")
    assert rounds == list("abcbcacab")
    assert all(len(t.cpu) == len(t.wall) == 3 for t in times.values())


def test_a_short_call_is_repeated_and_its_time_divided() -> None:
    calls = 0

    def run() -> None:
        nonlocal calls
        calls += 1

    measured({"run": run}, rounds=2, at_least=0.001)
    assert calls > 12


def test_a_ratio_is_taken_within_the_round() -> None:
    ours, baseline = Times([1.0, 2.0, 4.0], [1.0] * 3), Times([3.0, 8.0, 8.0], [5.0] * 3)
    figure = faster("it", ours, baseline, work=10, least=30)
    assert (figure.low, figure.median, figure.high) == (20, 30, 40)
    assert figure.wall == 50
    assert figure.passed


def test_a_rate_is_work_per_second() -> None:
    assert rate("it", Times([0.5, 1.0, 2.0], [1.0] * 3), 10, "points/s").median == 10


@pytest.mark.parametrize(
    ("least", "most", "passed"),
    [(None, None, None), (2, None, True), (2.1, None, False), (None, 2, True), (None, 1.9, False)],
)
def test_a_figure_is_held_against_its_bar(
    least: float | None, most: float | None, passed: bool | None
) -> None:
    assert Figure("it", 2, 1, 3, least=least, most=most).passed is passed


def test_a_row_passes_if_no_figure_misses_its_bar() -> None:
    shown, good, bad = value("a", 1, ""), value("b", 1, "", most=2), value("c", 1, "", least=2)
    assert Row("work", "bar", [shown, good]).passed
    assert not Row("work", "bar", [shown, good, bad]).passed


def test_a_slope_is_the_exponent_of_growth() -> None:
    assert slope([1, 10, 100], [3 * n**1.5 for n in (1, 10, 100)]) == pytest.approx(1.5)


@pytest.mark.parametrize("name", table.ROWS)
def test_a_row_runs_on_a_small_problem(name: str) -> None:
    row = importlib.import_module(f"benchmarks.{name}").measure(True)
    assert row.notes
    assert any(figure.passed is not None for figure in row.figures)
    for figure in row.figures:
        assert math.isfinite(figure.median), figure
        assert figure.low <= figure.median <= figure.high
    section = table.page({name: row})
    assert all(figure.what.replace("|", r"\|") in section for figure in row.figures)
    assert f"## {row.work}\n" in table.PAGE.read_text("utf-8"), (
        "run python tests/benchmarks --write"
    )


def test_the_page_has_every_row_and_a_reason_for_each_below_its_bar() -> None:
    text = table.PAGE.read_text("utf-8")
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    assert len(sections) == len(table.ROWS)
    for name, section in zip(table.ROWS, sections, strict=True):
        assert f"tests/benchmarks/{name}.py" in section
        if "| below |" in section:
            assert re.search(r"\*\*Below its bar\.\*\* \w[^\n]{40,}", section), name
    for word in ("processor", "numpy", "python tests/benchmarks --write"):
        assert word in text


def test_the_command_names_its_rows_and_refuses_others() -> None:
    command = [sys.executable, "tests/benchmarks", "nobody"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "no such row: nobody" in done.stderr
    assert all(name in done.stderr for name in table.ROWS)
