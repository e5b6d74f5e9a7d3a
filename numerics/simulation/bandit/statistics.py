r"""What is recorded of a step: the policy before the update, and the batch the update used."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from numerics.simulation.bandit.advantage import Grader
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.policy import Columns, Floats, Policy
from numerics.simulation.bandit.surrogate import importance_ratio, silenced


def of_policy(columns: Columns, policy: Policy) -> Mapping[str, Floats]:
    """Return exact expectations under the policy, each averaged over the prompts; a value a chain.

    Reward per prompt is ``prompt_reward``, shape ``(chains, prompts)``.
    """
    pi, log_pi = policy.probabilities, policy.log_probabilities
    # pi log pi is 0 where pi underflows, and the logarithm is finite there.
    entropy = -(pi * log_pi).sum(axis=0)
    reward = (pi * columns.rewards).sum(axis=0).reshape(*columns.lead, -1)
    return {
        "prompt_reward": reward,
        "reward": reward.mean(axis=-1),
        "entropy": _mean(columns, entropy),
        "effective_arms": _mean(columns, np.exp(entropy)),
        "kl_to_reference": _mean(columns, (pi * (log_pi - columns.log_reference)).sum(axis=0)),
    }


def of_batch(
    columns: Columns,
    conventions: Conventions,
    grader: Grader,
    weights: Floats,
    advantages: Floats,
    new: Policy,
    old: Policy,
) -> Mapping[str, Floats]:
    """Return what a trainer logs of its batch, a value a chain."""
    spread = grader.spread(weights)
    drawn = weights > 0
    chains = (len(weights), *columns.lead, columns.bandit.prompts)
    extremes = {
        name: extreme.reduce(np.where(drawn, advantages, bound).reshape(chains), axis=(0, -1))
        for name, extreme, bound in (
            ("advantage_min", np.minimum, np.inf),
            ("advantage_max", np.maximum, -np.inf),
        )
    }
    silent = None
    if new is not old and conventions.staleness == "stale-samples-ratio":
        silent = silenced(conventions, importance_ratio(new, old), advantages)
    clipped = np.zeros(weights.shape[1]) if silent is None else (weights * silent).sum(axis=0)
    return {
        "sampled_reward": _mean(columns, (weights * columns.rewards).sum(axis=0)),
        "group_std": _mean(columns, spread),
        "dead_fraction": _mean(columns, (spread == 0).astype(float)),
        "clip_fraction": _mean(columns, clipped),
        **extremes,
    }


def _mean(columns: Columns, values: Floats) -> Floats:
    result: Floats = columns.over_prompts(values) / columns.bandit.prompts
    return result
