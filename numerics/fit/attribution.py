r"""How much of a slow start momentum and lag can account for (theory.md 3.11; extension).

From the tau of the curve and the update, x follows from ``C/K = tau`` (at zero lag
``x = (1-mu)/tau`` for heavy ball), and with it theorem-7's mass and damping: inertia delays the
curve by M/C and puts its inflection where prop-14 says. What the curve shows beyond that is not
inertia: the drift's own nonlinearity, or prompts of unequal difficulty.
"""

from __future__ import annotations

from dataclasses import dataclass

from numerics.exact.configuration import RECURRENCES
from numerics.fit.oscillator import inflection
from numerics.fit.profile import intervals
from numerics.fit.result import Fit
from numerics.inputs import InvalidInput, known_name, whole_number
from numerics.kernels import oscillator

__all__ = ["SlowStart", "attribute_slow_start"]


@dataclass(frozen=True)
class SlowStart:
    """What the curve shows and what inertia gives; all in steps since the origin but `x`.

    Attributes
    ----------
    x
        Dimensionless stiffness per step, from tau.
    inertial_delay, inertial_inflection
        M/C, and the inflection that mass and damping give.
    shown, low, high
        Inflection of the curve with its interval, None at an open end.
    share
        `inertial_inflection` over `shown`, at most 1.
    verdict
        ``"inertia suffices"``: the inflection inertia gives is in the interval; ``"more than
        inertia"``: the curve's is later; ``"less than inertia"``: it is earlier, so momentum or
        lag are not what was said; ``"not determined"``: the interval is open and holds it.
    """

    x: float
    inertial_delay: float
    inertial_inflection: float
    shown: float
    low: float | None
    high: float | None
    share: float
    verdict: str


def attribute_slow_start(
    found: Fit,
    *,
    tau: float,
    optimizer: str,
    mu: float,
    lag: int = 0,
    stale_share: float = 1.0,
    level: float = 0.9,
) -> SlowStart:
    r"""Compare the inflection of a fitted curve with what the update's inertia can give.

    Parameters
    ----------
    found
        Any fit that reads an inflection; best the one that describes the curve.
    tau
        C/K in steps, such as ``readings["tau"]`` of the three-phase fit.
    optimizer, mu, lag, stale_share
        The update, constant lag; names as everywhere.

    Raises
    ------
    InvalidInput
        A fit without an inflection, an argument outside its domain, or a tau that this lag and
        optimizer cannot have.
    """
    known_name("optimizer", optimizer, RECURRENCES)
    lag = whole_number("lag", lag, least=0)
    if "inflection" not in found.readings:
        raise InvalidInput(f"{found.family.name} has no inflection: give a fit that reads one")
    if not 0 <= mu < 1:
        raise InvalidInput(f"mu is {mu}: momentum must lie in [0, 1)")
    if not 0 < tau < float("inf"):
        raise InvalidInput(f"tau is {tau}: give steps above 0")
    kernel = getattr(oscillator, f"{optimizer}_constant".replace("-", "_"))

    def coefficients(x: float) -> tuple[float, float, float]:
        mass, damping, stiffness = kernel(mu=mu, s=stale_share, x=x, d=lag)
        return float(mass), float(damping), float(stiffness)

    # C and K are linear in x, so C = tau K has one solution. A step that takes the gradient itself
    # (Nesterov) has none before the first, which makes the whole rise mu steps shorter than C/K.
    memory, intake, direct, passed = RECURRENCES[optimizer](mu)
    ratio = tau + memory * direct / ((1 - memory) * direct + passed * intake)
    (_, damping_0, _), (_, damping_1, stiffness_1) = coefficients(0.0), coefficients(1.0)
    slope = ratio * stiffness_1 - (damping_1 - damping_0)
    if slope <= 0:
        raise InvalidInput(f"tau is {tau:g}: with this lag and optimizer it cannot be so short")
    x = damping_0 / slope
    mass, damping, stiffness = coefficients(x)
    if mass <= 0:
        delay = bend = 0.0
    else:
        delay = mass / damping
        bend = inflection(damping / stiffness, mass * stiffness / damping**2)
    interval = intervals(found, ["inflection"], level=level)["inflection"]
    origin = found.series.origin
    low, high = (None if end is None else end - origin for end in (interval.low, interval.high))
    shown = interval.estimate - origin
    verdict = (
        "more than inertia" if low is not None and low > bend
        else "less than inertia" if high is not None and high < bend
        else "inertia suffices" if interval.determined
        else "not determined"
    )  # fmt: skip
    share = min(1.0, bend / shown) if shown > 0 else 1.0
    return SlowStart(x, delay, bend, shown, low, high, share, verdict)
