"""Runs that differ in the group size: does their noise fall with it?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from numerics.diagnose.finding import Estimate
from numerics.diagnose.trend import Floats
from numerics.inputs import InvalidInput, whole_number
from numerics.logs import Log, Run

__all__ = ["noise_exponent", "noise_of_sweep"]

_FEWEST_SIZES = 3


def noise_exponent(group_sizes: Sequence[int], rewards: Sequence[Floats]) -> Estimate:
    r"""Return a of noise ~ G^a, the noise being the rewards' standard deviation from row to row.

    Sampling the groups alone makes a = -1/2 (prop-10, stated in words); prompts of unequal
    difficulty add a part that does not fall, so a lies between -1/2 and 0. The interval is that of
    the standard deviations' own errors, or of their scatter about the power law if larger.
    (extension)

    Raises
    ------
    InvalidInput
        Fewer than three different group sizes, or a run without noise.
    """
    sizes = np.array([whole_number("group_size", size, least=2) for size in group_sizes], float)
    if len(sizes) != len(rewards) or len(set(sizes)) < _FEWEST_SIZES:
        raise InvalidInput(
            f"{len(set(sizes))} different group sizes for {len(rewards)} runs: give the size of "
            f"each run, and {_FEWEST_SIZES} different ones"
        )
    # Half the mean square difference of neighbours: it sees no trend (von Neumann).
    variance = np.array([np.mean(np.diff(np.asarray(r, float)) ** 2) / 2 for r in rewards])
    if not np.all(variance > 0):
        raise InvalidInput("a run has no noise at all: its reward is constant")
    # A variance from n differences has relative error sqrt(3/n); its root's logarithm half of it.
    error = np.array([0.5 * np.sqrt(3 / len(reward)) for reward in rewards])
    x, y = np.log(sizes), 0.5 * np.log(variance)
    weight = 1 / error**2
    middle = np.average(x, weights=weight)
    power = float(np.sum(weight * (x - middle) ** 2))
    exponent = float(np.sum(weight * (x - middle) * y) / power)
    rest = y - np.average(y, weights=weight) - exponent * (x - middle)
    scatter = float(np.sum(weight * rest**2)) / max(len(x) - 2, 1)
    half = 1.96 * float(np.sqrt(max(scatter, 1.0) / power))
    return Estimate(exponent, exponent - half, exponent + half, "")


def noise_of_sweep(log: Log) -> Estimate | None:
    """Return `noise_exponent` of the runs of one model in a log, if their group sizes differ.

    None if the log's configuration does not tell three different group sizes of one model.
    """
    told = log.configuration.get("runs")
    if not isinstance(told, Mapping):
        return None
    models: dict[object, list[tuple[int, Run]]] = defaultdict(list)
    for run in log.runs:
        settings = told.get(run.name)
        size = settings.get("group_size") if isinstance(settings, Mapping) else None
        if isinstance(size, int) and size >= 2 and run.has("reward"):
            models[told[run.name].get("model")].append((size, run))
    most = max(models.values(), key=lambda runs: len({size for size, _ in runs}), default=[])
    rewards = [run.series("reward")[1] for _, run in most]
    known = [(size, value) for (size, _), value in zip(most, rewards, strict=True)
             if len(value) >= 8 and np.ptp(value) > 0]  # fmt: skip
    if len({size for size, _ in known}) < _FEWEST_SIZES:
        return None
    return noise_exponent([size for size, _ in known], [value for _, value in known])
