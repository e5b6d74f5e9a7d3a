"""Synthetic logs of known faults, as `numerics.logs` would read them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from numerics.logs import Column, Log, Run

Array = NDArray[np.float64]


def make_run(
    *,
    name: str = "",
    step: Array | None = None,
    averaged: bool | None = False,
    step_source: str = "logged",
    meanings: Mapping[str, str] | None = None,
    **columns: Array,
) -> Run:
    """Return a run whose columns are named after their quantities."""
    rows = len(next(iter(columns.values())))
    at = np.arange(1.0, rows + 1) if step is None else np.asarray(step, float)
    gaps = np.diff(at)
    spacing = float(gaps[0]) if len(gaps) and np.allclose(gaps, gaps[0]) else None
    told = tuple(Column(key, key, (meanings or {}).get(key, key)) for key in columns)
    values = {key: np.asarray(value, float) for key, value in columns.items()}
    return Run(name, at, step_source, told, values, spacing, averaged)


def make_log(*runs: Run, evaluations: tuple[Run, ...] = (), **configuration: object) -> Log:
    """Return a log of these runs."""
    rows = {"reward": sum(len(run.step) for run in runs)}
    return Log("made.csv", "CSV", "unknown", runs, evaluations, rows, (), (), (), configuration)


def red_noise(random: np.random.Generator, rows: int, correlation: float) -> Array:
    """Return AR(1) noise of unit variance from its stationary state."""
    drive = random.standard_normal(rows + 400) * np.sqrt(1 - correlation**2)
    return np.asarray(lfilter([1.0], [1.0, -correlation], drive)[400:])


def trend(rows: int, kind: int) -> Array:
    """Return one of six monotone trends, up to ten times the unit noise."""
    t = np.arange(rows) / rows
    return [
        0 * t, 8 * t, 10 * (1 - np.exp(-8 * t)), 10 / (1 + np.exp(-25 * (t - 0.4))), -6 * t,
        np.where(t > 0.5, 10.0, 0.0),
    ][kind % 6]  # fmt: skip


def rise(rows: int, tau: float, *, low: float = 0.2, high: float = 0.8) -> Array:
    """Return an exponential rise."""
    return high - (high - low) * np.exp(-np.arange(rows) / tau)
