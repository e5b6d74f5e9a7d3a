"""All transformer experiments, by id."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from numerics.experiments.transformer import group_size, prompts, staleness, staleness_batches
from numerics.experiments.transformer.experiment import Experiment

__all__ = ["EXPERIMENTS"]

EXPERIMENTS: Mapping[str, Experiment] = MappingProxyType(
    {
        experiment.id: experiment
        for experiment in (
            group_size.STD_NORMALISED,
            group_size.MEAN_ONLY,
            staleness.STALE,
            staleness_batches.CLIP,
            staleness_batches.REUSE,
            prompts.UNEQUAL_PROMPTS,
        )
    }
)
