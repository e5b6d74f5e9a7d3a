"""Stationary variance at lag 64, against SciPy's Lyapunov solver on the companion matrix."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import solve_discrete_lyapunov

from benchmarks.companion import companion
from benchmarks.harness import Row, faster, measured, value
from numerics.dynamics import stationary_variance

_LAG = 64


def _variance(mu: float, x: ArrayLike) -> Any:
    return stationary_variance(
        "heavy-ball", mu=mu, x=x, stale_share=1, lag=_LAG, noise_enters="recurrence"
    )


def by_scipy(mu: float, x: float, lag: int = _LAG) -> float:
    """Return the variance of q for white noise of variance 1 added to the recurrence."""
    matrix = companion(mu, x, lag)
    noise = np.zeros_like(matrix)
    noise[0, 0] = 1
    return float(solve_discrete_lyapunov(matrix, noise)[0, 0])


def in_fifty_digits(mu: float, x: float, lag: int = _LAG) -> mpmath.mpf:
    """Return the variance from the Yule-Walker equations in 50 digits, of exactly these floats."""
    with mpmath.workdps(50 + 20):
        mu, x = mpmath.mpf(mu), mpmath.mpf(x)
        order = lag + 1
        taps = [mpmath.mpf(0)] * (order + 1)
        taps[0], taps[1], taps[2] = mpmath.mpf(1), -(1 + mu), mu
        taps[order] += x
        rows = mpmath.zeros(order + 1)
        for i in range(order + 1):
            for j, tap in enumerate(taps):
                rows[i, abs(i - j)] += tap
        right = mpmath.zeros(order + 1, 1)
        right[0] = 1
        return mpmath.lu_solve(rows, right)[0]


def measure(quick: bool) -> Row:
    """Measure the row of the variance."""
    rounds = 3 if quick else 9
    mu, x = 0.9, 5e-4
    batch = np.geomspace(1e-12, 5e-4, 256)

    times = measured(
        {
            "one": lambda: _variance(mu, x),
            "many": lambda: _variance(mu, batch),
            "scipy": lambda: by_scipy(mu, x),
        },
        rounds=rounds,
    )
    checked = (
        [(0.9, 1e-12), (0.9, 5e-4)]
        if quick
        else [(m, y) for m in (0.0, 0.9, 0.99) for y in (1e-12, 1e-9, 1e-6, 1e-3 * (1 - m))]
    )
    exact = [in_fifty_digits(m, y) for m, y in checked]
    errors = [
        max(
            float(abs(float(variance(m, y)) / wanted - 1))
            for (m, y), wanted in zip(checked, exact, strict=True)
        )
        for variance in (_variance, by_scipy)
    ]
    return Row(
        "stationary variance at lag 64",
        ">= 10x `solve_discrete_lyapunov`, within 1e-10 of 50 digits for x >= 1e-12",
        [
            faster("one value: over SciPy", times["one"], times["scipy"], least=10),
            faster(
                f"{batch.size} values at once: over SciPy",
                times["many"],
                times["scipy"],
                work=batch.size,
                least=10,
            ),
            value("largest relative error, x from 1e-12", errors[0], "", most=1e-10),
            value("the same of SciPy on the companion form", errors[1], ""),
        ],
        (
            "`numerics.dynamics.stationary_variance`, heavy ball, whole force stale; against "
            "`scipy.linalg.solve_discrete_lyapunov` on the 65 x 65 companion matrix. The 50 digits "
            "come from the Yule-Walker equations solved by mpmath.",
        ),
        "A single value is computed in plain floats: as arrays of one number it took 0.9 ms, some "
        "500 NumPy calls, and was 1.7x. What is left is a third of arithmetic, six doublings of a "
        "2 x 2 two-port and the stability of the run, and two thirds of checked arguments.",
    )
