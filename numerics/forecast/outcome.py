r"""What a run still has to give, and whether that can be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.fit import Series, series
from numerics.forecast.level import window_noise
from numerics.forecast.mixture import LEVEL, MODELS, Mixture, mixture, spread_of
from numerics.inputs import InvalidInput, floats

__all__ = ["FEWEST_ROWS", "Estimate", "Forecast", "forecast"]

FloatArray = NDArray[np.float64]

#: With fewer rows it is always too early: no earlier origin could be looked back from.
FEWEST_ROWS = 20

_MOST_ROWS = 2000  # longer series are averaged in blocks to no more rows than this
_SURE = 0.8  # probability from which a gain, or its absence, is said
_FAR = 100.0  # times the time so far: further steps are not looked for
_TIMES = 120
_SMALL = 0.1  # of the change so far: less is no reason to go on
_SHOWN = 6.0  # AICc by which a curve must better a constant: noise alone rarely makes that
_WIDE = 6.0  # standard deviations of a window's mean: a flat log's change is noise of about that


@dataclass(frozen=True)
class Estimate:
    """A mean (a median for a step) with its interval; an open end is None."""

    middle: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Forecast:
    r"""Where the reward of a run goes.

    Attributes
    ----------
    series
        The rows it was made from (means of blocks, where there are many).
    models
        Weights by name; "level" is the mean of the last tenth of the rows, going on.
    drift
        How far the run leaves the curves when time grows by e, in units of the change so far.
    level
        Coverage of the intervals.
    horizon
        Steps after the last row that are looked at.
    now
        The mean reward at the last row.
    end
        The mean reward at the horizon.
    plateau
        Where the curves end. The drift from them is that up to the horizon.
    remaining
        Plateau minus the reward at the last row.
    noise
        Standard deviation of the difference between the means of two windows of a tenth of the
        rows: a gain below it cannot be seen.
    probability
        That the remaining gain exceeds `noise`.
    probability_of_fall
        That the reward falls by more than `noise`.
    share
        The share of the remaining gain that is asked for.
    share_step
        The step at which the curves have it, among those that still gain more than `noise`; None if
        there are none, and an end is None that lies beyond 100 times the run so far.
    verdict
        "rises", "falls", "no change so far", "has ended", "undecided" or "too early to tell".
    why
        What the verdict rests on, in words.
    """

    series: Series
    models: Mapping[str, float]
    drift: float
    level: float
    horizon: float
    now: Estimate
    end: Estimate
    plateau: Estimate
    remaining: Estimate
    noise: float
    probability: float
    probability_of_fall: float
    share: float
    share_step: Estimate
    verdict: str
    why: str
    _mixture: Mixture

    def at(self, step: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and ends of the interval of the expected reward at steps, shape (steps,)."""
        time = _time(self.series, step)
        paths = self._mixture.paths(time)
        found = [_estimate(self._mixture, path, self.level) for path in paths.T]
        middle, low, high = np.array([(e.middle, e.low, e.high) for e in found], float).T
        return middle, low, high

    def window(self, step: ArrayLike) -> Estimate:
        """Return the mean of the rewards that rows at these steps will have, noise included."""
        time = _time(self.series, step)
        return _estimate(self._mixture, self._mixture.windows(time), self.level)


def forecast(
    given: Series, *, share: float = 0.9, horizon: float | None = None, level: float = 0.9
) -> Forecast:
    r"""Forecast the reward of a run from its rows so far.

    Parameters
    ----------
    given
        The rows, from `numerics.fit.series` or `curve_of_log`.
    share
        The share of the remaining gain whose step is asked for, between 0 and 1.
    horizon
        Steps to look ahead; by default as many as have been.
    level
        Coverage of the intervals.

    Raises
    ------
    InvalidInput
        A share or level that is not between 0 and 1, or a horizon that is not above 0.

    Notes
    -----
    An extension: not in the theory. Models are weighted by the density they gave to later rows from
    earlier origins; parameters are drawn from their posterior, the noise with its wander from the
    fit; what no model follows is a drift, its size judged from the same origins
    (`docs/how-to/forecast-a-run.md`).
    """
    for name, value in (("share", share), ("level", level)):
        if not 0 < value < 1:
            raise InvalidInput(f"{name} is {value}: give a number between 0 and 1")
    given = _blocks(given)
    ahead = given.span if horizon is None else float(floats(horizon=horizon)["horizon"])
    if not 0 < ahead <= _FAR * given.span:
        raise InvalidInput(
            f"horizon is {ahead:g}: give steps above 0, at most {_FAR:g} times the "
            f"{given.span:g} so far"
        )
    mixed = mixture(given)
    paths = mixed.paths(np.array([given.span, given.span + ahead]))
    now, plateau = paths[:, 0], mixed.ends(given.span + ahead)
    gain = plateau - now
    noise = 2**0.5 * window_noise(mixed.about.noise, mixed.level.window)
    up, down = (float(mixed.weight[side > noise].sum()) for side in (gain, -gain))
    end = _estimate(mixed, paths[:, 1], level)
    matters = max(noise, _SMALL * mixed.level.change)
    open_still = float(mixed.weight[np.abs(gain) > matters].sum())
    chances = (up, down, open_still)
    verdict, why = _verdict(mixed, _estimate(mixed, gain, level), chances, noise, level)
    return Forecast(
        series=given, models=dict(zip((LEVEL, *MODELS), mixed.weights.tolist(), strict=True)),
        drift=mixed.drift, level=level, horizon=ahead, now=_estimate(mixed, now, level), end=end,
        plateau=_estimate(mixed, plateau, level), remaining=_estimate(mixed, gain, level),
        noise=noise, probability=up, probability_of_fall=down, share=share,
        share_step=_share_step(mixed, share, level, noise), verdict=verdict, why=why,
        _mixture=mixed,
    )  # fmt: skip


def _blocks(given: Series) -> Series:
    """Return a long series as means of blocks of rows."""
    size = -(-len(given) // _MOST_ROWS)
    if size == 1:
        return given
    kept = len(given) // size * size
    step, value = (
        column[-kept:].reshape(-1, size).mean(1) for column in (given.step, given.value)
    )
    return series(
        step, value, group_size=given.group_size, bounds=given.bounds, origin=given.origin,
        prompts=None if given.prompts is None else given.prompts * size,
        averaged_over=given.averaged_over,
    )  # fmt: skip


def _time(given: Series, step: ArrayLike) -> FloatArray:
    time = np.atleast_1d(floats(step=step)["step"]) - (given.averaged_over - 1) / 2 - given.origin
    if time.ndim != 1 or not time.size or not bool((time > 0).all()):
        raise InvalidInput("give steps after the start of the curve, in one list")
    return np.asarray(time)


def _estimate(mixed: Mixture, draws: FloatArray, level: float) -> Estimate:
    low, high = spread_of(draws, mixed.weight, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(float(mixed.weight @ draws), float(low), float(high))


def _share_step(mixed: Mixture, share: float, level: float, noise: float) -> Estimate:
    """Return when the curves that still gain visibly have a share of it, over their draws."""
    given = mixed.series
    time = given.span * np.geomspace(1.0, _FAR, _TIMES)
    paths, ends = mixed.curves(time), mixed.plateaus()
    gain = ends - paths[:, 0]
    tell = np.arange(gain.size) >= gain.size // mixed.weights.size  # the level never gains
    tell &= gain > noise
    if not tell.any():
        return Estimate(None, None, None)
    done = (paths - paths[:, :1])[tell] >= share * gain[tell, None]
    first = np.where(done.any(1), done.argmax(1), _TIMES)
    reached = np.append(time, np.inf)[first]
    weight = mixed.weight[tell]
    order = np.argsort(reached)
    below = np.cumsum(weight[order]) / weight.sum()
    found = []
    for part in (0.5, (1 - level) / 2, (1 + level) / 2):
        at = float(reached[order][min(int(np.searchsorted(below, part)), below.size - 1)])
        found.append(at + given.origin if np.isfinite(at) else None)
    return Estimate(*found)


def _verdict(
    mixed: Mixture,
    gain: Estimate,
    chances: tuple[float, float, float],
    noise: float,
    level: float,
) -> tuple[str, str]:
    """Return the verdict and why; the rule is stated in `docs/how-to/forecast-a-run.md`."""
    rows, (up, down, open_still) = mixed.level.rows, chances
    if rows < FEWEST_ROWS:
        return "too early to tell", f"{rows} rows; at least {FEWEST_ROWS} are needed"
    assert gain.low is not None
    assert gain.high is not None
    width, seen = gain.high - gain.low, mixed.level.change
    if width > max(seen, _WIDE * noise / 2**0.5):
        return "too early to tell", (
            f"the {100 * level:g} % interval of the remaining gain is {width:.3g} wide, more than "
            f"the {seen:.3g} by which the mean of a tenth of the rows has changed so far"
        )
    if up >= _SURE:
        return "rises", f"a gain above the noise has probability {up:.2f}"
    if down >= _SURE:
        return "falls", f"a loss above the noise has probability {down:.2f}"
    if open_still <= 1 - _SURE and mixed.constant < _SHOWN:
        return "no change so far", (
            "a constant describes the rows as well as any curve: the AICc of the best curve is "
            f"{abs(mixed.constant):.1f} {'lower' if mixed.constant > 0 else 'higher'}, "
            f"{_SHOWN:g} lower is needed"
        )
    if open_still <= 1 - _SURE:
        return "has ended", (
            f"a change above the noise, and above a tenth of that so far, has probability "
            f"{open_still:.2f}"
        )
    return "undecided", (
        f"above the noise, a gain has probability {up:.2f} and a loss {down:.2f}"
    )
