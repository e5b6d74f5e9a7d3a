r"""Random numbers for numbered chains, the same for a chain however the chains are divided up.

Chains come in lanes of fixed width. A lane has generators of its own, seeded by its number, and is
always drawn whole; chains that were not asked for are cut off afterwards. So the numbers of chain i
depend on the seed, the lane width and i, not on which other chains run, where, or in what order.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, check_type, floats, known_name, whole_number
from numerics.simulation.scalar_map import NOISE_ENTERS

#: A whole number >= 0, or a seed sequence (spawned for a parameter set of a sweep, say).
Seed: TypeAlias = int | np.random.SeedSequence

#: Chains in a lane unless said otherwise: one chain costs no more than these, and arrays of this
#: length are long enough that most of the time is spent on numbers rather than on calls.
LANE_WIDTH = 1000


@dataclass(frozen=True, eq=False)
class GaussianNoise:
    r"""White Gaussian noise of mean zero, independent between chains and steps.

    Parameters
    ----------
    std
        Standard deviation >= 0, a scalar or one per chain; in units of the coordinate if `enters`
        is ``"recurrence"``, of the gradient if ``"gradient"``.
    enters
        ``"recurrence"``: added to the right side of the recurrence for the coordinate, as is;
        ``"gradient"``: added to the gradient, so multiplied by the step size and filtered by the
        optimizer.

    Raises
    ------
    InvalidInput
        `std` is negative or not finite; `enters` is unknown.
    """

    std: Values
    enters: str

    def __post_init__(self) -> None:
        std = floats(std=self.std)["std"]
        if not np.all(std >= 0):
            raise InvalidInput(f"std is {self.std}: a standard deviation must be >= 0")
        known_name("enters", self.enters, NOISE_ENTERS)


def std_of(noise: GaussianNoise | None) -> Values | None:
    """Return the standard deviation, None without noise; what is neither is refused."""
    if noise is None:
        return None
    check_type("noise", noise, GaussianNoise, "a GaussianNoise(std=..., enters=...), or None")
    return noise.std


@dataclass(frozen=True)
class Lane:
    """The chains ``number * width`` up to ``(number + 1) * width`` and their random numbers."""

    number: int
    width: int
    seed: np.random.SeedSequence | None

    @property
    def chains(self) -> range:
        """The chains of the lane."""
        return range(self.number * self.width, (self.number + 1) * self.width)

    def generator(self, purpose: int) -> np.random.Generator:
        """Return the lane's generator for one purpose; each purpose has a stream of its own."""
        assert self.seed is not None
        key = (*self.seed.spawn_key, self.number, purpose)
        child = np.random.SeedSequence(
            self.seed.entropy, spawn_key=key, pool_size=self.seed.pool_size
        )
        return np.random.Generator(np.random.PCG64(child))

    def spread(self, value: NDArray[np.float64], chains: range) -> NDArray[np.float64]:
        """Return the lane's part of a value given for `chains`; a scalar is all chains' value.

        Chains of the lane outside `chains` get the value of the nearest one inside.
        """
        if value.ndim == 0:
            return value
        own = np.arange(self.chains.start, self.chains.stop) - chains.start
        return value[np.clip(own, 0, len(chains) - 1)]

    def overlap(self, chains: range) -> tuple[slice, slice]:
        """Return where the lane's part of `chains` stands: in the lane, and in `chains`."""
        first = max(self.chains.start, chains.start)
        last = min(self.chains.stop, chains.stop)
        within, among = (
            slice(first - start, last - start) for start in (self.chains.start, chains.start)
        )
        return within, among


def lanes(chains: range, width: int, seed: np.random.SeedSequence | None) -> Iterator[Lane]:
    """Yield the lanes that hold `chains`."""
    for number in range(chains.start // width, -(-chains.stop // width)):
        yield Lane(number, width, seed)


def seed_sequence(seed: Seed) -> np.random.SeedSequence:
    """Return the seed as a sequence; None is refused, a run must be repeatable."""
    if isinstance(seed, np.random.SeedSequence):
        return seed
    return np.random.SeedSequence(whole_number("seed", seed, least=0))


def chain_range(chains: int | range) -> range:
    """Return the chains asked for: a number means the first so many."""
    if isinstance(chains, range):
        if chains.step != 1 or len(chains) == 0 or chains.start < 0:
            raise InvalidInput(f"chains is {chains}: give range(first, last + 1) with first >= 0")
        return chains
    return range(whole_number("chains", chains, least=1))
