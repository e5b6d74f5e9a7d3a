r"""The figures of the report: exact curves, the published rule, and the map that was run on top."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

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
from numerics.kernels import oscillator
from numerics.report.motion import impulse_variance
from numerics.report.plots import COLOURS, Figure, panel
from numerics.simulation import ConstantLag, Sawtooth, simulate_linear, simulated_border

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES"]

Floats = NDArray[np.float64]

_HALF, _HIGH = Fraction(1, 2), Fraction(9, 10)
_DOT: dict[str, Any] = {"linestyle": "none", "marker": "o", "markerfacecolor": "none"}


def _constant(mu: Fraction, lag: int) -> Configuration:
    return Configuration("heavy-ball", "constant", mu, 1, lag=lag)


def _sawtooth(mu: Fraction, refresh: int) -> Configuration:
    return Configuration("heavy-ball", "sawtooth", mu, 1, refresh=refresh)


def _plain_ticks(axes: Axes, which: str = "xy") -> None:
    """Write 0.001 and not a power of ten, which few read as fast."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    for axis in (getattr(axes, f"{letter}axis") for letter in which):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


# --- the stability chart ---------------------------------------------------------------------------

_MOMENTA = (_HIGH, Fraction(0))
_RUN = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64)  # lags at which the map itself is run


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
        "constant lag, and by a factor of 2 to about 4 for a policy refreshed every N steps, with N "
        "counted as the lag. The rings were found by running the map, which knows no formula.",
        "Two log-log charts of the stability threshold x against the lag d from 1 to 64, at momentum "
        "0.9 and 0. The exact curve for constant lag starts on the published rule at d = 1 and rises "
        "above it; the exact curve for a sawtooth refresh lies above both. Rings from the simulated "
        "map lie on both exact curves.",
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
    constant = np.array([threshold(_constant(mu, int(d))).value for d in lags])
    sawtooth = np.array([threshold(_sawtooth(mu, int(d) + 1)).value for d in lags])
    rule = float(1 - mu) / lags
    axes.fill_between(lags, rule, constant, color=COLOURS["blue"], alpha=0.13, linewidth=0)
    axes.loglog(lags, sawtooth, color=COLOURS["green"], label="exact, refreshed every N = d + 1")
    axes.loglog(lags, constant, color=COLOURS["blue"], label="exact, constant lag d")
    axes.loglog(lags, rule, "--", color=COLOURS["orange"], label="published rule (1 − μ)/d")
    for colour, borders in found.items():
        axes.loglog(_RUN, borders, color=COLOURS[colour], **_DOT)
    axes.plot([], [], color=COLOURS["faint"], label="found by running the map", **_DOT)
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64])
    _plain_ticks(axes)
    axes.set_title(f"momentum μ = {float(mu):g}")
    axes.set_xlabel("lag d, steps")
    axes.set_ylabel("stiffness per step x = ηK")
    axes.legend(loc="lower left")


# --- trajectories ----------------------------------------------------------------------------------


def _coefficients(mu: Fraction, x: Floats | float, lag: int) -> Any:
    """Return theorem-7's mass, damping and stiffness for heavy ball, the whole force stale."""
    return oscillator.heavy_ball_constant(mu=float(mu), x=x, d=lag, s=1.0)


def _path(mu: Fraction, x: Floats | float, lag: int, steps: int) -> Floats:
    run = simulate_linear(
        "heavy-ball", ConstantLag(lag), mu=float(mu), x=x, stale_share=1, steps=steps
    )
    return np.asarray(run.path)


def trajectories() -> Figure:
    """Draw theorem-7's curve in its three regimes, with the map's own steps on it."""
    lag = 8
    start = onset(_constant(_HIGH, lag))
    assert start is not None  # constant lag always has one
    runs = (("overdamped", 0.2, 7.0), ("near-critical", 1.0, 7.0), ("oscillatory", 5.0, 3.5))
    return Figure(
        "trajectories",
        "The three ways to come to rest",
        "The oscillator of theorem 7 (line) is a model of the discrete map (dots): hardly to be "
        "told apart while the run is slow, visibly off once it swings, because a lag of some steps "
        "is then no longer short against the motion.",
        "Three panels of the deviation from the fixed point against time at momentum 0.9 and lag 8: "
        "a slow monotone decay, a decay without overshoot at the onset of oscillation, and a damped "
        "oscillation. Dots of the discrete map follow the curve closely in the first two and drift "
        "from it in the third.",
        tuple(
            panel(f"trajectory-{name}", partial(_motion, name, start * factor, lag, times))
            for name, factor, times in runs
        ),
    )


def _motion(name: str, x: float, lag: int, times: float, axes: Axes) -> None:
    time = relaxation_time(_constant(_HIGH, lag), x)
    assert time is not None  # below the threshold
    steps = math.ceil(times * time)
    t = np.linspace(0, steps, 600)
    curve = trajectory(*_coefficients(_HIGH, x, lag), t)
    path = _path(_HIGH, x, lag, steps)
    error = np.abs(path - trajectory(*_coefficients(_HIGH, x, lag), np.arange(steps + 1))).max()
    shown = np.unique(np.linspace(0, steps, 46).round().astype(int))
    axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
    axes.plot(t, curve, color=COLOURS["blue"], label="theorem 7")
    axes.plot(
        shown, path[shown], linestyle="none", marker="o", markersize=3, color=COLOURS["orange"],
        label="discrete map",
    )
    axes.set_title(f"{name}, x = {x:.2g}; largest gap {error:.2g}")
    axes.set_xlabel("time t, steps")
    axes.set_ylabel("deviation q, of its start")
    axes.legend(loc="upper right")


# --- the error of the truncation -------------------------------------------------------------------

_LAGS = ((0, "purple"), (1, "green"), (4, "blue"), (16, "orange"))


def truncation_error() -> Figure:
    """Draw how far theorem-7 is from the map, for its curve and for its slow rate."""
    return Figure(
        "truncation",
        "What theorem 7 leaves out",
        "Halve the stiffness and the curve's error halves (first order), while the error of its "
        "slow rate falls to a quarter (second order). Each line ends where the run begins to "
        "oscillate; a dip is where its error changes sign. A fitted relaxation time can be trusted at a "
        "stiffness at which a fitted shape cannot.",
        "Two log-log panels against the stiffness x at momentum 0.5 for lags 0, 1, 4 and 16. Left: "
        "the largest gap between theorem 7's curve and the map, parallel to a guide of slope 1. "
        "Right: the relative error of the slow rate, parallel to a guide of slope 2.",
        (panel("truncation-curve", _curve_error), panel("truncation-rate", _rate_error)),
    )


def _slow_stiffness(lag: int) -> Floats:
    last = onset(_constant(_HALF, lag))
    assert last is not None  # constant lag always has one
    return np.geomspace(1e-4, 0.98 * last, 25)


def _curve_error(axes: Axes) -> None:
    for lag, colour in _LAGS:
        x = _slow_stiffness(lag)
        time = relaxation_time(_constant(_HALF, lag), float(x[0]))
        assert time is not None  # below the threshold
        path = _path(_HALF, x, lag, int(3 * time))
        curve = trajectory(*_coefficients(_HALF, x, lag), np.arange(len(path))[:, None])
        axes.loglog(x, np.abs(path - curve).max(axis=0), color=COLOURS[colour], label=f"lag {lag}")
    _guide(axes, 1, (1e-3, 1e-2), 3.5e-4)
    axes.set_title("largest gap between curve and map")
    axes.set_ylabel("gap in q, of its start")
    _finish(axes)


def _rate_error(axes: Axes) -> None:
    for lag, colour in _LAGS:
        x = _slow_stiffness(lag)
        mass, damping, stiffness = _coefficients(_HALF, x, lag)
        inside = damping**2 - 4 * mass * stiffness
        x, slow = x[inside > 0], 2 * stiffness / (damping + np.sqrt(np.maximum(inside, 0)))
        times = np.array([relaxation_time(_constant(_HALF, lag), float(at)) for at in x])
        error = np.abs(slow[inside > 0] * times - 1)
        axes.loglog(x, error, color=COLOURS[colour], label=f"lag {lag}")
    _guide(axes, 2, (1e-3, 1e-2), 3e-8)
    axes.set_title("relative error of the slow rate")
    axes.set_ylabel("relative error")
    _finish(axes)


def _guide(axes: Axes, slope: int, span: tuple[float, float], height: float) -> None:
    x = np.array(span)
    axes.loglog(x, height * (x / span[0]) ** slope, ":", color=COLOURS["ink"], linewidth=1.4)
    axes.annotate(
        f"slope {slope}", (span[1], height * (span[1] / span[0]) ** slope),
        xytext=(4, 0), textcoords="offset points", va="center",
    )


def _finish(axes: Axes) -> None:
    _plain_ticks(axes)
    axes.set_xlabel("stiffness per step x = ηK")
    axes.legend(loc="upper left")


# --- fluctuations ----------------------------------------------------------------------------------


def fluctuations() -> Figure:
    """Draw the stationary variance up to the threshold, exact and to leading order."""
    return Figure(
        "fluctuations",
        "Fluctuations warn before stability is lost",
        "The swing of a stable run grows without bound as the threshold is approached: an early "
        "warning that a log can show. Lemma 6's leading order is right for slow runs, but diverges "
        "at the published rule, where the run is still stable.",
        "Two panels of the stationary variance per unit noise, on a logarithmic scale, against the "
        "stiffness as a fraction of the threshold, at momentum 0.9, for lag 1 and lag 8. The exact "
        "curve and the rings of the map fall, then rise steeply at the threshold; the leading order "
        "diverges there for lag 1 and earlier, at 0.9 of it, for lag 8.",
        tuple(
            panel(f"fluctuations-{lag}", partial(_variance, lag)) for lag in (1, 8)
        ),
    )


def _variance(lag: int, axes: Axes) -> None:
    run = _constant(_HIGH, lag)
    last = threshold(run).value
    parts = np.concatenate([np.geomspace(0.02, 0.5, 30), 1 - np.geomspace(0.5, 0.004, 40)[1:]])
    exact = [stationary_variance(run, float(part * last)) for part in parts]
    rule = float(1 - _HIGH) / (lag * last)
    early = np.concatenate([np.geomspace(0.02, 0.5, 30), rule - np.geomspace(rule - 0.5, 0.004, 40)])
    leading = 1 / (2 * early * last * (float(1 - _HIGH) - early * last * lag))
    few = np.array([0.03, 0.06, 0.12, 0.25, 0.4, 0.6, 0.75, 0.85, 0.92, 0.97])
    measured = impulse_variance(
        "heavy-ball", ConstantLag(lag), mu=float(_HIGH), x=few * last, stale_share=np.array(1.0)
    )
    axes.semilogy(parts, exact, color=COLOURS["blue"], label="exact")
    axes.semilogy(early, leading, "--", color=COLOURS["orange"], label="leading order (lemma 6)")
    axes.semilogy(few, measured, color=COLOURS["blue"], **_DOT)
    axes.plot([], [], color=COLOURS["faint"], label="the map's own response", **_DOT)
    axes.set_ylim(top=3e4)
    _plain_ticks(axes)
    axes.set_title(f"lag {lag}, threshold x = {last:.4g}")
    axes.set_xlabel("stiffness as a fraction of the threshold")
    axes.set_ylabel("variance of q per unit noise")
    axes.legend(loc="upper center")


#: Every figure of the page, by name, in its order there.
FIGURES: dict[str, Callable[[], Figure]] = {
    function.__name__: function
    for function in (stability_chart, trajectories, truncation_error, fluctuations)
}
