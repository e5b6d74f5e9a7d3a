"""E7 without training: its theory against itself, and its rows on networks that are known."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from transformer_runs import run

from numerics.dynamics import no_kl_path
from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.run import load
from numerics.experiments.transformer.setting import Run
from numerics.experiments.transformer.slow_start import SLOW_START, later_by, rise
from numerics.experiments.transformer.theory.curve import Curve, mean_path
from numerics.experiments.transformer.theory.scalar import crossing

FLAT = Curve(np.linspace(-6.0, 6.0, 13), np.ones(13))


def std_drift(logit: np.ndarray) -> np.ndarray:
    """The drift of an infinite group: the standard deviation of one reward."""
    return np.asarray(0.5 / np.cosh(np.asarray(logit) / 2))


@pytest.mark.parametrize(("normaliser", "eta"), [("std", 0.1), ("mean", 0.3)])
def test_the_closed_form_is_steepest_at_one_half(normaliser: str, eta: float) -> None:
    """At the time its clock says: what cot(2 phi), or 2 logit p + ..., has to go to 0."""
    p = 0.03
    clock = {
        "std": 4 * (1 - 2 * p) / (2 * math.sqrt(p * (1 - p))),
        "mean": 2 * math.log((1 - p) / p) + (1 - 2 * p) / (p * (1 - p)),
    }[normaliser]
    found = rise(no_kl_path(normaliser, eta=eta, p=p, t=np.arange(400.0)).success)
    assert found.time == pytest.approx(clock / eta, rel=2e-3)
    assert found.success == pytest.approx(0.5, abs=5e-3)
    assert 0 < found.start < 0.05


def test_a_single_exponential_is_steepest_at_the_start() -> None:
    """So that the source's words have a number: 1 or more."""
    found = rise(1 - np.exp(-np.arange(60) / 20))
    assert found.time < 3
    assert found.start >= 0.98


def delay(pace: float, mu: float) -> float:
    """How much later a logit of constant gain comes to 0 with momentum, at the same final speed."""
    given = {"start": -3.5, "optimizer": "heavy-ball", "steps": round(20 / pace)}
    slow, fast = (
        crossing(mean_path(FLAT, std_drift, eta=pace * (1 - m), mu=m, **given), 0.0)
        for m in (mu, 0.0)
    )
    return slow - fast


def test_inertia_delays_by_more_than_m_over_c_while_the_force_grows() -> None:
    """The exact delay tends to mu/(1 - mu) (1 + ln growth), and its error falls with the pace."""
    growth = float(std_drift(0.0) / std_drift(-3.5))
    first_order = later_by(growth, 0.5)
    assert first_order == pytest.approx(1 + math.log(growth))
    errors = [first_order - delay(pace, 0.5) for pace in (0.4, 0.2, 0.1)]
    for error, half in pairwise(errors):
        assert error / half == pytest.approx(2, rel=0.1)
    assert errors[-1] < 0.05 * first_order
    assert later_by(1.0, 0.9) == pytest.approx(9)


def test_the_plan_pairs_every_run_with_one_without_momentum() -> None:
    """Same seed, same final speed."""
    settings = SLOW_START.settings(load(SLOW_START, quick=False))
    assert len({setting.name for setting in settings}) == len(settings) == 8 * 5
    plain = {(s.normaliser, round(s.pace, 6), s.seed) for s in settings if s.mu == 0}
    assert all(
        (s.normaliser, round(s.pace / (1 - s.mu), 6), s.seed) in plain for s in settings if s.mu
    )
    assert len(SLOW_START.settings(load(SLOW_START, quick=True))) == 4


def trained(seeds: int) -> list[Run]:
    """E7 on networks of one weight, their gain another for each seed."""
    plan = {**load(SLOW_START, quick=False), "seeds": seeds}
    return [run(s, bend=0.02 + 0.01 * s.seed) for s in SLOW_START.settings(plan)]


@pytest.fixture(scope="module")
def risen() -> tuple[list[Run], list[Row]]:
    """With four seeds."""
    done = trained(4)
    return done, SLOW_START.rows(done)


def test_rows_agree_on_a_network_that_obeys(risen: tuple[list[Run], list[Row]]) -> None:
    """All exact rows; that nothing is slow without inertia, and M/C steps of it, are refused."""
    rows = risen[1]
    assert [row for row in rows if row.theory == "exact" and not row.agrees] == []
    source = [row for row in rows if row.theory == "source"]
    assert {row.predicted for row in source if "start over" in row.quantity} == {1.0}
    assert all(not row.agrees for row in source if "start over" in row.quantity)
    later = [row for row in source if "later" in row.quantity]
    assert len(later) == 2
    assert all(row.predicted == pytest.approx(9.5) and row.low > 9.5 for row in later)
    share = [row.measured for row in rows if "not inertia" in row.quantity]
    assert 0.5 < share[0] < share[1] < 1


def test_rows_differ_on_a_network_that_does_not(risen: tuple[list[Run], list[Row]]) -> None:
    """Where the gain that was measured is not that of the run."""
    false = [
        replace(one, facts=one.facts | {"gain_along": [g * 2 for g in one.facts["gain_along"]]})
        for one in risen[0]
    ]
    times = [r for r in SLOW_START.rows(false) if "steepest rise" in r.quantity[:25]]
    assert not any(
        r.agrees for r in times if r.theory == "exact" and r.quantity.startswith("steps")
    )


def test_the_figure_is_drawn(risen: tuple[list[Run], list[Row]]) -> None:
    """It is SVG, and the headline is a row."""
    (svg,) = SLOW_START.figures(*risen).values()
    assert ElementTree.fromstring(svg).tag.endswith("svg")
    names = [f"{row.case} / {row.quantity} / {row.theory}" for row in risen[1]]
    assert names.count(SLOW_START.headline) == 1
