r"""The theory's domains as hypothesis strategies, for tests of your own claims.

Domains are those declared in `derivations.notation`, so a test draws what the theory is about and
nothing else. Every strategy shrinks towards what a person would try first: no momentum, lag 1, the
whole force stale, two arms, small whole numbers. ``exact=True`` draws rationals
(`fractions.Fraction`), on which the exact functions and the simulation make no rounding error.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from derivations.notation import QUANTITIES
from derivations.update import Update
from numerics.exact import LAG_MODELS, OPTIMIZERS, Configuration, threshold
from numerics.inputs import InvalidInput, check_type, whole_number
from numerics.simulation import ConstantLag, Sawtooth
from numerics.simulation.bandit import Bandit
from numerics.simulation.schedule import RandomLag

__all__ = ["bandits", "configurations", "noise", "quantity", "schedules", "stable_x", "updates"]

Strategy = st.SearchStrategy[Any]
_FAR = 64  # unbounded domains are drawn from up to here
_DENOMINATOR = 1000


def quantity(name: str, *, exact: bool = False) -> Strategy:
    """Draw a value of a named quantity from its declared domain.

    Parameters
    ----------
    name
        A name of `derivations.notation.QUANTITIES`, such as ``"mu"``.
    exact
        Whether to draw `Fraction` instead of floats. Integers are integers either way.

    Raises
    ------
    InvalidInput
        The theory has no such quantity.
    """
    if name not in QUANTITIES:
        raise InvalidInput(f"{name!r} is no quantity of the theory: use {', '.join(QUANTITIES)}")
    domain = QUANTITIES[name].domain
    low = domain.low if domain.low is not None else Fraction(-_FAR)
    high = domain.high if domain.high is not None else low + _FAR
    if domain.integer:
        return st.integers(int(low), int(high)).filter(lambda value: value in domain)
    rationals = st.fractions(low, high, max_denominator=_DENOMINATOR).filter(
        lambda value: value in domain
    )
    if exact:
        return rationals
    dense = st.floats(float(low), float(high), allow_subnormal=False)
    return rationals.map(float) | dense.filter(lambda value: Fraction(value) in domain)


def _delays(longest: int) -> Strategy:
    """Lags with 1 first: it is the smallest that is not trivial."""
    return st.sampled_from([1, 0, *range(2, longest + 1)])


def configurations(
    *,
    optimizers: Sequence[str] = OPTIMIZERS,
    lag_models: Sequence[str] = LAG_MODELS,
    stale_shares: Strategy | None = None,
    longest: int = 16,
    exact: bool = False,
) -> Strategy:
    """Draw a `numerics.exact.Configuration`.

    Parameters
    ----------
    optimizers, lag_models
        The names to draw from; shrinks towards the first.
    stale_shares
        Strategy of the share; by default 1, sometimes another.
    longest
        The longest lag or refresh, in steps, at least 1.
    exact
        Whether momentum and share are `Fraction`.
    """
    longest = whole_number("longest", longest, least=1)
    whole = Fraction(1) if exact else 1.0
    shares = st.just(whole) | quantity("s", exact=exact) if stale_shares is None else stale_shares

    def build(optimizer: str, lag_model: str, mu: Any, share: Any, delay: int) -> Configuration:
        steps = {"lag": delay} if lag_model == "constant" else {"refresh": max(delay, 1)}
        return Configuration(optimizer, lag_model, mu, share, **steps)

    return st.builds(
        build, st.sampled_from(list(optimizers)), st.sampled_from(list(lag_models)),
        quantity("mu", exact=exact), shares, _delays(longest),
    )  # fmt: skip


def stable_x(configuration: Configuration, *, exact: bool = False) -> Strategy:
    """Draw a stiffness per step x below the exact threshold of `configuration`.

    Shrinks towards half the threshold. Nothing is drawn where no x is stable.
    """
    check_type("configuration", configuration, Configuration, "a numerics.exact.Configuration")
    border = threshold(configuration).value
    if border is None:
        return quantity("x", exact=exact)
    if not border > 0:
        return st.nothing()
    shares = st.fractions(0, 1, max_denominator=_DENOMINATOR).filter(lambda share: 0 < share < 1)
    limit = Fraction(border)
    values = (st.just(Fraction(1, 2)) | shares).map(lambda share: limit * share)
    return values if exact else values.map(float)


def updates(*, longest: int | None = None) -> Strategy:
    """Draw a `derivations.update.Update`, the premises of a derivation.

    Parameters
    ----------
    longest
        The longest fixed lag or refresh; None leaves the lag a symbol.
    """

    def build(optimizer: str, lag_model: str, delay: int | None) -> Update:
        if delay is not None and lag_model == "sawtooth":
            delay = max(delay, 1)
        return Update.named(optimizer, lag_model, lag=delay)

    delays: Strategy = st.none() if longest is None else _delays(longest)
    return st.builds(build, st.sampled_from(OPTIMIZERS), st.sampled_from(LAG_MODELS), delays)


def schedules(*, longest: int = 8, random: bool = False) -> Strategy:
    """Draw a lag schedule of the simulation: constant, sawtooth and, if wanted, random."""
    drawn = _delays(longest).map(ConstantLag) | st.integers(1, longest + 1).map(Sawtooth)
    if not random:
        return drawn
    weights = st.lists(st.integers(0, 8), min_size=1, max_size=longest + 1).filter(any)
    return drawn | weights.map(lambda each: RandomLag(tuple(w / sum(each) for w in each)))


def bandits(*, most_prompts: int = 3, most_arms: int = 5, binary: bool = False) -> Strategy:
    """Draw a `numerics.simulation.bandit.Bandit` with free logits; shrinks to one prompt, two arms.

    Parameters
    ----------
    most_prompts, most_arms
        The largest shape.
    binary
        Whether rewards are 0 and 1 only; else they are small numbers, whole ones first.
    """
    reward: Strategy = st.sampled_from([1.0, 0.0]) if binary else st.integers(-4, 4).map(float)
    logit = st.integers(-3, 3).map(float)

    def build(shape: tuple[int, int]) -> Strategy:
        table = [st.lists(each, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
                 for each in (reward, logit)]  # fmt: skip
        return st.builds(
            lambda rewards, logits: Bandit(
                rewards=np.reshape(rewards, shape),
                reference_logits=np.reshape(logits, shape),
                coordinates="free-logits",
            ),
            *table,
        )

    return st.tuples(st.integers(1, most_prompts), st.integers(2, most_arms)).flatmap(build)


def noise(*, steps: int, chains: int = 1) -> Strategy:
    """Draw unit Gaussian noise of shape ``(steps, chains)``, reproducible from a drawn seed.

    Monte Carlo noise must not decide a property: use it where the outcome is exact for any noise
    (linearity, reproducibility), and `numerics.testing.assert_mean` with one fixed seed otherwise.
    """
    steps, chains = (
        whole_number("steps", steps, least=1),
        whole_number("chains", chains, least=1),
    )

    def draw(seed: int) -> NDArray[np.float64]:
        return np.random.default_rng(seed).standard_normal((steps, chains))

    return st.integers(0, 2**32 - 1).map(draw)
