r"""What an experiment is: runs to do, predictions to compare, a figure to draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numerics.experiments.transformer.comparison import Row
from numerics.experiments.transformer.setting import Run, Setting

__all__ = ["Experiment", "Plan"]

#: The table of one experiment in ``plan.toml``.
Plan = Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    r"""One experiment; none of its functions needs torch.

    Attributes
    ----------
    id, title
        Such as ``E1``, and what it is about in a few words.
    question
        What is asked, in one sentence.
    settings
        From its plan to the runs to do.
    rows
        From the runs to predictions and measurements side by side.
    figures
        From runs and rows to figures, file name to SVG.
    headline
        ``case / quantity / theory`` of the row that stands for the experiment.
    series
        What is kept of a run besides its logits: of ``reward`` and ``dead``.
    """

    id: str
    title: str
    question: str
    settings: Callable[[Plan], list[Setting]]
    rows: Callable[[Sequence[Run]], list[Row]]
    figures: Callable[[Sequence[Run], Sequence[Row]], dict[str, str]]
    headline: str
    series: tuple[str, ...] = ()
