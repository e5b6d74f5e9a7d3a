"""What a configuration will do, and what room it leaves."""

from __future__ import annotations

from numerics.predict.bandit import PARAMETERS, STALENESS, critical_beta, fixed_point, slopes_at
from numerics.predict.quantities import predict
from numerics.predict.relaxation import stiffness_from_tau
from numerics.predict.room import largest_safe_delay
from numerics.predict.stiffness import Settings
from numerics.predict.text import render

__all__ = [
    "PARAMETERS",
    "STALENESS",
    "Settings",
    "critical_beta",
    "fixed_point",
    "largest_safe_delay",
    "predict",
    "render",
    "slopes_at",
    "stiffness_from_tau",
]
