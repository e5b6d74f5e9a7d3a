r"""A prediction beside its measurement, and whether they agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from numerics.inputs import InvalidInput

__all__ = ["CONFIDENCE", "Row", "compare", "mean_interval"]

#: Confidence of all intervals of one experiment together.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Row:
    r"""One comparison.

    Attributes
    ----------
    experiment, case, quantity
        Which experiment, which of its cases, and what is compared.
    predicted
        By the theory; where the case says so, given the run's samples or its path.
    measured, low, high
        The mean over the seeds and its interval; where each network has a prediction of its own,
        the mean ratio or difference, in units of the mean prediction.
    seeds
        How many runs.
    theory
        Whether the prediction is of the exact map (``exact``), of the source (``source``), a rival
        that should fail (``rival``) or one added after the runs to explain a miss (``afterwards``).
    """

    experiment: str
    case: str
    quantity: str
    theory: str
    predicted: float
    measured: float
    low: float
    high: float
    seeds: int

    @property
    def agrees(self) -> bool:
        """Whether the prediction is within the interval."""
        return self.low <= self.predicted <= self.high

    @property
    def off(self) -> float:
        """How far the measurement is from the prediction, over the prediction."""
        return self.measured / self.predicted - 1

    def json(self) -> dict[str, object]:
        """Return the row as plain data."""
        return asdict(self) | {"agrees": self.agrees}


def mean_interval(values: ArrayLike, *, confidence: float) -> tuple[float, float, float]:
    """Return the mean of independent values and its interval by Student's t."""
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size < 2:
        raise InvalidInput(f"{sample.size} values have no interval; give at least 2 seeds")
    middle = float(sample.mean())
    half = float(
        stats.t.ppf((1 + confidence) / 2, sample.size - 1) * sample.std(ddof=1)
    ) / math.sqrt(sample.size)
    return middle, middle - half, middle + half


def compare(
    experiment: str,
    cases: Sequence[tuple[str, str, str, float, ArrayLike]],
    *,
    confidence: float = CONFIDENCE,
) -> list[Row]:
    r"""Return a row per case, with intervals that together have the confidence.

    Parameters
    ----------
    experiment
        Its id.
    cases
        Case, quantity, theory, prediction, and one measured value a seed.
    confidence
        That all intervals hold at once (Bonferroni: each has 1 - (1 - confidence) / intervals). An
        interval counts once for its case and quantity, so the statement is for one theory at a
        time.
    """
    intervals = {(case, quantity) for case, quantity, *_ in cases}
    each = 1 - (1 - confidence) / max(1, len(intervals))
    rows = []
    for case, quantity, theory, predicted, values in cases:
        middle, low, high = mean_interval(values, confidence=each)
        seeds = np.size(np.asarray(values))
        rows.append(
            Row(experiment, case, quantity, theory, float(predicted), middle, low, high, seeds)
        )
    return rows
