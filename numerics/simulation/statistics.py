r"""Mean, variance and autocovariance of many chains while they run, in one pass.

Memory is that of a few numbers per chain and requested lag, whatever the number of steps. Each
block of steps is measured from the mean so far, blocks are merged by Chan, Golub and LeVeque's
update of means and co-moments, and means are kept relative to the first coordinate. So nothing
cancels: not for a small fluctuation on a large level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, check_type, whole_number, whole_numbers
from numerics.simulation.steppers import FloatArray


@dataclass(frozen=True)
class Measure:
    r"""What to measure of every chain: over the coordinates after steps burn_in + 1, ..., steps.

    Parameters
    ----------
    burn_in
        Steps left out at the start.
    autocovariance_lags
        Lags, in steps, at which the autocovariance is wanted.
    by_phase
        Measure each phase of the schedule's period by itself: the coordinates q_k with
        k mod period = 0, 1, ... A sawtooth's fluctuations depend on the phase.

    Raises
    ------
    InvalidInput
        A negative number of steps, or a lag below 1.
    """

    burn_in: int = 0
    autocovariance_lags: tuple[int, ...] = ()
    by_phase: bool = False

    def __post_init__(self) -> None:
        whole_number("burn_in", self.burn_in, least=0)
        lags = whole_numbers("autocovariance_lags", self.autocovariance_lags, least=1)
        object.__setattr__(self, "autocovariance_lags", lags)

    @property
    def longest(self) -> int:
        """The longest lag, 0 without any."""
        return max(self.autocovariance_lags, default=0)

    def phases(self, period: int) -> int:
        """Return how many phases of that period are told apart."""
        return period if self.by_phase else 1


@dataclass(frozen=True, eq=False)
class ChainStatistics:
    r"""What was measured; every phase has at least one pair at every lag.

    Infinite for a chain that overflowed, and where a square left the floating-point range.

    Attributes
    ----------
    samples
        Coordinates measured of each chain; shape ``()``, by phase ``(period,)``.
    mean, variance
        Time average of q and of ``(q - mean)^2`` (a sum over n samples divided by n); shape
        ``(chains,)``, by phase ``(period, chains)``.
    autocovariance_lags
        The lags l >= 1 asked for.
    autocovariance
        Time average of ``(q_k - a)(q_{k+l} - b)``, a and b the averages over these pairs; shape
        ``(lags, chains)``, by phase (of q_k) ``(lags, period, chains)``.
    """

    samples: NDArray[np.int64]
    mean: FloatArray
    variance: FloatArray
    autocovariance_lags: tuple[int, ...]
    autocovariance: FloatArray


class _CoMoment:
    """Count, means from an origin, and the sum of (x - mean x)(y - mean y), of each chain."""

    def __init__(self, width: int) -> None:
        self.count = 0
        self.mean_x, self.mean_y, self.total = (np.zeros(width) for _ in range(3))

    @property
    def average(self) -> FloatArray:
        """The co-moment per sample."""
        return self.total / max(self.count, 1)

    def merge(self, level: FloatArray, x: FloatArray, y: FloatArray, scratch: FloatArray) -> None:
        """Take in the samples x and y, ``(samples, chains)``, from `level` above the origin."""
        new = len(x)
        sum_x = np.add.reduce(x, axis=0)
        sum_y = sum_x if y is x else np.add.reduce(y, axis=0)
        products = np.multiply(x, y, scratch[:new])
        own = np.add.reduce(products, axis=0) - sum_x * sum_y / new
        count = self.count + new
        step_x = level + sum_x / new - self.mean_x
        step_y = step_x if y is x else level + sum_y / new - self.mean_y
        self.total += own + step_x * step_y * (self.count * new / count)
        self.mean_x = self.mean_x + step_x * (new / count)
        self.mean_y = self.mean_x if y is x else self.mean_y + step_y * (new / count)
        self.count = count


class Accumulator:
    """Measures one lane of chains, block by block."""

    def __init__(self, measure: Measure, period: int, width: int, block_steps: int) -> None:
        self._measure = measure
        self._lags = (0, *measure.autocovariance_lags)
        self._moments = [
            [_CoMoment(width) for _ in range(measure.phases(period))] for _ in self._lags
        ]
        # The measured coordinates of a block minus a level, after the last ones before it.
        self._centred = np.empty((measure.longest + block_steps, width))
        self._products = np.empty((block_steps, width))
        self._origin = self._level = np.zeros(width)
        self._before = 0

    def add(self, rows: FloatArray, first: int) -> None:
        """Measure the coordinates of steps ``first + 1, ..., first + len(rows)``."""
        begin = max(first, self._measure.burn_in)
        if begin >= first + len(rows):
            return
        rows, before = rows[begin - first :], self._before
        window = self._centred[: before + len(rows)]
        self._move_level(rows[0])
        np.subtract(rows, self._level, window[before:])
        level = self._level - self._origin
        number = begin + 1 - before  # the step of the window's first row
        for lag, phases in zip(self._lags, self._moments, strict=True):
            # Pairs whose later one is new; they belong to the phase of the earlier one.
            start, stop = max(before - lag, 0), len(window) - lag
            for phase, moment in enumerate(phases):
                own = start + (phase - number - start) % len(phases)
                if own < stop:
                    x = window[own : stop : len(phases)]
                    y = window[own + lag :: len(phases)] if lag else x
                    moment.merge(level, x, y, self._products)
        self._before = min(self._measure.longest, len(window))
        window[: self._before] = window[len(window) - self._before :]

    def _move_level(self, start: FloatArray) -> None:
        """Make the mean so far what a block is measured from, and what is kept of the last one."""
        seen = [moment.mean_x for moment in self._moments[0] if moment.count]
        if not seen:
            self._origin = self._level = start.copy()
            return
        level = self._origin + np.add.reduce(seen) / len(seen)
        self._centred[: self._before] += self._level - level
        self._level = level

    def results(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean, variance and autocovariance, with an axis of phases."""
        plain, *lagged = ([*phases] for phases in self._moments)
        return (
            np.array([self._origin + moment.mean_x for moment in plain]),
            np.array([moment.average for moment in plain]),
            np.reshape(
                [[moment.average for moment in phases] for phases in lagged],
                (len(lagged), len(plain), -1 if lagged else self._products.shape[1]),
            ),
        )


def check_measure(measure: Measure, period: int, steps: int) -> None:
    """Refuse to measure what a run of `steps` steps does not have."""
    check_type("measure", measure, Measure, "a Measure, or None for nothing")
    needed = measure.burn_in + measure.longest + measure.phases(period)
    if steps < needed:
        raise InvalidInput(
            f"a run of {steps} steps is too short for what is measured: give at least {needed}"
        )
