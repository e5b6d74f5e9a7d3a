r"""The main job: derive everything, judge the record, run the map beside it, make a page of it."""

from __future__ import annotations

from numerics.plots import Figure
from numerics.publish import OutputError, staged
from numerics.report.crosscheck import Crosscheck
from numerics.report.run import SCHEMA, Report, Shown, make
from numerics.report.witness import confirm

__all__ = [
    "SCHEMA",
    "Crosscheck",
    "Figure",
    "OutputError",
    "Report",
    "Shown",
    "confirm",
    "make",
    "staged",
]
