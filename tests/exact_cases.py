"""The domain of the exact theory as hypothesis strategies, and bridges to the reference."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st
from reference import Run

from numerics.exact import LAG_MODELS, OPTIMIZERS, Configuration

OPTIMIZER = st.sampled_from(OPTIMIZERS)
MOMENTUM = st.one_of(
    st.sampled_from([0.0, 0.5, 0.9, 0.99, Fraction(9, 10)]),
    st.floats(0.0, 0.9999, allow_subnormal=False).map(lambda mu: round(mu, 6)),
)
SHARE = st.one_of(
    st.sampled_from([1.0, 0.5, 0.0, -0.5, 2.0, Fraction(1, 3)]),
    st.floats(-3.0, 3.0).map(lambda s: round(s, 6)),
)
# x over the scales that matter, from learning rates of 1e-16 to far beyond stability.
STIFFNESS = st.floats(-16.0, 1.0).map(lambda exponent: 10.0**exponent)


def configurations(
    longest: int = 24, lag_models: tuple[str, ...] = LAG_MODELS, share: Any = SHARE
) -> st.SearchStrategy[Configuration]:
    """Draw configurations with lags (refreshes) up to `longest`."""

    def build(optimizer: str, lag_model: str, mu: float, s: float, lag: int) -> Configuration:
        steps = {"lag": lag} if lag_model == "constant" else {"refresh": max(lag, 1)}
        return Configuration(optimizer, lag_model, mu, s, **steps)

    return st.builds(
        build, OPTIMIZER, st.sampled_from(lag_models), MOMENTUM, share, st.integers(0, longest)
    )


def plain(c: Configuration) -> Run:
    """Return the configuration as the reference takes it."""
    return Run(c.optimizer, c.lag_model, c.mu, c.stale_share, c.delay)


def constant(mu: Any, lag: int, s: Any = 1, optimizer: str = "heavy-ball") -> Configuration:
    """Return a configuration with constant lag."""
    return Configuration(optimizer, "constant", mu, s, lag=lag)


def sawtooth(mu: Any, refresh: int, s: Any = 1, optimizer: str = "heavy-ball") -> Configuration:
    """Return a configuration with sawtooth lag."""
    return Configuration(optimizer, "sawtooth", mu, s, refresh=refresh)
