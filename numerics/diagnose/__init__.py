"""From a training log to a verdict: coupling, degeneracy, concentration, instability."""

from __future__ import annotations

from numerics.diagnose.changes import PIECES, changes
from numerics.diagnose.concentration import concentration
from numerics.diagnose.context import Context, until
from numerics.diagnose.coupling import best_checkpoint, coupling
from numerics.diagnose.degeneracy import dead_groups, degeneracy, steps_until_live
from numerics.diagnose.diagnosis import DIAGNOSTICS, Diagnosis, context_of, diagnose
from numerics.diagnose.finding import (
    FAULT,
    HEALTHY,
    NOT_OBSERVABLE,
    VERDICTS,
    WARNING,
    Change,
    Estimate,
    Finding,
    Rival,
)
from numerics.diagnose.group_noise import noise_exponent, noise_of_sweep
from numerics.diagnose.instability import instability
from numerics.diagnose.shape import SHAPES, Shape
from numerics.diagnose.text import render
from numerics.diagnose.thresholds import THRESHOLDS, Threshold

__all__ = [
    "DIAGNOSTICS",
    "FAULT",
    "HEALTHY",
    "NOT_OBSERVABLE",
    "PIECES",
    "SHAPES",
    "THRESHOLDS",
    "VERDICTS",
    "WARNING",
    "Change",
    "Context",
    "Diagnosis",
    "Estimate",
    "Finding",
    "Rival",
    "Shape",
    "Threshold",
    "best_checkpoint",
    "changes",
    "concentration",
    "context_of",
    "coupling",
    "dead_groups",
    "degeneracy",
    "diagnose",
    "instability",
    "noise_exponent",
    "noise_of_sweep",
    "render",
    "steps_until_live",
    "until",
]
