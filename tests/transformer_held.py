"""Runs under a KL term made without training: the plain two-answer trainer, by sampling."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from numerics.experiments.transformer.setting import Run, Setting


def held_run(setting: Setting, steps: int | None = None) -> Run:
    """Return a run of two answers under a KL term, the gain being 1 everywhere.

    Every sample is drawn, its advantage and its loss are those of the trainer as its documentation
    has them, and the loss is differentiated by a difference: nothing of `anchored` is used.
    """
    rng = np.random.default_rng([setting.seed, setting.group_size, round(1e4 * setting.beta)])
    p_ref = float(setting.p_ref)  # type: ignore[arg-type]
    start = p_ref if setting.p_start is None else float(setting.p_start)  # type: ignore[arg-type]
    logits = [math.log(start / (1 - start))]
    for _ in range(steps or setting.steps):
        p = 1 / (1 + math.exp(-logits[-1]))
        right = rng.random(setting.group_size) < p
        slope = -group_gradient(right, logits[-1], p_ref, setting.beta, setting.kl)
        logits.append(logits[-1] + setting.pace * slope)
    path = np.array(logits)[:, None]
    blank = np.zeros(len(logits) - 1)
    facts = {
        "gain": 1.0, "eta": setting.pace, "gain_at": [-12.0, 12.0], "gain_along": [1.0, 1.0]
    }  # fmt: skip
    return Run(setting, path, blank, blank, facts, {"torch": "none"})


def group_gradient(
    right: np.ndarray, logit: float, p_ref: float, beta: float, kl: str, step: float = 1e-6
) -> float:
    """Return the slope of one group's loss in the logit, by a difference."""
    reward = right.astype(float)
    spread = reward.std(ddof=1)
    advantage = (reward - reward.mean()) / (spread + 1e-4)
    held = np.log(np.where(right, p_ref, 1 - p_ref))

    def says(at: float) -> np.ndarray:
        p = 1 / (1 + math.exp(-at))
        return np.log(np.where(right, p, 1 - p))

    old = says(logit)

    def loss(at: float) -> float:
        ratio = np.exp(says(at) - old)
        k3 = np.exp(held - says(at)) - (held - says(at)) - 1
        return float(np.mean(-ratio * advantage + beta * k3 * (ratio if kl == "reverse" else 1)))

    return (loss(logit + step) - loss(logit - step)) / (2 * step)


def every_group(size: int, p: float, of: Callable[[np.ndarray], float]) -> tuple[float, float]:
    """Return mean and variance of `of` over every group of this size, each sample right at p."""
    mean = square = 0.0
    for outcome in np.ndindex(*(2,) * size):
        right = np.array(outcome) == 1
        weight = float(np.prod(np.where(right, p, 1 - p)))
        value = of(right)
        mean += weight * value
        square += weight * value**2
    return mean, square - mean**2
