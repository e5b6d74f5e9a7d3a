"""What a diagnostic is told beside the run itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from numerics.diagnose.finding import FAULT, NOT_OBSERVABLE, WARNING, Finding
from numerics.diagnose.shape import Shape, shape
from numerics.diagnose.thresholds import thresholds
from numerics.diagnose.trend import Floats
from numerics.logs import Run

__all__ = ["Context", "Diagnostic", "first_call", "not_observable", "reward_shape", "until"]

_LEAST_ROWS = 8
_PREFIXES = 16


@dataclass(frozen=True)
class Context:
    r"""Beside the run: what its log and its user know of it.

    Attributes
    ----------
    group_size : int or None
        Samples of one prompt, G.
    prompts : int or None
        Prompts (groups) of one step.
    evaluation : numerics.logs.Run or None
        Evaluation rows of the same run.
    evaluation_items : int or None
        Prompts behind one evaluation, for its sampling error.
    lag : (mean, largest) or None
        Steps, from the trainer's configuration.
    limits : mapping
        The thresholds, by name.
    """

    group_size: int | None = None
    prompts: int | None = None
    evaluation: Run | None = None
    evaluation_items: int | None = None
    lag: tuple[float, float] | None = None
    limits: Mapping[str, float] = field(default_factory=thresholds)


Diagnostic = Callable[[Run, Context], Finding]


def not_observable(name: str, *evidence: str, missing: tuple[str, ...] = ()) -> Finding:
    """Return the finding that the log cannot tell."""
    return Finding(name, NOT_OBSERVABLE, evidence, missing=missing)


def reward_shape(run: Run, context: Context) -> tuple[Floats, Floats, Shape] | None:
    """Return step, reward and the curve's shape; None if the log has no reward."""
    if not run.has("reward"):
        return None
    step, value = run.series("reward")
    return step, value, shape(step, value, context.limits)


def until(run: Run, last: float) -> Run:
    """Return the run as its log stood after step `last`."""
    kept = run.step <= last
    values = {name: column[kept] for name, column in run.values.items()}
    return replace(run, step=run.step[kept], values=values)


def first_call(diagnostic: Diagnostic, run: Run, context: Context, found: Finding) -> float | None:
    """Return the first step from which on the log gave this verdict, or a worse one, throughout.

    Looked for backwards on a grid of 16 steps and then between two of them, so a verdict that
    came, went and came again is dated by its last coming.
    """
    if found.verdict not in (WARNING, FAULT):
        return None
    enough = {WARNING: (WARNING, FAULT), FAULT: (FAULT,)}[found.verdict]

    def called(rows: int) -> bool:
        last = float(run.step[rows - 1])
        cut = replace(context, evaluation=_cut(context.evaluation, last))
        earlier = diagnostic(until(run, last), cut)
        return earlier.verdict in enough

    n = len(run.step)
    grid = np.unique(np.linspace(min(_LEAST_ROWS, n), n, _PREFIXES).astype(int))[:-1]
    high = n
    for rows in grid[::-1]:
        if not called(int(rows)):
            low = int(rows)
            break
        high = int(rows)
    else:
        return float(run.step[high - 1])
    while high - low > 1:
        middle = (low + high) // 2
        if called(middle):
            high = middle
        else:
            low = middle
    return float(run.step[high - 1])


def _cut(evaluation: Run | None, last: float) -> Run | None:
    return None if evaluation is None else until(evaluation, last)
