r"""Cross-checks of borders: where the map stops decaying, decays again, and starts to swing."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
from numpy.typing import NDArray

from numerics.exact import onset, spectral_radius, threshold
from numerics.report.crosscheck import (
    ALL,
    LAGS,
    MOMENTA,
    REFRESHES,
    Crosscheck,
    Schedule,
    case,
    configuration,
)
from numerics.simulation import OPTIMIZERS, growth_rate, simulate_linear, simulated_border

__all__ = ["onsets", "radii", "regained_stability", "swings", "thresholds"]

_SHARES = (Fraction(1), Fraction(2, 5), Fraction(-1, 2), Fraction(3, 2))
_RETURNING = (Fraction(-2), Fraction(-1, 2), Fraction(1, 2), Fraction(3, 5), Fraction(3))
_SWINGING = (Fraction(1), Fraction(2, 5), Fraction(3, 2))
_BRACKET = 1e-7  # width of the last bracket of the bisection


def thresholds(lag_model: str) -> Crosscheck:
    """Compare the exact threshold with the first x at which the map, when run, stops decaying."""
    schedules = LAGS if lag_model == "constant" else REFRESHES
    mu = np.array([[float(m)] for m in MOMENTA])
    shares = np.array([float(s) for s in _SHARES])
    deviations = {}
    for optimizer, schedule in product(OPTIMIZERS, schedules):
        found = simulated_border(
            optimizer, schedule, mu=mu, stale_share=shares, lowest=1e-3, relative_accuracy=_BRACKET
        )
        for (i, m), (j, s) in product(enumerate(MOMENTA), enumerate(_SHARES)):
            exact = threshold(configuration(optimizer, schedule, m, s)).value
            deviations[case(optimizer, schedule, m, s)] = abs(found[i, j] / exact - 1)
    return Crosscheck.of(
        f"threshold, {lag_model} lag",
        "relative difference to the border found by bisection on the map",
        deviations,
        _BRACKET,
        "the width of the last bracket of the bisection",
    )


def regained_stability() -> Crosscheck:
    """Run the map inside and between all stable intervals: shares other than 1 can regain it."""
    agreed = {}
    for optimizer, schedule, m, s in product(OPTIMIZERS, ALL, MOMENTA, _RETURNING):
        intervals = threshold(configuration(optimizer, schedule, m, s)).stable_intervals
        inside = [
            low + (high - low) * part for low, high in intervals for part in (0.01, 0.5, 0.99)
        ]
        between = [(a + b) / 2 for (_, a), (b, _) in pairwise(intervals) if a < b]
        outside = [*between, *(intervals[-1][1] * factor for factor in (1.01, 2.0, 10.0))]
        points = inside + outside
        growth = growth_rate(
            optimizer, schedule, mu=float(m), x=np.array(points), stale_share=float(s)
        )
        for number, (x, factor) in enumerate(zip(points, growth, strict=True)):
            at = f"{case(optimizer, schedule, m, s)}, x = {x:.6g}"
            agreed[at] = bool(factor < 1) == (number < len(inside))
    return Crosscheck.decided(
        "stability lost and regained",
        "whether the map decays inside and between the exact stable intervals",
        agreed,
        "decaying or not is a yes or a no",
    )


def radii() -> Crosscheck:
    """Compare the exact spectral radius with the measured growth per step."""
    deviations = {}
    for optimizer, schedule, m, s in product(OPTIMIZERS, ALL, MOMENTA, _SHARES):
        run = configuration(optimizer, schedule, m, s)
        points = np.array([0.03, 0.4, 0.97, 1.2]) * threshold(run).value
        growth = growth_rate(optimizer, schedule, mu=float(m), x=points, stale_share=float(s))
        for x, factor in zip(points, growth, strict=True):
            at = f"{case(optimizer, schedule, m, s)}, x = {x:.6g}"
            deviations[at] = abs(factor - spectral_radius(run, x))
    return Crosscheck.of(
        "spectral radius",
        "difference to the growth per step of the map",
        deviations,
        1e-7,
        "roots of the map's propagator that nearly meet keep half of a float's digits",
    )


def onsets() -> Crosscheck:
    """Look for swings of the map a thousandth below the exact onset, and a thousandth above.

    Where oscillation never begins before stability is lost, there must be none just below that.
    """
    agreed = {}
    shares = np.array([[float(s)] for s in _SWINGING])
    factors = np.array([0.999, 1.001])
    for optimizer, schedule, m in product(OPTIMIZERS, ALL, MOMENTA):
        runs = [configuration(optimizer, schedule, m, s) for s in _SWINGING]
        found = [onset(run) for run in runs]
        ends = [
            threshold(run).value if at is None else at for run, at in zip(runs, found, strict=True)
        ]
        x = np.array(ends)[:, None] * np.where([[at is None] for at in found], 0.999, factors)
        swinging = swings(optimizer, schedule, float(m), x, shares)
        for s, at, pair in zip(_SWINGING, found, swinging, strict=True):
            for factor, does in zip(factors, pair, strict=True):
                where = f"{case(optimizer, schedule, m, s)}, x = {factor} of the onset"
                agreed[where] = bool(does) == (at is not None and factor > 1)
    return Crosscheck.decided(
        "onset of oscillation",
        "whether the map swings a thousandth below the exact onset, and above it",
        agreed,
        "swinging or not is a yes or a no",
    )


def swings(
    optimizer: str,
    schedule: Schedule,
    mu: float,
    x: NDArray[np.float64],
    share: NDArray[np.float64],
) -> NDArray[np.bool_]:
    """Whether the map, run from rest, changes its sign while it shrinks from e^-150 to e^-300.

    Late, so that only the dominant root is left; and before a float underflows. The sign is looked
    at once a period of the schedule: each look then sees the same map.
    """
    times = -1 / np.log(growth_rate(optimizer, schedule, mu=mu, x=x, stale_share=share))
    late = np.maximum(300 * times, 8 * schedule.period)
    run = simulate_linear(
        optimizer,
        schedule,
        mu=mu,
        x=x,
        stale_share=share,
        steps=math.ceil(late.max()),
        record_every=schedule.period,
    )
    steps = run.steps[1:].reshape(-1, *(1 for _ in late.shape))
    watched = (steps > late / 2) & (steps <= late)
    turned = np.sign(run.path[1:]) != np.sign(run.path[:-1])
    return np.asarray(np.any(turned & watched, axis=0))
