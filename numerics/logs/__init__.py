"""Training logs, whatever trainer wrote them, as one table."""

from __future__ import annotations

from numerics.logs.read import read_log
from numerics.logs.table import QUANTITIES, Column, Gap, Log, Run

__all__ = ["QUANTITIES", "Column", "Gap", "Log", "Run", "read_log"]
