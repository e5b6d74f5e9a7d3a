"""`predict` under a lag drawn afresh at every step."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from predictions import predicted

from numerics.exact import ConfigurationError
from numerics.inputs import InvalidInput
from numerics.predict import render


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
@pytest.mark.parametrize("lag", [0, 1, 4])
@pytest.mark.parametrize("share", ["1", "-1/2"])
def test_a_lag_that_is_certain_is_a_constant_lag(optimizer: str, lag: int, share: str) -> None:
    usual = {"optimizer": optimizer, "x": "0.013", "stale_share": share}
    constant = predicted(**usual, lag=lag, times=[Fraction(0), Fraction(30)])
    law = [Fraction(0)] * lag + [Fraction(1)]
    random = predicted(
        **usual, lag=None, lag_model="random", lag_law=law, times=[Fraction(0), Fraction(30)]
    )
    assert random.pop("mean_square_threshold") == pytest.approx(constant["threshold"], rel=1e-9)
    assert random.pop("mean_square_stable") is constant["stable"] is True
    assert random.pop("lag_law") == [float(p) for p in law]
    for name, value in random.items():
        if isinstance(value, float):
            assert value == pytest.approx(constant[name], rel=1e-8 if name == "onset" else 1e-10)
        elif name not in ("lag_model", "notes"):
            assert value == constant[name]


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema", "nesterov"])
@pytest.mark.parametrize("tau", ["60", "1e6", "1e15"])
def test_tau_under_a_random_lag(optimizer: str, tau: str) -> None:
    law = [Fraction(1, 2), Fraction(0), Fraction(1, 4), Fraction(1, 4)]
    found = predicted(
        optimizer=optimizer, lag=None, lag_model="random", lag_law=law, tau=tau, stale_share="3/4"
    )
    assert found["relaxation_time"] == pytest.approx(float(tau), rel=1e-9)
    assert found["regime"] == "overdamped"
    assert found["x"] < found["onset"]
    with pytest.raises(InvalidInput, match=r"tau is 1 steps, shorter.* steps or more"):
        predicted(optimizer=optimizer, lag=None, lag_model="random", lag_law=law, tau="1")


def test_moments_of_the_lag_make_theorem_7s_coefficients() -> None:
    """Mass ((1+mu) + x_s E D^2)/2, damping 1 - mu - x_s E D, rule (1-mu)/(s E D)."""
    law = [Fraction(1, 8), Fraction(1, 2), Fraction(0), Fraction(3, 8)]
    first, second = (
        float(sum(lag**power * p for lag, p in enumerate(law))) for power in (1, 2)
    )
    found = predicted(x="0.02", stale_share="1/2", lag=None, lag_model="random", lag_law=law)
    assert found["mass"] == pytest.approx((1.9 + 0.01 * second) / 2, rel=1e-14)
    assert found["damping"] == pytest.approx(0.1 - 0.01 * first, rel=1e-14)
    assert found["rule_threshold"] == pytest.approx(0.1 / (0.5 * first), rel=1e-14)
    assert found["mean_square_threshold"] < found["threshold"]
    assert found["margin"] == pytest.approx(found["mean_square_threshold"] / 0.02)
    assert render(found)


def test_between_its_two_thresholds_a_run_is_stable_in_the_mean_only() -> None:
    half = [Fraction(1, 2), Fraction(0), Fraction(0), Fraction(1, 2)]
    random = {"lag": None, "lag_model": "random", "lag_law": half}
    found = predicted(x="0.001", **random)
    between = Fraction((found["threshold"] + found["mean_square_threshold"]) / 2)
    found = predicted(x=str(between), **random)
    assert (found["stable"], found["mean_square_stable"], found["variance"]) == (True, False, None)
    assert found["relaxation_time"] is not None


RANDOM = {"x": "0.01", "lag": None, "lag_model": "random"}
HALF = [Fraction(1, 2)] * 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({**RANDOM, "lag_law": None}, "needs lag_law"),
        ({**RANDOM, "lag_law": []}, "needs lag_law"),
        ({**RANDOM, "lag_law": [Fraction(1, 2)]}, "lag_law sums to 0.5"),
        ({**RANDOM, "lag_law": [Fraction(3, 2), Fraction(-1, 2)]}, "-0.5 its smallest"),
        ({**RANDOM, "lag_law": [Fraction(0)] * 129 + [Fraction(1)]}, "129; 128 is the longest"),
        ({**RANDOM, "lag_law": HALF, "lag": 1}, "takes lag_law, not lag"),
        ({**RANDOM, "lag_law": HALF, "refresh": 1}, "takes lag_law, not lag or refresh"),
        ({"x": "0.01", "lag_law": HALF}, "of the random lag model, not constant"),
        ({**RANDOM, "lag_law": HALF, "optimizer": "adm"}, "unknown optimizer"),
    ],
)
def test_a_law_that_is_none_is_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        predicted(**flags)


@pytest.mark.parametrize(
    "flags",
    [
        {"x": "1e15", "lag_law": [Fraction(1)]},
        {"x": "1e-300", "lag_law": HALF},
        {"x": "0.01", "lag_law": HALF, "stale_share": "1e10"},
        {"x": "0.01", "lag_law": HALF, "stale_share": "0"},
        {"x": "1", "lag_law": [Fraction(1)], "momentum": "0"},
        {"x": "0.1", "lag_law": HALF, "momentum": "0." + "9" * 12},
        {"tau": "1e200", "lag_law": HALF},
        {"x": "0.01", "lag_law": [Fraction(1), *[Fraction(0)] * 600]},
    ],
)
def test_the_ends_of_the_domain_have_an_answer(flags: dict[str, Any]) -> None:
    found = predicted(lag=None, lag_model="random", **flags)
    json.dumps(found, allow_nan=False)
    assert found["mean_square_threshold"] <= found["threshold"] * (1 + 1e-9)
    assert render(found)
