r"""Learning curves: families fitted by maximum likelihood, with intervals, ranks and ceilings.

From rewards to a verdict::

    log = numerics.logs.read_log(path)
    given = curve_of_log(log, group_size=8, prompts=4).series       # or series(step, value, ...)
    found = fit(given, "three-phase")                               # a Fit
    found.readings["tau"], found.readings["R_inf"]                  # in the theory's terms
    intervals(found, ["tau", "R_inf"], level=0.9)["tau"].determined
    ranked = compare(given)                                         # a Comparison
    ranked.best, ranked.weights["three-phase"], ranked.delta("constant")
    ranked.standing("exponential")                                  # against all the others
    held_out(given)["three-phase"].rmse
    claimed_r_squared(ranked.fits["three-phase"], ranked.fits["exponential"]).verdict
    attribute_slow_start(found, tau=100, optimizer="heavy-ball", mu=0.9).verdict

To forecast: ``found.at(step)`` returns the curve and its standard error at any steps, past or
future; ``found.noise.variance`` is the variance of a row about it, ``found.noise.share`` and
``.memory`` how much of it wanders and how long; ``found.covariance`` is that of the free
parameters and ``found.gradient(step)`` the derivative of the curve in them. ``given.head(rows)`` is
an earlier origin, and ``fit(given.head(rows), name, near=found)`` starts where a fit ended.
``found.family``, ``found.inner`` and ``found.amplitudes`` are enough to draw other curves of the
family: ``phi, _ = found.family.at(time, inner, given.span); phi @ amplitudes``.

A family is data (`Family`): another one needs basis functions with derivatives, coordinates, and
what to read off; `fit` takes it in place of a name. Times are steps since `Series.origin`, half a
step before the first row; ``inflection`` and the ``second_start`` are steps as the log counts them.
"""

from __future__ import annotations

from numerics.fit.attribution import SlowStart, attribute_slow_start
from numerics.fit.ceiling import Ceiling, ClaimedFit, ceiling, claimed_r_squared, r_squared
from numerics.fit.comparison import TOLD_APART, Comparison, TailScore, compare, held_out
from numerics.fit.families import FAMILIES, family_names, finite_group
from numerics.fit.family import Coordinate, Family
from numerics.fit.from_log import Curve, curve_of_log
from numerics.fit.noise import SPIKE, Noise
from numerics.fit.point import fit
from numerics.fit.profile import Interval, intervals
from numerics.fit.quantities import QUANTITIES, Quantity
from numerics.fit.result import Fit
from numerics.fit.series import FEWEST_ROWS, Series, check_scale, series

__all__ = [
    "FAMILIES",
    "FEWEST_ROWS",
    "QUANTITIES",
    "SPIKE",
    "TOLD_APART",
    "Ceiling",
    "ClaimedFit",
    "Comparison",
    "Coordinate",
    "Curve",
    "Family",
    "Fit",
    "Interval",
    "Noise",
    "Quantity",
    "Series",
    "SlowStart",
    "TailScore",
    "attribute_slow_start",
    "ceiling",
    "check_scale",
    "claimed_r_squared",
    "compare",
    "curve_of_log",
    "family_names",
    "finite_group",
    "fit",
    "held_out",
    "intervals",
    "r_squared",
    "series",
]
