"""The strategies draw the declared domains, and shrink to what a person would try first."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from derivations.notation import QUANTITIES
from numerics import strategies
from numerics.exact import Configuration, stable
from numerics.inputs import InvalidInput
from numerics.simulation import simulate_linear
from numerics.simulation.bandit import Bandit


@pytest.mark.parametrize("name", QUANTITIES)
@pytest.mark.parametrize("exact", [False, True])
def test_a_quantity_stays_in_its_domain(name: str, exact: bool) -> None:
    @settings(max_examples=25)
    @given(strategies.quantity(name, exact=exact))
    def holds(value: float | Fraction) -> None:
        assert Fraction(value) in QUANTITIES[name].domain
        assert isinstance(value, Fraction | int) or not exact

    holds()


def test_an_unknown_quantity_is_refused() -> None:
    with pytest.raises(InvalidInput, match="no quantity of the theory"):
        strategies.quantity("momentum")


def test_configurations_shrink_to_the_simplest() -> None:
    found = find(strategies.configurations(exact=True), lambda c: True)
    assert found == Configuration("heavy-ball", "constant", Fraction(0), Fraction(1), lag=1)
    found = find(strategies.configurations(exact=True), lambda c: c.mu > 0 and c.delay >= 2)
    assert (found.optimizer, found.lag_model, found.delay) == ("heavy-ball", "constant", 2)
    assert found.mu.denominator <= 10


@settings(deadline=None)  # exact thresholds, some of long lags
@given(st.data())
def test_a_stable_x_is_stable(data: st.DataObject) -> None:
    configuration = data.draw(strategies.configurations(longest=6))
    assert stable(configuration, data.draw(strategies.stable_x(configuration)))


def test_a_stable_x_shrinks_to_half_the_threshold() -> None:
    lag_one = Configuration("heavy-ball", "constant", Fraction(0), Fraction(1), lag=1)
    assert find(strategies.stable_x(lag_one, exact=True), lambda x: True) == Fraction(1, 2)


@given(strategies.updates(longest=4), strategies.updates())
def test_updates_have_a_fixed_or_a_symbolic_lag(fixed: object, symbolic: object) -> None:
    assert fixed.steps is not None  # type: ignore[attr-defined]
    assert symbolic.steps is None  # type: ignore[attr-defined]


@given(strategies.schedules(longest=5, random=True))
def test_schedules_keep_to_their_longest(schedule: object) -> None:
    assert schedule.longest <= 5  # type: ignore[attr-defined]


def test_bandits_shrink_to_one_prompt_and_two_arms() -> None:
    found = find(strategies.bandits(binary=True), lambda bandit: True)
    assert isinstance(found, Bandit)
    assert (found.prompts, found.arms) == (1, 2)


@given(st.data())
def test_the_response_to_noise_is_linear(data: st.DataObject) -> None:
    kicks = data.draw(strategies.noise(steps=12, chains=2))
    schedule = data.draw(strategies.schedules(longest=4))
    paths = [
        simulate_linear(
            "heavy-ball", schedule, mu=0.5, x=0.25, stale_share=1.0, steps=12,
            initial=0.0, noise=scale * kicks, noise_enters="recurrence",
        ).path
        for scale in (1.0, 2.0)
    ]  # fmt: skip
    assert np.array_equal(2 * paths[0], paths[1])
