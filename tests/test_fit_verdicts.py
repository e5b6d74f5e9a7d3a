"""Intervals, ranks, ceilings and attribution on synthetic logs whose truth is known."""

from __future__ import annotations

import re

import numpy as np
import pytest
from fit_cases import binomial, gaussian, three_phase

from numerics.fit import (
    attribute_slow_start,
    ceiling,
    claimed_r_squared,
    compare,
    fit,
    held_out,
    intervals,
    r_squared,
    series,
)
from numerics.inputs import InvalidInput
from numerics.simulation import ConstantLag, simulate_linear


def test_an_interval_is_where_the_profile_crosses_its_limit() -> None:
    """Held against brute force over tau, white noise: the other parameters are linear."""
    draw = np.random.default_rng(1)
    t = np.arange(28) + 0.5  # too few rows for memory, so the noise is white
    value = 0.8 - 0.6 * np.exp(-t / 8) + 0.05 * draw.standard_normal(t.size)
    found = fit(series(np.arange(28), value), "exponential")
    assert not found.spikes.size
    taus = np.geomspace(1, 100, 4001)
    columns = [np.column_stack([np.ones_like(t), np.exp(-t / tau)]) for tau in taus]
    squares = np.array([np.linalg.lstsq(c, value, rcond=None)[1][0] for c in columns])
    # REML with three parameters and t^2 as the limit, as documented
    deviance = (t.size - 3) * np.log(squares / squares.min())
    from scipy.stats import t as student

    inside = taus[deviance < student.ppf(0.95, t.size - 3) ** 2]
    interval = intervals(found, ["tau"], level=0.9)["tau"]
    assert interval.low == pytest.approx(inside[0], rel=0.02)
    assert interval.high == pytest.approx(inside[-1], rel=0.02)


def test_what_a_log_does_not_determine_is_said() -> None:
    given = gaussian(0.2 + 0.002 * np.arange(60), 0.03, 2)
    found = intervals(fit(given, "exponential"), ["tau", "R_inf"])
    assert not found["tau"].determined
    assert found["tau"].high is None
    assert found["tau"].low is not None
    assert re.fullmatch(
        r"tau is not determined by this log: raising it to \d+ costs less than 2.80 of deviance",
        found["tau"].why,
    )
    assert not found["R_inf"].determined


def test_bounds_close_an_interval() -> None:
    found = fit(binomial(0.1 + 0.005 * np.arange(60), 3), "exponential")
    interval = intervals(found, ["R_inf"])["R_inf"]
    assert interval.determined
    assert interval.high == 1.0
    assert interval.low is not None
    assert 0.3 < interval.low < 0.5


def test_x_over_damping_is_one_over_tau() -> None:
    found = intervals(fit(gaussian(three_phase(120, tau=20.0, rho=0.1), 0.03, 4)))
    tau, rate = found["tau"], found["x_over_damping"]
    assert tau.low is not None
    assert tau.high is not None
    assert (rate.low, rate.high) == pytest.approx((1 / tau.high, 1 / tau.low))


def test_intervals_refuse_what_a_family_does_not_read() -> None:
    found = fit(gaussian(three_phase(60, tau=10.0, rho=0.1), 0.03, 5), "exponential")
    with pytest.raises(InvalidInput, match="exponential has no 'inflection': it reads R_0"):
        intervals(found, ["inflection"])
    with pytest.raises(InvalidInput, match="level is 90"):
        intervals(found, level=90)


@pytest.mark.parametrize(
    ("mean", "best"),
    [
        (np.full(150, 0.5), {"constant"}),
        (0.8 - 0.6 * np.exp(-np.arange(1, 151) / 25), {"exponential"}),
        (three_phase(200, tau=8.0, rho=4.0), {"three-phase", "three-phase-moving"}),
        (0.1 + 0.8 / (1 + np.exp(-(np.arange(200) - 80) / 9)), {"sigmoid"}),
        (
            three_phase(300, tau=15.0, rho=0.2, high=0.45)
            + np.where(
                np.arange(300) < 150, 0, three_phase(300, tau=15.0, rho=0.2)[np.arange(300) - 150]
                - 0.2,
            ),
            {"two-stage"},
        ),
    ],
    ids=["flat", "exponential", "swing", "sigmoid", "two stages"],
)  # fmt: skip
def test_the_family_that_made_the_curve_ranks_first(mean: np.ndarray, best: set[str]) -> None:
    ranked = compare(gaussian(mean, 0.015, 6))
    assert ranked.best.family.name in best or min(ranked.delta(name) for name in best) < 2
    assert sum(ranked.weights.values()) == pytest.approx(1)
    assert list(ranked.weights.values()) == sorted(ranked.weights.values(), reverse=True)
    assert ranked.left_out == {"finite-group": "the group size is not known"}


def test_the_tail_is_foretold_by_the_right_family() -> None:
    given = gaussian(three_phase(200, tau=40.0, rho=0.2), 0.02, 7)
    scores = held_out(given, ["constant", "three-phase"])
    assert scores["three-phase"].rmse < 0.03
    assert scores["constant"].error > 0.1
    with pytest.raises(InvalidInput, match="share is 2"):
        held_out(given, share=2)


def test_the_ceiling_is_the_share_of_the_variance_that_is_not_noise() -> None:
    mean = three_phase(500, tau=80.0, rho=0.1)
    errors, inside = [], 0
    for seed in range(200):
        given = gaussian(mean, 0.15, seed)
        found, truth = ceiling(given), 1 - 0.15**2 / given.value.var()
        errors.append((found.value - truth) / (found.high - found.value))
        inside += found.low < truth < found.high
    assert abs(np.mean(errors)) < 6.11 / 200**0.5
    assert 160 <= inside <= 197
    success = binomial(three_phase(2000, tau=300.0, rho=0.1), 9)
    known = ceiling(success, fit(success)).binomial
    assert known == pytest.approx(ceiling(success).value, abs=0.05)


@pytest.mark.parametrize(
    ("given", "verdict", "beyond"),
    [
        # Noise as large as the rise: a perfect curve has R^2 about 0.5, averages reach any figure.
        (gaussian(three_phase(400, tau=60.0, rho=0.1), 0.15, 10), "out of reach", False),
        # Hardly any noise and a slow start: both laws are above 0.91, so it tells nothing.
        (gaussian(three_phase(400, tau=60.0, rho=0.1), 0.02, 11), "reached", False),
        # A swing that no exponential follows.
        (gaussian(three_phase(150, tau=10.0, rho=12.0), 0.02, 12), "reached", True),
        # A jump in the middle of nothing: the noise allows 0.91, the law has no such shape.
        (
            gaussian(np.sin(np.arange(200) / 6.0) + 0.01 * np.arange(200), 0.02, 13),
            "missed",
            False,
        ),
    ],
    ids=["noise", "smooth", "swing", "another shape"],
)
def test_a_claimed_r_squared_gets_its_verdict(given, verdict: str, beyond: bool) -> None:  # type: ignore[no-untyped-def]
    law, rival = fit(given), fit(given, "exponential")
    found = claimed_r_squared(law, rival)
    assert found.verdict == verdict
    assert found.beyond_exponential is beyond
    assert found.raw == pytest.approx(r_squared(law))
    if verdict == "out of reach":
        assert found.window is not None
        assert found.window > 1  # smoothing makes a good figure of the same curve


def test_a_claim_needs_two_fits_of_one_series() -> None:
    one, other = (fit(gaussian(three_phase(50, tau=9.0, rho=0.1), 0.02, s)) for s in (1, 2))
    with pytest.raises(InvalidInput, match="different series"):
        claimed_r_squared(one, other)


def test_a_slow_start_of_momentum_is_attributed_to_it() -> None:
    path = simulate_linear(
        "heavy-ball", ConstantLag(0), mu=0.95, x=5e-4, stale_share=1, steps=599
    ).path
    found = fit(gaussian(0.8 - 0.6 * path, 0.02, 14))
    said = attribute_slow_start(
        found, tau=found.readings["tau"], optimizer="heavy-ball", mu=0.95
    )
    assert said.verdict == "inertia suffices"
    assert said.x == pytest.approx(5e-4, rel=0.1)
    assert said.inertial_delay == pytest.approx(1.95 / 0.1)
    without = attribute_slow_start(
        found, tau=found.readings["tau"], optimizer="heavy-ball", mu=0.0
    )
    assert without.verdict == "more than inertia"
    assert without.share < 0.3


def test_a_slow_start_of_the_drift_is_not_momentum() -> None:
    given = gaussian(0.1 + 0.8 / (1 + np.exp(-(np.arange(400) - 200) / 20)), 0.02, 15)
    found = fit(given, "sigmoid")
    said = attribute_slow_start(
        found, tau=fit(given).readings["tau"], optimizer="heavy-ball", mu=0.9
    )
    assert said.verdict == "more than inertia"
    assert said.shown == pytest.approx(200.5, abs=3)
    with pytest.raises(InvalidInput, match="constant has no inflection"):
        attribute_slow_start(fit(given, "constant"), tau=10, optimizer="ema", mu=0.9)
    with pytest.raises(InvalidInput, match="mu is 1"):
        attribute_slow_start(found, tau=10, optimizer="ema", mu=1.0)


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
def test_x_is_the_one_whose_map_has_that_tau(optimizer: str) -> None:
    """The sum of the deviation over the steps is C/K, lag included: measured on the map."""
    found = fit(gaussian(three_phase(60, tau=10.0, rho=0.1), 0.02, 16))
    said = attribute_slow_start(found, tau=80, optimizer=optimizer, mu=0.8, lag=3)
    path = simulate_linear(
        optimizer, ConstantLag(3), mu=0.8, x=said.x, stale_share=1, steps=6000
    ).path
    assert float(path.sum()) == pytest.approx(80, rel=1e-9)
