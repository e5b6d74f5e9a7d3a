"""The vocabulary of a diagnosis: a finding, its verdict and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

__all__ = [
    "FAULT",
    "HEALTHY",
    "NOT_OBSERVABLE",
    "VERDICTS",
    "WARNING",
    "Change",
    "Estimate",
    "Finding",
    "Rival",
]

#: Verdict: looked for, and not found.
HEALTHY = "healthy"
#: Verdict: seen, and not yet a reason to stop.
WARNING = "warning"
#: Verdict: seen, and a reason to stop or to change the run.
FAULT = "fault"
#: Verdict: the log does not hold what would tell.
NOT_OBSERVABLE = "not observable from this log"
#: From nothing to say to the worst.
VERDICTS = (NOT_OBSERVABLE, HEALTHY, WARNING, FAULT)


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval; an end that the log does not bound is infinite."""

    value: float
    low: float
    high: float
    unit: str

    def __str__(self) -> str:
        text = f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"
        return f"{text} {self.unit}" if self.unit else text

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready: an infinite end is null."""
        ends = {name: _finite(getattr(self, name)) for name in ("value", "low", "high")}
        return {**ends, "unit": self.unit}


@dataclass(frozen=True)
class Change:
    """A step at which something changed, with its 95 % interval, and the levels around it."""

    step: float
    low: float
    high: float
    before: float
    after: float

    def __str__(self) -> str:
        return f"step {self.step:g} [{self.low:g}, {self.high:g}]"

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        names = ("step", "low", "high", "before", "after")
        return {name: _finite(getattr(self, name)) for name in names}


@dataclass(frozen=True)
class Rival:
    """Another explanation of what was seen, and what would tell the two apart."""

    explanation: str
    test: str

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return {"explanation": self.explanation, "told_apart_by": self.test}


@dataclass(frozen=True)
class Finding:
    r"""What one diagnostic says of one run.

    Attributes
    ----------
    name : str
        "train-eval coupling", "advantage degeneracy", "policy concentration" or
        "dynamical instability".
    verdict : str
        One of `VERDICTS`.
    kind : str
        Which fault: such as "divergence", "collapse", "oscillation"; empty when healthy.
    value : Estimate or None
        The number the verdict is about; `value_name` says what it is.
    evidence : tuple of str
        Sentences, the decisive one first.
    onset : Change or None
        Where what is called began.
    called_at : float or None
        First step at which the log up to it gives this verdict, and gives it ever after.
    missing : tuple of str
        Which key the log would have to hold, and from which version of the trainer it exists.
    rivals : tuple of Rival
    measures : mapping of str to Estimate
        Further numbers, by name.
    """

    name: str
    verdict: str
    evidence: tuple[str, ...]
    kind: str = ""
    value: Estimate | None = None
    value_name: str = ""
    onset: Change | None = None
    called_at: float | None = None
    missing: tuple[str, ...] = ()
    rivals: tuple[Rival, ...] = ()
    measures: Mapping[str, Estimate] = field(default_factory=lambda: MappingProxyType({}))

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return {
            "name": self.name,
            "verdict": self.verdict,
            "kind": self.kind,
            "value": None if self.value is None else self.value.to_json(),
            "value_name": self.value_name,
            "evidence": list(self.evidence),
            "onset": None if self.onset is None else self.onset.to_json(),
            "called_at": self.called_at,
            "missing": list(self.missing),
            "rivals": [rival.to_json() for rival in self.rivals],
            "measures": {name: value.to_json() for name, value in self.measures.items()},
        }


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
