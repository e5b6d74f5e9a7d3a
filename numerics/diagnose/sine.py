"""A sine under a monotone trend: how much of the swing it explains."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.diagnose.trend import Floats, without_trend

__all__ = ["Sine", "sine"]

_PADDING = 8  # frequencies are looked for an eighth of a cycle apart
_ROUNDS = 8


@dataclass(frozen=True)
class Sine:
    r"""A sine fitted together with a monotone trend.

    Attributes
    ----------
    cycles : float
        In the whole series.
    share : float
        Of the squared deviation from a monotone trend, how much the sine takes away.
    gain : float
        Log-likelihood it gains, the noise being AR(1) with and without it.
    values : (n,) float array
        The sine.
    rest : (n,) float array
        What sine and trend leave.
    """

    cycles: float
    share: float
    gain: float
    values: Floats
    rest: Floats


def sine(value: Floats, *, least_cycles: float) -> Sine:
    r"""Fit sine and monotone trend in turns, until they agree.

    A trend fitted alone takes part of a slow oscillation with it, and a sine alone part of the
    trend. Taking turns minimises the squared error over both.  (extension)
    """
    n = len(value)
    alone = without_trend(value)
    alone = alone - alone.mean()
    rest = alone
    cycles = _strongest(rest, least_cycles, n / 2)
    wave = np.zeros(n)
    for _ in range(_ROUNDS):
        phase = 2 * np.pi * cycles * np.arange(n) / n
        basis = np.column_stack([np.cos(phase), np.sin(phase)])
        basis = basis - basis.mean(axis=0)
        wave = basis @ np.linalg.lstsq(basis, rest - rest.mean(), rcond=None)[0]
        rest = without_trend(value - wave) + wave
        cycles = _strongest(rest, max(least_cycles, cycles - 0.5), cycles + 0.5)
    left = rest - wave
    left = left - left.mean()
    before, after = float(alone @ alone), float(left @ left)
    if before == 0:
        return Sine(cycles, 0.0, 0.0, wave, left)
    tiny = 1e-12 * before / n
    gain = n / 2 * np.log((_innovation(alone) + tiny) / (_innovation(left) + tiny))
    return Sine(cycles, 1 - after / before, float(gain), wave, left)


def _strongest(rest: Floats, low: float, high: float) -> float:
    n = len(rest)
    power = np.abs(np.fft.rfft(rest - rest.mean(), _PADDING * n))
    first = int(np.ceil(low * _PADDING))
    last = max(first, min(int(high * _PADDING), len(power) - 1))
    return (first + int(np.argmax(power[first : last + 1]))) / _PADDING


def _innovation(rest: Floats) -> float:
    """Return the variance of what one row does not tell of the next."""
    power = float(rest @ rest)
    if power == 0:
        return 0.0
    phi = float(rest[1:] @ rest[:-1]) / power
    return float(np.mean((rest[1:] - phi * rest[:-1]) ** 2))
