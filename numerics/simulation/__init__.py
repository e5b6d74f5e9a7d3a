"""The discrete map, simulated from equation (3) and independent of every derived formula."""

from __future__ import annotations

from numerics.inputs import InvalidInput, UnknownName
from numerics.simulation.chains import simulate_chains, simulate_linear_chains
from numerics.simulation.engine import ChainRun
from numerics.simulation.mean_field import STALENESS, success_probability, two_arm_drift
from numerics.simulation.measure import (
    BorderNotFound,
    VarianceEstimate,
    growth_rate,
    simulated_border,
    stationary_variance_run,
)
from numerics.simulation.noise import LANE_WIDTH, GaussianNoise, Seed
from numerics.simulation.optimizer import OPTIMIZERS, Optimizer, optimizer_named
from numerics.simulation.scalar_map import (
    NOISE_ENTERS,
    Drift,
    Run,
    linear_drift,
    simulate,
    simulate_linear,
)
from numerics.simulation.schedule import (
    ConstantLag,
    GivenLags,
    RandomLag,
    Sawtooth,
    Schedule,
)
from numerics.simulation.statistics import ChainStatistics, Measure
from numerics.simulation.two_arm import NORMALISERS, simulate_two_arm_chains

__all__ = [
    "LANE_WIDTH",
    "NOISE_ENTERS",
    "NORMALISERS",
    "OPTIMIZERS",
    "STALENESS",
    "BorderNotFound",
    "ChainRun",
    "ChainStatistics",
    "ConstantLag",
    "Drift",
    "GaussianNoise",
    "GivenLags",
    "InvalidInput",
    "Measure",
    "Optimizer",
    "RandomLag",
    "Run",
    "Sawtooth",
    "Schedule",
    "Seed",
    "UnknownName",
    "VarianceEstimate",
    "growth_rate",
    "linear_drift",
    "optimizer_named",
    "simulate",
    "simulate_chains",
    "simulate_linear",
    "simulate_linear_chains",
    "simulate_two_arm_chains",
    "simulated_border",
    "stationary_variance_run",
    "success_probability",
    "two_arm_drift",
]
