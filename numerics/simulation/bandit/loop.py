r"""The loop over the steps of a run, for as many chains as fit the processor's cache."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.simulation.bandit import statistics
from numerics.simulation.bandit.advantage import Grader
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.optimizer import Adam, at_rest, stepper
from numerics.simulation.bandit.policy import Bandit, Columns, Floats, Policy
from numerics.simulation.bandit.record import BanditRun, Recorder
from numerics.simulation.bandit.sampling import LagDraws, Sampler
from numerics.simulation.bandit.surrogate import Surrogate
from numerics.simulation.schedule import RandomLag, Schedule


@dataclass(frozen=True, eq=False, kw_only=True)
class Loop:
    """A run without its chains; everything is checked."""

    bandit: Bandit
    conventions: Conventions
    optimizer: str | Adam
    schedule: Schedule | RandomLag
    group_size: int | None
    steps: int
    record_every: int
    keep: Collection[str]
    seed: np.random.SeedSequence

    def run(
        self, chains: range, *, eta: Floats, mu: Floats, beta: Floats, initial: Floats
    ) -> BanditRun:
        """Run these chains, each value one number or one for each chain."""
        asked = len(chains)
        if asked * self.bandit.prompts == 1:
            # NumPy adds up a lone column in another order than one among others.
            chains = range(chains.start, chains.stop + 1)
        columns = Columns(self.bandit, (len(chains),))
        rates = columns.per_chain(eta), columns.per_chain(mu)
        update = stepper(self.optimizer, eta=rates[0], mu=rates[1])
        surrogate = Surrogate(
            self.conventions, columns, columns.per_chain(beta) if np.any(beta) else None
        )
        grader = Grader(
            columns.rewards,
            self.conventions,
            group_size=self.group_size,
            prompts=self.bandit.prompts,
        )
        lags: Schedule | LagDraws = (
            LagDraws(self.schedule, chains, self.seed)
            if isinstance(self.schedule, RandomLag)
            else self.schedule
        )
        sampler = None
        if self.group_size is not None:
            sampler = Sampler(
                chains, self.seed, prompts=self.bandit.prompts, group_size=self.group_size
            )
        recorder = Recorder(columns, steps=self.steps, every=self.record_every, keep=self.keep)
        share = 1 / self.bandit.prompts if self.conventions.over_prompts == "mean" else 1.0

        theta = np.array(columns.parameters(initial))
        memory = at_rest(self.optimizer, theta)
        new = Policy(columns.logits(theta))
        depth = self.schedule.longest + 1
        history = deque([new] * depth, maxlen=depth)
        overflow_step = np.full(len(chains), -1)
        for step in range(self.steps):
            old = _aged(history, lags.lag_at(step), self.bandit.prompts)
            weights = old.probabilities
            if sampler is not None:
                weights = sampler.weights(weights)
            advantages = grader(weights)
            if recorder.due(step):
                values = {"parameters": columns.restored(theta)}
                values |= statistics.of_policy(columns, new)
                values |= statistics.of_batch(
                    columns, self.conventions, grader, weights, advantages, new, old
                )
                recorder.fill(step, overflow_step < 0, values)
            gradient = surrogate.gradient(weights, advantages, new, old)
            if share != 1:
                gradient *= share
            theta = update(step + 1, theta, memory, gradient)
            if not math.isfinite(np.add.reduce(theta, axis=None)):
                theta = _stopped(columns, theta, step + 1, overflow_step)
                if np.all(overflow_step >= 0):
                    break
            new = Policy(columns.logits(theta))
            history.append(new)
        final = columns.restored(theta)
        final[overflow_step >= 0] = np.nan
        return recorder.run(asked, final=final, overflow_step=overflow_step)


def _stopped(
    columns: Columns, theta: Floats, step: int, overflow_step: NDArray[np.int64]
) -> Floats:
    """Note the chains that left the range at this step, and stand them still at 0."""
    finite = np.isfinite(theta).reshape(-1, *columns.lead, columns.bandit.prompts)
    overflow_step[~finite.all(axis=(0, -1)) & (overflow_step < 0)] = step
    return np.where(np.repeat(overflow_step >= 0, columns.bandit.prompts), 0.0, theta)


def _aged(history: deque[Policy], lag: int | NDArray[np.int64], prompts: int) -> Policy:
    """Return the policy of `lag` steps ago, of every chain if there is a lag for each."""
    if isinstance(lag, int):
        return history[-1 - lag]
    first, *others = np.unique(lag)
    logits = history[-1 - first].shifted
    for other in others:
        those = np.repeat(lag == other, prompts)
        logits = np.where(those, history[-1 - other].shifted, logits)
    # A softmax of the same numbers is the same: where the lag is 0 the ratio will be 1.
    return Policy(logits) if others else history[-1 - first]
