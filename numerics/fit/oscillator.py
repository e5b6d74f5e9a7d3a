r"""The three-phase law's shape with its derivatives, smooth through critical damping.

With T = C/K and rho = M K/C^2 the oscillator of theorem 7 reads ``rho T^2 q'' + T q' + q = 0``: T
alone is the unit of time, rho = 0 is the single exponential, 1/4 critical damping, above it swings.
In s = t/T let h be the answer to a unit push, ``h(0) = 0, h'(0) = 1``. Then

    q = h' + h/rho                         from rest at 1 (prop-14, eq. 16; reconstructed)
    dq/ds = -h/rho
    dq/drho = (s h - (h*h)/rho)/(2 rho^2)

where ``h*h``, the convolution, has a closed form too. Everything is written with the functions
below, which have no singularity at a double root: ``h = s E f1``, ``h*h = s^3 E f3``.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rest", "inflection", "relaxation", "rest"]

FloatArray = NDArray[np.float64]

_SMALL = 0.05  # below this angle f3 is its Taylor series, there right to the last digit


@dataclass(frozen=True, eq=False)
class Rest:
    """The curve from rest and the answer to a push, with derivatives in ln T and ln rho.

    `q` falls from 1 to 0; `push` is ``h/rho``, whose size stays of order 1 as rho goes to 0; the
    speed of `q` is ``-push/T``. Shapes are those of the times.
    """

    s: FloatArray
    rho: float
    q: FloatArray
    push: FloatArray
    convolved: FloatArray

    @property
    def q_by_log_time(self) -> FloatArray:
        return self.s * self.push

    @property
    def q_by_log_rho(self) -> FloatArray:
        return 0.5 * (self.s * self.push - self.convolved / self.rho**2)

    @property
    def push_by_log_time(self) -> FloatArray:
        return self.s * (self.push - self.q) / self.rho

    @property
    def push_by_log_rho(self) -> FloatArray:
        return self.q_by_log_rho / self.rho + self.convolved / self.rho**2 - self.push


def rest(t: FloatArray, timescale: float, rho: float) -> Rest:
    """Return both answers at times t >= 0, for T > 0 and rho > 0."""
    s = t / timescale
    gamma, root = 0.5 / rho, sqrt(abs(1 - 4 * rho)) / (2 * rho)
    angle = root * s
    if rho <= 0.25:  # the slow exponential is taken out, what is left stays bounded
        slow = 2 / (1 + 2 * rho * root)
        decay, fade = np.exp(np.maximum(-slow * s, -700.0)), np.exp(np.maximum(-angle, -350.0))
        twice = fade * fade
        cosine, sine, sign = (1 + twice) / 2, (1 - twice) / 2, 1.0
    else:
        decay, fade = np.exp(np.maximum(-gamma * s, -700.0)), np.ones_like(s)
        cosine, sine, sign = np.cos(angle), np.sin(angle), -1.0
    near = angle < _SMALL
    safe = np.where(near, 1.0, angle)
    f1 = sine / safe
    f3 = (cosine - f1) * ((0.5 * sign) / (safe * safe))
    if near.any():
        square = (sign * angle * angle)[near]
        f1[near] = fade[near] * (1 + square / 6 * (1 + square / 20))
        f3[near] = fade[near] * (1 + square / 10 * (1 + square / 28)) / 6
    h = s * decay * f1
    hh = s * s * s * decay * f3
    return Rest(s, rho, decay * cosine + gamma * h, h / rho, hh)


def inflection(timescale: float, rho: float) -> float:
    """Return the time at which the curve from rest is steepest: prop-14's, in all regimes."""
    if rho > 0.25:
        wave = sqrt(4 * rho - 1)
        return 2 * rho * timescale * atan(wave) / wave
    root = sqrt(1 - 4 * rho)
    if root < 1e-6:
        return 2 * rho * timescale
    return rho * timescale * log1p(root * (1 + root) / (2 * rho)) / root


def relaxation(timescale: float, rho: float) -> float:
    """Return the time in which the slowest mode, or the swing's envelope, falls by e."""
    if rho > 0.25:
        return 2 * rho * timescale
    return timescale * (1 + sqrt(1 - 4 * rho)) / 2
