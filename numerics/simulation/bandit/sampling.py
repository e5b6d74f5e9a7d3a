r"""Groups of samples, as counts of every arm: all that the gradient needs of them.

Up to `_LONGEST` samples a group, arms are drawn by inverting the cumulative probabilities on one
uniform number a sample; beyond that by NumPy's multinomial, whose cost does not grow with G.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from numerics.simulation.bandit.policy import Floats
from numerics.simulation.noise import Lane
from numerics.simulation.schedule import RandomLag

_LONGEST = 64  # samples a group, drawn one by one; below 128, so that a count fits a byte
_AT_ONCE = 1 << 16  # comparisons held in memory at a time
_BLOCK = 1024  # uniform numbers that a chain draws at a time, about
_SAMPLES, _LAGS = 0, 1  # the purposes of a chain's streams


class Uniforms:
    """Numbers uniform on [0, 1), as many for every chain at every step.

    Every chain has a stream of its own (it is a lane of width 1), which is read in order: what it
    draws does not depend on other chains, nor on how much is drawn ahead.
    """

    def __init__(
        self, chains: range, seed: np.random.SeedSequence, purpose: int, *, shape: tuple[int, ...]
    ) -> None:
        self.streams = [Lane(chain, 1, seed).generator(purpose) for chain in chains]
        at_once = max(_BLOCK, 4 * _BLOCK // len(chains))
        self._shape = (max(1, at_once // math.prod(shape)), *shape)
        self._left: list[Floats] = []

    def next(self) -> Floats:
        """Return the numbers of the next step, ``(chains, *shape)``."""
        if not self._left:
            drawn = [stream.random(self._shape) for stream in self.streams]
            block = drawn[0][:, None] if len(drawn) == 1 else np.stack(drawn, axis=1)
            self._left = list(block[::-1])
        return self._left.pop()


class Sampler:
    """Draws a batch for every chain at every step."""

    def __init__(
        self, chains: range, seed: np.random.SeedSequence, *, prompts: int, group_size: int
    ) -> None:
        self._prompts, self._size = prompts, group_size
        self._uniforms = Uniforms(chains, seed, _SAMPLES, shape=(group_size, prompts))

    def weights(self, probabilities: Floats) -> Floats:
        """Return the share of every arm, ``(arms, columns)``, in a group of each column."""
        if self._size > _LONGEST:
            chains = probabilities.T.reshape(-1, self._prompts, len(probabilities))
            drawn = [
                stream.multinomial(self._size, chain)
                for stream, chain in zip(self._uniforms.streams, chains, strict=True)
            ]
            return np.ascontiguousarray(np.concatenate(drawn).T) / self._size
        uniforms = self._uniforms.next().swapaxes(0, 1).reshape(self._size, -1)
        return inverted(probabilities, uniforms).astype(np.float64) / self._size


class LagDraws:
    """A lag for every chain, drawn afresh at every step."""

    def __init__(self, law: RandomLag, chains: range, seed: np.random.SeedSequence) -> None:
        self._law = law
        self._uniforms = Uniforms(chains, seed, _LAGS, shape=())

    def lag_at(self, step: int) -> NDArray[np.int64]:
        """Return the lags of the next step, one a chain; steps come in order."""
        return self._law.lags(self._uniforms.next())


def draw(probabilities: Floats, group_size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a group for every column and return its counts, ``(arms, columns)``."""
    if group_size > _LONGEST:
        return np.ascontiguousarray(rng.multinomial(group_size, probabilities.T).T)
    uniforms = rng.random((group_size, probabilities.shape[1]))
    return inverted(probabilities, uniforms).astype(np.int64)


def inverted(probabilities: Floats, uniforms: Floats) -> NDArray[np.int8]:
    """Return how many of the uniform numbers ``(group, columns)`` fall to each arm."""
    size, columns = uniforms.shape
    arms = len(probabilities)
    below = np.empty((arms + 1, columns), dtype=np.int8)  # samples among the arms before each
    below[0], below[-1] = 0, size
    edges = np.add.accumulate(probabilities[:-1], axis=0)
    at_once = max(1, _AT_ONCE // uniforms.size)
    for start in range(0, arms - 1, at_once):
        chunk = edges[start : start + at_once]
        hits = (uniforms[:, None] < chunk).view(np.int8)
        stop = start + 1 + len(chunk)
        np.add.reduce(hits, axis=0, out=below[start + 1 : stop], dtype=np.int8)
    return below[1:] - below[:-1]
