"""All transformer experiments, by id."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from numerics.experiments.transformer import (
    adam,
    fixed_point,
    fluctuation,
    group_size,
    momentum,
    prompts,
    slow_start,
    staleness,
    staleness_batches,
)
from numerics.experiments.transformer.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.id: experiment
        for experiment in (
            group_size.STD_NORMALISED,
            group_size.MEAN_ONLY,
            fixed_point.FIXED_POINT,
            fluctuation.FLUCTUATION,
            staleness.STALE,
            staleness_batches.CLIP,
            staleness_batches.REUSE,
            momentum.MOMENTUM,
            adam.ADAM,
            slow_start.SLOW_START,
            prompts.UNEQUAL_PROMPTS,
        )
    }
)
