r"""Figures of theorem 7: its curve beside the map that it is a model of, and what it leaves out."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.exact import Configuration, onset, relaxation_time, trajectory
from numerics.kernels import oscillator
from numerics.plots import COLOURS, Figure, panel, plain_ticks
from numerics.simulation import ConstantLag, simulate_linear

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["trajectories", "truncation_error"]

Floats = NDArray[np.float64]

_HALF, _HIGH = Fraction(1, 2), Fraction(9, 10)


def _run(mu: Fraction, lag: int) -> Configuration:
    return Configuration("heavy-ball", "constant", mu, 1, lag=lag)


def _curve(mu: Fraction, x: Floats | float, lag: int, t: Floats) -> Floats:
    """Return theorem 7's curve for heavy ball, the whole force stale."""
    mass, damping, stiffness = oscillator.heavy_ball_constant(mu=float(mu), x=x, d=lag, s=1.0)
    return np.asarray(trajectory(mass, damping, stiffness, t))


def _path(mu: Fraction, x: Floats | float, lag: int, steps: int) -> Floats:
    run = simulate_linear(
        "heavy-ball", ConstantLag(lag), mu=float(mu), x=x, stale_share=1, steps=steps
    )
    return np.asarray(run.path)


def trajectories() -> Figure:
    """Draw theorem-7's curve in its three regimes, with the map's own steps on it."""
    lag = 8
    start = onset(_run(_HIGH, lag))
    assert start is not None  # constant lag always has one
    runs = (("overdamped", 0.2, 7.0), ("near-critical", 1.0, 7.0), ("oscillatory", 5.0, 3.5))
    return Figure(
        "trajectories",
        "The three ways to come to rest",
        "The oscillator of theorem 7 (line) is a model of the discrete map (dots): hardly to be "
        "told apart while the run is slow, visibly off once it swings, because a lag of some "
        "steps is then no longer short against the motion.",
        "Three panels of the deviation from the fixed point against time at momentum 0.9 and "
        "lag 8: a slow monotone decay, a decay without overshoot at the onset of oscillation, and "
        "a damped oscillation. Dots of the discrete map follow the curve closely in the first two "
        "and drift from it in the third.",
        tuple(
            panel(f"trajectory-{name}", partial(_motion, name, start * factor, lag, times))
            for name, factor, times in runs
        ),
    )


def _motion(name: str, x: float, lag: int, times: float, axes: Axes) -> None:
    time = relaxation_time(_run(_HIGH, lag), x)
    assert time is not None  # below the threshold
    steps = math.ceil(times * time)
    t = np.linspace(0, steps, 600)
    path = _path(_HIGH, x, lag, steps)
    gap = np.abs(path - _curve(_HIGH, x, lag, np.arange(steps + 1.0))).max()
    shown = np.unique(np.linspace(0, steps, 46).round().astype(int))
    axes.axhline(0, color=COLOURS["faint"], linewidth=0.8)
    axes.plot(t, _curve(_HIGH, x, lag, t), color=COLOURS["blue"], label="theorem 7")
    axes.plot(
        shown,
        path[shown],
        linestyle="none",
        marker="o",
        markersize=3,
        color=COLOURS["orange"],
        label="discrete map",
    )
    axes.set_title(f"{name}, x = {x:.2g}; largest gap {gap:.2g}")
    axes.set_xlabel("time t, steps")
    axes.set_ylabel("deviation q, of its start")
    axes.legend(loc="upper right")


_LAGS = ((0, "purple"), (1, "green"), (4, "blue"), (16, "orange"))


def truncation_error() -> Figure:
    """Draw how far theorem-7 is from the map, for its curve and for its slow rate."""
    return Figure(
        "truncation",
        "What theorem 7 leaves out",
        "Halve the stiffness and the curve's error halves (first order), while the error of its "
        "slow rate falls to a quarter (second order). Each line ends where the run begins to "
        "oscillate; a dip is where its error changes sign. A fitted relaxation time can be "
        "trusted at a stiffness at which a fitted shape cannot.",
        "Two log-log panels against the stiffness x at momentum 0.5 for lags 0, 1, 4 and 16. Left: "
        "the largest gap between theorem 7's curve and the map, parallel to a guide of slope 1. "
        "Right: the relative error of the slow rate, parallel to a guide of slope 2.",
        (panel("truncation-curve", _curve_error), panel("truncation-rate", _rate_error)),
    )


def _slow_stiffness(lag: int) -> Floats:
    last = onset(_run(_HALF, lag))
    assert last is not None  # constant lag always has one
    return np.geomspace(1e-4, 0.98 * last, 25)


def _curve_error(axes: Axes) -> None:
    for lag, colour in _LAGS:
        x = _slow_stiffness(lag)
        time = relaxation_time(_run(_HALF, lag), float(x[0]))
        assert time is not None  # below the threshold
        path = _path(_HALF, x, lag, int(3 * time))
        curve = _curve(_HALF, x, lag, np.arange(float(len(path)))[:, None])
        axes.loglog(x, np.abs(path - curve).max(axis=0), color=COLOURS[colour], label=f"lag {lag}")
    _guide(axes, 1, (1e-3, 1e-2), 3.5e-4)
    axes.set_title("largest gap between curve and map")
    axes.set_ylabel("gap in q, of its start")
    _finish(axes)


def _rate_error(axes: Axes) -> None:
    for lag, colour in _LAGS:
        x = _slow_stiffness(lag)
        mass, damping, stiffness = oscillator.heavy_ball_constant(mu=0.5, x=x, d=lag, s=1.0)
        inside = damping**2 - 4 * mass * stiffness
        x, slow = x[inside > 0], 2 * stiffness / (damping + np.sqrt(np.maximum(inside, 0)))
        times = np.array([relaxation_time(_run(_HALF, lag), float(at)) for at in x])
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
        f"slope {slope}",
        (span[1], height * (span[1] / span[0]) ** slope),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
    )


def _finish(axes: Axes) -> None:
    plain_ticks(axes)
    axes.set_xlabel("stiffness per step x = ηK")
    axes.legend(loc="upper left")
