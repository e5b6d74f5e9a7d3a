"""Growth, border of stability and variance, measured by running the map."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from numerics.simulation import (
    OPTIMIZERS,
    ConstantLag,
    Sawtooth,
    Schedule,
    growth_rate,
    simulate_linear,
    simulated_border,
    stationary_variance_run,
)

optimizers = st.sampled_from(OPTIMIZERS)

#: Two-sided; every statistical assertion below has this chance to fail for a right program.
FALSE_ALARM = 1e-9

# ---- growth and border -------------------------------------------------------------------------


def polynomial_radius(optimizer: str, mu: float, x: float, share: float, lag: int) -> float:
    """Largest root of the constant-lag recurrence written out as a polynomial in z."""
    gains: dict[str, list[float]] = {
        "heavy-ball": [1, 0],
        "ema": [1 - mu, 0],
        "nesterov": [1 + mu, -mu],
    }
    inertia = np.zeros(lag + 3)
    inertia[:3] = [1, -(1 + mu), mu]  # (z - 1)(z - mu) z^d
    fresh, stale = np.zeros(lag + 3), np.zeros(lag + 3)
    fresh[1:3] = gains[optimizer]
    stale[1 + lag : 3 + lag] = gains[optimizer]
    return float(np.abs(np.roots(inertia + x * ((1 - share) * fresh + share * stale))).max())


@settings(deadline=None)
@given(
    optimizers,
    st.floats(0, 0.99),
    st.floats(1e-3, 5),
    st.floats(-3, 3),
    st.integers(0, 6),
)
def test_growth_rate_is_the_largest_root(
    optimizer: str, mu: float, x: float, share: float, lag: int
) -> None:
    expected = polynomial_radius(optimizer, mu, x, share, lag)
    assume(expected > 0.3)  # near zero up to eight roots meet, and both sides keep two digits
    measured = growth_rate(optimizer, ConstantLag(lag), mu=mu, x=x, stale_share=share)
    # Double roots are found by hypothesis and cost half of the digits; elsewhere it is 1e-13.
    assert_allclose(measured, expected, atol=1e-6)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("schedule", [ConstantLag(3), Sawtooth(4)])
def test_long_runs_decay_below_the_border_and_grow_above_it(
    optimizer: str, schedule: Schedule
) -> None:
    mu = np.array([0.0, 0.3, 0.8])
    border = simulated_border(optimizer, schedule, mu=mu, stale_share=1)
    for factor, sign in ((0.99, -1), (1.01, 1)):
        path = simulate_linear(
            optimizer, schedule, mu=mu, x=factor * border, stale_share=1, steps=6000
        ).path
        early, late = (np.abs(path[a:b]).max(axis=0) for a, b in ((1000, 1500), (5500, 6000)))
        measured = np.log(late / early) / 4500
        predicted = np.log(
            growth_rate(optimizer, schedule, mu=mu, x=factor * border, stale_share=1)
        )
        assert np.all(np.sign(measured) == sign)
        # The highest crest of a window may lie up to half a swing from where the envelope is
        # highest; the fastest decay here, 0.03 a step, loses less than e^-0.5 by that.
        assert_allclose(measured, predicted, rtol=0, atol=0.5 / 4500)


@pytest.mark.parametrize(
    ("mu", "lag", "border"),
    [
        (0, 0, 2.0),
        (0, 1, 1.0),
        (0, 4, 0.347296355334),
        (0.5, 2, 0.280776406404),
        (0.9, 0, 3.8),
        (0.9, 1, 0.1),
        (0.9, 8, 0.01394199458),
    ],
)
def test_borders_of_constant_lag_in_theory_section_4(mu: float, lag: int, border: float) -> None:
    found = simulated_border(
        "heavy-ball", ConstantLag(lag), mu=mu, stale_share=1, relative_accuracy=1e-11
    )
    assert_allclose(found, border, rtol=2e-10)


@pytest.mark.parametrize(
    ("mu", "refresh", "border"),
    [
        (0, 1, 2.0),
        (0, 2, 1.0),
        (0, 5, 0.4),
        (0.5, 3, 0.692307692308),
        (0.9, 1, 3.8),
        (0.9, 2, 0.211111111111),
        (0.9, 9, 0.0302294749313),
    ],
)
def test_borders_of_sawtooth_in_theory_section_4(mu: float, refresh: int, border: float) -> None:
    found = simulated_border(
        "heavy-ball", Sawtooth(refresh), mu=mu, stale_share=1, relative_accuracy=1e-11
    )
    assert_allclose(found, border, rtol=1e-11)


def test_borders_along_momentum() -> None:
    mu = np.linspace(0, 0.98, 15)
    borders = {
        lag: simulated_border("heavy-ball", ConstantLag(lag), mu=mu, stale_share=1)
        for lag in (0, 1)
    }
    assert_allclose(borders[0], 2 * (1 + mu), rtol=1e-4)
    assert_allclose(borders[1], 1 - mu, rtol=1e-4)
    for refresh in range(1, 12):
        found = simulated_border("ema", Sawtooth(refresh), mu=0, stale_share=1)
        assert_allclose(found, 2 / refresh, rtol=1e-4)


def test_a_negative_share_is_not_immune() -> None:
    # x_f = 0.1, x_s = -0.05 at mu = 0.9: stable up to d = 10, unstable at d = 11.
    growth = [
        float(growth_rate("heavy-ball", ConstantLag(d), mu=0.9, x=0.05, stale_share=-1))
        for d in range(12)
    ]
    assert max(growth[:11]) < 1 < growth[11]


def test_maps_that_die_at_once_have_no_growth() -> None:
    assert growth_rate("heavy-ball", ConstantLag(0), mu=0, x=1, stale_share=0.3) == 0
    assert growth_rate("heavy-ball", Sawtooth(3), mu=0, x=1, stale_share=0) == 0


def test_growth_far_outside_the_range_of_one_period() -> None:
    # Refresh 200 at x = 1e3, s = 0: (1 - x)^200 is no float64, its 200th root is.
    growth = growth_rate("heavy-ball", Sawtooth(200), mu=0, x=1e3, stale_share=0)
    assert_allclose(growth, 999, rtol=1e-12)


# ---- noise -------------------------------------------------------------------------------------


def variance_on_final_states(mu: float, x: float, lag: int, variance: float) -> float:
    """Two-sided chance of the chains' last states if their variance is as given.

    Chains are independent and q is exactly Gaussian, so the sum of squares over the variance is
    exactly chi-square: no estimate of a standard error, no appeal to large numbers.
    """
    chains, steps = 20_000, 100  # from rest the variance is short by less than e^-40 of itself
    noise = np.random.default_rng(20260629).standard_normal((steps, chains))
    last = simulate_linear(
        "heavy-ball",
        ConstantLag(lag),
        mu=mu,
        x=x,
        stale_share=1,
        steps=steps,
        initial=0,
        noise=noise,
        noise_enters="recurrence",
        record_every=steps,
    ).path[-1]
    statistic = stats.chi2(chains)
    total = float(last @ last) / variance
    return 2 * min(float(statistic.cdf(total)), float(statistic.sf(total)))


def test_stationary_variance_by_independent_chains() -> None:
    assert variance_on_final_states(0.5, 0.1, 1, 12.9032258064516) > FALSE_ALARM
    assert variance_on_final_states(0.5, 0.1, 1, 12.9032258064516 * 1.1) < FALSE_ALARM


@pytest.mark.parametrize(
    ("mu", "x", "lag", "variance"),
    [
        (0.5, 0.01, 0, 100.334448160535),
        (0.5, 0.1, 1, 12.9032258064516),
        (0.9, 0.01, 3, 712.216076112741),
        (0.9, 0.02, 3, 605.506966045938),
    ],
)
def test_stationary_variances_of_theory_section_4(
    mu: float, x: float, lag: int, variance: float
) -> None:
    estimate = stationary_variance_run(
        "heavy-ball",
        ConstantLag(lag),
        mu=mu,
        x=x,
        stale_share=1,
        noise_enters="recurrence",
        chains=4096,
        steps=3000,
        rng=np.random.default_rng(3),
    )
    z = (estimate.variance - variance) / estimate.standard_error
    assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)
    assert estimate.standard_error < 0.02 * variance


def test_recurrence_noise_escapes_the_gain_of_ema_and_gradient_noise_does_not() -> None:
    # EMA is heavy ball at x (1 - mu); the kick of the recurrence is not scaled with it.
    mu, x = 0.5, 0.2
    reduced = x * (1 - mu)
    variance = (1 + mu) / ((1 - mu) * reduced * (2 * (1 + mu) - reduced))
    for enters, expected in (("recurrence", variance), ("gradient", variance * (1 - mu) ** 2)):
        estimate = stationary_variance_run(
            "ema",
            ConstantLag(0),
            mu=mu,
            x=x,
            stale_share=1,
            noise_enters=enters,
            chains=4096,
            steps=500,
            rng=np.random.default_rng(5),
        )
        z = (estimate.variance - expected) / estimate.standard_error
        assert abs(z) < stats.norm.isf(FALSE_ALARM / 2)


def test_variance_run_broadcasts_and_averages_whole_periods() -> None:
    estimate = stationary_variance_run(
        "nesterov",
        Sawtooth(4),
        mu=[0.0, 0.5],
        x=[[0.1], [0.05], [0.02]],
        stale_share=1,
        noise_enters="recurrence",
        chains=50,
        steps=50,
        burn_in=9,
        rng=np.random.default_rng(7),
    )
    assert estimate.variance.shape == estimate.standard_error.shape == (3, 2)
    assert (estimate.burn_in, estimate.steps) == (12, 52)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_streamed_variance_is_the_mean_square_of_the_recorded_path(optimizer: str) -> None:
    streamed = stationary_variance_run(
        optimizer,
        Sawtooth(3),
        mu=0.5,
        x=0.1,
        stale_share=1,
        noise_enters="recurrence",
        chains=5,
        steps=9,
        burn_in=6,
        rng=np.random.default_rng(11),
    )
    path = simulate_linear(
        optimizer,
        Sawtooth(3),
        mu=0.5,
        x=0.1,
        stale_share=1,
        steps=15,
        initial=0,
        noise=np.random.default_rng(11).standard_normal((15, 5)),
        noise_enters="recurrence",
    ).path
    per_chain = (path[7:] ** 2).mean(axis=0)
    assert_allclose(streamed.variance, per_chain.mean(), rtol=1e-13)
    assert_allclose(streamed.standard_error, per_chain.std(ddof=1) / np.sqrt(5), rtol=1e-12)
