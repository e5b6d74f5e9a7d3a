"""Kernels compiled from the derivations, one module per result.

Generated from the derivations by `grpo-dynamics report`; do not edit.
"""

from numerics.kernels import (
    beta_zero,
    fixed_point,
    group_size,
    onset,
    oscillator,
    refresh_rule,
    sawtooth,
    slow_root,
    staleness,
    transition,
    variance,
)

__all__ = ["beta_zero", "fixed_point", "group_size", "onset", "oscillator", "refresh_rule", "sawtooth", "slow_root", "staleness", "transition", "variance"]
