r"""Figures of the exact theory: where stability ends, and how wide a run swings before it does."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.exact import stationary_variance, threshold
from numerics.plots import COLOURS, RINGS, Figure, panel, plain_ticks
from numerics.report import oscillator_figures
from numerics.report.crosscheck import Schedule, configuration
from numerics.report.motion import impulse_variance
from numerics.simulation import ConstantLag, Sawtooth, simulated_border

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES"]

Floats = NDArray[np.float64]

_MOMENTA = (Fraction(9, 10), Fraction(0))
_RUN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)  # lags at which the map itself is run


def _threshold(mu: Fraction, schedule: Schedule) -> float:
    return threshold(configuration("heavy-ball", schedule, mu, Fraction(1))).value


def stability_chart() -> Figure:
    """Draw the threshold against the lag: two exact curves, the published rule, the map itself."""
    momenta = np.array([float(mu) for mu in _MOMENTA])
    found = {
        colour: np.array([
            simulated_border(
                "heavy-ball", schedule(d), mu=momenta, stale_share=1, lowest=1e-3,
                relative_accuracy=1e-3,
            )
            for d in _RUN
        ])
        for colour, schedule in (("blue", ConstantLag), ("green", lambda d: Sawtooth(d + 1)))
    }  # fmt: skip
    return Figure(
        "stability",
        "How stiff a run may be before it becomes unstable",
        "Below a curve a run decays to its fixed point, above it it grows. The published rule is "
        "exact at a lag of one step and safe beyond, but too strict (shaded): by up to π/2 for a "
        "constant lag, and by a factor of 2 to about 4 for a policy refreshed every N steps, N "
        "counted as the lag. The rings were found by running the map, which knows no formula.",
        "Two log-log charts of the stability threshold x against the lag d from 1 to 64, at "
        "momentum 0.9 and 0. The exact curve for constant lag starts on the published rule at "
        "d = 1 and rises above it; the exact curve for a sawtooth refresh lies above both. Rings "
        "from the simulated map lie on both exact curves.",
        tuple(
            panel(
                f"stability-{k}",
                partial(_stability, mu, {name: borders[:, k] for name, borders in found.items()}),
            )
            for k, mu in enumerate(_MOMENTA)
        ),
    )


def _stability(mu: Fraction, found: dict[str, Floats], axes: Axes) -> None:
    lags = np.unique(np.geomspace(1, 64, 33).round().astype(int))
    constant = np.array([_threshold(mu, ConstantLag(int(d))) for d in lags])
    sawtooth = np.array([_threshold(mu, Sawtooth(int(d) + 1)) for d in lags])
    rule = float(1 - mu) / lags
    axes.fill_between(lags, rule, constant, color=COLOURS["blue"], alpha=0.13, linewidth=0)
    axes.loglog(lags, sawtooth, color=COLOURS["green"], label="exact, refreshed every N = d + 1")
    axes.loglog(lags, constant, color=COLOURS["blue"], label="exact, constant lag d")
    axes.loglog(lags, rule, "--", color=COLOURS["orange"], label="published rule (1 − μ)/d")
    for colour, borders in found.items():
        axes.loglog(_RUN, borders, color=COLOURS[colour], **RINGS)
    axes.plot([], [], color=COLOURS["faint"], label="found by running the map", **RINGS)
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64])
    plain_ticks(axes)
    axes.set_title(f"momentum μ = {float(mu):g}")
    axes.set_xlabel("lag d, steps")
    axes.set_ylabel("stiffness per step x = ηK")
    axes.legend(loc="lower left")


def fluctuations() -> Figure:
    """Draw the stationary variance up to the threshold, exact and to leading order."""
    return Figure(
        "fluctuations",
        "Fluctuations warn before stability is lost",
        "The swing of a stable run grows without bound as the threshold is approached: an early "
        "warning that a log can show. Lemma 6's leading order is right for slow runs, but diverges "
        "at the published rule, where the run is still stable.",
        "Two panels of the stationary variance per unit noise, on a logarithmic scale, against "
        "the stiffness as a fraction of the threshold, at momentum 0.9, for lag 1 and lag 8. The "
        "exact curve and the rings of the map fall, then rise steeply at the threshold; the "
        "leading order diverges there for lag 1 and earlier, at 0.9 of it, for lag 8.",
        tuple(panel(f"fluctuations-{lag}", partial(_variance, lag)) for lag in (1, 8)),
    )


def _variance(lag: int, axes: Axes) -> None:
    mu = _MOMENTA[0]
    run = configuration("heavy-ball", ConstantLag(lag), mu, Fraction(1))
    last = threshold(run).value
    parts = np.concatenate([np.geomspace(0.02, 0.5, 30), 1 - np.geomspace(0.5, 0.004, 40)[1:]])
    exact = [stationary_variance(run, float(part * last)) for part in parts]
    rule = float(1 - mu) / (lag * last)
    early = np.concatenate(
        [np.geomspace(0.02, 0.5, 30), rule - np.geomspace(rule - 0.5, 0.004, 40)]
    )
    leading = 1 / (2 * early * last * (float(1 - mu) - early * last * lag))
    few = np.array([0.03, 0.06, 0.12, 0.25, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97])
    measured = impulse_variance(
        "heavy-ball", ConstantLag(lag), mu=float(mu), x=few * last, stale_share=np.array(1.0)
    )
    axes.semilogy(parts, exact, color=COLOURS["blue"], label="exact")
    axes.semilogy(early, leading, "--", color=COLOURS["orange"], label="leading order (lemma 6)")
    axes.semilogy(few, measured, color=COLOURS["blue"], **RINGS)
    axes.plot([], [], color=COLOURS["faint"], label="the map's own response", **RINGS)
    axes.set_yticks([200, 500, 1000, 2000, 5000, 10000, 20000])
    axes.set_ylim(0.8 * min(exact), 3e4)
    plain_ticks(axes)
    axes.set_title(f"lag {lag}, threshold x = {last:.4g}")
    axes.set_xlabel("stiffness as a fraction of the threshold")
    axes.set_ylabel("variance of q per unit noise")
    axes.legend(loc="upper center")


#: Every figure of the page, by name, in its order there.
FIGURES: dict[str, Callable[[], Figure]] = {
    function.__name__: function
    for function in (
        stability_chart,
        oscillator_figures.trajectories,
        oscillator_figures.truncation_error,
        fluctuations,
    )
}
