"""What the experiment runs and what it expects to find: data, in ``plan.toml``."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from numerics.simulation import STALENESS, ConstantLag, Sawtooth

__all__ = [
    "LAG_MODELS",
    "Plan",
    "Schedule",
    "Search",
    "Setting",
    "System",
    "delay",
    "lag_model",
    "load",
]

Schedule = ConstantLag | Sawtooth

LAG_MODELS = ("constant", "sawtooth")


@dataclass(frozen=True)
class Setting:
    """A two-arm bandit: where it comes to rest, and the KL weight that keeps it there."""

    p_star: float
    beta: float


@dataclass(frozen=True)
class System:
    """A bandit of any shape: rewards and reference logits, a row a prompt."""

    id: str
    name: str
    rewards: list[list[float]]
    reference: list[Any]
    coordinates: str
    beta: float


@dataclass(frozen=True)
class Search:
    r"""How step sizes are searched, all in units of the dimensionless stiffness eta K.

    Attributes
    ----------
    lowest, highest, per_decade
        The climb: from, to, and step sizes tried in each decade.
    sections
        Parts into which the step that brought the change is divided.
    run_length
        Length of a run over the memory of the update, ``lag + (1 + mu)/(1 - mu)`` steps.
    onset_tolerance
        Relative deviation up to which a transition found by running agrees with a predicted one.
    """

    lowest: float
    highest: float
    per_decade: int
    sections: int
    run_length: int
    onset_tolerance: float

    @property
    def step(self) -> float:
        """Relative width of a step of the climb: what is narrower can be missed."""
        return math.expm1(math.log(10) / self.per_decade)

    @property
    def width(self) -> float:
        """Relative width of the last bracket."""
        return math.expm1(math.log(10) / self.per_decade / (self.sections + 1))


@dataclass(frozen=True)
class Plan:
    """Everything the experiment is told."""

    settings: tuple[Setting, ...]
    systems: tuple[System, ...]
    system_schedules: tuple[Schedule, ...]
    momenta: tuple[float, ...]
    schedules: tuple[Schedule, ...]
    beyond: tuple[float, ...]
    search: Search
    expected: Mapping[str, str]

    @property
    def pieces(self) -> Iterator[tuple[Schedule, str]]:
        """Each schedule with each staleness: what is run in one go."""
        return ((schedule, name) for schedule in self.schedules for name in STALENESS)

    def steps(self, schedule: Schedule) -> int:
        """Length of the runs under a schedule."""
        slowest = max(self.momenta)
        return math.ceil(self.search.run_length * (delay(schedule) + (1 + slowest) / (1 - slowest)))


def lag_model(schedule: Schedule) -> str:
    """Return the lag model's name."""
    return "constant" if isinstance(schedule, ConstantLag) else "sawtooth"


def delay(schedule: Schedule) -> int:
    """Return the lag or the refresh interval, whichever the schedule has."""
    return schedule.lag if isinstance(schedule, ConstantLag) else schedule.refresh


def load(*, quick: bool) -> Plan:
    """Read the plan; `quick` is the same on fewer lags, to a coarser resolution."""
    text = resources.files("numerics.experiments.bandit").joinpath("plan.toml").read_text("utf-8")
    data: dict[str, Any] = tomllib.loads(text)
    if quick:
        data |= data["quick"]
    return Plan(
        settings=tuple(Setting(**row) for row in data["setting"]),
        systems=tuple(System(**row) for row in data["system"]),
        system_schedules=tuple(map(ConstantLag, data["system_lags"])),
        momenta=tuple(data["momenta"]),
        schedules=(*map(ConstantLag, data["lags"]), *map(Sawtooth, data["refreshes"])),
        beyond=tuple(data["beyond"]),
        search=Search(**data["search"]),
        expected=data.get("expect", {}),
    )
