r"""x for people who know how fast their run relaxes and not how stiff it is.

chi is linear in x, so at a given real root z the stiffness per step is
``x = (1 - z)(1 - mu/z)/(G(z) (1 - s + s E z**-D))``, and a run that relaxes as ``exp(-t/tau)`` has
the root ``z = exp(-1/tau)``. As x grows from 0 the dominant root falls from 1 until the onset of
oscillation; that branch is meant. Past the onset the modulus rises again, so the same tau occurs
at a larger x too, in a run that swings. Under sawtooth lag the monodromy matrix is not linear in x,
and x is searched for instead (extension).
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache

import numpy as np

from numerics import exact
from numerics.exact import Configuration
from numerics.exact.arithmetic import decimal, digits_for, magnitude, working
from numerics.inputs import InvalidInput

__all__ = ["stiffness_at_root", "stiffness_from_tau", "too_short"]

_AGREES = 1e-9  # of the relaxation time found at x, against the one asked for
_STEP = math.log(10) / 16  # of the search that brackets x, in log x


def stiffness_from_tau(c: Configuration, tau: Fraction) -> Fraction:
    r"""Return the smallest x at which the run relaxes as ``exp(-t/tau)``, its own lag included.

    Parameters
    ----------
    c
        The run; `tau` is that of this run, with this lag.
    tau
        Relaxation time in steps, above 0.

    Raises
    ------
    InvalidInput
        If `tau` is not above 0, or is shorter than the run can have without oscillating; says how
        short it can be.
    """
    if tau <= 0:
        raise InvalidInput(f"tau is {tau}: the relaxation time must be above 0 steps")
    return _constant(c, tau) if c.constant else _sawtooth(c, tau)


def stiffness_at_root(
    c: Configuration, law: dict[int, Fraction], tau: Fraction
) -> Fraction | None:
    r"""Return x for the root ``exp(-1/tau)`` at the lags of `law`, None if no x > 0 has it.

    The root need not be the dominant one. `law` maps lags to their probabilities.
    """
    if 1 / tau > 1000:
        return None  # a root below 1e-434: no run that is not over in one step has it
    digits = digits_for(c) + 2 * magnitude(tau)
    with working(digits):
        z = (-1 / decimal(tau)).exp()
        g0, g1 = map(decimal, c.recurrence.gain)
        mean = sum((decimal(p) / z**lag for lag, p in law.items()), Decimal(0))
        force = (g0 + g1 / z) * (decimal(1 - c.share) + decimal(c.share) * mean)
        x = (1 - z) * (1 - decimal(c.momentum) / z) / force if force else Decimal(0)
    with working(40):
        return Fraction(+x) if x > 0 else None


def too_short(tau: Fraction, shortest: float | None, x: float | None) -> InvalidInput:
    """Return the refusal of a `tau` that the branch without oscillation does not reach."""
    reach = (
        "" if shortest is None else f": that takes {shortest:.6g} steps or more (at x = {x:.6g})"
    )
    return InvalidInput(
        f"tau is {float(tau):g} steps, shorter than this run can have without oscillating{reach}; "
        "measure tau on a run that does not swing, or give x"
    )


def _constant(c: Configuration, tau: Fraction) -> Fraction:
    x = stiffness_at_root(c, {c.delay: Fraction(1)}, tau)
    if x is not None and _same(exact.relaxation_time(c, x), tau):
        return x
    end = exact.onset(c)
    raise too_short(tau, None if end is None else exact.relaxation_time(c, end), end)


def _sawtooth(c: Configuration, tau: Fraction) -> Fraction:
    """Search x upwards from where the run is slower than `tau`, to the onset or the threshold."""
    from scipy.optimize import brentq, minimize_scalar

    @cache
    def excess(log_x: float) -> float:
        found = exact.relaxation_time(c, math.exp(log_x))
        return math.inf if found is None else math.log(max(found, 1e-300)) - math.log(tau)

    onset = exact.onset(c)
    end = math.log(exact.threshold(c).value if onset is None else onset)
    mean_lag = max(Fraction(0), c.share) * (c.delay - 1) / 2
    start = min(_log((1 - c.momentum) / (tau + mean_lag) / 4), end)
    while excess(start) <= 0:
        start -= math.log(4)
    places = [*np.arange(start, end, _STEP).tolist(), end]
    seen = [start]
    for low, high, beyond in zip(places, places[1:], [*places[2:], end], strict=False):
        if 0 < excess(high) < min(excess(low), excess(beyond)):
            # The eigenvalue may come close to 0 and turn back, within a step.
            high = minimize_scalar(excess, bounds=(low, beyond), method="bounded").x
        if excess(high) <= 0:
            found: float = brentq(excess, low, high, xtol=1e-16, rtol=1e-15)
            return Fraction(math.exp(found))
        seen.append(high)
    best = math.exp(min(seen, key=excess))
    raise too_short(tau, exact.relaxation_time(c, best), best)


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _same(found: float | None, tau: Fraction) -> bool:
    return found is not None and abs(found - float(tau)) <= _AGREES * float(tau)
