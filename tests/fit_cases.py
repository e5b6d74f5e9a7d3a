"""Synthetic rewards for the tests of `numerics.fit`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.fit import Series, series
from numerics.fit.oscillator import rest

Array = NDArray[np.float64]


def three_phase(rows: int, *, tau: float, rho: float, low: float = 0.2, high: float = 0.8) -> Array:
    """Return the law at steps 1, 2, ..., from rest half a step before the first."""
    return np.asarray(high - (high - low) * rest(np.arange(rows) + 0.5, tau, rho).q)


def gaussian(mean: Array, std: float, seed: int) -> Series:
    """Return a series of `mean` with independent noise."""
    noise = std * np.random.default_rng(seed).standard_normal(mean.size)
    return series(np.arange(1, mean.size + 1), mean + noise)


def binomial(mean: Array, seed: int, *, group_size: int = 4, prompts: int = 8) -> Series:
    """Return success rates of `prompts` groups a step."""
    samples = group_size * prompts
    value = np.random.default_rng(seed).binomial(samples, mean) / samples
    return series(
        np.arange(1, mean.size + 1), value, group_size=group_size, prompts=prompts, bounds=(0, 1)
    )
