r"""A case of E5: the runs of one staleness, fixed point and momentum, and what they measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.anchored import Anchor
from numerics.experiments.transformer.theory.cycles import Multiplier, cycles, multiplier
from numerics.experiments.transformer.theory.staleness_theory import Slopes, slopes
from numerics.experiments.transformer.theory.staleness_theory import multiplier as predicted

__all__ = ["Case", "cases"]


@lru_cache(maxsize=64)
def _rest(group_size: int, beta: float, p_ref: float) -> float:
    return Anchor(group_size, beta, "reverse", p_ref).rests[0].logit


@dataclass(frozen=True, eq=False)
class Case:
    r"""One staleness at one fixed point and momentum.

    Attributes
    ----------
    responses
        The runs at the fixed point that measured the slopes, one a network.
    runs
        The sweep over refresh intervals.
    """

    responses: tuple[Run, ...]
    runs: tuple[Run, ...]

    @property
    def name(self) -> str:
        """As rows and figures name it."""
        momentum = f", mu {self.setting.mu}" if self.setting.mu else ""
        return f"{self.setting.staleness}, p* {self.p_star:.2g}{momentum}"

    @property
    def setting(self) -> Setting:
        """Of one of its runs: what they share."""
        return self.runs[0].setting

    @property
    def seeds(self) -> list[int]:
        """The networks."""
        return [run.setting.policy_seed for run in self.responses]

    @cached_property
    def rest(self) -> float:
        """The logit of the fixed point."""
        return _rest(self.setting.group_size, self.setting.beta, self._p_ref)

    @property
    def p_star(self) -> float:
        """The success probability there."""
        return float(1 / (1 + np.exp(-self.rest)))

    @property
    def _p_ref(self) -> float:
        assert isinstance(self.setting.p_ref, float)
        return self.setting.p_ref

    @cached_property
    def refreshes(self) -> list[int]:
        """The refresh intervals, ascending."""
        return sorted({run.setting.refresh for run in self.runs})

    def theory(self, kl: str = "sampled") -> Slopes:
        """Return the slopes by the formula."""
        setting = self.setting
        return slopes(
            setting.staleness, group_size=setting.group_size, beta=setting.beta,
            p_ref=self._p_ref, p_star=self.p_star, kl=kl,
        )  # fmt: skip

    def slopes(self, seeds: Sequence[int]) -> Slopes:
        """Return the slopes as measured on these networks."""
        measured = [
            run.facts["response"] for run in self.responses if run.setting.policy_seed in seeds
        ]
        fresh, stale = (np.mean([one[kind] for one in measured]) for kind in ("fresh", "stale"))
        return Slopes(float(fresh), float(stale))

    def pace(self, seeds: Sequence[int], refresh: int | None = None) -> float:
        """Return what a unit of drift moves the logit in a step, at rest, on average."""
        gains = {run.setting.policy_seed: run.facts["gain"] for run in self.responses}
        return float(np.mean([
            run.facts["eta"] * gains[run.setting.policy_seed]
            for run in self.runs
            if run.setting.policy_seed in seeds and refresh in (None, run.setting.refresh)
        ]))  # fmt: skip

    def multipliers(self, seeds: Sequence[int]) -> list[Multiplier]:
        """Return the multiplier at each refresh, as measured."""
        return [
            multiplier(
                [
                    cycles(run, self.rest)
                    for run in self.runs
                    if run.setting.refresh == refresh and run.setting.policy_seed in seeds
                ],
                momentum=bool(self.setting.mu),
            )
            for refresh in self.refreshes
        ]

    def predicted(self, slopes: Slopes, seeds: Sequence[int]) -> list[float]:
        """Return the multiplier at each refresh that the exact map gives with these slopes."""
        found = [
            predicted(
                self.pace(seeds, refresh) * slopes.stiffness, share=slopes.share,
                refresh=refresh, mu=self.setting.mu,
            )
            for refresh in self.refreshes
        ]  # fmt: skip
        return [abs(one) if self.setting.mu else one.real for one in found]


def cases(runs: Sequence[Run]) -> list[Case]:
    """Return the cases of an experiment's runs, in their order."""
    response: dict[tuple[object, ...], list[Run]] = {}
    sweep: dict[tuple[object, ...], list[Run]] = {}
    for run in runs:
        setting = run.setting
        key = (setting.staleness, setting.p_ref, setting.group_size)
        if "response" in setting.measures:
            response.setdefault(key, []).append(run)
        else:
            sweep.setdefault((*key, setting.mu), []).append(run)
    return [Case(tuple(response[key[:3]]), tuple(some)) for key, some in sweep.items()]
