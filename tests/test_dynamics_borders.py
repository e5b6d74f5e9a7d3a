"""Thresholds and onsets over arrays, against 30-digit numbers and the scalar exact theory."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from numerics import exact
from numerics.dynamics import dominant, onset, stable, threshold
from numerics.inputs import InvalidInput

# theory.md section 4: mu, d, x_c, x_o, and for a refresh of d + 1: x_c, kind
TABLE = [
    (0.0, 0, 2.0, 1.0, 2.0, "flip"),
    (0.0, 1, 1.0, 0.25, 1.0, "flip"),
    (0.0, 4, 0.347296355334, 0.08192, 0.4, "flip"),
    (0.5, 2, 0.280776406404, 0.0481125224325, 0.692307692308, "flip"),
    (0.9, 0, 3.8, 0.00263340389897, 3.8, "flip"),
    (0.9, 1, 0.1, 0.0025, 0.211111111111, "neimark-sacker"),
    (0.9, 8, 0.01394199458, 0.00180455877953, 0.0302294749313, "neimark-sacker"),
]
MU, LAG, X_C, X_O, SAWTOOTH, KIND = map(list, zip(*TABLE, strict=True))
MOMENTUM = st.one_of(
    st.sampled_from([0.0, 0.5, 0.9]),
    st.floats(1e-14, 1.0).map(lambda gap: 1 - gap),
).filter(lambda mu: 0 <= mu < 1)


def test_the_reference_table() -> None:
    border = threshold("heavy-ball", mu=MU, stale_share=1, lag=LAG)
    assert border.value == pytest.approx(X_C, rel=1e-11)
    assert list(border.kind) == ["flip" if d == 0 else "neimark-sacker" for d in LAG]
    assert onset("heavy-ball", mu=MU, stale_share=1, lag=LAG) == pytest.approx(X_O, rel=1e-11)
    refreshed = threshold("heavy-ball", mu=MU, stale_share=1, refresh=np.array(LAG) + 1)
    assert refreshed.value == pytest.approx(SAWTOOTH, rel=1e-11)
    assert list(refreshed.kind) == KIND


@settings(deadline=None, max_examples=200)
@given(MOMENTUM, st.integers(0, 100_000))
def test_the_stale_threshold_has_all_its_digits(mu: float, lag: int) -> None:
    found = threshold("heavy-ball", mu=mu, stale_share=1, lag=lag).value
    with mp.workdps(50):
        m = mp.mpf(mu)
        if lag == 0:
            exact_value = 2 * (1 + m)
        else:
            # Bisection of theory 3.1's equation as it is printed.
            low, high = mp.mpf(0), mp.pi / (2 * lag + 1)
            for _ in range(170):
                w = (low + high) / 2
                phase = w * (lag + mp.mpf(1) / 2) + mp.atan2(m * mp.sin(w), 1 - m * mp.cos(w))
                low, high = (w, high) if phase < mp.pi / 2 else (low, w)
            exact_value = 2 * mp.sin(low / 2) * mp.sqrt(1 - 2 * m * mp.cos(low) + m * m)
        assert abs(mp.mpf(float(found)) / exact_value - 1) < 2e-15


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(exact.OPTIMIZERS),
    st.sampled_from(["lag", "refresh"]),
    st.floats(0, 0.99).map(lambda mu: round(mu, 4)),
    st.sampled_from([1.0, 0.5, -0.5, 1.5]),
    st.integers(1, 9),
)
def test_the_scalar_theory_agrees(
    optimizer: str, kind: str, mu: float, share: float, steps: int
) -> None:
    lag_model = {"lag": "constant", "refresh": "sawtooth"}[kind]
    c = exact.Configuration(optimizer, lag_model, mu, share, **{kind: steps})
    border = threshold(optimizer, mu=mu, stale_share=share, **{kind: steps})
    expected = exact.threshold(c)
    assert border.value == pytest.approx(expected.value, rel=1e-14)
    assert border.kind == expected.kind
    first = exact.onset(c)
    found = onset(optimizer, mu=mu, stale_share=share, **{kind: steps})
    assert np.isnan(found) if first is None else found == pytest.approx(first, rel=1e-13)


@settings(deadline=None, max_examples=100)
@given(
    st.sampled_from(exact.OPTIMIZERS),
    st.floats(0, 0.99).map(lambda mu: round(mu, 4)),
    st.sampled_from([1.0, 0.5, 0.0, -0.5, 1.5]),
    st.integers(0, 9),
    st.floats(-6, 1),
)
def test_stable_is_what_the_scalar_theory_says(
    optimizer: str, mu: float, share: float, lag: int, power: float
) -> None:
    c = exact.Configuration(optimizer, "constant", mu, share, lag=lag)
    x = 10.0**power
    if abs(exact.spectral_radius(c, x) - 1) > 1e-12:
        decays = exact.stable(c, x)
        assert stable(optimizer, mu=mu, x=x, stale_share=share, lag=lag) == decays


def test_laws_that_are_one_law() -> None:
    mu = np.array([0.0, 0.3, 0.9])
    none = threshold("heavy-ball", mu=mu, stale_share=1, lag=0)
    assert np.array_equal(none.value, 2 * (1 + mu))
    assert threshold("heavy-ball", mu=mu, stale_share=1, refresh=1).value == pytest.approx(
        none.value, rel=1e-15
    )
    lags = np.arange(1, 40)
    levin_may = 2 * np.sin(np.pi / (2 * (2 * lags + 1)))
    assert threshold("heavy-ball", mu=0, stale_share=1, lag=lags).value == pytest.approx(
        levin_may, rel=1e-15
    )
    averaged = threshold("ema", mu=0.9, stale_share=1, lag=lags).value
    assert averaged * (1 - 0.9) == pytest.approx(
        threshold("heavy-ball", mu=0.9, stale_share=1, lag=lags).value, rel=1e-15
    )


def test_shapes_broadcast() -> None:
    border = threshold("heavy-ball", mu=np.zeros((3, 1)), stale_share=1, lag=[1, 2])
    assert border.value.shape == border.kind.shape == (3, 2)
    assert np.ndim(threshold("heavy-ball", mu=0.5, stale_share=1, lag=2).value) == 0


@pytest.mark.parametrize(
    ("given_as", "reason"),
    [
        ({"mu": 1.0, "lag": 1}, "momentum must lie in"),
        ({"mu": float("nan"), "lag": 1}, "finite"),
        ({"mu": 0.5}, "exactly one"),
        ({"mu": 0.5, "lag": 1, "refresh": 1}, "exactly one"),
        ({"mu": 0.5, "lag": -1}, ">= 0"),
        ({"mu": 0.5, "lag": 1.5}, "whole numbers"),
        ({"mu": [0.1, 0.2], "lag": [1, 2, 3]}, "do not broadcast"),
        ({"mu": 0.5, "lag_law": [0.5, 0.4]}, "must sum to 1"),
        ({"mu": 0.5, "lag_law": [1.5, -0.5]}, ">= 0"),
    ],
)
def test_bad_input_is_refused(given_as: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        threshold("heavy-ball", stale_share=1, **given_as)  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [1e16, -1e100])
def test_a_share_without_digits_left_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="may be up to"):
        threshold("heavy-ball", mu=0.5, stale_share=[1.0, share], lag_law=[0.5, 0.5])


@settings(deadline=None, max_examples=100)
@given(st.sampled_from(exact.OPTIMIZERS), MOMENTUM, st.integers(1, 200))
def test_the_stale_sawtooth_has_all_its_digits(optimizer: str, mu: float, refresh: int) -> None:
    c = exact.Configuration(optimizer, "sawtooth", mu, 1, refresh=refresh)
    border = threshold(optimizer, mu=mu, stale_share=1, refresh=refresh)
    expected = exact.threshold(c)
    assert border.value == pytest.approx(expected.value, rel=4e-15)
    assert border.kind == expected.kind
    first = exact.onset(c)
    found = onset(optimizer, mu=mu, stale_share=1, refresh=refresh)
    assert np.isnan(found) if first is None else found == pytest.approx(first, rel=4e-15)


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(exact.OPTIMIZERS),
    st.floats(1e-9, 1.0, exclude_min=True).map(lambda gap: 1 - gap),
    st.floats(-3, 3),
    st.integers(0, 30),
)
@example("heavy-ball", 0.0, 2.225073858507e-311, 1)
@example("nesterov", 0.9, -5e-324, 7)
@example("ema", 0.5, 1e-160, 30)
def test_contacts_of_any_share_agree_with_the_scalar_theory(
    optimizer: str, mu: float, share: float, lag: int
) -> None:
    c = exact.Configuration(optimizer, "constant", mu, share, lag=lag)
    border, expected = threshold(optimizer, mu=mu, stale_share=share, lag=lag), exact.threshold(c)
    assert border.value == pytest.approx(expected.value, rel=1e-13)
    assert border.kind == expected.kind


def test_the_rule_is_exact_at_lag_one() -> None:
    for numerator in range(1, 8):
        mu = Fraction(numerator, 8)
        found = threshold("heavy-ball", mu=float(mu), stale_share=1, lag=1).value
        assert found == pytest.approx(float(1 - mu), rel=1e-15)


@pytest.mark.parametrize(
    ("optimizer", "law"),
    [
        ("ema", [0.0435, 0.6205, 0.1099, 0.0066, 0.0001, 0.2194]),
        ("ema", [0.178, 0.020, 0.021, 0.781]),
        ("heavy-ball", [0.0005, 0.0, 0.0370, 0.3585, 0.6040]),
    ],
)
def test_the_onset_is_the_first_where_a_swing_comes_and_goes(
    optimizer: str, law: list[float]
) -> None:
    """Outside [0, 1] the dominant root may be complex, real and complex again before the border."""
    given = {"mu": 0.9, "stale_share": -2.0, "lag_law": law}
    first = onset(optimizer, **given)
    at = threshold(optimizer, **given).value * np.linspace(0.0001, 0.9999, 4000)
    z = dominant(optimizer, x=at, **given).root
    swings = (z.imag != 0) | (z.real <= 0)
    changes = np.flatnonzero(np.diff(swings.astype(int)))
    assert len(changes) >= 3  # a bisection from both ends could land on any of them
    assert at[changes[0]] <= first <= at[changes[0] + 1]
