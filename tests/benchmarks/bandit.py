"""The general bandit, 64 prompts x 16 arms and groups of 16, against a loop over the groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Row, faster, measured
from numerics.simulation import ConstantLag
from numerics.simulation.bandit import Bandit, Conventions, gradient, preset, simulate_bandit

Array = NDArray[np.float64]

_PROMPTS, _ARMS, _GROUP, _LAG = 64, 16, 16, 1
_ETA, _MU, _BETA = 0.05, 0.9, 0.1
_MANY = 16


def _problem() -> tuple[Array, Array]:
    rng = np.random.default_rng(5)
    rewards = (rng.random((_PROMPTS, _ARMS)) < 0.3).astype(np.float64)
    return rewards, rng.normal(0, 0.5, (_PROMPTS, _ARMS))


def group_by_group(rewards: Array, reference: Array, steps: int) -> Array:
    """GRPO as its equations read: for every prompt draw a group, take its gradient; then step."""
    rng = np.random.default_rng(1)
    theta = reference.copy()
    older, before = theta.copy(), theta.copy()  # the policy of a step ago; the last iterate
    gradient = np.empty_like(theta)
    for _ in range(steps):
        for prompt in range(_PROMPTS):
            p, p_old, p_ref = (_softmax(t[prompt]) for t in (theta, older, reference))
            arms = rng.choice(_ARMS, size=_GROUP, p=p_old)
            gradient[prompt] = group_gradient(rewards[prompt], arms, p, p_old, p_ref)
        older = theta
        theta, before = theta + _ETA / _PROMPTS * gradient + _MU * (theta - before), theta
    return theta


def group_gradient(rewards: Array, arms: Array, p: Array, p_old: Array, p_ref: Array) -> Array:
    """Return the gradient of one prompt's objective by its logits."""
    gradient = np.zeros(_ARMS)
    r = rewards[arms]
    std = r.std()
    if std > 0:
        weight = (r - r.mean()) / std * p[arms] / p_old[arms] / _GROUP
        np.add.at(gradient, arms, weight)
        gradient -= weight.sum() * p
    log_ratio = np.log(p / p_ref)
    gradient -= _BETA * p * (log_ratio - p @ log_ratio)
    return gradient


def _check_that_both_do_the_same(
    bandit: Bandit, conventions: Conventions, rewards: Array, reference: Array
) -> None:
    rng = np.random.default_rng(2)
    theta, older = reference + rng.normal(0, 0.3, (2, _PROMPTS, _ARMS))
    arms = rng.integers(0, _ARMS, (_PROMPTS, _GROUP))
    counts = np.array([np.bincount(drawn, minlength=_ARMS) for drawn in arms])
    found = gradient(bandit, conventions, theta, older, beta=_BETA, counts=counts)
    by_hand = [
        group_gradient(r, drawn, *map(_softmax, logits)) / _PROMPTS
        for r, drawn, *logits in zip(rewards, arms, theta, older, reference, strict=True)
    ]
    np.testing.assert_allclose(found, by_hand, rtol=1e-9, atol=1e-15)


def _softmax(logits: Array) -> Array:
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def multinomials(probabilities: Array, steps: int) -> None:
    """Draw the counts alone, every prompt's in one call a step."""
    rng = np.random.default_rng(1)
    for _ in range(steps):
        rng.multinomial(_GROUP, probabilities)


def measure(quick: bool) -> Row:
    """Measure the row of the general bandit."""
    steps, rounds = (5, 3) if quick else (200, 7)
    rewards, reference = _problem()
    bandit = Bandit(rewards=rewards, reference_logits=reference, coordinates="free-logits")
    paper = preset("paper", staleness="stale-samples-ratio").conventions
    conventions = replace(paper, over_prompts="mean")
    _check_that_both_do_the_same(bandit, conventions, rewards, reference)

    def ours(chains: int) -> Array:
        run = simulate_bandit(
            bandit,
            conventions,
            "heavy-ball",
            ConstantLag(_LAG),
            eta=_ETA,
            mu=_MU,
            beta=_BETA,
            group_size=_GROUP,
            initial=reference,
            steps=steps,
            chains=chains,
            seed=1,
            record_every=steps,
        )
        return run.final

    final = ours(1)[0]
    probabilities = np.apply_along_axis(_softmax, 1, final)
    times = measured(
        {
            "one": lambda: ours(1),
            "many": lambda: ours(_MANY),
            "loop": lambda: group_by_group(rewards, reference, steps),
            "multinomials": lambda: multinomials(probabilities, steps),
        },
        rounds=rounds,
    )
    return Row(
        "general bandit 64 prompts x 16 arms, G = 16",
        ">= 5x a per-group Python loop, >= 0.5 of the rate of `Generator.multinomial`",
        [
            faster("one run: over the loop", times["one"], times["loop"], least=5),
            faster(
                "one run: over drawing the counts", times["one"], times["multinomials"], least=0.5
            ),
            faster(
                f"{_MANY} runs at once: over the loop", times["many"], times["loop"], work=_MANY
            ),
            faster(
                f"{_MANY} runs at once: over drawing the counts",
                times["many"],
                times["multinomials"],
                work=_MANY,
            ),
        ],
        (
            f"`simulate_bandit` as in the paper's equations, with the unclipped ratio, lag {_LAG}, "
            f"{steps} steps; per run and step. The loop is `group_by_group` in "
            "`tests/benchmarks/bandit.py`; the counts are drawn for all 64 prompts in one call, at "
            "the probabilities the run ends with.",
        ),
    )
