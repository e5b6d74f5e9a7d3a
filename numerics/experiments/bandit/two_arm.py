r"""The two-arm bandit of section 5.6: stiffness, borders, and what lies beyond them, measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.bandit.locate import climb, locate, looks_of, runs, sight, tangent
from numerics.experiments.bandit.plan import Plan, Schedule, Setting
from numerics.experiments.bandit.prediction import Borders, predicted
from numerics.simulation import simulate, success_probability, two_arm_drift
from numerics.simulation.response import Response, linear_response
from numerics.simulation.scalar_map import Drift

__all__ = ["Case", "Fate", "cases"]

Floats = NDArray[np.float64]

_ROUNDS = 5  # divisions of the bracket where a look costs no run: to about 1e-9
_NUDGE = 1e-3  # of the logit, from which a run beyond the threshold starts
_STILL = 1e-3  # a success probability that moves by less has come to rest


@dataclass(frozen=True)
class Fate:
    r"""What became of a run beyond the threshold.

    Attributes
    ----------
    factor
        Its step size over the threshold.
    kind
        ``swings`` for ever, ``escapes`` to certainty of one arm, ``settles`` at the fixed point.
    lowest, highest
        Success probability over the last quarter of the run.
    """

    factor: float
    kind: str
    lowest: float
    highest: float


@dataclass(frozen=True)
class Case:
    r"""One bandit under one schedule: what was measured and what was predicted.

    Attributes
    ----------
    staleness, schedule, mu, beta, p_ref
        What it is.
    p_star, fresh, stale
        Fixed point and slopes K_f and K_s, by linear response.
    run, tangent
        Borders in x = eta K found by running the map, and by the eigenvalues of its tangent.
    sight
        How early and how late the runs may find the onset, relative.
    predicted
        Borders by theory.
    beyond
        Runs past the threshold.
    """

    staleness: str
    schedule: Schedule
    mu: float
    beta: float
    p_ref: float
    p_star: float
    fresh: float
    stale: float
    run: Borders
    tangent: Borders
    sight: tuple[float, float]
    predicted: Mapping[str, Borders]
    beyond: tuple[Fate, ...]

    @property
    def stiffness(self) -> float:
        """``K = K_f + K_s``."""
        return self.fresh + self.stale

    @property
    def stale_share(self) -> float:
        """``s = K_s/K``."""
        return self.stale / self.stiffness


@dataclass(frozen=True, eq=False)
class _Bandits:
    """The settings side by side, in arrays of shape (settings, 1)."""

    staleness: str
    beta: Floats
    theta_ref: Floats
    responses: list[Response]

    @property
    def point(self) -> Floats:
        """Fixed points, shape (settings, 1, 1): the last axis is the parameter's."""
        return np.array([response.point for response in self.responses])[:, None, :]

    @property
    def stiffness(self) -> Floats:
        return np.array([[response.only_mode.rate.real] for response in self.responses])

    def drift(self, axes: int) -> Drift:
        """Return the drift with that many axes after the settings'."""
        shape = (-1, *(1,) * axes)
        return two_arm_drift(
            self.staleness,
            beta=self.beta.reshape(shape),
            theta_ref=self.theta_ref.reshape(shape),
        )


def _reference(setting: Setting, staleness: str) -> float:
    """Return the reference logit that puts the fixed point at p_star: the drift is linear in it."""
    theta = math.log(setting.p_star / (1 - setting.p_star))
    zero, one = (
        float(two_arm_drift(staleness, beta=setting.beta, theta_ref=ref)(theta, theta))
        for ref in (0.0, 1.0)
    )
    return zero / (zero - one)


def _bandits(staleness: str, settings: tuple[Setting, ...]) -> _Bandits:
    references = [_reference(setting, staleness) for setting in settings]
    responses = [
        # The search starts at the reference policy, as a run would.
        linear_response(two_arm_drift(staleness, beta=setting.beta, theta_ref=ref), ref)
        for setting, ref in zip(settings, references, strict=True)
    ]
    beta = np.array([[setting.beta] for setting in settings])
    return _Bandits(staleness, beta, np.array(references)[:, None], responses)


def cases(plan: Plan, schedule: Schedule, staleness: str) -> list[Case]:
    """Measure and predict every setting and momentum under one schedule and one staleness."""
    bandits, mu = _bandits(staleness, plan.settings), np.array(plan.momenta)
    chains = (len(plan.settings), len(plan.momenta))
    steps = plan.steps(schedule)
    drift, point, stiffness = bandits.drift(3), bandits.point, bandits.stiffness
    run = locate(
        runs(drift, schedule, mu=mu, point=point, stiffness=stiffness, steps=steps),
        chains, plan.search,
    )  # fmt: skip
    exact, *seen = (
        locate(
            tangent(drift, schedule, mu=mu, point=point, stiffness=stiffness, **look),
            chains, plan.search, rounds=_ROUNDS,
        )
        for look in looks_of(steps)
    )  # fmt: skip
    fates = _beyond(bandits, plan, schedule, run.threshold / bandits.stiffness)
    found = []
    for i, response in enumerate(bandits.responses):
        mode = response.only_mode
        for j, momentum in enumerate(plan.momenta):
            found.append(
                Case(
                    staleness=staleness,
                    schedule=schedule,
                    mu=momentum,
                    beta=plan.settings[i].beta,
                    p_ref=float(success_probability(bandits.theta_ref[i, 0])),
                    p_star=float(success_probability(response.point[0])),
                    fresh=mode.fresh.real,
                    stale=mode.stale.real,
                    run=run.borders(i, j),
                    tangent=exact.borders(i, j),
                    sight=sight(exact.borders(i, j), *(found.borders(i, j) for found in seen)),
                    predicted=predicted(
                        schedule, mu=momentum, stale_share=mode.stale_share.real,
                        grid=climb(plan.search),
                    ),
                    beyond=fates[i][j],
                )
            )  # fmt: skip
    return found


def _beyond(
    bandits: _Bandits, plan: Plan, schedule: Schedule, threshold: Floats
) -> list[list[tuple[Fate, ...]]]:
    """Run the map beyond the threshold, from rest a little beside the fixed point."""
    factors = np.array(plan.beyond)
    found = np.isfinite(threshold)
    eta = np.where(found, threshold, 1.0)[..., None] * factors
    run = simulate(
        bandits.drift(2), "heavy-ball", schedule,
        eta=eta, mu=np.array(plan.momenta)[:, None],
        initial=bandits.point + _NUDGE, steps=plan.steps(schedule),
    )  # fmt: skip
    late = run.path[-(len(run.path) // 4) :]
    p = success_probability(np.clip(late, -700, 700))
    lowest, highest = p.min(axis=0), p.max(axis=0)
    rest = success_probability(bandits.point)[..., 0]
    return [
        [
            tuple(
                Fate(float(factor), _kind(low, high, float(rest[i, 0])), float(low), float(high))
                for factor, low, high in zip(factors, lowest[i, j], highest[i, j], strict=True)
                if found[i, j]
            )
            for j in range(len(plan.momenta))
        ]
        for i in range(len(plan.settings))
    ]


def _kind(lowest: float, highest: float, rest: float) -> str:
    if highest - lowest > _STILL:
        return "swings"
    return "settles" if abs(lowest - rest) <= _STILL else "escapes"
