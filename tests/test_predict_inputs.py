"""`predict` for people who do not know x: from tau, from a run's settings; and the room left."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact_cases import MOMENTUM, OPTIMIZER, SHARE
from hypothesis import given, settings
from hypothesis import strategies as st
from predictions import predicted

from numerics import cli, exact
from numerics.commands import predict as predict_command
from numerics.exact import Configuration
from numerics.inputs import InvalidInput, UnknownName
from numerics.predict import (
    PARAMETERS,
    STALENESS,
    critical_beta,
    fixed_point,
    largest_safe_delay,
    render,
    slopes_at,
    stiffness_from_tau,
)
from numerics.simulation import ConstantLag, simulate, success_probability, two_arm_drift

# x from tau


@given(
    OPTIMIZER, MOMENTUM, SHARE, st.sampled_from(["lag", "refresh"]), st.integers(1, 9),
    st.floats(0.001, 0.9),
)
@settings(max_examples=60, deadline=None)
def test_tau_gives_back_the_x_it_was_the_relaxation_time_of(
    optimizer: str, mu: Fraction, share: Fraction, delay: str, steps: int, part: float
) -> None:
    model = "constant" if delay == "lag" else "sawtooth"
    c = Configuration(optimizer, model, mu, share, **{delay: steps})
    border = exact.onset(c)
    if border is None:  # the dominant eigenvalue turns back before it becomes 1
        border = exact.threshold(c).value / 16
    x = Fraction(border) * Fraction(part)
    tau = exact.relaxation_time(c, x)
    assert tau is not None
    found = stiffness_from_tau(c, Fraction(tau))
    assert exact.relaxation_time(c, found) == pytest.approx(tau, rel=1e-9)
    assert found <= x * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize("tau", ["21", "1e3", "1e9", "1e18"])
def test_tau_at_zero_lag_is_the_closed_form(tau: str) -> None:
    from mpmath import exp, mp, mpf

    with mp.workdps(60):
        z, mu = exp(-1 / mpf(tau)), mpf("0.9")
        x = float((1 - z) * (z - mu) / z)
    found = predicted(tau=tau, lag=0)
    assert found["x"] == pytest.approx(x, rel=1e-15)
    assert found["relaxation_time"] == pytest.approx(float(tau), rel=1e-12)
    assert found["regime"] == "overdamped"
    assert found["tau"] == float(tau)


def test_the_rule_of_thumb_that_the_lag_may_not_exceed_tau() -> None:
    """Theory section 3.12: overdamped, zero lag, x is about (1-mu)/tau."""
    found = predicted(tau="1e4", lag=0)
    assert found["x"] == pytest.approx(0.1 / 1e4, rel=2e-3)


def test_the_same_tau_comes_back_past_the_onset() -> None:
    c = Configuration("heavy-ball", "constant", Fraction(9, 10), 1, lag=3)
    x = stiffness_from_tau(c, Fraction(60))
    onset, threshold = exact.onset(c), exact.threshold(c).value
    assert x < onset
    later = [exact.relaxation_time(c, y) for y in np.linspace(onset, threshold * 0.99, 20)]
    assert later[0] < 60 < later[-1]


@pytest.mark.parametrize("delay", [{"lag": 3}, {"lag": None, "refresh": 3}])
def test_a_tau_too_short_is_refused_with_the_shortest(delay: dict[str, int | None]) -> None:
    model = "constant" if delay["lag"] else "sawtooth"
    c = Configuration("heavy-ball", model, Fraction(9, 10), 1, **delay)
    shortest = exact.relaxation_time(c, exact.onset(c))
    with pytest.raises(InvalidInput, match=rf"shorter.*{shortest:.4g}\d* steps or more"):
        predicted(tau="5", lag_model=model, **delay)
    just = Fraction(shortest) * Fraction(1001, 1000)
    assert exact.relaxation_time(c, stiffness_from_tau(c, just)) == pytest.approx(float(just))


@pytest.mark.parametrize(("tau", "word"), [("0", "above"), ("-3", "above"), ("1e-300", "short")])
@pytest.mark.parametrize("delay", [{"lag": 3}, {"lag": None, "refresh": 3}])
def test_an_impossible_tau_is_refused(
    tau: str, word: str, delay: dict[str, int | None]
) -> None:
    with pytest.raises(InvalidInput, match=word):
        predicted(tau=tau, lag_model="constant" if delay["lag"] else "sawtooth", **delay)


# x from the settings

#: K_f and K_s over sigma, of theory section 3.7 written out: functions of beta, sigma, p_star.
SLOPES = {
    "delayed-gradient": (lambda b, v, p: 0.0, lambda b, v, p: b * v - (p - 0.5)),
    "stale-samples": (lambda b, v, p: b * v - (2 * p - 1), lambda b, v, p: p - 0.5),
    "stale-samples-ratio": (lambda b, v, p: b * v, lambda b, v, p: 0.5 - p),
}


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize(
    ("eta", "beta", "p"), [(0.05, 1.0, 0.3), (0.01, 3.0, 0.8), (2.0, 0.1, 0.5)]
)
def test_settings_give_the_slopes_of_the_theory(
    staleness: str, parameters: str, eta: float, beta: float, p: float
) -> None:
    sigma = math.sqrt(p * (1 - p))
    fresh, stale = (slope(beta, sigma, p) * sigma for slope in SLOPES[staleness])
    found = predicted(
        eta=str(eta), beta=str(beta), p_star=str(p), staleness=staleness, parameters=parameters
    )
    steps = {"logit": 1, "logits": 2}[parameters] * eta
    assert found["x"] == pytest.approx(steps * (fresh + stale), rel=1e-13)
    assert found["stale_share"] == pytest.approx(stale / (fresh + stale), rel=1e-13)
    assert found["fresh_slope"] == pytest.approx(fresh, rel=1e-13, abs=1e-15)
    assert found["stale_slope"] == pytest.approx(stale, rel=1e-13, abs=1e-15)
    assert found["stiffness_scale"] == pytest.approx(fresh + stale, rel=1e-13)
    assert (found["eta"], found["beta"], found["p_star"]) == (eta, beta, p)
    assert (found["staleness"], found["parameters"]) == (staleness, parameters)


@pytest.mark.parametrize("staleness", STALENESS)
def test_the_slopes_are_those_of_the_simulated_drift(staleness: str) -> None:
    beta, p_ref = 2.5, 0.2
    p = fixed_point(beta=beta, p_ref=Fraction(p_ref))
    drift = two_arm_drift(staleness, beta=beta, theta_ref=math.log(p_ref / (1 - p_ref)))
    theta, h = math.log(p / (1 - p)), 1e-6
    assert abs(drift(theta, theta)) < 1e-14
    slopes = slopes_at(staleness, beta=beta, p_star=p)
    fresh = (drift(theta - h, theta) - drift(theta + h, theta)) / (2 * h)
    stale = (drift(theta, theta - h) - drift(theta, theta + h)) / (2 * h)
    assert (fresh, stale) == pytest.approx((slopes.fresh, slopes.stale), rel=1e-8, abs=1e-9)


@pytest.mark.parametrize(("beta", "p_ref"), [(1.6, 0.5), (2.0, 0.1), (0.4, 0.001), (30.0, 0.9)])
def test_the_reference_leads_to_the_fixed_point_that_the_map_ends_in(
    beta: float, p_ref: float
) -> None:
    theta_ref = math.log(p_ref / (1 - p_ref))
    run = simulate(
        two_arm_drift("delayed-gradient", beta=beta, theta_ref=theta_ref), "heavy-ball",
        ConstantLag(0), eta=0.2 / max(1.0, beta), mu=0.5, initial=theta_ref, steps=6000,
    )  # fmt: skip
    end = success_probability(run.path[-1])
    assert fixed_point(beta=beta, p_ref=Fraction(p_ref)) == pytest.approx(float(end), rel=1e-9)
    found = predicted(
        eta="0.01", beta=str(beta), p_ref=str(p_ref), staleness="stale-samples", parameters="logit"
    )
    assert found["p_star"] == pytest.approx(float(end), rel=1e-9)
    assert found["p_ref"] == p_ref


def test_there_is_no_fixed_point_at_or_below_the_critical_beta() -> None:
    critical = critical_beta(p_ref=Fraction(1, 2))
    assert critical == pytest.approx(1.5089, abs=5e-5)
    assert fixed_point(beta=critical * (1 + 1e-9), p_ref=Fraction(1, 2)) < 1
    with pytest.raises(InvalidInput, match=r"beta_c = 1\.50888.*no fixed point"):
        fixed_point(beta=critical * (1 - 1e-9), p_ref=Fraction(1, 2))


def test_adams_bound_is_far_above_the_heavy_balls() -> None:
    """Theory section 3.6: lr*K/sqrt(v) < 2 (1 + beta1)/(1 - beta1), which is 38 at 0.9."""
    adam = {"optimizer": "adam", "lag": 0, "second_moment": "0.0004", "adam_eps": "0.005"}
    found = predicted(
        **adam, eta="0.001", beta="1", p_star="0.3", staleness="stale-samples-ratio",
        parameters="logit",
    )  # fmt: skip
    assert found["threshold"] == pytest.approx(38, rel=1e-12)
    assert found["x"] == pytest.approx(0.001 * found["stiffness_scale"] / 0.025, rel=1e-12)
    assert found["largest_safe_eta"] == pytest.approx(38 * 0.025 / found["stiffness_scale"])
    assert (found["optimizer"], found["second_moment"], found["adam_eps"]) == ("adam", 4e-4, 5e-3)
    plain = predicted(optimizer="adam", x="0.02")
    averaged = predicted(optimizer="ema", x="0.02")
    differs = {name for name in plain if plain[name] != averaged[name]}
    assert differs == {"optimizer", "notes"}


# what it leaves


@given(
    OPTIMIZER, MOMENTUM, SHARE, st.sampled_from(["lag", "refresh"]),
    st.fractions(Fraction(1, 100), Fraction(3)),
)
@settings(max_examples=60, deadline=None)
def test_the_largest_safe_delay_is_that_of_a_search_by_roots(
    optimizer: str, mu: Fraction, share: Fraction, delay: str, x: Fraction
) -> None:
    model, shortest = ("constant", 0) if delay == "lag" else ("sawtooth", 1)
    c = Configuration(optimizer, model, mu, share, **{delay: shortest})
    last = None
    for steps in range(shortest, 17):
        if not exact.stable(replace(c, **{delay: steps}), x):
            break
        last = steps
    assert largest_safe_delay(c, x, longest=16) == last


@pytest.mark.parametrize("optimizer", ["heavy-ball", "ema"])
@pytest.mark.parametrize("x", ["0.0012", "0.01", "0.3"])
def test_the_largest_safe_lag_lies_between_two_thresholds(optimizer: str, x: str) -> None:
    found = predicted(optimizer=optimizer, x=x, lag=0)["largest_safe_lag"]
    thresholds = [
        exact.threshold(Configuration(optimizer, "constant", Fraction(9, 10), 1, lag=lag)).value
        for lag in (found, found + 1)
    ]
    assert thresholds[1] <= float(x) < thresholds[0]


def test_a_lag_that_adds_damping_is_not_safe_forever() -> None:
    """Theory section 3.7: mu = 0.9, x_f = 0.1, x_s = -0.05 is stable up to d = 10."""
    assert predicted(x="0.05", stale_share="-1", lag=0)["largest_safe_lag"] == 10


@pytest.mark.parametrize(
    ("x", "share", "lag", "refresh"),
    [("5", "1", None, None), ("1e-9", "1", 5000, 5000), ("1e-300", "1", 5000, 5000),
     ("0.1", "1e10", 0, 1), ("1e300", "1", None, None), ("0.05", "0", 5000, 5000)],
)  # fmt: skip
def test_the_ends_of_the_search(
    x: str, share: str, lag: int | None, refresh: int | None
) -> None:
    constant = predicted(x=x, stale_share=share, lag=0)
    sawtooth = predicted(x=x, stale_share=share, lag=None, lag_model="sawtooth", refresh=1)
    assert (constant["largest_safe_lag"], sawtooth["largest_safe_refresh"]) == (lag, refresh)
    for found in (constant, sawtooth):
        says_so = any("is the longest looked at" in note for note in found["notes"])
        assert says_so is (lag == 5000)
        assert render(found)


def test_the_margin_is_how_much_eta_may_grow() -> None:
    bandit = {"beta": "1", "p_star": "0.3", "staleness": "stale-samples-ratio"}
    found = predicted(eta="0.02", parameters="logit", **bandit)
    assert found["margin"] == pytest.approx(found["threshold"] / found["x"], rel=1e-15)
    for factor, stable in ((1 - 1e-9, True), (1 + 1e-9, False)):
        eta = str(Fraction(found["largest_safe_eta"]) * Fraction(factor))
        assert predicted(eta=eta, parameters="logit", **bandit)["stable"] is stable
    assert "largest_safe_eta" not in predicted(x="0.01")


# what does not go together

ETA = {"eta": "0.1", "beta": "1", "p_star": "0.3", "staleness": "stale-samples",
       "parameters": "logit"}  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ({}, "none of x, tau and eta given"),
        ({"x": "1", "tau": "3"}, "x and tau given; give exactly one"),
        ({"x": "1", "beta": "1"}, "beta given with x; that goes with eta only"),
        ({"tau": "50", "staleness": "stale-samples"}, "staleness given with tau"),
        ({"x": "1", "second_moment": "1"}, "second_moment given with x"),
        ({**ETA, "stale_share": "1"}, "follows from the staleness"),
        ({**ETA, "beta": None}, "eta needs beta too"),
        ({**ETA, "parameters": None, "staleness": None}, "eta needs staleness and parameters too"),
        ({**ETA, "p_star": None}, "one of p_star .* and p_ref"),
        ({**ETA, "p_ref": "0.3"}, "one of p_star .* and p_ref"),
        ({**ETA, "eta": "0"}, "step size must be above 0"),
        ({**ETA, "beta": "0"}, "without a KL weight above 0 there is no fixed point"),
        ({**ETA, "p_star": "1"}, r"in \(0, 1\)"),
        ({**ETA, "p_star": "0.9"}, "does not attract at beta = 1: give beta above 1.33333"),
        ({**ETA, "p_star": None, "p_ref": "0.5"}, "at or below beta_c = 1.50888"),
        ({**ETA, "p_star": None, "p_ref": "0"}, r"p_ref is 0.0: give a probability in \(0, 1\)"),
        ({**ETA, "p_star": None, "p_ref": "0." + "9" * 40, "beta": "1e30"}, "rounds to 1"),
        ({**ETA, "second_moment": "1", "adam_eps": "0"}, "are Adam's, not heavy-ball's"),
        ({**ETA, "optimizer": "adam"}, "adam with eta needs second_moment"),
        ({**ETA, "optimizer": "adam", "second_moment": "0", "adam_eps": "0"}, "not both 0"),
        ({**ETA, "optimizer": "adam", "second_moment": "-1", "adam_eps": "1"}, "must be from 0"),
        ({**ETA, "momentum": "1"}, r"must be in \[0, 1\)"),
    ],
)
def test_what_does_not_go_together_is_refused(flags: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        predicted(**flags)
    assert "\n" not in str(refusal.value)
    assert type(refusal.value).__module__.startswith("numerics.")


@pytest.mark.parametrize(
    ("name", "near"), [("staleness", "stale-sample"), ("parameters", "logitz")]
)
def test_an_unknown_convention_is_refused_with_the_nearest(name: str, near: str) -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        predicted(**{**ETA, name: near})


@pytest.mark.parametrize(
    "flags",
    [
        {"tau": "1e300", "momentum": "0." + "9" * 90},
        {"tau": "1e300", "momentum": "0"},
        {"eta": "1e300", "beta": "1e-300", "p_star": "1e-300"},
        {"eta": "1e-300", "beta": "1e300", "p_star": "0.5"},
        {"eta": "1e300", "beta": "1e300", "p_ref": "1e-300"},
    ],
)
def test_the_ends_of_the_domain_have_an_answer(flags: dict[str, Any]) -> None:
    more = {} if "tau" in flags else {"staleness": "delayed-gradient", "parameters": "logits"}
    found = predicted(**flags, **more)
    json.dumps(found, allow_nan=False)
    assert render(found)


# the same on the command line

COMMAND = ["predict", "--momentum", "0.9", "--optimizer", "ema", "--json"]
BANDIT = ["--eta", "0.1", "--beta", "1", "--p-star", "0.3", "--parameters", "logit"]
LAG = ["--lag-model", "constant", "--lag", "2"]
RANDOM = ["--x", "0.01", "--lag-model", "random"]


def on_the_command_line(capture: Any, *flags: str) -> tuple[int, str, str]:
    try:
        status = cli.main([*COMMAND, *flags])
    except SystemExit as leaving:
        status = int(leaving.code or 0)
    return status, *capture.readouterr()


@pytest.mark.parametrize(
    ("short", "full"),
    list(predict_command.STALENESS.items()),
)
def test_the_staleness_has_a_short_name(short: str, full: str, capsys: Any) -> None:
    one, other = (
        on_the_command_line(capsys, *BANDIT, *LAG, "--staleness", name) for name in (short, full)
    )
    assert one == other
    assert (one[0], one[2]) == (0, "")
    assert json.loads(one[1])["staleness"] == full


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (LAG, "give exactly one of x (eta*K), tau"),
        ([*LAG, "--x", "1", "--tau", "5"], "x and tau given"),
        ([*LAG, "--tau", "soon"], "--tau: 'soon' is not a number"),
        ([*LAG, *BANDIT, "--staleness", "sample"], "'samples'? use delayed, samples, ratio, "),
        ([*LAG, *BANDIT, "--parameters", "logis"], "did you mean 'logits'?"),
        ([*RANDOM], "--lag-model random needs --lag-law"),
        ([*RANDOM, "--lag-law", "1/2,1/2", "--lag", "1"], "--lag-model random has no --lag;"),
        ([*RANDOM, "--lag-law", "0.5,0.4"], "sums to 0.9; probabilities must sum to exactly 1"),
        ([*RANDOM, "--lag-law", "1.5,-0.5"], "has a probability below 0"),
        ([*RANDOM, "--lag-law", "1,"], "--lag-law: '' is not a number"),
        ([*LAG, "--x", "1", "--lag-law", "1"], "--lag-model constant has no --lag-law"),
    ],
)
def test_flags_are_refused_in_one_line(flags: list[str], words: str, capsys: Any) -> None:
    status, out, err = on_the_command_line(capsys, *flags)
    assert (status, out) == (2, "")
    assert err.startswith("grpo-dynamics: error: ")
    assert err.count("\n") == 1
    assert words in err
