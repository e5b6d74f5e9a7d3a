r"""A recorded run of a bandit, and how its rows are filled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.simulation.bandit.policy import Columns, Floats

#: What `simulate_bandit` records on request: it takes memory for every prompt.
KEEP: tuple[str, ...] = ("parameters", "prompt_reward")


@dataclass(frozen=True, eq=False)
class BanditRun:
    r"""A recorded run. Row k holds the policy before update k, and the batch update k used.

    Attributes
    ----------
    steps
        The recorded steps 0, record_every, ..., below the number of steps; shape ``(records,)``.
    reward, entropy, effective_arms, kl_to_reference
        Exact expectations under the policy, averaged over the prompts, shape ``(records, chains)``:
        reward, entropy, ``exp(entropy)`` (of each prompt, then averaged), KL(pi || pi_ref).
    sampled_reward
        Mean reward of the batch, which the old policy drew; shape ``(records, chains)``.
    group_std
        Mean over the groups of the std of their rewards, with the conventions' ddof where the group
        is larger than that; shape ``(records, chains)``.
    dead_fraction
        Share of the groups whose rewards all agree, shape ``(records, chains)``.
    clip_fraction
        Share of the samples that a clip leaves without gradient, shape ``(records, chains)``.
    advantage_min, advantage_max
        Over all samples of the batch, shape ``(records, chains)``.
    prompt_reward
        Expected reward of every prompt, ``(records, chains, prompts)``, or None if not asked for.
    parameters
        ``(records, chains, *bandit.parameter_shape)``, or None if not asked for.
    final
        The parameters after the last step, ``(chains, *bandit.parameter_shape)``.
    overflow_step
        The step that took a chain out of the floating-point range, counted from 1, or -1;
        shape ``(chains,)``. What is recorded of the chain from then on is NaN.
    """

    steps: NDArray[np.int64]
    reward: Floats
    entropy: Floats
    effective_arms: Floats
    kl_to_reference: Floats
    sampled_reward: Floats
    group_std: Floats
    dead_fraction: Floats
    clip_fraction: Floats
    advantage_min: Floats
    advantage_max: Floats
    prompt_reward: Floats | None
    parameters: Floats | None
    final: Floats
    overflow_step: NDArray[np.int64]

    @property
    def overflowed(self) -> bool:
        """Whether any chain left the floating-point range."""
        return bool(np.any(self.overflow_step >= 0))


class Recorder:
    """Rows at every `every`-th step, NaN until they are filled."""

    def __init__(self, columns: Columns, *, steps: int, every: int, keep: Collection[str]) -> None:
        self._every = every
        self._steps = np.arange(0, steps, every)
        wide = {
            "parameters": columns.bandit.parameter_shape,
            "prompt_reward": (columns.bandit.prompts,),
        }
        once = {"steps", "final", "overflow_step", *(set(KEEP) - set(keep))}
        shape = (self._steps.size, *columns.lead)
        self._rows = {
            field.name: np.full((*shape, *wide.get(field.name, ())), np.nan)
            for field in fields(BanditRun)
            if field.name not in once
        }

    def due(self, step: int) -> bool:
        """Return whether the step is one to record."""
        return step % self._every == 0

    def fill(self, step: int, running: NDArray[np.bool_], values: dict[str, Floats]) -> None:
        """Record the step for the chains that are still running."""
        for name, rows in self._rows.items():
            rows[step // self._every, running] = values[name][running]

    def run(self, chains: int, *, final: Floats, overflow_step: NDArray[np.int64]) -> BanditRun:
        """Return what was recorded of the first `chains` chains."""
        rows: dict[str, Any] = dict.fromkeys(KEEP)
        rows |= {name: kept[:, :chains] for name, kept in self._rows.items()}
        return BanditRun(
            steps=self._steps, final=final[:chains], overflow_step=overflow_step[:chains], **rows
        )


def joined(runs: Sequence[BanditRun]) -> BanditRun:
    """Return the runs of consecutive chains as one."""
    if len(runs) == 1:
        return runs[0]
    whole: dict[str, Any] = {"steps": runs[0].steps}
    for field in fields(BanditRun):
        parts = [getattr(run, field.name) for run in runs]
        if field.name != "steps":
            axis = 0 if field.name in ("final", "overflow_step") else 1
            whole[field.name] = None if parts[0] is None else np.concatenate(parts, axis=axis)
    return BanditRun(**whole)
