"""Learning curves: all families at once, and the three-phase law against lmfit."""

from __future__ import annotations

from typing import Any

import lmfit
import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, faster, measured, rate, value
from numerics.fit import FAMILIES, Series, compare, series
from numerics.fit.projection import Problem, Solution, free

FloatArray = NDArray[np.float64]

_TRUTH = {"R_inf": 0.8, "R_0": 0.2, "tau": 60.0, "rho": 0.15}
_LAW = FAMILIES["three-phase"]


def curve(t: FloatArray, R_inf: float, R_0: float, tau: float, rho: float) -> FloatArray:
    """Return the three-phase law as one would write it for lmfit, both regimes."""
    gamma, wave = 1 / (2 * rho * tau), np.sqrt(complex(1 - 4 * rho)) / (2 * rho * tau)
    slow, fast = gamma - wave, gamma + wave
    shape = (fast * np.exp(-slow * t) - slow * np.exp(-fast * t)) / (fast - slow)
    return np.asarray(R_inf - (R_inf - R_0) * shape.real)


def rewards(rows: int) -> Series:
    """Return a synthetic log: 8 prompts of 4 completions a step."""
    draw = np.random.default_rng(7)
    step = np.arange(1, rows + 1)
    mean = curve(step - 0.5, **_TRUTH)
    return series(step, draw.binomial(32, mean) / 32, group_size=4, prompts=8, bounds=(0, 1))


def by_projection(given: Series, start: dict[str, float]) -> Solution:
    """Return the least-squares optimum from one start."""
    problem = Problem(
        _LAW, given.time, given.value, given.span, free(_LAW.linear), lambda columns: columns
    )
    inner = [np.log(start["tau"] / given.span), np.log(start["rho"])]
    return problem.solve(np.array(inner))


def by_lmfit(given: Series, start: dict[str, float]) -> Any:
    """Return lmfit's result from the same start."""
    model = lmfit.Model(curve)
    parameters = model.make_params(**start)
    for name in ("tau", "rho"):
        parameters[name].min = 1e-6
    return model.fit(given.value, parameters, t=given.time)


def measure(quick: bool) -> Row:
    """Measure the row of the fits."""
    rounds = 3 if quick else 9
    given = rewards(100 if quick else 500)
    start = {"R_inf": 0.7, "R_0": 0.1, "tau": 0.3 * given.span, "rho": 0.05}
    times = measured(
        {
            "all": lambda: compare(given),
            "ours": lambda: by_projection(given, start),
            "lmfit": lambda: by_lmfit(given, start),
        },
        rounds=rounds,
    )
    ours, theirs = 2 * by_projection(given, start).cost, float(by_lmfit(given, start).chisqr)
    return Row(
        "learning curves of 500 rows",
        "all families in < 1 s; the three-phase law >= 4x lmfit, the same optimum",
        [
            rate("fits of all families a second", times["all"], 1, "/s", least=1),
            faster("three-phase law: over lmfit", times["ours"], times["lmfit"], least=4),
            value("difference of the sums of squares", abs(ours / theirs - 1), "", most=1e-6),
        ],
        (
            "`numerics.fit.compare` on binomial rewards: ten families from their own grids of "
            "starts, noise and spikes included, no intervals. Beside lmfit: plain least squares of "
            "500 rows from one start, `numerics.fit`'s projected problem against `lmfit.Model.fit` "
            "of the same curve written as an exponential sum (MINPACK, numerical Jacobian).",
        ),
    )
