r"""Cross-checks: what was derived, against what the discrete map does when it is run.

The two sides share no code: one comes from characteristic roots, the other from stepping equation
(3). A cross-check is a row of a table; it passes or it does not, and it says by how much.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from numerics.exact import Configuration
from numerics.simulation import ConstantLag, Sawtooth

__all__ = ["ALL", "LAGS", "MOMENTA", "REFRESHES", "Crosscheck", "Schedule", "case", "configuration"]

Schedule = ConstantLag | Sawtooth

MOMENTA = (Fraction(0), Fraction(1, 2), Fraction(9, 10))
LAGS: tuple[Schedule, ...] = tuple(map(ConstantLag, (0, 1, 2, 5, 8)))
REFRESHES: tuple[Schedule, ...] = tuple(map(Sawtooth, (1, 2, 3, 6)))
ALL = (*LAGS, *REFRESHES)


@dataclass(frozen=True)
class Crosscheck:
    """One quantity, computed and measured in many cases.

    Attributes
    ----------
    name
        What is checked.
    measure
        What the deviation is.
    cases
        How many comparisons were made.
    deviation
        The worst of them.
    allowed
        The largest deviation that passes.
    reason
        Why that much is allowed, and no more.
    at
        The case that deviates most; empty where none does.
    """

    name: str
    measure: str
    cases: int
    deviation: float
    allowed: float
    reason: str
    at: str

    @classmethod
    def of(
        cls, name: str, measure: str, deviations: Mapping[str, float], allowed: float, reason: str
    ) -> Crosscheck:
        """Make the row of a table from the deviation of every case; a NaN is the worst."""
        worst = {at: math.inf if math.isnan(value) else value for at, value in deviations.items()}
        at = max(worst, key=worst.__getitem__)
        return cls(name, measure, len(deviations), float(worst[at]), allowed, reason, at)

    @classmethod
    def decided(
        cls, name: str, question: str, agreed: Mapping[str, bool], reason: str
    ) -> Crosscheck:
        """Make the row of a question that has a yes or a no for an answer in every case."""
        wrong = [at for at, agrees in agreed.items() if not agrees]
        measure = f"disagreements on {question}"
        at = wrong[0] if wrong else ""
        return cls(name, measure, len(agreed), float(len(wrong)), 0.0, reason, at)

    @property
    def passed(self) -> bool:
        """Whether every case is within what is allowed."""
        return self.cases > 0 and self.deviation <= self.allowed

    def json(self) -> dict[str, object]:
        """Return the row as plain data; a deviation that is no finite number is null."""
        return {
            "name": self.name,
            "measure": self.measure,
            "cases": self.cases,
            "deviation": self.deviation if math.isfinite(self.deviation) else None,
            "allowed": self.allowed,
            "reason": self.reason,
            "at": self.at,
            "passed": self.passed,
        }


def configuration(
    optimizer: str, schedule: Schedule, mu: Fraction, stale_share: Fraction
) -> Configuration:
    """Return the exact theory's name for a simulated run."""
    if isinstance(schedule, ConstantLag):
        return Configuration(optimizer, "constant", mu, stale_share, lag=schedule.lag)
    return Configuration(optimizer, "sawtooth", mu, stale_share, refresh=schedule.refresh)


def case(optimizer: str, schedule: Schedule, mu: Fraction, stale_share: Fraction) -> str:
    """Return the words for one case."""
    if isinstance(schedule, ConstantLag):
        lag = f"lag {schedule.lag}"
    else:
        lag = f"refresh {schedule.refresh}"
    return f"{optimizer}, {lag}, mu = {mu}, stale share {stale_share}"
