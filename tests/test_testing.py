"""The assertions pass on what is true, fail on what is false, and say what was found."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from numerics import strategies, testing
from numerics.exact import Configuration, relaxation_time
from numerics.inputs import InvalidInput

LAG_TWO = Configuration("heavy-ball", "constant", Fraction(1, 2), Fraction(1), lag=2)
RNG = np.random.default_rng(20260629)


def test_stability_is_decided_exactly_and_told() -> None:
    border = Configuration("heavy-ball", "constant", Fraction(1, 2), Fraction(1), lag=1)
    testing.assert_stable(LAG_TWO, Fraction(1, 4))
    testing.assert_unstable(border, Fraction(1, 2))  # exactly on the border is not stable
    with pytest.raises(AssertionError, match=r"(?s)rule 2.*spectral radius 1\.1.*lag=2"):
        testing.assert_stable(LAG_TWO, Fraction(1, 2), claim="rule 2")
    with pytest.raises(AssertionError, match=r"unstable at x = 1/4"):
        testing.assert_unstable(LAG_TWO, Fraction(1, 4))


def test_equality_is_exact_for_rationals() -> None:
    testing.assert_equal(Fraction(1, 3), Fraction(2, 6), claim="thirds")
    testing.assert_equal(0.1 + 0.2, 0.3, claim="sum", relative=1e-15)
    with pytest.raises(AssertionError, match=r"(?s)thirds.*claimed 1/3, is 1/2.*mu = 0"):
        testing.assert_equal(Fraction(1, 3), Fraction(1, 2), claim="thirds", at="mu = 0")
    with pytest.raises(AssertionError):
        testing.assert_equal(0.1 + 0.2, 0.3, claim="sum")
    with pytest.raises(AssertionError):
        testing.assert_equal(float("nan"), 1.0, claim="nan", relative=1.0)


def test_bounds() -> None:
    testing.assert_bound(2, 1, side="upper", claim="above")
    testing.assert_bound(1, 1, side="lower", claim="below")
    with pytest.raises(AssertionError, match=r"off by a factor 0\.5"):
        testing.assert_bound(2, 1, side="lower", claim="below")
    with pytest.raises(InvalidInput, match="side is 'left'"):
        testing.assert_bound(2, 1, side="left", claim="below")


def test_an_order_is_observed() -> None:
    c = Configuration("heavy-ball", "constant", 0.5, 1.0, lag=2)

    def error(x: float) -> float:
        time = relaxation_time(c, x)
        assert time is not None
        return time * x / (1 - 0.5) - 1

    testing.assert_order(error, 1, claim="tau ~ (1 - mu)/x")
    with pytest.raises(AssertionError, match=r"(?s)claimed order 2, observed.*order 1\.0"):
        testing.assert_order(error, 2, claim="tau ~ (1 - mu)/x")
    testing.assert_order(lambda h: 0.0, 3, claim="nothing")
    for lower in (lambda h: h**0.85, lambda h: h * math.log(1 / h)):
        with pytest.raises(AssertionError, match="claimed order 1"):
            testing.assert_order(lower, 1, claim="lower")
    with pytest.raises(InvalidInput, match="not finite"):
        testing.assert_order(lambda h: float("nan"), 1, claim="nothing")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: testing.assert_stable(None, 1),  # type: ignore[arg-type]
        lambda: testing.assert_order(abs, "1", claim=""),  # type: ignore[arg-type]
        lambda: testing.assert_order(abs, 1, claim="", slack=2),
        lambda: testing.assert_equal("a", 1, claim=""),
        lambda: testing.assert_bound(1, None, side="upper", claim=""),
        lambda: strategies.stable_x(None),  # type: ignore[arg-type]
    ],
)
def test_a_mistake_in_a_test_is_no_refutation(wrong: Callable[[], None]) -> None:
    with pytest.raises(InvalidInput):
        wrong()


def test_a_mean_is_tested_at_a_stated_false_alarm_rate() -> None:
    samples = RNG.standard_normal(4000)
    testing.assert_mean(samples, 0.0, claim="centred")
    with pytest.raises(AssertionError, match="standard errors"):
        testing.assert_mean(samples, 0.2, claim="shifted")
    with pytest.raises(InvalidInput, match="at least 30"):
        testing.assert_mean([1.0, 2.0], 1.5, claim="few")
    with pytest.raises(InvalidInput, match="false_alarm"):
        testing.assert_mean(samples, 0.0, claim="centred", false_alarm=0)


def test_two_laws_are_told_apart_by_more_than_their_mean() -> None:
    one, other = RNG.standard_normal(3000), RNG.standard_normal(3000)
    testing.assert_same_law(one, other, claim="both Gaussian")
    with pytest.raises(AssertionError, match="two laws"):
        testing.assert_same_law(one, 2 * other, claim="both Gaussian")
    with pytest.raises(InvalidInput, match="at least 30"):
        testing.assert_same_law([1.0], other, claim="few")
