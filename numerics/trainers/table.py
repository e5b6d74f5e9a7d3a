r"""What a trainer's configuration comes to: the lag of every micro-batch, and what follows from it.

The lag of a micro-batch is the number of optimizer steps made between the weights that drew its
completions and the step that it contributes to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from numerics.inputs import InvalidInput

__all__ = ["LONGEST_PERIOD", "Effect", "LagTable", "Notice", "Optimizer", "check_period"]

#: Micro-batches in one period of a table, at most.
LONGEST_PERIOD = 100_000


@dataclass(frozen=True)
class Notice:
    """A setting that means something else than people think.

    Attributes
    ----------
    code
        A fixed name for programs, such as ``"fractional-lag"``.
    setting
        The setting it is about, as the trainer spells it.
    text
        What it really means here, in a sentence or two.
    """

    code: str
    setting: str
    text: str


@dataclass(frozen=True)
class Effect:
    """What a setting does to the data.

    `kind` is ``"re-uses"`` (completions enter several gradients), ``"delays"`` (completions are
    used once, but late) or ``"neither"``.
    """

    setting: str
    kind: str
    text: str


@dataclass(frozen=True)
class Optimizer:
    """The optimizer a configuration names, in the theory's terms; `source` says where from."""

    name: str
    momentum: Fraction
    source: str


@dataclass(frozen=True)
class LagTable:
    r"""The lag of every micro-batch over one period, and what follows from it.

    Attributes
    ----------
    trainer
        ``"trl"``, ``"verl"`` or ``"queue"``.
    settings, defaults
        Every setting that was used, by the trainer's name for it; the names of those not given.
    lags
        Optimizer steps of one period, each with the lags of its micro-batches, in steps.
    weights
        Share of each micro-batch in its step, each step summing to 1; None where all are alike.
    drawn
        Whether `lags` is no order but one step whose lag is drawn afresh by `weights` every time.
    importance_ratio
        Whether the loss holds the ratio to the log-probabilities of older weights; None unknown.
    updates_per_rollout
        Optimizer steps for each batch of completions generated at once.
    uses
        How often each completion enters a gradient.
    reward_rows
        The steps of one period, from 1, in which completions are generated and so a reward logged.
    effects, notices
        What re-uses data and what only delays it; what means something else than people think.
    optimizer
        None where the configuration does not tell, or the theory knows no such optimizer.
    max_samples
        verl, fully asynchronous: prompts the sampler may be ahead, those being used included.
    """

    trainer: str
    settings: Mapping[str, object]
    defaults: tuple[str, ...]
    lags: tuple[tuple[int, ...], ...]
    weights: tuple[tuple[Fraction, ...], ...] | None
    drawn: bool
    importance_ratio: bool | None
    updates_per_rollout: Fraction
    uses: int
    reward_rows: tuple[int, ...]
    effects: tuple[Effect, ...]
    notices: tuple[Notice, ...]
    optimizer: Optimizer | None = None
    max_samples: int | None = None

    @cached_property
    def step_laws(self) -> tuple[Mapping[int, Fraction], ...]:
        """For every step of the period the share of each lag in its gradient."""
        return tuple(
            _gathered(lags, self.weights[step] if self.weights else None)
            for step, lags in enumerate(self.lags)
        )

    @cached_property
    def lag_law(self) -> tuple[Fraction, ...]:
        """Probabilities of the lags 0, 1, ..., `max` of a micro-batch, summing to exactly 1."""
        total: dict[int, Fraction] = defaultdict(Fraction)
        for law in self.step_laws:
            for lag, share in law.items():
                total[lag] += share
        return tuple(total[lag] / len(self.lags) for lag in range(self.max + 1))

    @property
    def mean(self) -> Fraction:
        """The mean lag of a micro-batch, in steps."""
        return sum((lag * share for lag, share in enumerate(self.lag_law)), Fraction(0))

    @property
    def max(self) -> int:
        """The longest lag of a micro-batch, in steps."""
        return max(map(max, self.lags))

    @property
    def lag_model(self) -> str:
        """``"constant"``, ``"sawtooth"`` (0, 1, ..., N-1), ``"periodic"`` or ``"random"``."""
        if self.drawn and self.max:
            return "random"
        laws = self.step_laws
        if all(len(law) == 1 for law in laws):
            order = [lag for law in laws for lag in law]
            if len(set(order)) == 1:
                return "constant"
            if order == list(range(len(order))):
                return "sawtooth"
        return "periodic"

    @property
    def ratio_is_one(self) -> bool:
        """Whether the importance ratio is identically 1, so that clipping never fires."""
        return self.importance_ratio is False or self.max == 0

    @property
    def staleness(self) -> str | None:
        """The staleness of theory section 3.7 that this is; None at lag 0 or where unknown."""
        if self.max == 0 or self.importance_ratio is None:
            return None
        return "stale-samples-ratio" if self.importance_ratio else "stale-samples"


def check_period(micro_batches: int, what: str) -> None:
    """Refuse a period too long to be listed; `what` says which settings make it so.

    Raises
    ------
    InvalidInput
        More than `LONGEST_PERIOD` micro-batches.
    """
    if micro_batches > LONGEST_PERIOD:
        raise InvalidInput(
            f"{what} repeat only after {micro_batches} micro-batches: up to {LONGEST_PERIOD} are "
            "listed"
        )


def _gathered(
    lags: tuple[int, ...], weights: tuple[Fraction, ...] | None
) -> Mapping[int, Fraction]:
    counts: dict[int, Fraction] = defaultdict(Fraction)
    for place, lag in enumerate(lags):
        counts[lag] += weights[place] if weights else 1
    whole = sum(counts.values())
    return {lag: count / whole for lag, count in sorted(counts.items()) if count}
