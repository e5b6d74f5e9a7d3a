"""Section 5.6 reproduced and gone beyond: transition and threshold on the simulated bandit.

`numerics.experiments.bandit.figure` draws it; it stands apart because it costs the plotting.
"""

from __future__ import annotations

from numerics.experiments.bandit.run import Experiment, make
from numerics.experiments.bandit.tables import render, tables
from numerics.experiments.bandit.verdicts import Verdict

__all__ = ["Experiment", "Verdict", "make", "render", "tables"]
