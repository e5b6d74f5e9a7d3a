"""Forecasts: exact posteriors, coherent quantities, the stated verdicts, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

from numerics.fit import FAMILIES, Series, fit, series
from numerics.forecast import LEVEL, MODELS, forecast
from numerics.forecast.level import level_of, window_noise
from numerics.forecast.posterior import Belief, coarse, finer, posterior
from numerics.forecast.stacking import inside
from numerics.inputs import InvalidInput


def rise(rows: int, tau: float, noise: float = 0.04, seed: int = 1, plateau: float = 0.8) -> Series:
    step = np.arange(1.0, rows + 1)
    curve = plateau - 0.6 * np.exp(-step / tau)
    return series(step, curve + noise * np.random.default_rng(seed).standard_normal(rows))


def test_the_posterior_is_the_conjugate_one() -> None:
    given = rise(60, 15)
    about = fit(given, "exponential")
    grid = coarse(about, FAMILIES["exponential"].resolved(60))
    white = about.whiten(given.value) * about.spike_root
    belief = Belief(0.7, 0.2, 2.0)
    found = posterior(grid, white, 40, belief)
    k = int(found.weight.argmax())
    # the belief as two more rows: plateau/gain and amplitude/rise
    design = np.vstack([grid.white[:40, k], [[5.0, 5.0], [0.0, 0.5]]])
    seen = np.concatenate([white[:40], [0.7 / 0.2, 0.0]])
    mean = np.linalg.lstsq(design, seen, rcond=None)[0]
    assert found.mean[k] == pytest.approx(mean, rel=1e-9)
    covariance = np.linalg.inv(design.T @ design)
    assert found.root[k] @ found.root[k].T == pytest.approx(covariance, rel=1e-7)
    assert found.weight.sum() == pytest.approx(1)


def test_evidence_is_the_integral_of_likelihood_and_belief() -> None:
    given = rise(12, 5)
    about = fit(given, "exponential")
    grid = coarse(about, FAMILIES["exponential"].resolved(12))
    white = about.whiten(given.value) * about.spike_root
    found = posterior(grid, white, 12, Belief(0.7, 0.3, 2.0))

    def evidence(k: int) -> float:
        """Integrate over the direction the closed form is not used in, one amplitude at a time."""
        mean, covariance = found.mean[k], found.root[k] @ found.root[k].T

        def height(a: float) -> float:
            b = mean[1] + covariance[0, 1] / covariance[0, 0] * (a - mean[0])
            left = white - grid.white[:, k] @ [a, b]
            away = ((a + b - 0.7) / 0.3) ** 2 + (b / 2.0) ** 2
            other = np.linalg.det(covariance) / covariance[0, 0]
            return float(np.exp(-0.5 * (left @ left + away)) * other**0.5)

        wide = 9 * covariance[0, 0] ** 0.5
        return float(quad(height, mean[0] - wide, mean[0] + wide, epsabs=0, limit=200)[0])

    first, second = np.argsort(found.logged)[-2:]
    ratio = evidence(int(first)) / evidence(int(second))
    assert np.exp(found.logged[first] - found.logged[second]) == pytest.approx(ratio, rel=1e-5)


def test_a_finer_grid_keeps_what_is_not_refuted() -> None:
    given = rise(200, 30, noise=0.01)
    about = fit(given, "exponential")
    white = about.whiten(given.value) * about.spike_root
    found = posterior(coarse(about, FAMILIES["exponential"]), white, 200, Belief(0.8, 0.3, 2.0))
    again = posterior(finer(about, found), white, 200, Belief(0.8, 0.3, 2.0))
    tau = np.exp(again.weight @ again.grid.inner[:, 0]) * given.span
    assert np.ptp(again.grid.inner) < np.ptp(found.grid.inner) / 4
    assert tau == pytest.approx(fit(given, "exponential").readings["tau"], rel=0.02)


def test_the_noise_of_a_window_is_that_of_its_correlations() -> None:
    noise = fit(rise(200, 20), "exponential").noise
    k = np.arange(7)
    apart = np.abs(k[:, None] - k)
    matrix = noise.variance * np.where(apart == 0, 1.0, noise.share * noise.memory**apart)
    assert window_noise(noise, 7) == pytest.approx(matrix.mean() ** 0.5)


def test_a_mean_leaves_the_rows_seen_only_as_far_as_it_is_sure() -> None:
    given = rise(50, 10)
    level = level_of(fit(given, "exponential"), 50)
    mean, std = np.array([level.high + 1.0, level.high + 1.0, 0.5]), np.array([0.1, 9.0, 9.0])
    assert inside(mean, std, level, None) == pytest.approx([level.high + 0.8, level.high, 0.5])
    assert inside(mean, std, level, (0.0, 1.0)) == pytest.approx([1.0, min(1, level.high), 0.5])


def test_a_rise_half_done_goes_on_and_a_finished_one_has_ended() -> None:
    whole = rise(400, 60, noise=0.01)
    early, late = forecast(whole.head(90)), forecast(whole)
    assert early.verdict == "rises"
    assert early.probability >= 0.8
    assert early.plateau.low < 0.8 < early.plateau.high
    assert late.verdict == "has ended"
    assert late.plateau.low < 0.8 < late.plateau.high
    assert late.plateau.high - late.plateau.low < 0.2


def test_quantities_are_of_the_same_draws() -> None:
    found = forecast(rise(120, 40), share=0.5)
    assert set(found.models) == {LEVEL, *MODELS}
    assert sum(found.models.values()) == pytest.approx(1)
    assert found.remaining.middle == pytest.approx(found.plateau.middle - found.now.middle)
    middle, low, high = found.at([120.0, 120.0 + found.horizon])
    assert (middle[0], low[0], high[0]) == pytest.approx(
        (found.now.middle, found.now.low, found.now.high)
    )
    assert middle[1] == pytest.approx(found.end.middle)
    assert np.all(low < middle)
    assert np.all(middle < high)
    rows = found.window([239.0, 240.0])
    assert rows.high - rows.low > high[1] - low[1]  # two rows have noise


def test_a_later_share_takes_longer() -> None:
    given = rise(80, 60, noise=0.01)
    half, most = (forecast(given, share=share).share_step for share in (0.5, 0.9))
    assert 80 < half.low <= half.middle < most.middle
    assert half.low < 80 + 60 * np.log(2)
    assert (most.high is None or most.high > most.middle)


def test_few_rows_and_dead_starts_are_too_early() -> None:
    assert forecast(rise(19, 5)).verdict == "too early to tell"
    random = np.random.default_rng(3)
    value = np.concatenate([np.zeros(20), np.linspace(0, 1, 5)]) + 0.0
    value[20:] += 0.1 * random.standard_normal(5)
    assert forecast(series(np.arange(25.0), value)).verdict == "too early to tell"


def test_bounds_hold() -> None:
    random = np.random.default_rng(7)
    mean = 1 - 0.5 * np.exp(-np.arange(80) / 15)
    given = series(
        np.arange(80.0), random.binomial(32, mean) / 32, group_size=8, prompts=4, bounds=(0.0, 1.0)
    )
    found = forecast(given)
    assert found.at([160.0])[2][0] <= 1
    assert found.at([160.0])[1][0] >= 0


def test_scale_and_shift_of_rewards_and_steps_do_not_matter() -> None:
    given = rise(90, 30)
    other = series(10 * given.step, 3 * given.value - 5)
    first, second = forecast(given), forecast(other)
    assert second.plateau.middle == pytest.approx(3 * first.plateau.middle - 5, abs=0.02)
    assert second.probability == pytest.approx(first.probability, abs=0.03)
    assert second.verdict == first.verdict


def test_the_same_rows_give_the_same_forecast_and_long_logs_are_averaged() -> None:
    given = rise(4001, 600)
    first, second = forecast(given), forecast(given)
    assert first.plateau == second.plateau
    assert len(first.series) == 1333
    assert first.plateau.low < 0.8 < first.plateau.high


def test_intervals_cover_windows_of_noise() -> None:
    """Flat logs: 60 of them, 90 % intervals; fewer than 45 covered has a chance below 1e-4."""
    covered = 0
    for seed in range(60):
        value = 0.5 + 0.1 * np.random.default_rng([8, seed]).standard_normal(60)
        said = forecast(series(np.arange(60.0), value).head(40)).window(np.arange(50.0, 60.0))
        covered += said.low <= value[50:].mean() <= said.high
    assert covered >= 45


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"share": 1.0}, "share is 1.0"), ({"level": 0.0}, "level is 0.0"),
        ({"horizon": 0.0}, "horizon is 0"), ({"horizon": 1e9}, "horizon is 1e\\+09"),
        ({"horizon": float("nan")}, "horizon"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(flags: dict[str, float], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        forecast(rise(30, 10), **flags)


def test_steps_before_the_start_are_refused() -> None:
    with pytest.raises(InvalidInput, match="after the start"):
        forecast(rise(30, 10)).at([-5.0])


def test_a_run_that_has_not_begun_has_not_ended() -> None:
    for seed in range(8):
        value = 0.5 + 0.05 * np.random.default_rng([9, seed]).standard_normal(80)
        found = forecast(series(np.arange(80.0), value))
        assert found.verdict == "no change so far", seed


@pytest.mark.parametrize("spike", [-1e3, 1e6])
def test_one_row_far_off_moves_no_forecast(spike: float) -> None:
    given = rise(100, 20)
    value = given.value.copy()
    value[50] = spike
    found, clean = forecast(series(given.step, value)), forecast(given)
    assert found.plateau.middle == pytest.approx(clean.plateau.middle, abs=0.03)
    assert found.plateau.high - found.plateau.low < 0.5
