r"""Runs at rest under a KL term that differ in their seeds only: seen, and predicted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.tasks import task
from numerics.experiments.transformer.theory.anchored import Anchor, Rest, Variances, variances
from numerics.experiments.transformer.theory.answers import Answers
from numerics.inputs import InvalidInput

__all__ = ["LOGIT", "STEP", "Family", "families", "held", "size_sweeps"]

LOGIT, STEP = "variance of the logit", "variance of a step"


@dataclass(frozen=True)
class Family:
    r"""Runs that differ in their seeds only, and what the theory says of them.

    Attributes
    ----------
    anchor, rest
        Their convention, and the fixed point they are at.
    runs
        One a seed.
    """

    anchor: Anchor
    rest: Rest
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """The case, as its rows have it."""
        more = f", {self.runs[0].setting.answers} answers" if self.answers > 2 else ""
        anchor = self.anchor
        return f"{anchor.kl}, p_star {self.rest.p:.3f}, G {anchor.group_size}, x {self.x:.2f}{more}"

    @property
    def answers(self) -> int:
        """How many answers the task has."""
        return self.runs[0].setting.answers

    @property
    def x(self) -> float:
        """Stiffness per step, the mean over the runs."""
        return float(np.mean([self.pace(run) for run in self.runs])) * self.rest.stiffness

    def pace(self, run: Run) -> float:
        """Return the step of the logit per unit of drift at the fixed point."""
        if self.answers == 2:
            return run.setting.pace
        return float(run.facts["eta"]) * self._answers(run).gain

    def noise(self, run: Run) -> float:
        """Return S; where the answers of a class differ, of them all."""
        return self.rest.noise if self.answers == 2 else self._answers(run).noise

    def predicted(self, quantity: str) -> NDArray[np.float64]:
        """Return what the theory of all answers predicts for each run."""
        if self.answers == 2:
            return self.of_two_arms(quantity, self.rest.noise)
        return np.array([
            _chosen(quantity, self._answers(run).variances(run.facts["eta"])) for run in self.runs
        ])  # fmt: skip

    def of_two_arms(self, quantity: str, noise: float) -> NDArray[np.float64]:
        """Return what the theory of two arms predicts for each run, at this noise."""
        paces = [self.pace(run) for run in self.runs]
        found = [variances(pace * self.rest.stiffness, pace, noise) for pace in paces]
        return np.array([_chosen(quantity, each) for each in found])

    def _answers(self, run: Run) -> Answers:
        setting, facts = run.setting, run.facts
        said, fixed = np.array(facts["rest_said"]), np.array(facts["rest_held"])
        kernel = np.zeros((said.size, said.size))
        kernel[np.tril_indices(said.size)] = facts["rest_kernel"]
        kernel = kernel + np.tril(kernel, -1).T
        right = task(setting.task, answers=setting.answers, prompts=1).right[0]
        return Answers(self.anchor, said, fixed, right, kernel)

    def measured(self, quantity: str) -> NDArray[np.float64]:
        """Return one value a run, past its burn-in.

        A run that starts at rest has a quarter of its steps for the burn-in, another a half. The
        logit is held against the mean of all runs: that of its own run would take a part of the
        variance away.
        """
        first = self.runs[0].setting
        begin = first.steps // 4 if first.p_start is not None else first.steps // 2
        logits = np.stack([run.logit[begin:, 0] for run in self.runs])
        values = np.diff(logits, axis=1) if quantity == STEP else logits - logits.mean()
        return np.asarray((values**2).mean(axis=1))


def _chosen(quantity: str, found: Variances) -> float:
    return found.logit if quantity == LOGIT else found.step


def families(runs: Sequence[Run]) -> list[Family]:
    """Return the runs with those that differ in their seeds only put together."""
    found: dict[Setting, list[Run]] = {}
    for run in runs:
        found.setdefault(replace(run.setting, seed=0, policy_seed=0), []).append(run)
    return [
        Family(anchor, anchor.rests[0], tuple(some))
        for anchor, some in ((held(setting), some) for setting, some in found.items())
    ]


def held(setting: Setting) -> Anchor:
    """Return the convention of a run under a KL term."""
    if not isinstance(setting.p_ref, float):
        raise InvalidInput(f"p_ref is {setting.p_ref}: give one success probability")
    return Anchor(setting.group_size, setting.beta, setting.kl, setting.p_ref)


def size_sweeps(some: Sequence[Family]) -> list[list[Family]]:
    """Return families that differ in the group size, and so in where they rest, alone."""
    alike: dict[tuple[str, float, float, int], list[Family]] = {}
    for family in some:
        setting = family.runs[0].setting
        key = (family.anchor.kl, family.anchor.p_ref, setting.pace, setting.answers)
        alike.setdefault(key, []).append(family)
    return [
        sorted(sweep, key=lambda family: family.anchor.group_size)
        for sweep in alike.values()
        if len({family.anchor.group_size for family in sweep}) > 1
    ]
