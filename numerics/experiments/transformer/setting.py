r"""One training run: everything that changes its numbers, and what is kept of it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["EPS", "Run", "Setting"]

#: What the trainer adds to the standard deviation of a group.
EPS = 1e-4


@dataclass(frozen=True)
class Setting:
    r"""A run of the trainer on a tiny policy; names as in the theory.

    Attributes
    ----------
    task, answers, prompts
        The task (`numerics.experiments.transformer.tasks`), how many answer tokens it has, and how
        many prompts; every step trains on all of them.
    policy_seed, seed
        Of the policy's weights, and of the sampling.
    p_ref, p_start
        Success probability of the reference and of the first policy, one for all prompts or one
        a prompt. None: the reference as initialised, the first policy as the reference.
    pace
        Step size times the gain of the first policy: what a unit of drift moves its logit in a
        step. The step size itself is the fact ``eta``. For ``adam`` it is the learning rate.
    mu, optimizer
        Momentum of ``heavy-ball``, ``ema``, ``nesterov`` or ``adam`` (mu is beta1).
    group_size, normaliser
        G, and ``group-std`` (ddof 1, the trainer's) or ``none`` (mean only).
    beta, kl
        Weight of the KL term, and ``reverse`` (k3 times the importance ratio, whose gradient is
        that of the reverse KL) or ``k3`` (in the loss as it is).
    staleness, refresh, clip
        What a stale policy enters, the steps between two samplings (1: on-policy), and the clip
        range of the ratio (infinite: none).
    steps, until
        Length of the run, and the success probability at which it ends sooner.
    measures
        What else is measured on the policy before the run, names of
        `numerics.experiments.transformer.lab.measures`.
    trl
        Further options of the trainer's configuration, as pairs.
    """

    task: str = "one-token"
    answers: int = 2
    prompts: int = 1
    policy_seed: int = 0
    seed: int = 0
    p_ref: float | tuple[float, ...] | None = None
    p_start: float | tuple[float, ...] | None = None
    pace: float = 0.1
    mu: float = 0.0
    optimizer: str = "heavy-ball"
    group_size: int = 16
    normaliser: str = "group-std"
    beta: float = 0.0
    kl: str = "reverse"
    staleness: str = "stale-samples-ratio"
    refresh: int = 1
    clip: float = float("inf")
    steps: int = 100
    until: float = 1.0
    measures: tuple[str, ...] = ()
    trl: tuple[tuple[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """The name a run is stored under: equal exactly where the settings are equal."""
        return sha256(self.text.encode()).hexdigest()[:12]

    @property
    def text(self) -> str:
        """The settings that are not the default, as JSON."""
        plain = Setting()
        told = {key: value for key, value in asdict(self).items() if value != getattr(plain, key)}
        return json.dumps(told, sort_keys=True)

    @classmethod
    def read(cls, text: str) -> Setting:
        """Return the settings that `text` tells."""
        told = json.loads(text)
        unknown = set(told) - {field.name for field in fields(cls)}
        if unknown:
            raise ValueError(f"a run has no setting {', '.join(sorted(unknown))}")
        for key in ("p_ref", "p_start", "measures"):
            if isinstance(told.get(key), list):
                told[key] = tuple(told[key])
        if "trl" in told:
            told["trl"] = tuple(map(tuple, told["trl"]))
        return cls(**told)


@dataclass(frozen=True)
class Run:
    r"""What is kept of a run.

    Attributes
    ----------
    setting
        What was run.
    logit
        The exact logit of the success probability, by enumeration of all completions, before each
        step and after the last; (steps + 1, prompts).
    reward, dead
        Mean sampled reward and share of groups without spread, as the trainer logs them, one per
        sampling; empty where an experiment does not keep them.
    facts
        What was measured on the policy before the run: the squared slope of the logit (``gain``),
        the step size (``eta``), and what the setting asks for.
    versions
        Of the packages that ran it.
    """

    setting: Setting
    logit: NDArray[np.float64]
    reward: NDArray[np.float64]
    dead: NDArray[np.float64]
    facts: dict[str, Any]
    versions: dict[str, str]

    @property
    def p(self) -> NDArray[np.float64]:
        """The exact success probability, (steps + 1, prompts)."""
        return 1 / (1 + np.exp(-self.logit))
