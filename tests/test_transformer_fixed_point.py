"""E3: where a run rests under a KL term, by theory and on runs that were sampled without torch."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from transformer_held import every_group, group_gradient, held_run

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.fixed_point import FIXED_POINT
from numerics.experiments.transformer.run import load
from numerics.experiments.transformer.setting import Run
from numerics.experiments.transformer.theory.anchored import Anchor, infinite_groups, weight_for
from numerics.inputs import InvalidInput
from numerics.predict import critical_beta

KLS = ("reverse", "k3")


def logit(p: float) -> float:
    return math.log(p / (1 - p))


@pytest.mark.parametrize("kl", KLS)
@pytest.mark.parametrize(("p", "p_ref", "beta"), [(0.3, 0.2, 0.7), (0.5, 0.5, 0.0), (0.8, 0.4, 2)])
def test_moments_are_those_of_the_loss_over_every_group(
    kl: str, p: float, p_ref: float, beta: float
) -> None:
    """All 32 groups of 5 samples, the trainer's loss differentiated for each."""
    mean, variance = Anchor(5, beta, kl, p_ref).moments(logit(p))
    told = every_group(5, p, lambda right: -group_gradient(right, logit(p), p_ref, beta, kl))
    assert (float(mean), float(variance)) == pytest.approx(told, rel=1e-6)


def test_the_kl_term_pulls_as_its_divergence() -> None:
    """On average by p - p_ref (k3) and p (1 - p) times the distance of the logits (reverse)."""
    for p, p_ref in ((0.2, 0.6), (0.9, 0.3)):
        for kl, pull in (
            ("k3", p - p_ref),
            ("reverse", p * (1 - p) * (logit(p) - logit(p_ref))),
        ):
            free, held = (Anchor(9, beta, kl, p_ref).drift(logit(p)) for beta in (0.0, 1.0))
            assert free - held == pytest.approx(pull, rel=1e-12)


@pytest.mark.parametrize("kl", KLS)
def test_large_groups_rest_where_the_source_says(kl: str) -> None:
    """Off by a part in G: extrapolated from two sizes it is there, but for what eps does."""
    beta, p_ref = 2.0, 0.4
    limit = infinite_groups(beta=beta, kl=kl, p_ref=p_ref)
    half, full = (Anchor(size, beta, kl, p_ref).rests[0].p for size in (256, 512))
    assert half < full < limit
    assert 2 * full - half == pytest.approx(limit, abs=0.2 * (limit - full))


def test_finite_groups_rest_below_the_critical_weight_too() -> None:
    """Where infinite groups go to certainty; near it at logit p_ref + (G - 1)/(beta sqrt G)."""
    beta = 0.9 * critical_beta(p_ref=Fraction(1, 2))
    assert infinite_groups(beta=beta, kl="reverse", p_ref=0.5) == 1.0
    (rest,) = Anchor(8, beta, "reverse", 0.5).rests
    assert 0.5 < rest.p < 0.95
    assert rest.stiffness > 0
    (near,) = Anchor(16, 0.45, "reverse", 0.5).rests
    assert near.logit == pytest.approx(15 / (0.45 * 4), rel=0.01)


def test_between_two_that_attract_one_repels() -> None:
    """Above the critical weight, large groups: three zeros, the middle one with K < 0."""
    stiffness = [rest.stiffness > 0 for rest in Anchor(64, 1.0, "reverse", 0.2).rests]
    assert stiffness == [True, False, True]


@pytest.mark.parametrize("kl", KLS)
def test_a_weight_is_found_for_every_rest(kl: str) -> None:
    """And the drift vanishes there."""
    beta = weight_for(0.6, group_size=16, kl=kl, p_ref=0.3)
    assert Anchor(16, beta, kl, 0.3).rests[0].p == pytest.approx(0.6, abs=1e-9)
    with pytest.raises(InvalidInput, match=r"above p_ref = 0.3 and below 1"):
        weight_for(0.2, group_size=16, kl=kl, p_ref=0.3)


def test_the_stiffness_is_the_slope_of_the_drift() -> None:
    """Against that of large groups in closed form: beta sigma2 + (p - 1/2) sigma under k3."""
    beta, p_ref = 2.0, 0.4
    rest = Anchor(1024, beta, "k3", p_ref).rests[0]
    sigma = math.sqrt(rest.p * (1 - rest.p))
    assert rest.stiffness == pytest.approx(beta * sigma**2 + (rest.p - 0.5) * sigma, rel=2e-3)


@cache
def sampled(swapped: bool) -> tuple[list[Run], list[Row]]:
    """Return eight seeds of two weights, above and below the critical one, and of one path.

    Swapped: sampled with the other estimator than their settings say.
    """
    plan = load(FIXED_POINT, quick=False)
    rests = [case for case in plan["rests"] if case["beta"] in (1.0, 1.6) and case["p_ref"] == 0.5]
    rests = [case for case in rests if case.get("answers", 2) == 2]
    settings = FIXED_POINT.settings({**plan, "rests": rests, "paths": plan["paths"][:1]})
    runs = []
    for setting in settings:
        other = {"reverse": "k3", "k3": "reverse"}[setting.kl]
        run = held_run(replace(setting, kl=other) if swapped else setting)
        runs.append(replace(run, setting=setting))
    return runs, FIXED_POINT.rows(runs)


def test_sampled_runs_rest_where_finite_groups_say() -> None:
    """Within two half-widths, false alarm below 1e-4; infinite groups and the rival are off."""
    _, rows = sampled(swapped=False)
    for row in rows:
        if row.theory == "exact":
            assert abs(row.measured - row.predicted) < row.high - row.low
    assert {row.agrees for row in rows if row.theory == "rival"} == {False}
    below = [row for row in rows if row.theory == "source" and row.predicted == 1.0]
    assert below
    assert not any(row.agrees for row in below)


def test_the_other_estimator_is_found_out() -> None:
    """Runs with the ratio off where the setting has it on, and the other way round."""
    _, rows = sampled(swapped=True)
    assert not any(row.agrees for row in rows if row.theory == "exact")


def test_the_plan_names_every_run_once() -> None:
    """And quick is a part of it that holds the headline."""
    for quick in (False, True):
        settings = FIXED_POINT.settings(load(FIXED_POINT, quick=quick))
        assert len({setting.name for setting in settings}) == len(settings)
    runs = [held_run(setting, steps=120) for setting in settings]
    keys = {f"{row.case} / {row.quantity} / {row.theory}" for row in FIXED_POINT.rows(runs)}
    assert FIXED_POINT.headline in keys


def test_the_figure_is_drawn_the_same_twice() -> None:
    """And shows every weight."""
    runs, rows = sampled(swapped=False)
    one, two = FIXED_POINT.figures(runs, rows), FIXED_POINT.figures(runs, rows)
    assert one == two
    (svg,) = one.values()
    assert svg.startswith("<svg style")
    assert np.isfinite([row.measured for row in rows]).all()
