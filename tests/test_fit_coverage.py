"""The coverage script: configurations are fixed, truth is the map's, the page has its table."""

from __future__ import annotations

import re

import numpy as np
import pytest
from benchmarks import coverage

from numerics.fit import Interval


def test_a_configuration_is_the_same_every_time() -> None:
    one, other = coverage.case(5), coverage.case(5)
    assert np.array_equal(one.given.value, other.given.value)
    assert one.truth == other.truth
    assert not np.array_equal(one.given.value[:50], coverage.case(6).given.value[:50])


def test_an_open_end_covers_what_is_on_its_side() -> None:
    interval = Interval(3.0, 2.0, None, 0.9, False, "said")
    assert coverage.covers(interval, 1e9)
    assert not coverage.covers(interval, 1.0)


def test_the_steepest_step_is_found_between_rows() -> None:
    t = np.arange(200.0)
    path = 1 / (1 + np.exp((t - 60.3) / 15))
    assert coverage._steepest(path) == pytest.approx(60.3, abs=0.02)
    assert coverage._steepest(np.exp(-t / 10)) == 0.5


def test_a_measured_configuration_makes_a_table() -> None:
    found = list(coverage.measure([3, 7]))
    lines = coverage.table(found)
    assert lines[2].startswith("| all | 2 | ")
    assert len({line.count("|") for line in lines}) == 1


def test_the_page_has_the_table_and_it_keeps_its_promise() -> None:
    text = coverage.PAGE.read_text("utf-8")
    whole = re.search(r"^\| all \| 200 \| (.*) \|$", text, re.MULTILINE)
    assert whole, "run python tests/benchmarks/coverage.py --write"
    shares = [float(cell.rstrip(" %")) for cell in whole[1].split(" | ")][::2]
    assert len(shares) == len(coverage.NAMES)
    assert all(85 <= share <= 95 for share in shares)
