"""The loops of trainers, step by step, as an independent reference for their tables of lags."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field


@dataclass
class Loop:
    """What a loop did: the lags of each optimizer step, its generations, each completion's uses."""

    lags: list[list[int]] = field(default_factory=list)
    generated: list[bool] = field(default_factory=list)
    uses: Counter[tuple[int, int]] = field(default_factory=Counter)


def trl(accumulated: int, per_generation: int, iterations: int, steps: int) -> Loop:
    """Run the buffer of trl's `GRPOTrainer` for so many optimizer steps."""
    loop = Loop()
    micro = generation = 0
    buffer: list[tuple[int, int]] = []  # the slices: (which generation and slice, whose weights)
    for policy in range(steps):
        lags, fresh = [], False
        for _ in range(accumulated):
            if micro % (per_generation * iterations) == 0:
                buffer = [(generation * per_generation + k, policy) for k in range(per_generation)]
                generation += 1
                fresh = True
            which, drawn_by = buffer[micro % per_generation]
            lags.append(policy - drawn_by)
            loop.uses[which, 0] += 1
            micro += 1
        loop.lags.append(lags)
        loop.generated.append(fresh)
    return loop


def verl(train: int, mini: int, epochs: int, rollouts: int) -> list[list[int]]:
    """Run verl's update of the actor: rollout, split, several passes."""
    lags, policy = [], 0
    for _ in range(rollouts):
        drawn_by = policy
        prompts = list(range(train))
        for _ in range(epochs):
            for start in range(0, train, mini):
                assert prompts[start : start + mini]
                lags.append([policy - drawn_by])
                policy += 1
    return lags


def fully_async(
    mini: int, fetches: int, trigger: int, epochs: int, limit: int, intervals: int
) -> list[list[int]]:
    """Run verl's fully asynchronous recipe with a sampler that never makes the trainer wait.

    `limit` is what the sampler may have submitted and not yet seen used. Returns, for each
    optimizer step, the lag of every prompt of its mini-batch.
    """
    lags: list[list[int]] = []
    queue: deque[int] = deque()  # the optimizer step at which each prompt's weights came
    policy = 0
    for _ in range(intervals):
        synchronized, submitted = policy, len(queue)
        while submitted < limit:
            queue.append(synchronized)
            submitted += 1
        for _ in range(trigger):
            fetched = [queue.popleft() for _ in range(mini * fetches)]
            for _ in range(epochs):
                for start in range(0, len(fetched), mini):
                    lags.append([policy - born for born in fetched[start : start + mini]])
                    policy += 1
    return lags


def full_queue(depth: int, updates: int, versions: int) -> list[int]:
    """Run a first-in first-out queue that always holds `depth` batches, one for each version."""
    queue: deque[int] = deque()
    lags, policy = [], 0
    for _ in range(versions):
        queue.append(policy)
        born = queue.popleft() if len(queue) > depth else queue[0]
        for _ in range(updates):
            lags.append(policy - born)
            policy += 1
    return lags[depth * updates :]
