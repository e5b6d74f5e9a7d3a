"""The discrete map, simulated from equation (3) and independent of every derived formula."""

from __future__ import annotations

from numerics.inputs import InvalidInput, UnknownName
from numerics.simulation.mean_field import STALENESS, success_probability, two_arm_drift
from numerics.simulation.measure import (
    BorderNotFound,
    VarianceEstimate,
    growth_rate,
    simulated_border,
    stationary_variance_run,
)
from numerics.simulation.optimizer import OPTIMIZERS, Optimizer, optimizer_named
from numerics.simulation.scalar_map import (
    NOISE_ENTERS,
    Drift,
    Run,
    linear_drift,
    simulate,
    simulate_linear,
)
from numerics.simulation.schedule import ConstantLag, Sawtooth, Schedule

__all__ = [
    "NOISE_ENTERS",
    "OPTIMIZERS",
    "STALENESS",
    "BorderNotFound",
    "ConstantLag",
    "Drift",
    "InvalidInput",
    "Optimizer",
    "Run",
    "Sawtooth",
    "Schedule",
    "UnknownName",
    "VarianceEstimate",
    "growth_rate",
    "linear_drift",
    "optimizer_named",
    "simulate",
    "simulate_linear",
    "simulated_border",
    "stationary_variance_run",
    "success_probability",
    "two_arm_drift",
]
