"""Point fits: truth is recovered, units do not matter, spikes do not pull."""

from __future__ import annotations

import numpy as np
import pytest
from fit_cases import binomial, gaussian, three_phase

from numerics.fit import FAMILIES, Noise, fit, series
from numerics.fit.noise import spike_loss, spike_weight
from numerics.inputs import InvalidInput, UnknownName


@pytest.mark.parametrize("rho", [0.02, 0.1, 0.2499, 0.25, 0.2501, 0.5, 4.0])
def test_the_three_phase_law_is_recovered_in_every_regime(rho: float) -> None:
    found = fit(gaussian(three_phase(300, tau=30.0, rho=rho), 1e-6, 1)).readings
    assert found["R_inf"] == pytest.approx(0.8, abs=1e-5)
    assert found["R_0"] == pytest.approx(0.2, abs=1e-4)
    assert found["tau"] == pytest.approx(30.0, rel=1e-3)
    assert found["damping_ratio"] == pytest.approx(0.5 * rho**-0.5, rel=5e-3)


def test_the_exponential_is_the_law_without_inertia() -> None:
    given = gaussian(0.8 - 0.6 * np.exp(-(np.arange(200) + 0.5) / 25), 1e-6, 2)
    law, rival = fit(given), fit(given, "exponential")
    assert rival.readings["tau"] == pytest.approx(25, rel=1e-4)
    # inertia of a fraction of a row only shifts what follows: that much is not determined
    assert law.readings["relaxation_time"] == pytest.approx(25, rel=1e-3)
    assert law.readings["inertial_delay"] < 0.3
    assert np.abs(law.curve - rival.curve).max() < 1e-5


@pytest.mark.parametrize("name", FAMILIES)
def test_fits_do_not_depend_on_units(name: str) -> None:
    mean = three_phase(150, tau=25.0, rho=0.15)
    plain = gaussian(mean, 0.03, 3)
    scaled = series(10 * plain.step + 500, 7 * plain.value - 3, origin=10 * plain.origin + 500)
    one, other = fit(plain, name), fit(scaled, name)
    # Two optima that are equally good may be told apart by rounding: then only the height agrees.
    rows = len(plain)
    assert other.log_likelihood == pytest.approx(one.log_likelihood - rows * np.log(7), abs=0.1)
    if name in ("constant", "exponential", "three-phase", "sigmoid"):
        assert np.abs(other.curve - (7 * one.curve - 3)).max() < 0.02
        if "tau" in one.readings:
            assert other.readings["tau"] == pytest.approx(10 * one.readings["tau"], rel=0.02)


def test_spikes_do_not_pull_the_curve() -> None:
    mean = three_phase(200, tau=25.0, rho=0.1)
    clean = gaussian(mean, 0.02, 4)
    value = clean.value.copy()
    value[[30, 90, 150]] += [5.0, -3.0, 8.0]
    spiked = fit(series(clean.step, value))
    assert np.abs(spiked.curve - fit(clean).curve).max() < 0.01
    assert {30, 90, 150} <= set(spiked.spikes)
    assert spiked.noise.variance**0.5 == pytest.approx(0.02, rel=0.3)


def test_the_loss_of_spikes_is_a_density_with_its_weight_as_slope() -> None:
    e = np.linspace(-60, 60, 240_001)
    from numerics.fit.point import _NORM

    tail = 2 * np.exp(-4.5) * 3**9 / 8 * 60.0**-8
    assert np.trapezoid(np.exp(-spike_loss(e)), e) + tail == pytest.approx(np.exp(_NORM), rel=1e-7)
    slope = np.gradient(spike_loss(e), e)
    assert np.abs(slope - e * spike_weight(e))[2:-2].max() < 1e-2


@pytest.mark.parametrize(("share", "memory"), [(1.0, 0.6), (0.3, 0.9), (0.05, 0.97)])
def test_innovations_are_white(share: float, memory: float) -> None:
    rows = 400
    gaps = np.abs(np.subtract.outer(np.arange(rows), np.arange(rows)))
    covariance = share * memory**gaps + (1 - share) * np.eye(rows)
    whole = Noise(1.0, share, memory, None).innovations(np.eye(rows))
    late = slice(150, None)  # the filter is the steady one; early rows still feel their start
    white = (whole @ covariance @ whole.T)[late, late]
    assert np.abs(white - np.eye(white.shape[0])).max() < 0.02


def test_noise_is_found_binomial_where_it_is() -> None:
    given = binomial(three_phase(600, tau=60.0, rho=0.1), 5)
    noise = fit(given).noise
    assert noise.binomial is not None
    assert noise.variance == pytest.approx(noise.binomial, rel=0.15)
    assert noise.share * noise.memory < 0.1


def test_noise_that_wanders_is_found_to() -> None:
    draw = np.random.default_rng(6)
    wander = np.zeros(600)
    for k in range(1, 600):
        wander[k] = 0.9 * wander[k - 1] + 0.19**0.5 * draw.standard_normal()
    value = three_phase(600, tau=60.0, rho=0.1) + 0.05 * wander + 0.05 * draw.standard_normal(600)
    noise = fit(series(np.arange(600), value)).noise
    assert noise.share == pytest.approx(0.5, abs=0.2)
    assert noise.memory == pytest.approx(0.9, abs=0.07)


def test_a_plateau_stays_within_the_bounds_of_the_reward() -> None:
    mean = np.clip(0.1 + 0.005 * np.arange(60), 0, 0.95)
    found = fit(binomial(mean, 7), "exponential")
    assert found.readings["R_inf"] == pytest.approx(1.0)
    assert found.held == ("R_inf at the greatest it can be",)


def test_the_reward_of_failure_is_the_lower_bound_where_it_is_known() -> None:
    found = fit(binomial(three_phase(100, tau=20.0, rho=0.1), 8), "no-kl-std")
    assert found.amplitudes[0] == pytest.approx(0.0, abs=1e-12)
    assert found.free_parameters == 3


def test_a_fit_says_where_it_goes_and_how_well_that_is_known() -> None:
    given = gaussian(three_phase(150, tau=20.0, rho=0.1), 0.03, 9)
    found = fit(given)
    curve, error = found.at(given.step)
    assert np.allclose(curve, found.curve)
    assert error.min() > 0.001
    assert error.max() < 0.03
    late, _ = found.at([1e6])
    assert late[0] == pytest.approx(found.readings["R_inf"])


def test_a_near_fit_is_where_a_search_starts() -> None:
    given = gaussian(three_phase(200, tau=20.0, rho=0.1), 0.03, 10)
    whole = fit(given)
    assert fit(given.head(150), near=whole).log_likelihood >= (
        fit(given.head(150)).log_likelihood - 0.05
    )


def test_what_cannot_be_fitted_is_refused() -> None:
    given = gaussian(three_phase(9, tau=3.0, rho=0.1), 0.01, 11)
    with pytest.raises(UnknownName, match="three-phase"):
        fit(given, "three-phases")
    with pytest.raises(InvalidInput, match="group_size"):
        fit(given, "finite-group")
    with pytest.raises(InvalidInput, match="two-stage has 8 parameters and needs 11 rows"):
        fit(given, "two-stage")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"value": [1.0] * 10}, "no curve to fit"),
        ({"step": [3, 2, *range(4, 12)]}, "do not increase"),
        ({"step": range(5), "value": range(5)}, "5 rows are no curve"),
        ({"value": [0.5, float("nan")] * 5}, "finite"),
        ({"bounds": (0, 0.5)}, "bounds are 0 and 0.5"),
        ({"step": range(9)}, "two columns of one length"),
        ({"group_size": 1}, "group_size is 1"),
        ({"prompts": 0}, "prompts is 0"),
        ({"origin": 4}, "must not be after the first row"),
        ({"averaged_over": 0}, "averaged_over is 0"),
    ],
)
def test_a_series_is_checked(change: dict[str, object], says: str) -> None:
    plain: dict[str, object] = {"step": range(10), "value": np.linspace(0, 1, 10)}
    with pytest.raises(InvalidInput, match=says):
        series(**{**plain, **change})  # type: ignore[arg-type]
