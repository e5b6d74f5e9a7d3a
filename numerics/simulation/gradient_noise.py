r"""How noisy a sampled gradient is: the S of lemma 6, measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, whole_number

__all__ = ["NoiseStrength", "noise_strength"]

Floats = NDArray[np.float64]
#: ``sample(count, rng)``: `count` sampled gradients, shape ``(count, n)``.
Sampler = Callable[[int, np.random.Generator], Values]


@dataclass(frozen=True, eq=False)
class NoiseStrength:
    r"""Mean and covariance of a sampled gradient, with standard errors.

    Attributes
    ----------
    mean, mean_error
        Shape ``(n,)``.
    covariance, covariance_error
        S of lemma 6, per step: shape ``(n, n)``.
    draws
        Number of sampled gradients.
    """

    mean: Floats
    mean_error: Floats
    covariance: Floats
    covariance_error: Floats
    draws: int


def noise_strength(
    sample: Sampler, *, blocks: int, per_block: int, rng: np.random.Generator
) -> NoiseStrength:
    r"""Measure the mean and the covariance of a sampled gradient, a block of draws at a time.

    Parameters
    ----------
    sample
        ``sample(count, rng)`` returns `count` independent gradients, shape ``(count, n)``; the
        group size and every convention are inside it.
    blocks, per_block
        Number of blocks, and draws in each, at least 2 of both. Memory is that of one block. The
        standard errors are taken from the spread of the blocks, so 30 or more give a fair one.
    rng
        Source of the draws.

    Raises
    ------
    InvalidInput
        An argument outside its domain, or a sample of another shape or not finite.
    """
    blocks = whole_number("blocks", blocks, least=2)
    per_block = whole_number("per_block", per_block, least=2)
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput(f"rng is {rng!r}: give numpy.random.default_rng(seed)")
    average: Floats = np.zeros(())
    spread: Floats = np.zeros(())
    for count in range(1, blocks + 1):
        drawn = np.asarray(sample(per_block, rng), dtype=np.float64)
        if drawn.ndim != 2 or drawn.shape[0] != per_block or not np.all(np.isfinite(drawn)):
            raise InvalidInput(
                f"a sample of {per_block} gradients has shape {drawn.shape}: give finite numbers "
                "of shape (count, n)"
            )
        centred = drawn - drawn.mean(axis=0)
        # One row for the mean, n for the covariance; both are averaged alike (Welford).
        block = np.vstack([drawn.mean(axis=0), centred.T @ centred / (per_block - 1)])
        gap = block - average
        average = average + gap / count
        spread = spread + gap * (block - average)
    error = np.sqrt(spread / (blocks * (blocks - 1)))
    return NoiseStrength(average[0], error[0], average[1:], error[1:], blocks * per_block)
