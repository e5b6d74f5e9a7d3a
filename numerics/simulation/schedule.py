r"""When the sampling policy is refreshed: the lag of each optimizer step.

The source states two schedules that disagree, so they are two models and neither is a default:
equation (3)'s ``theta_old = theta_{k - K_ref}`` is `ConstantLag`; "the sampling policy is
refreshed every K_ref steps" is `Sawtooth`. Provenance: stated, both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from numerics.inputs import InvalidInput, whole_number


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


def check_schedule(schedule: object) -> None:
    """Refuse what is not a schedule: a bare number would hide which of the two models it means."""
    if not isinstance(schedule, Schedule):
        raise InvalidInput(f"schedule is {schedule!r}: give ConstantLag(lag) or Sawtooth(refresh)")
