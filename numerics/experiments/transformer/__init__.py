"""Every prediction put to a small transformer, trained by the real trainer.

Doing the runs needs the extra ``transformer``; comparing and drawing those that are kept does not.
"""

from __future__ import annotations

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.experiment import Experiment
from numerics.experiments.transformer.findings import Findings, markdown, render, row, table, tally
from numerics.experiments.transformer.run import RESULTS, Found, chosen, do, look

__all__ = [
    "RESULTS",
    "Experiment",
    "Findings",
    "Found",
    "Row",
    "chosen",
    "do",
    "look",
    "markdown",
    "render",
    "row",
    "table",
    "tally",
]
