"""When a training may be stopped: a rule is a function from findings to a reason, or None."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from numerics.diagnose import FAULT
from numerics.inputs import InvalidInput, floats, known_name
from numerics.integrations.findings import Findings
from numerics.integrations.outlook import gained, most_to_come

__all__ = ["DIAGNOSTIC_NAMES", "Rule", "StopOnFault", "StopWhenLittleIsLeft"]

#: Returns why training should stop, or None.
Rule: TypeAlias = Callable[[Findings], str | None]

#: The diagnostics that a rule can be about, in the order they are told in.
DIAGNOSTIC_NAMES = (
    "train-eval coupling",
    "advantage degeneracy",
    "policy concentration",
    "dynamical instability",
)


@dataclass(frozen=True)
class StopOnFault:
    r"""Stop when the named diagnostic calls a fault; a warning does not stop.

    Raises
    ------
    UnknownName
        No diagnostic has that name.
    """

    diagnostic: str

    def __post_init__(self) -> None:
        known_name("diagnostic", self.diagnostic, DIAGNOSTIC_NAMES)

    def __call__(self, findings: Findings) -> str | None:
        """Return the fault in words, or None."""
        if findings.diagnosis is None:
            return None
        finding = findings.diagnosis.finding(self.diagnostic)
        if finding.verdict != FAULT:
            return None
        return f"fault: {finding.name} ({finding.kind}): {finding.evidence[0]}"


@dataclass(frozen=True)
class StopWhenLittleIsLeft:
    r"""Stop when, by the forecast, at most a share of the whole gain remains, and that is likely.

    The whole gain is what was gained since the first logged row plus what remains. While it is
    too early to forecast, or nothing has been gained yet, it does not stop.

    Parameters
    ----------
    share : float
        Of the whole gain, between 0 and 1.
    probability : float
        Above 0.5, below 1.

    Raises
    ------
    InvalidInput
        A number out of range.
    """

    share: float
    probability: float

    def __post_init__(self) -> None:
        least = {"share": 0.0, "probability": 0.5}
        for name, low in least.items():
            value = getattr(self, name)
            given = floats(**{name: value})[name]
            if given.ndim or not low < given < 1:
                raise InvalidInput(f"{name} is {value}: give a number above {low:g} and below 1")

    def __call__(self, findings: Findings) -> str | None:
        """Return how little is left in words, or None."""
        found = findings.forecast
        if found is None or found.verdict == "too early to tell":
            return None
        so_far = gained(found)
        if so_far <= 0:
            return None
        most = most_to_come(found, self.probability)
        # remaining <= share * (so far + remaining)
        if most * (1 - self.share) > self.share * so_far:
            return None
        return (
            f"with probability {self.probability:g} at most {self.share:.3g} of the whole gain "
            f"remains: {most:.3g} at most, after {so_far:.3g} so far"
        )
