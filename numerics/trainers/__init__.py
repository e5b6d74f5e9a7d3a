"""A trainer's configuration, and the lag it really has.

`lag_table` gives the lag of every micro-batch over one period; `border` the largest safe x.
"""

from __future__ import annotations

from numerics.trainers.border import OPTIMIZERS, Border, border
from numerics.trainers.config import SUFFIXES, overrides, read_config
from numerics.trainers.registry import TRAINERS, lag_table
from numerics.trainers.table import LONGEST_PERIOD, Effect, LagTable, Notice, Optimizer
from numerics.trainers.text import as_json, render

__all__ = [
    "LONGEST_PERIOD",
    "OPTIMIZERS",
    "SUFFIXES",
    "TRAINERS",
    "Border",
    "Effect",
    "LagTable",
    "Notice",
    "Optimizer",
    "as_json",
    "border",
    "lag_table",
    "overrides",
    "read_config",
    "render",
]
