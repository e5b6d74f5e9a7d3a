"""Bad arguments of the simulation are named before any work is done."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from numerics.simulation import (
    BorderNotFound,
    ConstantLag,
    InvalidInput,
    Sawtooth,
    UnknownName,
    growth_rate,
    simulate,
    simulate_linear,
    simulated_border,
    stationary_variance_run,
    two_arm_drift,
)

GOOD: dict[str, Any] = {"mu": 0.5, "x": 0.1, "stale_share": 1, "steps": 5}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mu": 1.0}, r"mu is 1.0: momentum must lie in \[0, 1\)"),
        ({"mu": -0.1}, r"mu is -0.1: momentum must lie in \[0, 1\)"),
        ({"mu": [0.5, float("nan")]}, "mu is .*nan.*: every value must be finite"),
        ({"x": 0}, "x is 0.0: it must be positive"),
        ({"x": "0.1"}, "x is 0.1: give real numbers"),
        ({"x": None}, "x is None: give real numbers"),
        ({"x": True}, "x is True: give real numbers"),
        ({"x": Fraction(1, 10)}, "mu holds 0.5 beside a Fraction: an exact run"),
        ({"stale_share": float("inf")}, "stale_share is inf: every value must be finite"),
        ({"steps": -1}, "steps is -1: it must be >= 0"),
        ({"steps": 2.0}, "steps is 2.0: give a whole number"),
        ({"steps": True}, "steps is True: give a whole number"),
        ({"steps": 1}, "a lag of 2 is longer than the run of 1 steps"),
        ({"record_every": 0}, "record_every is 0: it must be >= 1"),
        ({"mu": [0.1, 0.2], "x": [0.1, 0.2, 0.3]}, "shapes do not broadcast: mu"),
        ({"noise": [0.0] * 5}, "noise needs noise_enters: one of recurrence, gradient"),
        ({"noise": [0.0] * 4, "noise_enters": "gradient"}, "its first axis must be 5"),
        ({"noise_enters": "gradients"}, "did you mean 'gradient'"),
    ],
)
def test_bad_arguments_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        simulate_linear("heavy-ball", ConstantLag(2), **{**GOOD, **wrong})
    assert "\n" not in str(caught.value)


def test_unknown_names_come_with_the_nearest_one() -> None:
    with pytest.raises(UnknownName, match="did you mean 'heavy-ball'"):
        simulate_linear("heavy_ball", ConstantLag(2), **GOOD)
    with pytest.raises(UnknownName, match="optimizer 'adam' is unknown: use one of heavy-ball"):
        growth_rate("adam", ConstantLag(2), mu=0.5, x=0.1, stale_share=1)
    with pytest.raises(UnknownName, match="did you mean 'stale-samples-ratio'"):
        two_arm_drift("stale_sample_ratio", beta=1, theta_ref=0)


@pytest.mark.parametrize(
    ("schedule", "value", "message"),
    [
        (ConstantLag, -1, "lag is -1: it must be >= 0"),
        (ConstantLag, 1.5, r"lag is 1\.5: give a whole number >= 0"),
        (Sawtooth, 0, "refresh is 0: it must be >= 1"),
        (Sawtooth, True, "refresh is True: give a whole number >= 1"),
    ],
)
def test_schedules_refuse_what_they_cannot_mean(
    schedule: Callable[[Any], object], value: Any, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        schedule(value)


def test_a_bare_number_is_no_schedule() -> None:
    number: Any = 2
    with pytest.raises(InvalidInput, match="schedule is 2: give ConstantLag"):
        simulate_linear("ema", number, **GOOD)
    with pytest.raises(InvalidInput, match="schedule is 2: give ConstantLag"):
        growth_rate("ema", number, mu=0.5, x=0.1, stale_share=1)


def test_mean_field_and_measurements_refuse_bad_arguments() -> None:
    with pytest.raises(InvalidInput, match="beta is -1: the KL weight must be >= 0"):
        two_arm_drift("stale-samples", beta=-1, theta_ref=0)
    with pytest.raises(InvalidInput, match=r"eta is 0\.0: it must be positive"):
        simulate(lambda q, _: -q, "ema", ConstantLag(0), eta=0, mu=0, initial=1, steps=1)
    with pytest.raises(BorderNotFound, match=r"still decays at x = 0\.5: give a larger highest"):
        simulated_border("ema", ConstantLag(0), mu=0, stale_share=1, highest=0.5)
    with pytest.raises(BorderNotFound, match="grows already at x = 3: give a smaller lowest"):
        simulated_border("ema", ConstantLag(0), mu=0, stale_share=1, lowest=3)
    noisy: dict[str, Any] = {
        "noise_enters": "gradient",
        "chains": 2,
        "steps": 1,
        "stale_share": 1,
        "mu": 0,
    }
    with pytest.raises(InvalidInput, match="no stationary variance"):
        stationary_variance_run("ema", ConstantLag(0), **noisy, x=2.5, rng=np.random.default_rng(0))
    seed: Any = 1
    with pytest.raises(InvalidInput, match="rng is 1: give numpy"):
        stationary_variance_run("ema", ConstantLag(0), **noisy, x=0.5, rng=seed)
