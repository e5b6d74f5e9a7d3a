"""How a ratio is measured: contestants side by side in one process, many rounds, taking turns.

A ratio of two times taken in the same second survives a slow or busy machine; a time does not. CPU
time decides, because a neighbour on the machine costs wall time and hardly any CPU time; the ratio
of wall times is shown beside it.
"""

from __future__ import annotations

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Figure:
    """One measured number of a row.

    `least` or `most` is the bar, in the same unit; a figure without either is shown, not judged.
    `low` and `high` are the extremes over the rounds. `wall` is the median by wall time.
    """

    what: str
    median: float
    low: float
    high: float
    unit: str = "x"
    least: float | None = None
    most: float | None = None
    wall: float | None = None

    @property
    def passed(self) -> bool | None:
        """Whether the median reaches the bar; None without a bar."""
        if self.least is None and self.most is None:
            return None
        return (self.least is None or self.median >= self.least) and (
            self.most is None or self.median <= self.most
        )


@dataclass(frozen=True)
class Row:
    """One row of the table.

    `why_below` says, for a row that may miss its bar, why and what was tried; `notes` what exactly
    was compared.
    """

    work: str
    bar: str
    figures: Sequence[Figure]
    notes: Sequence[str] = ()
    why_below: str = ""

    @property
    def passed(self) -> bool:
        """Whether no figure misses its bar."""
        return all(figure.passed is not False for figure in self.figures)


@dataclass
class Times:
    """CPU and wall seconds of one contestant, one entry a round."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)


def measured(
    contestants: Mapping[str, Callable[[], object]], *, rounds: int, at_least: float = 0.02
) -> dict[str, Times]:
    """Run every contestant once a round, in turns that rotate, and return the times of one call.

    A call shorter than `at_least` seconds is repeated within the round. The first call of each is
    not counted: it pays for caches and imports.
    """
    repeats = {name: _repeats(run, at_least) for name, run in contestants.items()}
    times = {name: Times() for name in contestants}
    names = list(contestants)
    kept: dict[str, object] = {}
    for turn in range(rounds):
        first = turn % len(names)
        for name in (*names[first:], *names[:first]):
            run, count = contestants[name], repeats[name]
            gc.collect()
            gc.disable()
            try:
                wall, cpu = time.perf_counter(), time.process_time()
                for _ in range(count):
                    kept[name] = run()  # as a caller would: memory is not free to be reused
                cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
            finally:
                gc.enable()
            times[name].cpu.append(cpu / count)
            times[name].wall.append(wall / count)
    return times


def _repeats(run: Callable[[], object], at_least: float) -> int:
    run()
    start = time.perf_counter()
    run()
    once = time.perf_counter() - start
    return max(1, round(at_least / max(once, 1e-9)))


def faster(
    what: str,
    ours: Times,
    baseline: Times,
    *,
    work: float = 1.0,
    least: float | None = None,
) -> Figure:
    """Return our rate over the baseline's; `work` is our work per call over the baseline's."""
    ratios = [work * b / o for o, b in zip(ours.cpu, baseline.cpu, strict=True)]
    walls = [work * b / o for o, b in zip(ours.wall, baseline.wall, strict=True)]
    return Figure(
        what,
        statistics.median(ratios),
        min(ratios),
        max(ratios),
        least=least,
        wall=statistics.median(walls),
    )


def rate(what: str, ours: Times, work: float, unit: str, *, least: float | None = None) -> Figure:
    """Return units of work per CPU second."""
    rates = [work / seconds for seconds in ours.cpu]
    walls = [work / seconds for seconds in ours.wall]
    return Figure(
        what,
        statistics.median(rates),
        min(rates),
        max(rates),
        unit,
        least=least,
        wall=statistics.median(walls),
    )


def value(
    what: str, number: float, unit: str, *, least: float | None = None, most: float | None = None
) -> Figure:
    """Return a number that was measured once and does not vary."""
    return Figure(what, number, number, number, unit, least, most)


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """Return the least-squares slope of log(cost) against log(size)."""
    logs = ([math.log(number) for number in numbers] for numbers in (sizes, costs))
    return statistics.linear_regression(*logs).slope


def in_a_fresh_process(code: str, *arguments: object) -> Any:
    """Run `code` in a new interpreter and return the JSON it prints last."""
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests"))),
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        cwd=ROOT,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])
