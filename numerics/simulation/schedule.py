r"""When the sampling policy is refreshed: the lag of each optimizer step.

The source states two schedules that disagree, so they are two models and neither is a default:
equation (3)'s ``theta_old = theta_{k - K_ref}`` is `ConstantLag`; "the sampling policy is
refreshed every K_ref steps" is `Sawtooth`. Provenance: stated, both. `RandomLag` is an extension.

A `Schedule` says the lag of every step. A `RandomLag` says only how lags are drawn: drawn once for
a run it is a schedule (`GivenLags`); many chains draw for each chain its own (`simulate_chains`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, floats, whole_number, whole_numbers

#: How far from 1 probabilities may add up: what rounding each of them can cost, and not more.
_SUM_TOLERANCE = 1e-12


@runtime_checkable
class Schedule(Protocol):
    """What the discrete map asks of a lag schedule; any class with these members will do."""

    @property
    def longest(self) -> int:
        """The longest lag that can occur, in steps: how much history the map has to keep."""

    @property
    def period(self) -> int:
        """Steps after which the schedule repeats; averages are taken over whole periods."""

    def lag_at(self, step: int) -> int:
        """Return the age, in steps, of the sampling policy at optimizer step ``step >= 0``."""


@dataclass(frozen=True)
class ConstantLag:
    r"""Every step samples from the policy of `lag` steps ago: ``theta_old = theta_{k - lag}``.

    Parameters
    ----------
    lag
        d >= 0, in steps; 0 is on-policy.

    Raises
    ------
    InvalidInput
        `lag` is negative or not a whole number.
    """

    lag: int

    def __post_init__(self) -> None:
        whole_number("lag", self.lag, least=0)

    @property
    def longest(self) -> int:
        """The lag itself."""
        return self.lag

    @property
    def period(self) -> int:
        """1: every step is alike."""
        return 1

    def lag_at(self, step: int) -> int:
        """Return `lag`, whatever the step."""
        return self.lag


@dataclass(frozen=True)
class Sawtooth:
    r"""The sampling policy is refreshed every `refresh` steps: lag 0, 1, ..., refresh - 1, 0, ...

    Parameters
    ----------
    refresh
        N >= 1, in steps; 1 is on-policy.

    Raises
    ------
    InvalidInput
        `refresh` is below 1 or not a whole number.
    """

    refresh: int

    def __post_init__(self) -> None:
        whole_number("refresh", self.refresh, least=1)

    @property
    def longest(self) -> int:
        """``refresh - 1``, the lag of the last step before a refresh."""
        return self.refresh - 1

    @property
    def period(self) -> int:
        """`refresh`."""
        return self.refresh

    def lag_at(self, step: int) -> int:
        """Return ``step mod refresh``: the steps since the last refresh."""
        return step % self.refresh


@dataclass(frozen=True)
class GivenLags:
    r"""The lag of each step written out; after the last one they start again.

    Parameters
    ----------
    lags
        Lag of steps 0, 1, ..., each >= 0; at least one.

    Raises
    ------
    InvalidInput
        No lags, or one that is negative or not a whole number.
    """

    lags: tuple[int, ...]

    def __post_init__(self) -> None:
        lags = whole_numbers("lags", self.lags, least=0)
        if not lags:
            raise InvalidInput("lags is empty: give the lag of at least one step")
        object.__setattr__(self, "lags", lags)

    @property
    def longest(self) -> int:
        """The longest of the lags."""
        return max(self.lags)

    @property
    def period(self) -> int:
        """How many lags are given."""
        return len(self.lags)

    def lag_at(self, step: int) -> int:
        """Return the lag of that step."""
        return self.lags[step % len(self.lags)]


@dataclass(frozen=True)
class RandomLag:
    r"""The lag is drawn afresh at every step, independently of everything else.

    Parameters
    ----------
    law
        Probabilities ``(p_0, ..., p_L)`` of the lags 0 to L, in steps; they sum to 1.

    Raises
    ------
    InvalidInput
        `law` is empty, has a negative or non-finite entry, or does not sum to 1 within 1e-12.

    Notes
    -----
    Extension: asynchronous trainers, whose batches wait a varying number of updates.
    """

    law: tuple[float, ...]

    def __post_init__(self) -> None:
        law = floats(law=self.law)["law"]
        if law.ndim != 1 or not law.size:
            raise InvalidInput(f"law is {self.law!r}: give the probabilities of lags 0, 1, ..., L")
        if law.min() < 0:
            raise InvalidInput(f"law holds {law.min()}: a probability must be >= 0")
        total = float(law.sum())
        if abs(total - 1) > _SUM_TOLERANCE:
            raise InvalidInput(f"law sums to {total!r}: probabilities must sum to 1")
        object.__setattr__(self, "law", tuple(law.tolist()))

    @property
    def longest(self) -> int:
        """The longest lag of positive probability."""
        return int(np.flatnonzero(self.law)[-1])

    @property
    def period(self) -> int:
        """1: every step is alike."""
        return 1

    def lags(self, uniform: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the lags that numbers uniform on [0, 1) stand for, of the same shape."""
        borders = np.cumsum(self.law)[: self.longest]
        return np.asarray(np.searchsorted(borders, uniform, side="right"), dtype=np.int64)

    def drawn(self, steps: int, rng: np.random.Generator) -> GivenLags:
        """Return the schedule of one run of `steps` steps, one uniform number of `rng` a step."""
        steps = whole_number("steps", steps, least=1)
        return GivenLags(tuple(self.lags(rng.random(steps)).tolist()))


def check_schedule(schedule: object) -> None:
    """Refuse what is not a schedule: a bare number would hide which of the models it means."""
    if isinstance(schedule, RandomLag):
        raise InvalidInput("a RandomLag has no lags yet: give RandomLag(law).drawn(steps, rng)")
    if not isinstance(schedule, Schedule):
        raise InvalidInput(f"schedule is {schedule!r}: give ConstantLag(lag) or Sawtooth(refresh)")
