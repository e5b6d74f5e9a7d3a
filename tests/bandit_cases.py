"""Conventions and bandits that the tests of the bandit share."""

from __future__ import annotations

from typing import Any

import numpy as np

from numerics.simulation import ConstantLag, Schedule
from numerics.simulation.bandit import Adam, Bandit, BanditRun, Conventions, simulate_bandit
from numerics.simulation.schedule import RandomLag

#: Equations (1) and (2) as printed: population std, no eps, unclipped ratio, exact reverse KL.
PRINTED: dict[str, Any] = {
    "baseline": "group-mean",
    "normaliser": "group-std",
    "ddof": 0,
    "eps": 0.0,
    "eps_in": "std",
    "group_of_one": "refuse",
    "staleness": "stale-samples-ratio",
    "clip": None,
    "dual_clip": None,
    "log_ratio_clamp": None,
    "kl": "reverse",
    "over_prompts": "sum",
}


def conventions(**changed: Any) -> Conventions:
    return Conventions(**(PRINTED | changed))


def two_arms(reference: float = 0.0) -> Bandit:
    """One prompt, rewards 1 and 0, theta the logit of success."""
    return Bandit(rewards=[[1, 0]], reference_logits=reference, coordinates="one-logit")


def free_bandit(prompts: int, arms: int, seed: int) -> Bandit:
    """Arbitrary real rewards and reference, a free logit for every arm."""
    rng = np.random.default_rng(seed)
    return Bandit(
        rewards=rng.normal(size=(prompts, arms)),
        reference_logits=rng.normal(size=(prompts, arms)),
        coordinates="free-logits",
    )


ON_POLICY = ConstantLag(0)


def run(
    bandit: Bandit,
    how: Conventions,
    optimizer: str | Adam = "heavy-ball",
    schedule: Schedule | RandomLag = ON_POLICY,
    **changed: Any,
) -> BanditRun:
    """Run it with everything recorded, as said or as here."""
    given: dict[str, Any] = {
        "eta": 0.1,
        "mu": 0.5,
        "beta": 0.1,
        "group_size": 5,
        "initial": bandit.reference,
        "steps": 30,
        "chains": 3,
        "seed": 7,
        "record_every": 1,
        "keep": ("parameters", "prompt_reward"),
    }
    return simulate_bandit(bandit, how, optimizer, schedule, **given | changed)
