"""The one table that every log is read into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, known_name

__all__ = ["QUANTITIES", "Column", "Gap", "Log", "Run"]

#: What a column can be about, and what it means whatever trainer logged it.
QUANTITIES: Mapping[str, str] = MappingProxyType({
    "reward": "mean total training reward of the samples that the step is made from",
    "reward_component": "mean of one of several reward functions, or of one part of the reward",
    "true_reward": "mean of the reward that is held to be the target, such as correctness",
    "reward_std": "standard deviation of the reward; of what set, the column's meaning says",
    "dead_fraction": "share of the groups whose rewards all agree",
    "live_fraction": "share of the groups whose rewards do not all agree",
    "all_good_fraction": "share of the groups in which every sample succeeded",
    "all_bad_fraction": "share of the groups in which no sample succeeded",
    "kl": "divergence of the policy from the reference (or the sampler; the meaning says), nats",
    "entropy": "entropy of the policy, nats per token",
    "clip_fraction": "share of the importance ratios that the clip cuts",
    "truncated_fraction": "share of the completions that ran into the length limit",
    "loss": "value of the training objective, which is not a reward",
    "gradient_norm": "norm of the gradient before it is clipped",
    "learning_rate": "learning rate of the step",
    "length": "mean length of a completion, tokens",
    "eval_reward": "mean reward or score of held-out prompts",
    "advantage_max": "largest advantage of the step",
    "lag": "policy updates between drawing a sample and using it",
    "time": "time of the row or of its parts, seconds",
    "epoch": "passes over the training prompts",
    "other": "none of the above",
})


@dataclass(frozen=True)
class Column:
    """One column of a log: its name there, the quantity it holds and what it means there."""

    name: str
    quantity: str
    meaning: str


@dataclass(frozen=True)
class Gap:
    """Steps that a run skips although its rows are otherwise equally spaced."""

    run: str
    after: float
    before: float
    missing: int


@dataclass(frozen=True)
class Run:
    r"""The rows of one run, one a step.

    Attributes
    ----------
    name : str
        Its name in the file; empty when the file holds one run.
    step : (rows,) float array
        Strictly increasing.
    step_source : str
        "logged", or "counted" where the log carries no step: 1, 2, 3, ... is then the row's
        number (times the logging interval, where the log tells it).
    columns : tuple of Column
        Of several columns with one quantity the most total one comes first.
    values : mapping of str to (rows,) float array
        By the log's own name of the column; NaN where the log holds no number.
    spacing : float or None
        Steps from one reward row to the next; None when they differ or there is one row.
    averaged : bool or None
        Whether a row is a mean over the steps since the last row; None when that is not known.
    """

    name: str
    step: NDArray[np.float64]
    step_source: str
    columns: tuple[Column, ...]
    values: Mapping[str, NDArray[np.float64]]
    spacing: float | None
    averaged: bool | None

    def has(self, quantity: str) -> bool:
        """Whether a column with this quantity holds a finite number."""
        return bool(self._columns(quantity))

    def column(self, quantity: str, name: str | None = None) -> Column:
        """Return the column `series` reads, which says what the numbers mean.

        Raises
        ------
        InvalidInput
            No column of that quantity (or that name) holds a number; the message lists what does.
        """
        columns = self._columns(quantity)
        for column in columns:
            if name is None or column.name == name:
                return column
        named = "" if name is None else f" named {name!r}"
        among = ", ".join(repr(c.name) for c in columns) or ", ".join(
            sorted({c.quantity for c in self.columns if self._holds(c)} - {"other"})
        )
        raise InvalidInput(
            f"the log has no {quantity} column{named} with a number in it; "
            f"it has {among or 'no number that is known'}"
        )

    def series(
        self, quantity: str, name: str | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return step and value, (n,) each, of the rows that hold a finite number.

        Of several columns with that quantity it is the most total one, unless `name` says which.

        Raises
        ------
        InvalidInput
            No column of that quantity (or that name) holds a number; the message lists what does.
        """
        values = self.values[self.column(quantity, name).name]
        finite = np.isfinite(values)
        return self.step[finite], values[finite]

    def _columns(self, quantity: str) -> list[Column]:
        known_name("quantity", quantity, QUANTITIES)
        return [c for c in self.columns if c.quantity == quantity and self._holds(c)]

    def _holds(self, column: Column) -> bool:
        return bool(np.isfinite(self.values[column.name]).any())


@dataclass(frozen=True)
class Log:
    """What a log file holds and where every row of it went.

    Attributes
    ----------
    path, format, version : str
        The version is what is known of it, "unknown" plainly otherwise.
    runs : tuple of Run
        The training rows.
    evaluations : tuple of Run
        The evaluation rows, as runs with the same names.
    rows : mapping of str to int
        How many rows were a "reward" row, an "evaluation", a "summary", a "duplicate",
        "superseded", "without reward", "refused"; they add up to the rows seen.
    gaps : tuple of Gap
        Steps that are missing; nothing is filled in for them.
    refused : tuple of str
        What could not be read: what and why.
    notes : tuple of str
        Choices the reader made, such as which rows of a resumed run count.
    configuration : mapping
        What the log itself tells of the run, such as logging_steps or group_size.
    """

    path: str
    format: str
    version: str
    runs: tuple[Run, ...]
    evaluations: tuple[Run, ...]
    rows: Mapping[str, int]
    gaps: tuple[Gap, ...]
    refused: tuple[str, ...]
    notes: tuple[str, ...]
    configuration: Mapping[str, object]
