"""What each diagnostic said as the log grew: its verdict and its value at a dozen lengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from numerics.diagnose import DIAGNOSTICS, NOT_OBSERVABLE, Context, Finding, until
from numerics.logs import Run

__all__ = ["Said", "courses"]

_LENGTHS = 12
_FEWEST_ROWS = 8


@dataclass(frozen=True)
class Said:
    """What a diagnostic said of the log as it stood after a step."""

    step: float
    finding: Finding


def courses(
    run: Run, context: Context, findings: Sequence[Finding]
) -> tuple[tuple[Said, ...], ...]:
    """Return the course of each finding; `findings` are those of the whole run, all four.

    What cannot be observed at the end has no course.
    """
    return tuple(
        _course(run, context, place, finding) if finding.verdict != NOT_OBSERVABLE else ()
        for place, finding in enumerate(findings)
    )


def _course(run: Run, context: Context, place: int, last: Finding) -> tuple[Said, ...]:
    rows = len(run.step)
    lengths = np.unique(np.linspace(min(_FEWEST_ROWS, rows), rows, _LENGTHS).astype(int))[:-1]
    said = []
    for length in lengths:
        step = float(run.step[length - 1])
        held_out = None if context.evaluation is None else until(context.evaluation, step)
        cut = replace(context, evaluation=held_out)
        said.append(Said(step, DIAGNOSTICS[place](until(run, step), cut)))
    return (*said, Said(float(run.step[-1]), last))
