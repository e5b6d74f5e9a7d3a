"""GRPO on a bandit written down plainly: a loop over prompts and samples, one chain.

Independent of the package but for the random numbers, which it reads in the same order. It is the
oracle of `test_bandit_run` and the loop that the benchmark compares with. Group-normalised
advantages, clipped ratio, k3 or exact reverse KL, free logits.
"""

from __future__ import annotations

import numpy as np

from numerics.simulation.bandit import Adam, Bandit, Conventions
from numerics.simulation.noise import Lane
from numerics.simulation.schedule import Schedule


def softmax(logits: np.ndarray) -> np.ndarray:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def group_gradient(
    how: Conventions,
    rewards: np.ndarray,
    arms: np.ndarray,
    policy: np.ndarray,
    sampled: np.ndarray,
    reference: np.ndarray,
    beta: float,
) -> np.ndarray:
    """Gradient of one group's objective in the logits, sample by sample."""
    low, high = how.clip or (np.inf, np.inf)
    drawn = rewards[arms]
    advantages = np.zeros(arms.size)
    if np.any(drawn != drawn[0]):
        advantages = (drawn - drawn.mean()) / (drawn.std(ddof=how.ddof) + how.eps)
    result = np.zeros(policy.size)
    for arm, advantage in zip(arms, advantages, strict=True):
        score = -policy.copy()
        score[arm] += 1
        ratio = policy[arm] / sampled[arm]
        clipped = ratio > 1 + high if advantage > 0 else ratio < 1 - low
        if not clipped:
            result += ratio * advantage * score / arms.size
        if how.kl == "k3":
            result -= beta * (1 - reference[arm] / policy[arm]) * score / arms.size
    if how.kl == "reverse":
        surprise = np.log(policy / reference)
        result -= beta * policy * (surprise - policy @ surprise)
    return result


def plain_run(
    bandit: Bandit,
    how: Conventions,
    optimizer: str | Adam,
    schedule: Schedule,
    *,
    eta: float,
    mu: float,
    beta: float,
    group_size: int,
    steps: int,
    seed: int,
    chain: int = 0,
) -> np.ndarray:
    """Return the logits after the last step of a run from the reference."""
    stream = Lane(chain, 1, np.random.SeedSequence(seed)).generator(0)
    path = [np.array(bandit.reference)] * (schedule.longest + 1)
    mean, square = np.zeros((2, *bandit.rewards.shape))
    for step in range(steps):
        theta, theta_old = path[-1], path[-1 - schedule.lag_at(step)]
        uniform = stream.random((group_size, bandit.prompts))
        gradient = np.empty_like(theta)
        for prompt in range(bandit.prompts):
            sampled = softmax(theta_old[prompt])
            arms = np.searchsorted(np.cumsum(sampled)[:-1], uniform[:, prompt], side="right")
            gradient[prompt] = group_gradient(
                how,
                bandit.rewards[prompt],
                arms,
                softmax(theta[prompt]),
                sampled,
                softmax(bandit.reference[prompt]),
                beta,
            )
        if how.over_prompts == "mean":
            gradient /= bandit.prompts
        if isinstance(optimizer, Adam):
            mean = mu * mean + (1 - mu) * gradient
            square = optimizer.beta2 * square + (1 - optimizer.beta2) * gradient**2
            first, second = mean, square
            if optimizer.bias_correction:
                first = mean / (1 - mu ** (step + 1))
                second = square / (1 - optimizer.beta2 ** (step + 1))
            theta = theta * (1 - eta * optimizer.weight_decay)
            moved = theta + eta * first / (np.sqrt(second) + optimizer.adam_eps)
        elif optimizer == "heavy-ball":
            moved = theta + eta * gradient + mu * (theta - path[-2] if step else 0 * theta)
        elif optimizer == "ema":
            mean = mu * mean + (1 - mu) * gradient
            moved = theta + eta * mean
        elif optimizer == "nesterov":
            mean = mu * mean + gradient
            moved = theta + eta * (gradient + mu * mean)
        else:
            raise KeyError(optimizer)
        path.append(moved)
        path = path[-(schedule.longest + 2) :]
    return path[-1]
