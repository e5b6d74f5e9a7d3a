"""GRPO on softmax bandits, simulated with every convention named."""

from __future__ import annotations

from numerics.simulation.bandit.advantage import advantages, count_advantages
from numerics.simulation.bandit.batch import (
    gradient,
    mean_gradient,
    objective,
    sample_gradient,
)
from numerics.simulation.bandit.conventions import (
    BASELINES,
    EPS_IN,
    GROUPS_OF_ONE,
    KL_ESTIMATORS,
    NORMALISERS,
    OVER_PROMPTS,
    AdvantageConventions,
    Conventions,
)
from numerics.simulation.bandit.optimizer import Adam
from numerics.simulation.bandit.policy import COORDINATES, Bandit
from numerics.simulation.bandit.presets import PRESETS, Preset, preset
from numerics.simulation.bandit.record import KEEP, BanditRun
from numerics.simulation.bandit.run import simulate_bandit

__all__ = [
    "BASELINES",
    "COORDINATES",
    "EPS_IN",
    "GROUPS_OF_ONE",
    "KEEP",
    "KL_ESTIMATORS",
    "NORMALISERS",
    "OVER_PROMPTS",
    "PRESETS",
    "Adam",
    "AdvantageConventions",
    "Bandit",
    "BanditRun",
    "Conventions",
    "Preset",
    "advantages",
    "count_advantages",
    "gradient",
    "mean_gradient",
    "objective",
    "preset",
    "sample_gradient",
    "simulate_bandit",
]
