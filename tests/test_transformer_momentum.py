"""E6 and E6-adam without training: their theory, and their rows on networks that are known."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from transformer_runs import run, runs

from numerics.dynamics import no_kl_path
from numerics.experiments.transformer import adam, momentum, ramp, ring_down
from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.run import load
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.theory.adam_theory import at_rest, expected_way, way
from numerics.experiments.transformer.theory.anchored import Anchor, Rest, weight_for
from numerics.experiments.transformer.theory.curve import Curve, mean_path, sampled_drift
from numerics.inputs import InvalidInput
from numerics.simulation import OPTIMIZERS, optimizer_named
from numerics.simulation.two_arm import advantage_table

FLAT = Curve(np.linspace(-4.0, 4.0, 9), np.full(9, 2.0))
BENT = Curve(np.linspace(-4.0, 4.0, 41), 2 + np.sin(np.linspace(-4.0, 4.0, 41)) / 2)


def pulse_response(optimizer: str, mu: Fraction) -> list[Fraction]:
    """What one unit of gradient at step 0 moves at every step, by the published recurrence."""
    rule = optimizer_named(optimizer)
    theta = Fraction(0)
    memory = rule.memory_at_rest(theta)
    places = [theta]
    for k in range(500):
        theta, memory = rule.step(theta, memory, Fraction(k == 0), eta=Fraction(1), mu=mu)
        places.append(theta)
    return [after - before for before, after in pairwise(places)]


@pytest.mark.parametrize("mu", [Fraction(0), Fraction(1, 2), Fraction(9, 10)])
@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_gain_and_delay_are_the_moments_of_the_response_to_one_push(
    optimizer: str, mu: Fraction
) -> None:
    """The sum of the response, and its mean time."""
    response = pulse_response(optimizer, mu)
    total = sum(response)
    assert ramp.gain(optimizer, float(mu)) == pytest.approx(float(total), rel=1e-12)
    mean = float(sum(k * moved for k, moved in enumerate(response)) / total)
    assert ramp.delay(optimizer, float(mu)) == pytest.approx(mean, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.9])
def test_the_continuous_time_of_theorem_7_is_half_a_step_more(mu: float) -> None:
    """M/C starts its clock where the velocity is 0, half a step before step 0."""
    assert (1 + mu) / (2 * (1 - mu)) - ramp.delay("heavy-ball", mu) == pytest.approx(0.5)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_ramp_is_read_whatever_it_samples(optimizer: str) -> None:
    """The noise of the groups, a tenth of a step a seed by itself, is not in the reading."""
    setting = Setting(
        p_ref=0.48, optimizer=optimizer, mu=0.8, pace=1e-4, group_size=64, steps=200,
        measures=("flow",),
    )  # fmt: skip
    gain, delay = ramp.read(run(setting))
    assert gain == pytest.approx(ramp.gain(optimizer, 0.8), rel=1e-3)
    assert delay == pytest.approx(ramp.delay(optimizer, 0.8), abs=0.1)
    another = {"heavy-ball": "nesterov", "nesterov": "ema", "ema": "nesterov"}[optimizer]
    assert abs(delay - ramp.delay(another, 0.8)) > 0.5 or gain != pytest.approx(
        ramp.gain(another, 0.8), rel=0.1
    )


def test_a_curve_goes_back_and_forth_and_on() -> None:
    """The arc length is inverted to 1e-6, and both go straight on beyond what was measured."""
    places = np.linspace(-4.0, 4.0, 101)
    assert BENT.logit(BENT.arc(places)) == pytest.approx(places, abs=1e-6)
    assert FLAT.arc(places) == pytest.approx((places + 4) / 2, abs=1e-12)
    assert FLAT.arc(6.0) == pytest.approx(5.0)
    assert FLAT.logit(-1.0) == pytest.approx(-6.0)
    assert BENT.slope_at(0.3) == pytest.approx(2 + math.sin(0.3) / 2, abs=1e-4)


def test_a_run_that_measured_nothing_has_no_curve() -> None:
    """What to do is said."""
    bare = run(Setting(p_ref=0.5, steps=2))
    with pytest.raises(InvalidInput, match="did not measure flow; add it to its measures"):
        Curve.of(bare)
    with pytest.raises(InvalidInput, match="did not measure adam-flow"):
        Curve.of_adam(bare, kept=True)


def test_the_mean_path_of_a_constant_gain_is_the_closed_form() -> None:
    """Steps so small that they are a flow."""
    force = np.vectorize(lambda logit: 0.5 / math.cosh(logit / 2), otypes=[float])
    path = mean_path(
        FLAT, force, start=-3.0, eta=0.0025, mu=0.0, optimizer="heavy-ball", steps=2000
    )
    closed = no_kl_path("std", eta=0.01, p=1 / (1 + math.exp(3)), t=np.arange(2001.0))
    assert path == pytest.approx(closed.logit, abs=5e-3)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_mean_path_is_that_of_one_weight(optimizer: str) -> None:
    """With groups so large that nothing is random, where the gain changes on the way."""
    setting = Setting(
        p_ref=0.3, optimizer=optimizer, mu=0.7, pace=0.02, group_size=20_000, steps=60,
        measures=("flow",),
    )  # fmt: skip
    done = run(setting, bend=0.2)
    force = np.vectorize(lambda logit: 0.5 / math.cosh(logit / 2), otypes=[float])
    path = mean_path(
        Curve.of(done), force, start=float(done.logit[0, 0]), eta=done.facts["eta"], mu=0.7,
        optimizer=optimizer, steps=60,
    )  # fmt: skip
    assert path == pytest.approx(done.logit[:, 0], abs=5e-3)
    assert path[-1] - path[0] > 0.5


def test_the_sampled_drift_is_that_of_the_advantages() -> None:
    """The increments of a plain run are the sampled drift times the gain, whatever was sampled."""
    for normaliser in ("group-std", "none"):
        setting = Setting(p_ref=0.3, pace=0.1, group_size=8, steps=50, normaliser=normaliser)
        done = run(setting)
        expected = done.facts["eta"] * done.facts["gain"] * sampled_drift(done)
        assert np.diff(done.logit[:, 0]) == pytest.approx(expected, abs=1.1e-4)


@pytest.mark.parametrize(
    ("mu", "x"), [(0.0, 0.75), (0.0, 1.5), (0.5, 0.05), (0.5, 0.2), (0.9, 0.1)]
)
def test_a_ring_down_is_fitted_by_the_roots_of_the_linear_map(mu: float, x: float) -> None:
    """Almost without noise, from a small distance."""
    ring = {
        "p_ref": 0.25, "p_star": 0.5, "group_size": 4096, "away": 0.05,
        "cases": [{"optimizer": "heavy-ball", "mu": mu, "x": x, "steps": 30 if mu else 4}],
    }  # fmt: skip
    (setting,) = ring_down.settings({"seeds": 1, "ring": ring})
    done = run(setting)
    assert ring_down.stiffness(done) == pytest.approx(x, rel=1e-3)
    seen, exact = ring_down.fitted(done), ring_down.exact("heavy-ball", mu, x)
    assert seen.root == pytest.approx(exact, abs=0.02)
    assert (seen.margin > 0) == (exact.imag == 0 and exact.real > 0)


def test_the_oscillator_and_the_map_meet_where_both_are_slow() -> None:
    """Theorem-7's root tends to the map's, and is another where x is not small."""
    for mu in (0.5, 0.9):
        slow = 1e-3 * (1 - mu) ** 2
        away = abs(ring_down.truncated(mu, slow) - ring_down.exact("heavy-ball", mu, slow))
        assert away < 1e-3 * slow
    assert ring_down.truncated(0.0, 0.75).imag > 0.1
    assert ring_down.exact("heavy-ball", 0.0, 0.75) == pytest.approx(0.25)


def plan_of(name: str, **given: object) -> dict[str, object]:
    experiment = {"E6": momentum.MOMENTUM, "E6-adam": adam.ADAM}[name]
    return {**load(experiment, quick=False), **given}


def test_the_plans_are_runs_with_names_of_their_own() -> None:
    """Eight seeds of everything, none twice; the quick ones are few."""
    for experiment in (momentum.MOMENTUM, adam.ADAM):
        for quick, seeds in ((False, 8), (True, 2)):
            settings = experiment.settings(load(experiment, quick=quick))
            assert len({setting.name for setting in settings}) == len(settings)
            assert {setting.seed for setting in settings} == set(range(seeds))
            assert all(setting.policy_seed == setting.seed for setting in settings)
    settings = momentum.MOMENTUM.settings(load(momentum.MOMENTUM, quick=False))
    assert sum(not setting.beta for setting in settings) == 8 * 7


def by(rows: list[Row], case: str, quantity: str) -> dict[str, Row]:
    """Return theory -> row."""
    found = {r.theory: r for r in rows if (r.case, r.quantity) == (case, quantity)}
    assert found
    return found


@pytest.fixture(scope="module")
def swung() -> tuple[list[object], list[Row]]:
    """E6 on a network of one weight, with four seeds."""
    done = runs(momentum.MOMENTUM.settings(plan_of("E6", seeds=4)), bend=0.02)
    return list(done), momentum.MOMENTUM.rows(done)


def test_momentum_rows_agree_on_a_network_that_obeys(swung: tuple[list[object], list[Row]]) -> None:
    """All exact rows; what the source says of EMA and of the half step is refused."""
    rows = swung[1]
    assert [row for row in rows if row.theory == "exact" and not row.agrees] == []
    ema = by(rows, "ramp, ema, mu 0.9", ramp.GAIN)
    assert ema["source"].predicted == pytest.approx(10)
    assert not ema["source"].agrees
    behind = by(rows, "ramp, heavy-ball, mu 0.5", ramp.DELAY)
    assert behind["source"].predicted == pytest.approx(1.5)
    assert not behind["source"].agrees
    start = by(rows, "ring-down, heavy-ball, mu 0", ring_down.ONSET)
    assert start["exact"].predicted == pytest.approx(1)
    assert start["source"].predicted == pytest.approx(0.5)
    assert not start["source"].agrees
    half = by(rows, "ring-down, heavy-ball, mu 0.5", ring_down.ONSET)
    assert half["exact"].predicted == pytest.approx((1 - math.sqrt(0.5)) ** 2)


def test_momentum_rows_differ_on_a_network_that_does_not() -> None:
    """Runs of another momentum than their setting says."""
    settings = momentum.MOMENTUM.settings(plan_of("E6", seeds=3))
    done = [
        replace(run(replace(setting, mu=0.8 * setting.mu)), setting=setting)
        for setting in settings
        if setting.mu == 0.9
    ]
    rows = momentum.MOMENTUM.rows(done)
    assert all(
        not row.agrees for row in rows if row.quantity == ramp.GAIN and "ema" not in row.case
    )
    swings = by(rows, "ring-down, heavy-ball, mu 0.9, x near 0.2", ring_down.MODULUS)
    assert not swings["exact"].agrees


def test_momentum_figures_are_drawn(swung: tuple[list[object], list[Row]]) -> None:
    """Both are SVG."""
    done, rows = swung
    figures = momentum.MOMENTUM.figures(done, rows)  # type: ignore[arg-type]
    assert set(figures) == {
        "transformer_momentum_ramp.svg", "transformer_momentum_ring_down.svg",
    }  # fmt: skip
    for svg in figures.values():
        assert ElementTree.fromstring(svg).tag.endswith("svg")


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_adam_does_not_know_the_size_of_a_steady_drift(size: float) -> None:
    """Each step is the learning rate."""
    assert way(np.full(50, size), 0.9) == pytest.approx(50, rel=1e-6)


def test_adams_expected_way_knows_the_share_of_dead_groups() -> None:
    """In groups of two a drift is 0 or one size: m/sqrt(v) tends to the root of the live share."""
    live = 2 * 0.2 * 0.8
    start = math.log(0.25)
    found = expected_way(
        FLAT, start=start, rate=1e-9, mu=0.0, group_size=2, normaliser="group-std", steps=400
    )
    # A mean over sqrt(v) of few steps is larger than over that of many.
    assert found / 400 == pytest.approx(math.sqrt(live), rel=0.03)


@pytest.mark.parametrize(("group_size", "kick"), [(16, 0.01), (256, 0.02)])
def test_adam_at_rest_fluctuates_as_its_frozen_second_moment_says(
    group_size: int, kick: float
) -> None:
    """Against chains of the scalar map with Adam as published; their error is under 1 %."""
    beta = weight_for(0.25, group_size=group_size, kl="k3", p_ref=0.1)
    anchor = Anchor(group_size, beta, "k3", 0.1)
    rest = anchor.rests[0]
    table = advantage_table(group_size, normaliser="std", ddof=1, eps=1e-4)
    random = np.random.default_rng(7)
    logit = np.full(2000, rest.logit)
    first, second = np.zeros(2000), np.zeros(2000)
    seen = []
    for k in range(1, 401):
        p = 1 / (1 + np.exp(-logit))
        right = random.binomial(group_size, p)
        share = right / group_size
        pull = share * (1 - p) * (1 - 0.1 / p) - (1 - share) * p * (1 - 0.9 / (1 - p))
        g = table[right] - beta * pull
        first, second = 0.9 * first + 0.1 * g, 0.999 * second + 0.001 * g**2
        logit = logit + kick * (first / (1 - 0.9**k)) / np.sqrt(second / (1 - 0.999**k) + 1e-30)
        if k > 150:
            seen.append(((logit - rest.logit) ** 2).mean())
    assert at_rest(rest, kick=kick, mu=0.9)[1] == pytest.approx(np.mean(seen), rel=0.03)


def test_adams_fluctuation_falls_as_the_root_of_the_plain_gradients() -> None:
    """At small x and one stiffness the variance goes as 1/sqrt(G), x as sqrt(G)."""
    (x, one), (y, other) = (
        at_rest(Rest(0.0, 0.4, 0.06 / size), kick=1e-4, mu=0.9) for size in (16, 1024)
    )
    assert y / x == pytest.approx(8, rel=1e-2)
    assert one / other == pytest.approx(8, rel=1e-2)
    assert one == pytest.approx(1e-4 * math.sqrt(0.06 / 16) / (2 * 0.4), rel=1e-2)


@pytest.fixture(scope="module")
def adapted() -> tuple[list[object], list[Row]]:
    """E6-adam on a network of one weight, with four seeds."""
    done = runs(adam.ADAM.settings(plan_of("E6-adam", seeds=4)), adam_kick=600.0)
    return list(done), adam.ADAM.rows(done)


def test_adam_rows_agree_on_a_network_that_obeys(adapted: tuple[list[object], list[Row]]) -> None:
    """All exact rows; a plain gradient's speed and 1/G are refused."""
    rows = adapted[1]
    assert [row for row in rows if row.theory == "exact" and not row.agrees] == []
    rivals = [row for row in rows if "speed over that of" in row.quantity and row.theory == "rival"]
    assert len(rivals) == 2
    assert not any(row.agrees for row in rivals)
    power = next(row for row in rows if row.theory == "source")
    assert power.predicted == -1
    assert power.measured > -0.8


def test_adam_figure_is_drawn(adapted: tuple[list[object], list[Row]]) -> None:
    """It is SVG."""
    (svg,) = adam.ADAM.figures(*adapted).values()  # type: ignore[arg-type]
    assert ElementTree.fromstring(svg).tag.endswith("svg")


@pytest.mark.parametrize("experiment", [momentum.MOMENTUM, adam.ADAM])
def test_the_headline_is_a_row(
    experiment: object, swung: tuple[object, list[Row]], adapted: tuple[object, list[Row]]
) -> None:
    """It stands for the experiment in the findings."""
    rows = swung[1] if experiment is momentum.MOMENTUM else adapted[1]
    names = [f"{row.case} / {row.quantity} / {row.theory}" for row in rows]
    assert names.count(experiment.headline) == 1  # type: ignore[attr-defined]
