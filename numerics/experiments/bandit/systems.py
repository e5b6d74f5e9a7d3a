r"""Where Assumption 1 may fail: bandits with more than one direction to move in.

The scalar theory needs one coordinate. It is given the best that a log offers: the success rate.
Displaced along the gradient u of the success rate, the drift answers with the slopes ``u K_f u``
and ``u K_s u``: an independently measured stiffness and stale share. With two arms that is all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.bandit.locate import (
    Located,
    climb,
    locate,
    looks_of,
    runs,
    sight,
    tangent,
)
from numerics.experiments.bandit.plan import Plan, Schedule, System
from numerics.experiments.bandit.prediction import Borders, predicted
from numerics.inputs import Values
from numerics.simulation import ConstantLag
from numerics.simulation.bandit import Bandit, Conventions, mean_gradient
from numerics.simulation.perturbation import follow_deviation
from numerics.simulation.response import Response, linear_response
from numerics.simulation.scalar_map import Drift

__all__ = ["Many", "measured"]

Floats = NDArray[np.float64]

_CALM = 0.2  # x at which the relaxation is timed: on-policy and without momentum, nothing swings
_LONG = 600  # steps of that run
_NUDGE = 1e-4  # of the parameters, by which the success rate is differentiated
_ROUNDS = 3
_TURNS = 1e-6  # a measured rate with a larger imaginary part, in its own size, is complex


@dataclass(frozen=True)
class Many:
    r"""A bandit with several parameters under one schedule, and the scalar theory of it.

    Attributes
    ----------
    system, staleness, schedule, mu
        What it is.
    rates, shares
        Stiffness and stale share of each mode that is not neutral, the slowest first.
    commutator
        ``|K_f K_s - K_s K_f|/|K|^2``: 0 if K_f and K_s have their modes in common.
    stiffness, stale_share
        Of the scalar coordinate: the success rate.
    run
        Borders found by running the map, in x = eta times the scalar stiffness.
    tangent
        The same by the eigenvalues of its tangent.
    sight
        How early and how late the runs may find the onset, relative.
    scalar
        Borders of the exact scalar theory at the scalar slopes.
    by_mode
        Threshold if each mode were a scalar theory of its own: the lowest of theirs, in the same x.
    relaxation, scalar_relaxation
        Relaxation time in steps, on-policy and without momentum, at x = 0.2: run, and predicted.
    """

    system: str
    staleness: str
    schedule: Schedule
    mu: float
    rates: tuple[float, ...]
    shares: tuple[float, ...]
    commutator: float
    stiffness: float
    stale_share: float
    run: Borders
    tangent: Borders
    sight: tuple[float, float]
    scalar: Borders
    by_mode: float
    relaxation: float
    scalar_relaxation: float


def measured(plan: Plan, system: System, staleness: str) -> list[Many]:
    """Measure a system under every schedule and momentum, and predict it as a scalar."""
    bandit = Bandit(
        rewards=np.array(system.rewards, dtype=float),
        reference_logits=np.array(system.reference, dtype=float),
        coordinates=system.coordinates,
    )
    drift = _flat(bandit, staleness, system.beta)
    response = linear_response(drift, np.ravel(bandit.reference))
    along = _success_gradient(bandit, response.point)
    fresh, stale = (float(along @ part @ along) for part in (response.fresh, response.stale))
    stiffness, share = fresh + stale, stale / (fresh + stale)
    modes = [mode for mode in response.modes if not mode.neutral]
    moving, basis = _moving(drift, response)
    calm = follow_deviation(
        moving, "heavy-ball", ConstantLag(0), eta=_CALM / stiffness, mu=0.0,
        point=np.zeros(len(basis)), steps=_LONG, direction=basis @ along,
    )  # fmt: skip
    rows = []
    for schedule in plan.system_schedules:
        run, exact, *seen = _located(plan, moving, schedule, basis @ along, stiffness)
        for k, mu in enumerate(plan.momenta):
            scalar = predicted(schedule, mu=mu, stale_share=share, grid=climb(plan.search))
            rows.append(
                Many(
                    system=system.name,
                    staleness=staleness,
                    schedule=schedule,
                    mu=mu,
                    rates=tuple(mode.rate.real for mode in modes),
                    shares=tuple(mode.stale_share.real for mode in modes),
                    commutator=response.commutator,
                    stiffness=stiffness,
                    stale_share=share,
                    run=run.borders(k),
                    tangent=exact.borders(k),
                    sight=sight(exact.borders(k), *(found.borders(k) for found in seen)),
                    scalar=scalar["seen"],
                    by_mode=_by_mode(plan, schedule, mu, response, stiffness),
                    relaxation=float(-1 / calm.growth),
                    scalar_relaxation=-1 / math.log1p(-_CALM),
                )
            )
    return rows


def _flat(bandit: Bandit, staleness: str, beta: float) -> Drift:
    """Return the mean gradient, std-normalised and with exact reverse KL, of a flat vector."""
    conventions = Conventions(
        baseline="group-mean", normaliser="group-std", ddof=0, eps=0.0, eps_in="std",
        group_of_one="refuse", staleness=staleness, clip=None, dual_clip=None,
        log_ratio_clamp=None, kl="reverse", over_prompts="sum",
    )  # fmt: skip
    gradient = partial(mean_gradient, bandit, conventions, beta=beta)

    def drift(theta: Values, theta_old: Values) -> Values:
        theta, theta_old = np.broadcast_arrays(theta, theta_old)
        shaped = (*theta.shape[:-1], *bandit.parameter_shape)
        return gradient(theta.reshape(shaped), theta_old.reshape(shaped)).reshape(theta.shape)

    return drift


def _moving(drift: Drift, response: Response) -> tuple[Drift, Floats]:
    """Return the drift about the fixed point without the directions that change nothing.

    Those would stand still for ever: neither decaying nor growing, they would hide the others.
    """
    moves = [mode for mode in response.modes if not mode.neutral]
    basis = np.linalg.svd(response.stiffness)[2][: len(moves)]

    def moving(q: Values, q_old: Values) -> Values:
        return drift(response.point + q @ basis, response.point + q_old @ basis) @ basis.T

    return moving, basis


def _success_gradient(bandit: Bandit, point: Floats) -> Floats:
    """Return the direction in which the mean reward over prompts rises, of length 1."""
    ends = point + _NUDGE * np.stack([np.eye(point.size), -np.eye(point.size)])
    theta = ends.reshape(2, point.size, *bandit.parameter_shape)
    # One logit of two arms is the logit of the first against a second of 0.
    logits = theta if theta.ndim == 4 else np.stack([theta, np.zeros_like(theta)], axis=-1)
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    policy = weights / weights.sum(axis=-1, keepdims=True)
    ahead, behind = np.sum(policy * bandit.rewards, axis=(-1, -2))
    return np.asarray((ahead - behind) / np.linalg.norm(ahead - behind))


def _located(
    plan: Plan, drift: Drift, schedule: Schedule, along: Floats, stiffness: float
) -> list[Located]:
    """Return the borders by running, by the tangent, and between which a run may find them."""
    chains, steps = (len(plan.momenta),), plan.steps(schedule)
    mu, point = np.array(plan.momenta), np.zeros(along.size)
    run = runs(
        drift, schedule, mu=mu, point=point, stiffness=stiffness, steps=steps, direction=along
    )
    looks = [
        tangent(drift, schedule, mu=mu, point=point, stiffness=stiffness, **look)
        for look in looks_of(steps)
    ]
    return [
        locate(run, chains, plan.search),
        *(locate(look, chains, plan.search, rounds=_ROUNDS) for look in looks),
    ]


def _by_mode(
    plan: Plan, schedule: Schedule, mu: float, response: Response, stiffness: float
) -> float:
    """Return the lowest of the modes' own thresholds, in x of the scalar stiffness.

    Raises
    ------
    ValueError
        If a mode turns: its stiffness is complex, and no scalar theory has that.
    """
    borders = []
    for mode in response.modes:
        if not mode.neutral:
            if abs(mode.rate.imag) > _TURNS * abs(mode.rate):
                raise ValueError(f"the mode of rate {mode.rate:.6g} is no scalar theory's")
            alone = predicted(
                schedule, mu=mu, stale_share=mode.stale_share.real, grid=climb(plan.search)
            )
            if alone["exact"].threshold is not None:
                borders.append(alone["exact"].threshold * stiffness / mode.rate.real)
    return min(borders)
