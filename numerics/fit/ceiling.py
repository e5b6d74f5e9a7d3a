r"""R^2 next to the R^2 that a perfect curve would reach, and what a claimed R^2 says.

``R^2 = 1 - mean(residual^2)/var(reward)`` of raw rows is bounded by the noise: a curve that is the
truth leaves the noise. Its variance is read without any curve from second differences,
``mean((y_{k-1} - 2 y_k + y_{k+1})^2)/6``, which a smooth curve hardly touches. Noise that remembers
makes differences smaller, so the ceiling is then an upper bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.fit.result import Fit
from numerics.fit.series import Series
from numerics.inputs import InvalidInput

__all__ = ["Ceiling", "ClaimedFit", "ceiling", "claimed_r_squared", "r_squared"]

FloatArray = NDArray[np.float64]

#: Variance of the second-difference estimate, in units of variance^2/rows, for Gaussian noise.
_SPREAD = 35 / 9
_NORMAL_90 = 1.6448536269514722


@dataclass(frozen=True)
class Ceiling:
    """The greatest R^2 on raw rows.

    Attributes
    ----------
    value, low, high
        From second differences, with its 90 % interval.
    binomial
        What the known binomial noise alone leaves; None where it is not known.
    """

    value: float
    low: float
    high: float
    binomial: float | None


@dataclass(frozen=True)
class ClaimedFit:
    """What a log says of "this law fits with R^2 of at least so much".

    Attributes
    ----------
    verdict
        ``"reached"``; ``"out of reach"``: not even a perfect curve would reach it on these rows;
        ``"missed"``: the noise allows it and the law does not reach it; ``"undecided"``.
    raw, rival
        R^2 of the law and of the single exponential, on raw rows.
    ceiling
        The greatest there can be.
    window
        Least number of rows to average over for the law to reach it, None up to a quarter of them.
    smoothed_rival
        R^2 of the single exponential on those averages: if it reaches the figure too, the figure
        is no evidence for the law.
    """

    verdict: str
    threshold: float
    raw: float
    rival: float
    ceiling: Ceiling
    window: int | None
    smoothed_rival: float | None

    @property
    def beyond_exponential(self) -> bool:
        """Whether the law reaches the figure, at once or on averages, and the exponential not."""
        reached = self.rival if self.window is None or self.window == 1 else self.smoothed_rival
        return self.window is not None and reached is not None and reached < self.threshold


def r_squared(found: Fit, window: int = 1) -> float:
    """Return R^2 of a fit on means over `window` rows in a row."""
    rows, curve = (_averaged(v, window) for v in (found.series.value, found.curve))
    return 1 - float(np.mean((rows - curve) ** 2) / np.var(rows))


def ceiling(given: Series, found: Fit | None = None) -> Ceiling:
    """Return the R^2 of a perfect curve; a fit gives the known binomial noise its mean."""
    whole = float(np.var(given.value))
    bends = np.diff(given.value, 2)
    share = float(np.mean(bends**2)) / 6 / whole
    error = share * (_SPREAD / bends.size) ** 0.5 * _NORMAL_90
    known = None if found is None else given.binomial_variance(found.curve)
    return Ceiling(
        1 - share, 1 - share - error, min(1.0, 1 - share + error),
        None if known is None else 1 - float(known.mean()) / whole,
    )  # fmt: skip


def claimed_r_squared(law: Fit, rival: Fit, *, threshold: float = 0.91) -> ClaimedFit:
    r"""Return what a log says of a claimed R^2, by default 2606.30789's 0.91 for eq. 16.

    Stated in that abstract: "three-phase law fits training reward with R^2 >= 0.91". It does not
    say whether rows were averaged, so the verdict is on raw rows, and the averaging that would
    reach the figure stands beside it.

    Raises
    ------
    InvalidInput
        The two fits are of different series, or the threshold is not between 0 and 1.
    """
    if law.series is not rival.series:
        raise InvalidInput("the two fits are of different series: fit both to one")
    if not 0 < threshold < 1:
        raise InvalidInput(f"threshold is {threshold}: give an R^2 between 0 and 1")
    top, raw = ceiling(law.series, law), r_squared(law)
    verdict = (
        "reached" if raw >= threshold
        else "out of reach" if top.high < threshold
        else "missed" if top.low >= threshold
        else "undecided"
    )  # fmt: skip
    widest = max(1, len(law.series) // 4)
    window = next((w for w in range(1, widest + 1) if r_squared(law, w) >= threshold), None)
    return ClaimedFit(
        verdict, threshold, raw, r_squared(rival), top, window,
        None if window is None else r_squared(rival, window),
    )  # fmt: skip


def _averaged(values: FloatArray, window: int) -> FloatArray:
    total = np.cumsum(np.concatenate([[0.0], values]))
    return np.asarray((total[window:] - total[:-window]) / window)
