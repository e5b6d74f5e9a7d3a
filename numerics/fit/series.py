"""A learning curve to fit: rewards by step, and what is known of how they were measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.inputs import InvalidInput, floats, whole_number

__all__ = ["FEWEST_ROWS", "Series", "check_scale", "series"]

FloatArray = NDArray[np.float64]

#: Fewer rows than this are no curve.
FEWEST_ROWS = 8
_LARGEST, _LEAST_RANGE = 1e100, 1e-140  # squares of more overflow, of less vanish


@dataclass(frozen=True, eq=False)
class Series:
    r"""Rewards by step, shape (rows,) each; made by `series`, which checks them.

    Attributes
    ----------
    step
        Increasing steps, as logged.
    value
        The reward of each row.
    group_size, prompts
        G and the prompts per step, where known; with both and `bounds` the binomial part of the
        noise is known.
    bounds
        Least and largest reward there can be, where known.
    origin
        The step at which a curve from rest starts. By default half a step before the first row:
        then the integral of the curve is the sum of the map over its steps, which is C/K exactly
        (C/K - mu for Nesterov, whose buffer starts empty).
    averaged_over
        Steps whose mean a row is (trl's ``logging_steps``); its time is the middle of them.
    """

    step: FloatArray
    value: FloatArray
    group_size: int | None
    prompts: float | None
    bounds: tuple[float, float] | None
    origin: float
    averaged_over: int

    def __len__(self) -> int:
        return int(self.step.size)

    @cached_property
    def time(self) -> FloatArray:
        """Steps since the origin, > 0 where the origin is the default."""
        return np.asarray(self.step - (self.averaged_over - 1) / 2 - self.origin)

    @property
    def spacing(self) -> float:
        """Median number of steps from a row to the next."""
        return float(np.median(np.diff(self.step)))

    @property
    def span(self) -> float:
        """Time of the last row."""
        return float(self.time[-1])

    @property
    def spread(self) -> float:
        """Standard deviation of the rewards."""
        return float(self.value.std())

    @property
    def samples(self) -> float | None:
        """Rewards behind a row, where a success rate's binomial noise follows from them."""
        if self.group_size is None or self.prompts is None or self.bounds is None:
            return None
        return self.group_size * self.prompts * self.averaged_over

    @property
    def plateaus(self) -> tuple[float, float]:
        """Least and greatest plateau: the bounds, or 10 times the range of the rewards beyond."""
        if self.bounds is not None:
            return self.bounds
        low, high = float(self.value.min()), float(self.value.max())
        return low - 10 * (high - low), high + 10 * (high - low)

    def binomial_variance(self, mean: FloatArray) -> FloatArray | None:
        r"""Return ``(mean - low)(high - mean)/(G*prompts)``, 0 outside the bounds; None if unknown.

        The variance of the mean of so many independent successes and failures.
        """
        if self.samples is None or self.bounds is None:
            return None
        low, high = self.bounds
        inside = np.clip(mean, low, high)
        return np.asarray((inside - low) * (high - inside) / self.samples)

    def head(self, rows: int) -> Series:
        """Return the series of the first rows, with the same origin."""
        return Series(
            self.step[:rows], self.value[:rows], self.group_size, self.prompts, self.bounds,
            self.origin, self.averaged_over,
        )  # fmt: skip


def check_scale(what: str, value: FloatArray) -> None:
    """Refuse numbers whose squares are not numbers: shape (n,), n >= 1, finite.

    Raises
    ------
    InvalidInput
        A size above 1e100, or a range below 1e-140 that is not 0.
    """
    largest = float(np.abs(value).max())
    if largest > _LARGEST:
        raise InvalidInput(f"{what} as large as {largest:.3g}: rescale them to below 1e100")
    if 0 < float(np.ptp(value)) < _LEAST_RANGE:
        raise InvalidInput(f"{what} differ by {np.ptp(value):.3g} at most: rescale them")


def series(
    step: ArrayLike,
    value: ArrayLike,
    *,
    group_size: int | None = None,
    prompts: float | None = None,
    bounds: tuple[float, float] | None = None,
    origin: float | None = None,
    averaged_over: int = 1,
) -> Series:
    r"""Check rewards by step and return them as a `Series`; its attributes say what each is.

    Raises
    ------
    InvalidInput
        Not finite numbers of one length, steps that do not increase, fewer rows than
        `FEWEST_ROWS`, all rewards equal, rewards outside `bounds`, or an origin after the
        first row.
    """
    given = floats(step=step, value=value)
    steps, values = given["step"], given["value"]
    if steps.ndim != 1 or steps.shape != values.shape:
        raise InvalidInput(
            f"step has shape {steps.shape} and value {values.shape}: give two columns of one length"
        )
    if steps.size < FEWEST_ROWS:
        raise InvalidInput(f"{steps.size} rows are no curve: give at least {FEWEST_ROWS}")
    if not np.all(np.diff(steps) > 0):
        raise InvalidInput("the steps do not increase: sort the rows and keep one of each step")
    if float(np.abs(steps).max()) > 1e15:
        raise InvalidInput("steps above 1e15: rescale them")
    check_scale("rewards", values)
    if float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max()):
        raise InvalidInput(f"all rewards are {values[0]:.6g}: there is no curve to fit")
    averaged_over = whole_number("averaged_over", averaged_over, least=1)
    if group_size is not None:
        group_size = whole_number("group_size", group_size, least=2)
    if prompts is not None and not 0 < float(floats(prompts=prompts)["prompts"]) < np.inf:
        raise InvalidInput(f"prompts is {prompts}: give the prompts per step, above 0")
    if bounds is not None:
        low, high = (float(end) for end in floats(bounds=bounds)["bounds"])
        if not low < high or values.min() < low or values.max() > high:
            raise InvalidInput(
                f"bounds are {low:g} and {high:g}, rewards go from {values.min():.6g} to "
                f"{values.max():.6g}: give bounds that hold them"
            )
        bounds = (low, high)
    first = float(steps[0] - (averaged_over - 1) / 2)
    start = first - 0.5 if origin is None else float(floats(origin=origin)["origin"])
    if start > first:
        raise InvalidInput(f"origin is {start:g}: it must not be after the first row, {first:g}")
    return Series(steps, values, group_size, prompts, bounds, start, averaged_over)
