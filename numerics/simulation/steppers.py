r"""How steps are taken for a lane of chains: in place for the linear map, or in general.

The coordinates stand in a ring of rows, one row a step, and steps are taken a block of rows at a
time: a row is filled with the step's noise and left with the new coordinate. So nothing is moved,
and the working set of a run stays in the cache.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.simulation.scalar_map import DiscreteMap, State
from numerics.simulation.schedule import Schedule

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

#: The lags of the steps to take: a schedule, or drawn ones ``(steps, chains)``.
Lags: TypeAlias = Schedule | IntArray

#: Fills rows with noise.
Fill: TypeAlias = Callable[[FloatArray], None]

#: For one step, the rows of the coordinate sampled from, of the present one, and of the next one.
Turn: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

#: The rows of some steps, to be filled with noise, and the turns of these steps.
Block: TypeAlias = tuple[FloatArray, Iterable[Turn]]

#: A coordinate below this is far from leaving the floating-point range, at 1.8e308.
_FAR = 1e150
#: More standard deviations than a generated normal number can be away from 0.
_FARTHEST_NORMAL = 100.0
_MOST_STEPS = 256


@dataclass(frozen=True, eq=False)
class Ring:
    r"""The latest coordinates of a lane: ``q_k`` of all chains in row ``(k - 1) mod rows``.

    Steps are taken `block` rows at a time; the number of rows is a multiple of it.
    """

    data: FloatArray
    block: int

    @property
    def width(self) -> int:
        """Chains in the lane."""
        return int(self.data.shape[1])

    def row(self, k: int) -> FloatArray:
        """Return the row of ``q_k``."""
        row: FloatArray = self.data[(k - 1) % len(self.data)]
        return row

    def rows(self, first: int, count: int) -> FloatArray:
        """Return the rows of ``q_{first + 1}, ...``, at most a block that starts at `first`."""
        start = first % len(self.data)
        rows: FloatArray = self.data[start : start + count]
        return rows

    def turn(self, k: int, lag: int) -> Turn:
        """Return the rows of step k under a lag that all chains share."""
        return self.row(k - lag), self.row(k), self.row(k + 1)

    def drawn_turn(self, k: int, lags: IntArray) -> Turn:
        """Return the rows of step k, the one sampled from gathered under a lag for each chain."""
        row = (k - 1 - lags) % len(self.data)
        numbers: FloatArray = self.data.reshape(-1)
        old = numbers.take(row * self.width + np.arange(self.width))
        return old, self.row(k), self.row(k + 1)


def new_rows(rows: int, width: int) -> FloatArray:
    """Return an array, not filled, that starts on a cache line: ufuncs are a tenth faster there."""
    room = np.empty(rows * width + 7)
    start = -(room.ctypes.data // 8) % 8
    return room[start : start + rows * width].reshape(rows, width)


class Turns:
    """The turns of a run, block by block; those of one round of the ring are made once."""

    def __init__(self, ring: Ring) -> None:
        self._ring = ring
        self._round: list[Block] = []

    def blocks(self, first: int, count: int, lags: Lags) -> Iterator[Block]:
        """Yield the rows and the turns of each block of steps ``first, ..., first + count - 1``."""
        ring, size, end = self._ring, self._ring.block, first + count
        around = len(ring.data)
        alike = not isinstance(lags, np.ndarray) and around % lags.period == 0
        if alike and not self._round:
            self._round = [self._block(at, size, at, lags) for at in range(0, around, size)]
        start = first
        while start < end:
            if alike and start % around == 0 and end - start >= around:
                yield from self._round
                start += around
                continue
            taken = min(size, end - start)
            if alike and taken == size:
                yield self._round[start % around // size]
            else:
                yield self._block(start, taken, first, lags)
            start += taken

    def _block(self, start: int, count: int, first: int, lags: Lags) -> Block:
        ring, steps = self._ring, range(start, start + count)
        rows = ring.rows(start, count)
        if isinstance(lags, np.ndarray):
            # Lazily: what is gathered for a step depends on the step before.
            return rows, (ring.drawn_turn(k, lags[k - first]) for k in steps)
        return rows, [ring.turn(k, lags.lag_at(k)) for k in steps]


class Stepper(Protocol):
    """What takes the steps of one lane; it keeps the optimizer's memory."""

    def safe_steps(self) -> int:
        """Return a number of steps after which surely no chain has overflowed; 0 is always safe."""

    def take(self, first: int, count: int, lags: Lags, fill: Fill | None) -> None:
        """Take steps ``first, ..., first + count - 1``, with noise if there is a `fill`."""


class GeneralStepper:
    """Any drift and optimizer: `DiscreteMap`, a step at a time; `enters` says how noise does."""

    def __init__(self, discrete_map: DiscreteMap, ring: Ring, enters: str = "recurrence") -> None:
        self._map, self._enters, self._turns = discrete_map, enters, Turns(ring)
        start = ring.row(0).copy()
        memory = discrete_map.optimizer.memory_at_rest(start)
        self._state = State(deque([start], maxlen=1), memory)

    def safe_steps(self) -> int:
        """Return 0: a drift may do anything."""
        return 0

    def take(self, first: int, count: int, lags: Lags, fill: Fill | None) -> None:
        """Take steps ``first, ..., first + count - 1``, with noise if there is a `fill`."""
        for rows, turns in self._turns.blocks(first, count, lags):
            if fill is not None:
                fill(rows)
            for old, _, row in turns:
                kick = None if fill is None else row
                row[:] = self._map.move(self._state, old, kick, self._enters)


@dataclass(frozen=True, eq=False)
class LinearMap:
    r"""The linear map in four coefficients, each a scalar array or one number per chain.

    ``f_k = -stale q_{k-lag} - fresh q_k``, then ``h_k = mu h_{k-1} + f_k`` and
    ``q_{k+1} = q_k + h_k``; if it `looks_ahead` (Nesterov), ``h_k = mu h_{k-1} + mu f_k`` and
    ``q_{k+1} = q_k + (h_k + f_k)``. Noise is added to the force f_k, first of all, or if it
    `enters_memory` to h_k, last of all; without looking ahead the two are one. `std` is its
    standard deviation.
    """

    mu: FloatArray
    stale: FloatArray
    looks_ahead: bool
    enters_memory: bool
    fresh: FloatArray | None = None
    std: FloatArray | None = None

    @property
    def growth(self) -> float:
        """By how much the largest of coordinates, memory and 100 std can grow in a step."""
        pull = np.abs(self.stale) + (0 if self.fresh is None else np.abs(self.fresh))
        return float(np.max(self.mu + 2 * pull)) + 4


class LinearStepper:
    """The linear map in place, in as few passes over the chains as it has operations.

    The operations are those of `LinearMap` from left to right, each rounded once.
    """

    def __init__(self, linear_map: LinearMap, ring: Ring) -> None:
        self._map, self._ring, self._turns = linear_map, ring, Turns(ring)
        self._minus_stale = -linear_map.stale
        self._memory, self._scratch, self._force = new_rows(3, ring.width)
        self._memory[:] = 0
        self._far_steps = min(_MOST_STEPS, int(math.log(_FAR) / math.log(linear_map.growth)))
        std = 0.0 if linear_map.std is None else float(np.max(linear_map.std))
        self._noise = _FARTHEST_NORMAL * std

    def safe_steps(self) -> int:
        """Return as many steps as cannot take the coordinates from `_FAR` out of the range."""
        numbers = (self._ring.data, self._memory)
        # NaN compares as false, so that it is not far.
        far = all(each.min() > -_FAR and each.max() < _FAR for each in numbers)
        return self._far_steps if far and self._noise < _FAR else 0

    def take(self, first: int, count: int, lags: Lags, fill: Fill | None) -> None:
        """Take steps ``first, ..., first + count - 1``, with noise if there is a `fill`."""
        step = self._look_ahead if self._map.looks_ahead else self._fall
        step(self._turns.blocks(first, count, lags), fill)

    def _fall(self, blocks: Iterable[tuple[FloatArray, Iterable[Turn]]], fill: Fill | None) -> None:
        mu, fresh, memory, scratch = self._map.mu, self._map.fresh, self._memory, self._scratch
        stale, minus_stale = self._map.stale, self._minus_stale
        multiply, add, subtract = np.multiply, np.add, np.subtract
        for rows, turns in blocks:
            if fill is not None:
                fill(rows)
            for old, now, row in turns:
                if fill is None:
                    multiply(old, minus_stale, row)
                else:
                    multiply(old, stale, scratch)
                    subtract(row, scratch, row)
                if fresh is not None:
                    multiply(now, fresh, scratch)
                    subtract(row, scratch, row)
                multiply(memory, mu, memory)
                add(memory, row, memory)
                add(now, memory, row)

    def _look_ahead(self, blocks: Iterable[Block], fill: Fill | None) -> None:
        mu, fresh, memory, scratch = self._map.mu, self._map.fresh, self._memory, self._scratch
        minus_stale, force = self._minus_stale, self._force
        multiply, add, subtract = np.multiply, np.add, np.subtract
        for rows, turns in blocks:
            if fill is not None:
                fill(rows)
            for old, now, row in turns:
                multiply(old, minus_stale, force)
                if fill is not None and not self._map.enters_memory:
                    add(row, force, force)
                if fresh is not None:
                    multiply(now, fresh, scratch)
                    subtract(force, scratch, force)
                multiply(memory, mu, memory)
                multiply(force, mu, scratch)
                add(memory, scratch, memory)
                if fill is not None and self._map.enters_memory:
                    add(memory, row, memory)
                add(memory, force, force)
                add(now, force, row)
