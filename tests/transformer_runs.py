"""Runs of a network with one weight, sampled here and trained by optimizers as torch writes them.

Nothing of the lab's theory goes in: the logit is a function of the weight, a group is drawn from
the binomial, and its advantages and KL gradients are summed sample by sample.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from numerics.experiments.transformer.setting import Run, Setting

_SCALE = 3.0
_EPS = 1e-4


def _logit(weight: float, bend: float) -> float:
    return _SCALE * (weight + bend * weight**2)


def _slope(weight: float, bend: float) -> float:
    return _SCALE * (1 + 2 * bend * weight)


def _weight(logit: float, bend: float) -> float:
    if bend == 0:
        return logit / _SCALE
    return (math.sqrt(1 + 4 * bend * logit / _SCALE) - 1) / (2 * bend)


def _sampled(setting: Setting, p: float, right: int) -> float:
    """Return the mean over the samples of advantage times score, less the KL term's gradient."""
    size, p_ref = setting.group_size, setting.p_ref
    rewards = np.repeat([1.0, 0.0], [right, size - right])
    scores = np.repeat([1 - p, -p], [right, size - right])
    spread = rewards.std(ddof=1) + _EPS if setting.normaliser == "group-std" else 1.0
    drift = float((((rewards - rewards.mean()) / spread) * scores).mean())
    if setting.beta:
        assert isinstance(p_ref, float)
        assert setting.kl == "k3"
        ratios = np.repeat([p_ref / p, (1 - p_ref) / (1 - p)], [right, size - right])
        drift -= setting.beta * float(((1 - ratios) * scores).mean())
    return drift


class _Optimizer:
    def __init__(self, setting: Setting, eta: float) -> None:
        self.setting, self.eta, self.steps = setting, eta, 0
        self.first = self.second = 0.0

    def step(self, gradient: float) -> float:
        mu, name = self.setting.mu, self.setting.optimizer
        self.steps += 1
        if name == "adam":
            self.first = mu * self.first + (1 - mu) * gradient
            self.second = 0.999 * self.second + 0.001 * gradient**2
            mean = self.first / (1 - mu**self.steps)
            square = self.second / (1 - 0.999**self.steps)
            return self.eta * mean / (math.sqrt(square) + 1e-12)
        self.first = mu * self.first + (1 - mu if name == "ema" else 1.0) * gradient
        ahead = gradient + mu * self.first if name == "nesterov" else self.first
        return self.eta * ahead


def run(setting: Setting, *, bend: float = 0.0, adam_kick: float = 1.0) -> Run:
    """Train the one weight as `setting` says; `bend` makes its gain depend on where it is.

    Under adam `adam_kick` scales the learning rate, which the settings give for thousands of
    weights.
    """
    start = setting.p_ref if setting.p_start is None else setting.p_start
    assert isinstance(start, float)
    weight = _weight(math.log(start / (1 - start)), bend)
    gain = _slope(weight, bend) ** 2
    adam = setting.optimizer == "adam"
    eta = setting.pace * adam_kick if adam else setting.pace / gain
    optimizer = _Optimizer(setting, eta)
    random = np.random.default_rng((setting.seed, round(1e6 * setting.mu), setting.group_size))
    logits, rewards = [_logit(weight, bend)], []
    for _ in range(setting.steps):
        p = 1 / (1 + math.exp(-logits[-1]))
        right = int(random.binomial(setting.group_size, p))
        rewards.append(right / setting.group_size)
        weight += optimizer.step(_sampled(setting, p, right) * _slope(weight, bend))
        logits.append(_logit(weight, bend))
        if setting.until < 1 and logits[-1] > math.log(setting.until / (1 - setting.until)):
            break
    at = np.arange(logits[0], max(*logits, logits[0] + 1) + 0.3, 0.1)
    slopes = np.array([_slope(_weight(float(place), bend), bend) for place in at])
    facts: dict[str, Any] = {"gain": gain, "eta": eta, "gain_at": at.tolist()}
    facts["gain_along"] = (slopes**2).tolist()
    if adam:
        many = (slopes * adam_kick).tolist()
        facts |= {"adam_at": at.tolist(), "adam_now": many, "adam_kept": many}
    # As the store keeps it.
    if "mean-field" in setting.measures:
        facts["mean_field"] = _without_noise(setting, eta, bend)
    path: NDArray[np.float64] = np.array([float(f"{logit:.5g}") for logit in logits])[:, None]
    return Run(setting, path, np.array(rewards), np.zeros(len(rewards)), facts, {"torch": "none"})


def _without_noise(setting: Setting, eta: float, bend: float) -> list[float]:
    """Return the success probabilities of the same weight, pushed by the mean over all groups."""
    start = setting.p_ref
    assert isinstance(start, float)
    weight = _weight(math.log(start / (1 - start)), bend)
    optimizer = _Optimizer(setting, eta)
    found = [start]
    counts = np.arange(setting.group_size + 1)
    while len(found) <= setting.steps and found[-1] <= setting.until:
        chances = binom.pmf(counts, setting.group_size, found[-1])
        likely = np.flatnonzero(chances > 1e-9)
        mean = sum(chances[k] * _sampled(setting, found[-1], int(k)) for k in likely)
        weight += optimizer.step(float(mean) * _slope(weight, bend))
        found.append(1 / (1 + math.exp(-_logit(weight, bend))))
    return found


def runs(settings: Sequence[Setting], **given: Any) -> list[Run]:
    """Train one a setting."""
    return [run(setting, **given) for setting in settings]
