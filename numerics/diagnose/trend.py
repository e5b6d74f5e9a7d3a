"""Levels, slopes and noise of a series whose noise is correlated from row to row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import toeplitz
from scipy.optimize import isotonic_regression

from numerics.diagnose.finding import Estimate

__all__ = [
    "MOST_ROWS",
    "Floats",
    "Slope",
    "blocks",
    "despiked",
    "evened",
    "level",
    "noise",
    "slope",
    "smooth",
    "without_trend",
]

Floats: TypeAlias = NDArray[np.float64]

#: Longer series are averaged in blocks: windows and dense covariances beyond it are slow.
MOST_ROWS = 600
_Z95 = float(stats.norm.ppf(0.975))
_HIGHEST_CORRELATION = 0.95
_CLIP = 2.5  # robust standard deviations at which a difference counts as a jump, for correlation
_CLIPPED = float(  # what that leaves of a normal mean square
    stats.chi2(3).cdf(_CLIP**2) + _CLIP**2 * stats.chi2(1).sf(_CLIP**2)
)
_SPIKE = 6.0  # robust standard deviations off the running median of five rows
_TRIMMED = 0.05  # of the largest differences, for variance: heavy tails belong to it
_LEFT = float(stats.chi2(3).cdf(stats.chi2(1).ppf(1 - _TRIMMED)) / (1 - _TRIMMED))


@dataclass(frozen=True)
class Slope:
    """A straight line through a series, with an error that knows the noise's correlation."""

    per_step: float
    error: float
    correlation: float

    @property
    def z(self) -> float:
        """The slope in standard errors; 0 where both vanish."""
        if self.error == 0:
            return float(np.sign(self.per_step)) * np.inf if self.per_step else 0.0
        return self.per_step / self.error

    def estimate(self, unit: str) -> Estimate:
        """Return the slope with its 95 % interval."""
        half = _Z95 * self.error
        return Estimate(self.per_step, self.per_step - half, self.per_step + half, unit)


def slope(step: Floats, value: Floats, *, error: Floats | None = None) -> Slope:
    r"""Fit a straight line by least squares; its error allows for AR(1) noise.

    Parameters
    ----------
    step, value : (n,) float array
        At least 2 points; at least 4 unless `error` is given.
    error : (n,) float array, optional
        Known standard errors of the values, independent; the noise is then not estimated.

    Notes
    -----
    The lag-1 correlation is that of the residuals, corrected for the bias of about
    -(2 + 4 phi)/n that fitting a line leaves, and never taken below 0, so that the error is
    never smaller than that of white noise.  (extension)
    """
    time = step - step.mean()
    weight = time / (time @ time)
    per_step = float(weight @ value)
    if error is not None:
        return Slope(per_step, float(np.sqrt((weight**2) @ (error**2))), 0.0)
    if len(step) > MOST_ROWS:
        return slope(*blocks(step, value, MOST_ROWS))
    n = len(step)
    rest = value - value.mean() - per_step * time
    power = float(rest @ rest)
    if power <= 1e-24 * float(value @ value):
        return Slope(per_step if abs(per_step) > 1e-15 else 0.0, 0.0, 0.0)
    raw = float(rest[1:] @ rest[:-1]) / power
    phi = float(np.clip((raw + 2 / n) / max(1 - 4 / n, 0.5), 0, _HIGHEST_CORRELATION))
    correlation = toeplitz(phi ** np.arange(n))
    # E[power] = variance * trace((1 - hat) correlation)
    ones = np.full(n, 1 / np.sqrt(n))
    unit = time / np.sqrt(time @ time)
    freedom = n - ones @ correlation @ ones - unit @ correlation @ unit
    variance = power / max(float(freedom), 1.0)
    spread = float(np.sqrt(variance * (weight @ correlation @ weight)))
    # Few independent rows have heavier tails than the normal: the error is widened to match at 3.
    independent = max(n * (1 - phi) / (1 + phi) - 2, 2.0)
    tail = float(stats.t(independent).isf(stats.norm.sf(3.0))) / 3.0
    return Slope(per_step, spread * tail, phi)


def level(value: Floats) -> Estimate:
    """Return the mean of rows at one level with a 95 % interval that knows their correlation."""
    mean = float(value.mean())
    if len(value) < 3:
        return Estimate(mean, -np.inf, np.inf, "")
    variance, phi = noise(value)
    half = _Z95 * np.sqrt(variance * (1 + phi) / (1 - phi) / len(value))
    return Estimate(mean, float(mean - half), float(mean + half), "")


def noise(value: Floats) -> tuple[float, float]:
    r"""Return variance and lag-1 correlation of the noise, from differences.

    Differences one and two rows apart do not see the level. For AR(1) noise their mean squares
    are 2 v (1 - phi) and 2 v (1 - phi^2); jumps and spikes among them are cut short or left out.
    A steep trend would pass for correlated noise, so the same is done without a cubic (a line
    below 20 rows), and the smaller long-run variance v (1 + phi)/(1 - phi) counts.  (extension)
    """
    n = len(value)
    if n < 3:
        return float(np.var(value)) * 2, 0.0
    time = np.linspace(-1, 1, n)
    basis = np.polynomial.legendre.legvander(time, 3 if n >= 20 else min(1, n - 2))
    rest = value - basis @ np.linalg.lstsq(basis, value, rcond=None)[0]
    if float(np.abs(rest).max()) <= 1e-13 * float(np.abs(value).max()):
        return 0.0, 0.0
    both = [_from_differences(series) for series in (value, rest)]
    return min(both, key=lambda found: found[0] * (1 + found[1]) / (1 - found[1]))


def _from_differences(value: Floats) -> tuple[float, float]:
    near, far = (value[lag:] - value[:-lag] for lag in (1, 2))
    power = _trimmed_power(near)
    small, wide = _clipped_power(near), _clipped_power(far)
    if power <= 0 or small <= 0:
        return power / 2, 0.0
    phi = float(np.clip(wide / small - 1, 0, _HIGHEST_CORRELATION))
    return power / (2 * (1 - phi)), phi


def _clipped_power(difference: Floats) -> float:
    """Return the mean square with jumps cut short, scaled to be that of a normal sample."""
    size = float(np.median(np.abs(difference))) / 0.6745
    if size == 0:
        return float(np.mean(difference**2))
    return float(np.mean(np.clip(difference, -_CLIP * size, _CLIP * size) ** 2)) / _CLIPPED


def _trimmed_power(difference: Floats) -> float:
    """Return the mean square without the largest, scaled to be that of a normal sample."""
    square = np.sort(difference**2)
    kept = square[: max(1, int(np.ceil(len(square) * (1 - _TRIMMED))))]
    power = float(kept.mean()) / (_LEFT if len(kept) < len(square) else 1.0)
    return power if power > 0 else float(square.mean())


def without_trend(value: Floats) -> Floats:
    """Return what a monotone curve leaves of a series: rising or falling, whichever fits better."""
    fits = [isotonic_regression(value, increasing=way).x for way in (True, False)]
    rests = [value - fit for fit in fits]
    return np.asarray(min(rests, key=lambda rest: float(rest @ rest)), dtype=np.float64)


def evened(rest: Floats) -> Floats:
    """Return noise divided by its local size, so that noisy and quiet stretches count alike.

    Sampling noise shrinks as the reward nears its ceiling; a few loud rows have a ragged spectrum.
    """
    n = len(rest)
    width = max(9, n // 5) | 1
    padded = np.pad(np.abs(rest), width // 2, mode="reflect")
    size = np.convolve(padded, np.ones(width) / width, mode="valid")[:n]
    floor = 0.1 * float(np.mean(np.abs(rest)))
    return np.asarray(rest / np.maximum(size, max(floor, 1e-300)))


def smooth(value: Floats, rows: int) -> Floats:
    """Return the running median over `rows` rows (made odd), shorter at the ends."""
    half = max(0, rows // 2)
    padded = np.pad(value.astype(float), half, constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1)
    return np.asarray(np.nanmedian(windows, axis=1), dtype=np.float64)


def despiked(value: Floats) -> Floats:
    """Return the series with its outliers cut short, so that one row is no level of its own.

    A run of three rows or more is its own median and stays as it is.
    """
    middle = smooth(value, 5)
    size = float(np.median(np.abs(value - middle))) / 0.6745
    if size == 0:  # most rows repeat one value: nothing tells how far is far
        return value
    return np.clip(value, middle - _SPIKE * size, middle + _SPIKE * size)


def blocks(step: Floats, value: Floats, most: int) -> tuple[Floats, Floats]:
    """Return the means of equal blocks of rows, at most `most` of them."""
    size = -(-len(step) // most)
    if size == 1:
        return step, value
    edges = np.arange(0, len(step), size)
    count = np.diff(np.append(edges, len(step)))
    return np.add.reduceat(step, edges) / count, np.add.reduceat(value, edges) / count
