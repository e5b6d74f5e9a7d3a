r"""Runs that differ in their seeds only, and the rows they give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.experiments.transformer.setting import Run, Setting

__all__ = ["Case", "alike", "together"]

#: Case, quantity, theory, prediction, one measured value a seed: what `comparison.compare` takes.
Case = tuple[str, str, str, float, NDArray[np.float64]]


def alike(runs: Sequence[Run]) -> list[list[Run]]:
    """Return the runs by setting, those that differ in their seeds together and in their order."""
    found: dict[Setting, list[Run]] = {}
    for run in runs:
        found.setdefault(replace(run.setting, seed=0, policy_seed=0), []).append(run)
    return [sorted(some, key=lambda run: run.setting.seed) for some in found.values()]


def together(
    case: str, quantity: str, theory: str, predicted: ArrayLike, measured: ArrayLike
) -> Case:
    """Return the case of runs each with a prediction of its own, as each is another network.

    What the networks share is the ratio of measured to predicted; it is told in units of the mean
    prediction.
    """
    own = np.asarray(predicted, dtype=np.float64)
    middle = float(own.mean())
    return case, quantity, theory, middle, np.asarray(measured) / own * middle
