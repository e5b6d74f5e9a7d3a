r"""Cross-checks of motion: fluctuations, theorem 7's curve and rate, the bandit's stiffness."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from numerics.exact import (
    Configuration,
    onset,
    relaxation_time,
    stationary_variance,
    threshold,
    trajectory,
)
from numerics.kernels import oscillator, staleness
from numerics.report.crosscheck import ALL, MOMENTA, Crosscheck, Schedule, case, configuration
from numerics.simulation import (
    OPTIMIZERS,
    STALENESS,
    ConstantLag,
    Sawtooth,
    growth_rate,
    simulate_linear,
    stationary_variance_run,
    two_arm_drift,
)

__all__ = [
    "curve_orders",
    "impulse_variance",
    "impulse_variances",
    "kick_responses",
    "noisy_variances",
    "rate_orders",
    "stiffnesses",
]

Floats = NDArray[np.float64]

_SHARES = (Fraction(1), Fraction(2, 5), Fraction(-1, 2), Fraction(3, 2))
_TRUNCATED = tuple(map(ConstantLag, (0, 1, 4)))
_CHAINS = 400
_FALSE_ALARM = 1e-6
_SEED = 20260629  # fixed, so that the check is the same every time


def impulse_variances() -> Crosscheck:
    """Compare the exact variance with the squared response of the map to one kick, summed."""
    deviations = {}
    shares = np.array([[float(s)] for s in _SHARES])
    for optimizer, schedule, m in product(OPTIMIZERS, ALL, MOMENTA):
        runs = [configuration(optimizer, schedule, m, s) for s in _SHARES]
        x = np.array([[threshold(run).value] for run in runs]) * [0.3, 0.9]
        summed = impulse_variance(optimizer, schedule, mu=float(m), x=x, stale_share=shares)
        for run, s, row, points in zip(runs, _SHARES, summed, x, strict=True):
            for variance, at in zip(row, points, strict=True):
                where = f"{case(optimizer, schedule, m, s)}, x = {at:.6g}"
                deviations[where] = abs(variance / stationary_variance(run, at) - 1)
    return Crosscheck.of(
        "stationary variance, exact",
        "relative difference to the summed square of the map's response to one kick",
        deviations,
        1e-12,
        "rounding of sums of some thousand floats",
    )


def impulse_variance(
    optimizer: str, schedule: Schedule, *, mu: float, x: Floats, stale_share: Floats
) -> Floats:
    """Return the stationary variance of the map per unit noise, from its response to one kick.

    White noise is a kick of variance 1 at every step, so the variance is the sum of the squares of
    the response to one of them, averaged over the phase of the schedule at which it comes.
    """
    path = kick_responses(optimizer, schedule, mu=mu, x=x, stale_share=stale_share)
    return np.asarray((path**2).sum(axis=0).mean(axis=0))


def kick_responses(
    optimizer: str, schedule: Schedule, *, mu: float, x: Floats, stale_share: Floats
) -> Floats:
    """Run the map from rest after one kick, until nothing is left of it.

    Returns
    -------
    ndarray
        Paths of shape ``(steps + 1, period, *shape)``: one for each phase of the schedule at which
        the kick can come.
    """
    growth = growth_rate(optimizer, schedule, mu=mu, x=x, stale_share=stale_share)
    period = schedule.period
    slowest = float(max(growth.max(), 1e-9))  # at x = 1 plain gradient descent ends in one step
    steps = math.ceil(-20 / math.log(slowest)) + 2 * (period + schedule.longest)
    kicks = np.zeros((steps, period, *(1 for _ in growth.shape)))
    kicks[np.arange(period), np.arange(period)] = 1
    return simulate_linear(
        optimizer,
        schedule,
        mu=mu,
        x=x,
        stale_share=stale_share,
        steps=steps,
        initial=0.0,
        noise=kicks,
        noise_enters="recurrence",
    ).path


def noisy_variances() -> Crosscheck:
    """Compare the exact variance with a noisy run of the map, in standard errors."""
    from scipy.stats import t as student

    deviations: dict[str, float] = {}
    half, shares = Fraction(1, 2), (Fraction(1), Fraction(-1, 2))
    schedules: tuple[Schedule, ...] = (ConstantLag(0), ConstantLag(3), Sawtooth(4))
    for optimizer, schedule, s in product(OPTIMIZERS, schedules, shares):
        run = configuration(optimizer, schedule, half, s)
        points = np.array([0.2, 0.8]) * threshold(run).value
        measured = stationary_variance_run(
            optimizer, schedule, mu=0.5, x=points, stale_share=float(s),
            noise_enters="recurrence", chains=_CHAINS, steps=600,
            rng=np.random.default_rng([_SEED, len(deviations)]),
        )  # fmt: skip
        found = zip(points, measured.variance, measured.standard_error, strict=True)
        for x, variance, error in found:
            at = f"{case(optimizer, schedule, half, s)}, x = {x:.6g}"
            deviations[at] = abs(variance - stationary_variance(run, x)) / error
    return Crosscheck.of(
        "stationary variance, noisy run",
        f"standard errors between the exact variance and the mean of {_CHAINS} noisy chains",
        deviations,
        float(student.isf(_FALSE_ALARM / (2 * len(deviations)), _CHAINS - 1)),
        f"true values fail once in {1 / _FALSE_ALARM:,.0f} such sets of runs (Student's t); the "
        "seed is fixed",
    )


def curve_orders() -> Crosscheck:
    """Halve x: the gap between theorem 7's curve and the map must halve as well."""
    deviations = {}
    shares = (Fraction(1), Fraction(-1, 2))
    for optimizer, schedule, m, s in product(
        OPTIMIZERS, (ConstantLag(0), ConstantLag(4)), MOMENTA[1:], shares
    ):
        run = configuration(optimizer, schedule, m, s)
        x = _small_stiffness(run, 0.02)
        time = relaxation_time(run, x[-1])
        assert time is not None  # far below the threshold
        path = simulate_linear(
            optimizer, schedule, mu=float(m), x=x, stale_share=float(s), steps=math.ceil(3 * time)
        ).path
        mass, damping, stiffness = _coefficients(optimizer, schedule, m, x, s)
        curve = trajectory(mass, damping, stiffness, np.arange(len(path))[:, None])
        order = _order(np.abs(path - curve).max(axis=0))
        deviations[case(optimizer, schedule, m, s)] = abs(order - 1)
    return Crosscheck.of(
        "theorem 7, its curve",
        "difference to 1 of the observed order in x of the gap to the map's path",
        deviations,
        0.1,
        "at a fiftieth of the onset the next order still adds some hundredths",
    )


def rate_orders() -> Crosscheck:
    """Halve x: the relative error of theorem 7's slow rate must fall to a quarter."""
    deviations = {}
    for optimizer, schedule, m, s in product(OPTIMIZERS, _TRUNCATED, MOMENTA, _SHARES):
        run = configuration(optimizer, schedule, m, s)
        x = _small_stiffness(run, 1e-2)
        mass, damping, stiffness = _coefficients(optimizer, schedule, m, x, s)
        slow = 2 * stiffness / (damping + np.sqrt(damping**2 - 4 * mass * stiffness))
        growth = growth_rate(optimizer, schedule, mu=float(m), x=x, stale_share=float(s))
        error = np.abs(slow / -np.log(growth) - 1)
        deviations[case(optimizer, schedule, m, s)] = max(0.0, 2 - _order(error))
    return Crosscheck.of(
        "theorem 7, its slow rate",
        "shortfall from 2 of the observed order in x of the error against the map's decay",
        deviations,
        0.1,
        "at a hundredth of the onset the next order still adds some hundredths",
    )


def _small_stiffness(run: Configuration, part: float) -> Floats:
    """Return a stiffness that is small against the onset, and its half."""
    start = onset(run)
    assert start is not None  # constant lag always has one
    return np.array([1.0, 0.5]) * part * start


def _coefficients(
    optimizer: str, schedule: Schedule, mu: Fraction, x: Floats, stale_share: Fraction
) -> tuple[Floats, Floats, Floats]:
    """Return theorem 7's mass, damping and stiffness at every x."""
    kernel = getattr(oscillator, f"{optimizer.replace('-', '_')}_constant")
    mass, damping, stiffness = kernel(mu=float(mu), x=x, d=schedule.longest, s=float(stale_share))
    return mass, damping, stiffness


def _order(errors: Floats) -> float:
    """Return the order at which an error falls when its parameter is halved."""
    return float(np.log2(errors[0] / errors[1]))


def stiffnesses() -> Crosscheck:
    """Compare the derived stiffness, fresh and stale, with the bandit's response to a nudge."""
    deviations = {}
    step = 1e-4
    for name, p, beta in product(STALENESS, (0.2, 0.5, 0.8), (1.0, 3.0)):
        theta = math.log(p / (1 - p))
        # The reference whose fixed point is p: the drift at rest is linear in its logit.
        rest = float(two_arm_drift(name, beta=beta, theta_ref=0.0)(theta, theta))
        drift = two_arm_drift(name, beta=beta, theta_ref=-rest / (beta * p * (1 - p)))
        fresh = (drift(theta - step, theta) - drift(theta + step, theta)) / (2 * step)
        stale = (drift(theta, theta - step) - drift(theta, theta + step)) / (2 * step)
        derived = getattr(staleness, name.replace("-", "_"))(beta=beta, p_star=p)
        for part, measured, value in zip(
            ("fresh", "stale"), (fresh, stale), derived[:2], strict=True
        ):
            deviations[f"{part} part, {name}, p* = {p}, beta = {beta}"] = abs(measured - value)
    return Crosscheck.of(
        "stiffness, fresh and stale",
        "difference to the response of the two-arm bandit's drift to a nudge of the logit",
        deviations,
        1e-7,
        "central differences with a step of 1e-4 err by its square",
    )
