r"""What a log that keeps one number every so many steps shows of a series.

Trainers with ``logging_steps = L`` print the mean of L steps, not the value at every L-th. Both are
here: `logged` is ``"averaged"`` (windows that do not overlap) or ``"sampled"`` (every L-th value).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike
from scipy.special import diric

from numerics.dynamics.model import FloatArray
from numerics.inputs import (
    InvalidInput,
    check_positive,
    common_shape,
    floats,
    known_name,
    rectangular,
    whole_number,
)

__all__ = [
    "LOGGED",
    "LoggedOscillation",
    "logged_autocovariance",
    "logged_oscillation",
    "window_gain",
]

#: How a log is made of the series.
LOGGED = ("averaged", "sampled")


@dataclass(frozen=True, eq=False)
class LoggedOscillation:
    r"""An oscillation as the log shows it, float64 of the common shape.

    Attributes
    ----------
    amplitude
        Over the true amplitude. At a period of two logged steps a sampled oscillation may show less
        still, down to nothing, by its phase.
    period
        In steps of the series; infinite where the log shows a constant.
    faithful
        Whether the true period is longer than two logged steps. If not, the period shown is an
        alias, another one that no log of this spacing can tell from a true one, or on the edge: at
        two logged steps it is the true one, and the amplitude is not.
    """

    amplitude: Any
    period: Any
    faithful: Any


def window_gain(frequency: ArrayLike, *, every: int) -> Any:
    r"""Return what averaging over `every` steps multiplies an oscillation's amplitude by.

    Parameters
    ----------
    frequency
        Angular frequency w, radians per step, any real number.
    every
        Steps in a window, from 1.

    Returns
    -------
    float64 scalar or array of the shape of `frequency`, between -1 and 1: Dirichlet's kernel
    ``sin(L w/2)/(L sin(w/2))``. Negative where the average is in antiphase with the value in the
    middle of the window. The spectrum is multiplied by its square.

    Raises
    ------
    InvalidInput
        A frequency that is not finite, or `every` below 1.
    """
    every = whole_number("every", every, least=1)
    return diric(floats(frequency=frequency)["frequency"], every)[()]


def logged_oscillation(*, period: ArrayLike, every: ArrayLike, logged: str) -> LoggedOscillation:
    r"""Return amplitude and period that an oscillation shows in a log.

    Parameters
    ----------
    period
        The true period in steps, > 0.
    every
        Steps per logged value, whole numbers from 1; broadcasts with `period`.
    logged
        ``"averaged"`` or ``"sampled"``.

    Returns
    -------
    LoggedOscillation

    Raises
    ------
    InvalidInput
        A value outside its domain, or shapes that do not broadcast.

    Notes
    -----
    The frequency in cycles per logged value is `every` over `period` less the nearest whole number.
    Remainders are exact, so a window of whole periods shows exactly nothing.
    """
    known_name("logged", logged, LOGGED)
    steps = floats(period=period)["period"]
    check_positive("period", steps)
    window = _whole(every)
    common_shape(period=steps.shape, every=window.shape)
    # Cycles beyond whole ones, times the period: in a window, and in a step.
    beyond, of_step = _remainder(window, steps), _remainder(np.ones(()), steps)
    silent = beyond == 0
    with np.errstate(over="ignore"):
        shown = np.where(silent, np.inf, window * (steps / np.where(silent, 1.0, np.abs(beyond))))
    amplitude = np.ones(np.broadcast_shapes(steps.shape, window.shape))
    if logged == "averaged":
        still = of_step == 0  # whole cycles in a step: a constant, whose average is itself
        under = np.where(still, 1.0, window * np.sin(np.pi * (of_step / steps)))
        over = np.where(still, 1.0, np.sin(np.pi * (beyond / steps)))
        amplitude = np.abs(over / under)
    return LoggedOscillation(amplitude[()], shown[()], (steps > 2 * window)[()])


def logged_autocovariance(autocovariance: ArrayLike, *, every: int, logged: str) -> Any:
    r"""Return the autocovariance of a log from that of the series.

    Parameters
    ----------
    autocovariance
        r(0), r(1), ..., r(n) along the last axis, as `autocovariance` returns it.
    every
        Steps per logged value L, from 1, and n + 1 at the most.
    logged
        ``"averaged"`` or ``"sampled"``.

    Returns
    -------
    float64 array, the last axis the autocovariance at 0, 1, ... logged values; entry 0 is the
    variance of a logged value. As many as r reaches: for averages ``(n + 1)//L``, for samples
    ``n//L + 1``.

    Raises
    ------
    InvalidInput
        A value outside its domain, or an r that does not reach across one window.

    Notes
    -----
    ``R(m) = sum_{|j| < L} (L - |j|) r(m L + j) / L**2`` for averages, ``r(m L)`` for samples. Under
    a sawtooth r is the mean over phases, and so is R: exact for windows that begin at all phases
    alike, as they do when `every` and the refresh interval have no common divisor.
    """
    known_name("logged", logged, LOGGED)
    every = whole_number("every", every, least=1)
    r = floats(autocovariance=autocovariance)["autocovariance"]
    if r.ndim == 0 or r.shape[-1] < every:
        raise InvalidInput(
            f"autocovariance has shape {r.shape}: its last axis must reach across {every} steps"
        )
    if logged == "sampled":
        return r[..., ::every].copy()
    both = np.concatenate([r[..., every - 1 : 0 : -1], r], axis=-1)
    weights = (every - np.abs(np.arange(1 - every, every))) / every**2
    return sliding_window_view(both, weights.size, axis=-1)[..., ::every, :] @ weights


def _whole(every: ArrayLike) -> FloatArray:
    array = rectangular("every", every)
    if array.dtype.kind not in "iu" or not np.all(array >= 1):
        raise InvalidInput(f"every is {every!r}: give whole numbers of steps >= 1")
    return array.astype(np.float64)


def _remainder(steps: FloatArray, period: FloatArray) -> FloatArray:
    """Return `steps` less the nearest whole number of periods, exactly."""
    above = np.fmod(steps, period)
    return np.where(above > period / 2, above - period, above)
