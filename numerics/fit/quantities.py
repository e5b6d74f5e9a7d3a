"""What a fit reports: names, units, how an interval is searched, where it must end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from numerics.fit.result import Fit

__all__ = ["QUANTITIES", "Quantity", "ends_of"]

#: Beyond this many times the length of the log no time can be told from any other.
LONGEST = 20.0


@dataclass(frozen=True)
class Quantity:
    """A quantity of a fitted curve.

    `kind` is ``"reward"``, ``"step"`` (counted as in the log), ``"duration"`` (steps), ``"rate"``
    (per step) or ``"number"``.
    """

    kind: str
    meaning: str


#: Name -> kind and meaning of every number that a fit can report.
QUANTITIES: Mapping[str, Quantity] = {
    "R_inf": Quantity("reward", "plateau: the fixed point"),
    "R_0": Quantity("reward", "reward at the origin"),
    "first_plateau": Quantity("reward", "plateau of the first rise alone"),
    "tau": Quantity("duration", "C/K of the oscillator: the delay of the whole rise (eq-15)"),
    "relaxation_time": Quantity("duration", "in which the slowest mode falls by e, lag included"),
    "damping_ratio": Quantity("number", "C/sqrt(4 M K): below 1 it swings"),
    "inertial_delay": Quantity("duration", "M/C, the delay inertia gives (theory.md 3.11)"),
    "x_over_damping": Quantity("rate", "K/C = 1/tau; at zero lag x/(1-mu)"),
    "period": Quantity("duration", "of the swing"),
    "inflection": Quantity("step", "where the curve is steepest"),
    "second_start": Quantity("step", "where the second rise starts from rest"),
    "second_tau": Quantity("duration", "C/K of the second rise"),
    "second_damping_ratio": Quantity("number", "of the second rise"),
    "second_inflection": Quantity("step", "where the second rise is steepest"),
    "eta": Quantity("rate", "step size of the logit of success"),
    "p_0": Quantity("number", "success probability at the origin"),
    "C_mid": Quantity("duration", "steps to half the rise"),
    "B": Quantity("number", "exponent of the compute law"),
}


def ends_of(name: str, found: Fit) -> tuple[float, float, bool, bool]:
    """Return where the search for an interval ends, and whether each end is one of nature.

    A natural end closes the interval: a reward has its bounds, a duration is positive, a curve from
    rest cannot be steepest before its origin. At another end the search gives up, and the interval
    is open there.
    """
    kind, given = QUANTITIES[name].kind, found.series
    longest = LONGEST * given.span
    if kind == "reward":
        return (*given.plateaus, *(given.bounds is not None,) * 2)
    if kind == "step":
        rest = from_rest(found)
        first = given.origin + 1e-2 * given.spacing if rest else given.origin - longest
        return first, given.origin + longest, rest, False
    if kind == "duration":
        return 1e-2 * given.spacing, longest, True, False
    if kind == "rate":
        return 1 / longest, 100 / given.spacing, False, True
    if name == "p_0":
        return 0.0, 1.0, True, True
    source = _SOURCES.get(name, name)
    ends = next((c.low, c.high) for c in found.family.coordinates if c.name == source)
    if source != name:  # the damping ratio is 1/(2 sqrt(rho))
        ends = (0.5 * ends[1] ** -0.5, 0.5 * ends[0] ** -0.5)
    return *ends, False, False


def from_rest(found: Fit) -> bool:
    """Whether a curve of this family starts at its origin, and cannot be steepest before."""
    return "half" not in found.values


#: The coordinate behind a number that is not one.
_SOURCES = {"damping_ratio": "rho", "second_damping_ratio": "second_rho"}
