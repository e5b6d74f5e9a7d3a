"""What kind of curve a reward draws: flat, rising, saturated, in two stages, fallen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from numerics.diagnose.changes import changes
from numerics.diagnose.finding import Change, Estimate
from numerics.diagnose.stages import Stages, two_stages
from numerics.diagnose.trend import (
    MOST_ROWS,
    Floats,
    Slope,
    blocks,
    despiked,
    level,
    noise,
    slope,
    smooth,
)

__all__ = ["SHAPES", "Shape", "contrast", "shape", "staged"]

#: Name of a shape -> what it means.
SHAPES = {
    "too few rows": "fewer than eight rows: nothing is said of the curve",
    "flat": "no trend distinguishable from noise",
    "rising": "rises, and is not seen to stop",
    "saturated": "rose, and no longer does",
    "two-stage": "rose twice, with a plateau between",
    "falling": "lower at the end than it was, or than where it began",
}

_FEWEST_ROWS = 8
_ATOM = 0.05  # a largest value that this share of the rows hits exactly is a bound
_STILL = 0.25  # of the mean slope: a last third that is surely rising, and this steep, still is
_MAY_RISE = 0.6  # of the mean slope, and one standard error: less has saturated
_PLUNGE = 7.0  # noise of a row, from differences: red noise of correlation 0.9 wanders less
_BACK = 0.25  # of a drop that is made good again: a swing about a level, and no fall
_NOISY = 0.25  # noise above this share of the rise


@dataclass(frozen=True)
class Shape:
    r"""A curve's kind and the levels it is judged by.

    Attributes
    ----------
    name : str
        One of `SHAPES`.
    early, late : Estimate
        Mean of the first and of the last tenth of the rows (at least 3).
    best : float
        Highest level of the smoothed curve.
    whole, tail : Slope
        Straight lines through all rows and through the last third.
    changes : tuple of Change
        Where the level changes.
    stages : Stages or None
    noisy : bool
        Whether the noise of a row is large beside the whole rise.
    ceiling : float or None
        A largest value that many rows hit exactly.
    at_ceiling : bool
        Whether the late level is near it.
    """

    name: str
    early: Estimate
    late: Estimate
    best: float
    whole: Slope
    tail: Slope
    changes: tuple[Change, ...]
    stages: Stages | None
    noisy: bool
    ceiling: float | None
    at_ceiling: bool

    @property
    def rose(self) -> bool:
        """Whether the curve went up."""
        return self.name in ("rising", "saturated", "two-stage")


def contrast(one: Floats, other: Floats, series: Floats) -> float:
    """Return how many standard errors the mean of `other` lies above that of `one`.

    The noise is that of the whole `series` they are parts of.
    """
    variance, phi = noise(series)
    rows = 1 / len(one) + 1 / len(other)
    error = float(np.sqrt(variance * (1 + phi) / (1 - phi) * rows))
    difference = float(other.mean() - one.mean())
    if error == 0:
        return float(np.sign(difference)) * np.inf if difference else 0.0
    return difference / error


def shape(step: Floats, value: Floats, limits: Mapping[str, float]) -> Shape:
    """Judge the curve (`limits` are the thresholds by name)."""
    ceiling = _ceiling(value)
    step, value = blocks(step, value, MOST_ROWS)
    n = len(step)
    width = max(3, n // 10)
    early, late = level(value[:width]), level(value[-width:])
    nothing = Slope(0.0, 0.0, 0.0)
    if n < _FEWEST_ROWS:
        return Shape("too few rows", early, late, float(value.max()), nothing, nothing, (), None,
                     False, None, False)  # fmt: skip
    found = changes(step, value)
    value = despiked(value)
    curve = smooth(value, width)
    best, least = float(curve.max()), float(curve.min())
    whole = slope(step, value)
    tail = slope(step[-max(n // 3, 5) :], value[-max(n // 3, 5) :])
    margin = limits["ceiling_margin"] * max(best - least, abs(best))
    name = _name(step, value, curve, whole, tail, found, limits)
    rise = late.value - early.value
    deviation = float(np.sqrt(noise(value)[0]))
    return Shape(
        name=name,
        early=early,
        late=late,
        best=best,
        whole=whole,
        tail=tail,
        changes=found,
        stages=None,
        noisy=name in ("rising", "saturated") and deviation > _NOISY * rise,
        ceiling=ceiling,
        at_ceiling=ceiling is not None and ceiling - late.value <= margin,
    )


def staged(step: Floats, value: Floats, curve: Shape) -> Shape:
    """Return the same shape, with its two stages if it rose in two."""
    stages = two_stages(step, value) if curve.name in ("rising", "saturated") else None
    return replace(curve, name="two-stage", stages=stages) if stages else curve


def _name(
    step: Floats, value: Floats, curve: Floats, whole: Slope, tail: Slope,
    found: tuple[Change, ...], limits: Mapping[str, float],
) -> str:  # fmt: skip
    n = len(step)
    width = max(3, n // 10)
    first, last = value[:width], value[-width:]
    top = int(np.argmax(curve))
    peak = value[max(0, top - width // 2) : top + width // 2 + 1]
    drop = float(curve[top] - curve[-1])
    span = float(np.ptp(curve))
    fell = (
        drop > limits["reward_drop"] * span
        and contrast(peak, last, value) < -limits["sure_z"]
        and (whole.z < -limits["trend_z"] or bool(found and found[-1].after < found[-1].before))
    )
    swung = tail.z > -limits["trend_z"] and _swung_back(value, curve, top, limits["sure_z"])
    if (fell or _plunged(value, peak, last, span)) and not swung:
        return "falling"
    # Two changes that cancel, a dip or a bump, leave no trend.
    sure = abs(whole.z) > limits["trend_z"]
    if found and not sure:
        before, after = value[step < found[0].step], value[step >= found[-1].step]
        sure = abs(contrast(before, after, value)) > limits["sure_z"]
    if not sure:
        return "flat"
    gain = found[-1].after - found[0].before if found else whole.per_step * float(np.ptp(step))
    if gain <= 0 and whole.z <= 0:
        return "falling" if whole.z < -limits["trend_z"] else "flat"
    rise = float(last.mean() - first.mean())
    mean_slope = rise / float(step[-1] - step[0])
    if tail.z > limits["trend_z"] and tail.per_step > _STILL * mean_slope:
        return "rising"
    # Saturated is what the last third shows, not what it fails to show.
    return "saturated" if tail.per_step + tail.error < _MAY_RISE * mean_slope else "rising"


def _swung_back(value: Floats, curve: Floats, top: int, sure: float) -> bool:
    """Whether a run overshot and settled: not below where it began, well above its low since."""
    width = max(3, len(value) // 10)
    bottom = top + int(np.argmin(curve[top:]))
    low = value[max(0, bottom - width // 2) : bottom + width // 2 + 1]
    first, last = value[:width], value[-width:]
    back = float(curve[-1] - curve[bottom]) > _BACK * float(curve[top] - curve[bottom])
    return back and last.mean() >= first.mean() and contrast(low, last, value) > sure


def _plunged(value: Floats, peak: Floats, last: Floats, span: float) -> bool:
    """Whether the end lies far below the best, next to what one row differs from the next.

    A steep fall in few rows leaves no quiet stretch from which to know the noise.
    """
    row = float(np.median(np.abs(np.diff(value)))) / 0.954
    depth = float(np.quantile(peak, 0.25) - np.quantile(last, 0.75))
    return depth > 0.5 * span and depth > _PLUNGE * row


def _ceiling(value: Floats) -> float | None:
    top = float(value.max())
    hits = int(np.sum(np.isclose(value, top, rtol=1e-9, atol=1e-12)))
    return top if hits >= max(3, _ATOM * len(value)) and hits < len(value) else None
