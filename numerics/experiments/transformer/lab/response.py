r"""Fresh and stale stiffness, measured by linear response of the trainer itself.

A policy is put where it was not: with a refresh of two steps, a group is sampled by one set of
weights and the second step is made with another, and what the second step does to the logit is
read. Displacing the weights that sample gives the stale slope, displacing those that step the
fresh one; nothing of the theory goes in.
"""

from __future__ import annotations

import copy
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from transformers import TrainerCallback

from numerics.experiments.transformer.lab.policy import Policy, gram, move, success_logit
from numerics.experiments.transformer.lab.trainer import Weights, trainer
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task
from numerics.inputs import InvalidInput

__all__ = ["response"]

_AWAY = 0.25  # of the logit, to either side: what bends over it changes the slopes by 1 % or less
_REPEATS = 16


@dataclass(frozen=True)
class _Probe:
    """Which weights sample, which make the step after, and the seed of the sampling."""

    kind: str
    sampling: Weights
    stepping: Weights
    seed: int


class _Prober(TrainerCallback):  # type: ignore[misc]  # untyped
    """Loads the weights of each probe and reads what each step does to the logit."""

    def __init__(self, work: Task, policy: Policy, probes: list[_Probe]) -> None:
        self._work, self._policy = work, policy
        self._turns = iter([turn for probe in probes for turn in _turns(probe)])
        self._before = 0.0
        self.moves: list[float] = []

    def _logit(self) -> float:
        with torch.no_grad():
            return float(success_logit(self._policy, self._work)[0])

    def on_step_begin(self, *arguments: Any, **options: Any) -> None:
        """Put the policy where the probe wants it."""
        weights, seed = next(self._turns)
        self._policy.load_state_dict(weights)
        if seed is not None:
            torch.manual_seed(seed)
        self._before = self._logit()

    def on_step_end(self, *arguments: Any, **options: Any) -> None:
        """Read the step."""
        self.moves.append(self._logit() - self._before)


def _turns(probe: _Probe) -> Iterator[tuple[Weights, int | None]]:
    # The probes of a repeat share their seed, so that most of the sampling cancels between them.
    yield probe.sampling, probe.seed
    yield probe.stepping, None


def response(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    r"""Return the slopes of the drift at the first policy, measured on the trainer.

    Returns
    -------
    dict
        ``response``: ``fresh``, ``stale`` and ``whole`` -> minus the slope of a step of the logit,
        per unit of step size and gain, in the logit of the policy that steps, of the policy that
        sampled, and of both at once (a step right after its sampling); one value a repeat.
    """
    if setting.prompts != 1:
        raise InvalidInput(f"prompts = {setting.prompts}: a response is that of one prompt")
    gain = float(gram(first, work)[0, 0])
    probes = _probes(setting, work, first)
    plain = replace(
        setting, refresh=2, steps=2 * len(probes), until=1.0, mu=0.0, optimizer="heavy-ball",
        trl=tuple(pair for pair in setting.trl if pair[0] != "num_iterations"),
    )  # fmt: skip
    walker = copy.deepcopy(first)
    prober = _Prober(work, walker, probes)
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about sizes and devices
        trainer(
            plain, work, walker, copy.deepcopy(reference), [prober], directory, eta=eta
        ).train()  # fmt: skip
    found: dict[str, list[float]] = {"fresh": [], "stale": [], "whole": []}
    unit = 2 * _AWAY * eta * gain
    for place in range(0, len(probes), 2):
        (at_once, after), (at_once_down, after_down) = (
            prober.moves[2 * probe : 2 * probe + 2] for probe in (place, place + 1)
        )
        kind = probes[place].kind
        found[kind].append(-(after - after_down) / unit)
        if kind == "stale":  # its sampling weights are the displaced ones
            found["whole"].append(-(at_once - at_once_down) / unit)
    return {"response": {kind: [float(f"{v:.5g}") for v in some] for kind, some in found.items()}}


def _probes(setting: Setting, work: Task, first: Policy) -> list[_Probe]:
    """Return the probes, those displaced up and down next to each other."""
    here = float(success_logit(first, work).detach()[0])
    places = {}
    for away in (0.0, _AWAY, -_AWAY):
        walker = copy.deepcopy(first)
        move(walker, work, here + away)
        places[away] = copy.deepcopy(walker.state_dict())
    rest = places[0.0]
    return [
        _Probe(kind, *((places[away], rest) if kind == "stale" else (rest, places[away])), seed)
        for seed in range(1000 * setting.seed, 1000 * setting.seed + _REPEATS)
        for kind in ("stale", "fresh")
        for away in (_AWAY, -_AWAY)
    ]
