"""Configurations say what they cannot be."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from exact_cases import constant, sawtooth

from numerics.exact import (
    LONGEST_DELAY,
    Configuration,
    ConfigurationError,
    characteristic_polynomial,
    exact_stiffness,
    monodromy,
    stable,
)

GOOD: dict[str, Any] = {
    "optimizer": "heavy-ball", "lag_model": "constant", "mu": 0.9, "stale_share": 1, "lag": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"optimizer": "nesterof"}, "did you mean 'nesterov'?"),
        ({"optimizer": "Heavy_Ball"}, "did you mean 'heavy-ball'?"),
        ({"optimizer": "adam"}, "unknown optimizer"),
        ({"optimizer": None}, "unknown optimizer"),
        ({"lag_model": "constnat"}, "did you mean 'constant'?"),
        ({"mu": 1}, r"\[0, 1\)"),
        ({"mu": -1e-300}, r"\[0, 1\)"),
        ({"mu": float("nan")}, "finite"),
        ({"mu": "0.9"}, "real number"),
        ({"mu": 1j}, "real number"),
        ({"mu": True}, "real number"),
        ({"stale_share": float("inf")}, "finite"),
        ({"stale_share": None}, "real number"),
        ({"lag": -1}, "whole number of steps from 0"),
        ({"lag": 2.5}, "whole number"),
        ({"lag": 3.0}, "whole number"),
        ({"lag": True}, "whole number"),
        ({"lag": None}, "whole number"),
        ({"lag": LONGEST_DELAY + 1}, str(LONGEST_DELAY)),
        ({"refresh": 4}, "takes lag, not refresh"),
        ({"lag_model": "sawtooth"}, "takes refresh, not lag"),
        ({"lag_model": "sawtooth", "lag": None, "refresh": 0}, "from 1"),
    ],
)
def test_wrong_values_are_refused_in_one_line(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        Configuration(**{**GOOD, **wrong})
    assert "\n" not in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("x", [0, -1.0, float("nan"), float("-inf"), "1", None, Fraction(0)])
def test_x_must_be_finite_and_positive(x: Any) -> None:
    with pytest.raises(ConfigurationError, match="x is"):
        stable(Configuration(**GOOD), x)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (1, Fraction(1)),
        (0.1, Fraction(0.1)),
        (Fraction(1, 10), Fraction(1, 10)),
        (np.float64(0.1), Fraction(0.1)),
        (np.float32(0.1), Fraction(float(np.float32(0.1)))),
    ],
)
def test_numbers_are_taken_as_exactly_what_they_are(value: Any, exact: Fraction) -> None:
    assert exact_stiffness(value) == exact
    lag: Any = np.int64(2)  # an index of another library
    c = Configuration("ema", "constant", 0.5, value, lag=lag)
    assert (c.momentum, c.share, c.delay) == (Fraction(1, 2), exact, 2)


def test_a_decimal_is_refused_rather_than_rounded() -> None:
    x: Any = Decimal("0.1")
    with pytest.raises(ConfigurationError, match="real number"):
        exact_stiffness(x)


def test_each_lag_model_has_its_own_object() -> None:
    with pytest.raises(ConfigurationError, match="ask for monodromy"):
        characteristic_polynomial(sawtooth(0.9, 4), 0.1)
    with pytest.raises(ConfigurationError, match="ask for characteristic_polynomial"):
        monodromy(constant(0.9, 4), 0.1)


def test_characteristic_polynomial_has_the_least_degree() -> None:
    mu, x = Fraction(9, 10), Fraction(1, 100)
    assert characteristic_polynomial(constant(mu, 0), x) == (1, x - 1 - mu, mu)
    assert characteristic_polynomial(constant(mu, 1), x) == (1, -1 - mu, mu + x)
    assert characteristic_polynomial(constant(mu, 3), x) == (1, -1 - mu, mu, 0, x)
    assert characteristic_polynomial(constant(0, 3), x) == (1, -1, 0, 0, x)
    assert characteristic_polynomial(constant(mu, 3, s=0), x) == (1, x - 1 - mu, mu)
    assert characteristic_polynomial(constant(mu, 3, optimizer="ema"), x)[-1] == (1 - mu) * x
    nesterov = characteristic_polynomial(constant(mu, 2, optimizer="nesterov"), x)
    assert nesterov == (1, -1 - mu, mu, (1 + mu) * x, -mu * x)
    assert characteristic_polynomial(constant(0, 0), 1) == (1,)
