r"""Many independent chains of the scalar map, measured while they run.

Memory does not grow with the number of steps, and chain i has the same numbers whether it runs
alone or among others: `numerics.simulation.noise` says how. A run that must spread over processors
or machines is divided into ranges of chains (`numerics.sweep`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from numerics.inputs import InvalidInput, Values, check_momentum, check_positive
from numerics.simulation.engine import ChainRun, Plan, checked_plan, per_chain, run
from numerics.simulation.noise import LANE_WIDTH, GaussianNoise, Lane, Seed, std_of
from numerics.simulation.optimizer import optimizer_named
from numerics.simulation.scalar_map import DiscreteMap, Drift
from numerics.simulation.schedule import ConstantLag, RandomLag, Schedule
from numerics.simulation.statistics import Measure
from numerics.simulation.steppers import (
    GeneralStepper,
    LinearMap,
    LinearStepper,
    Ring,
    Stepper,
)


def simulate_chains(
    drift: Drift,
    optimizer: str,
    schedule: Schedule | RandomLag,
    *,
    eta: Values,
    mu: Values,
    initial: Values,
    steps: int,
    chains: int | range,
    noise: GaussianNoise | None = None,
    seed: Seed | None = None,
    lane: int = LANE_WIDTH,
    measure: Measure | None = None,
    record_every: int | None = None,
) -> ChainRun:
    r"""Run many chains of ``theta_{k+1} = theta_k + eta g(theta_k; theta_old) + ...``.

    Bit for bit the map of `simulate`, with the noise drawn here.

    Parameters
    ----------
    drift
        ``drift(theta, theta_old)``, elementwise; it is called with arrays of `lane` chains, so it
        may not hold arrays over chains of its own.
    optimizer
        As in `simulate`.
    schedule
        A schedule, the same for all chains; or `RandomLag`, from which each chain draws its own
        lag at each step.
    eta, mu, initial
        Step size > 0, momentum in [0, 1), coordinate at step 0 and before; each a scalar or one
        number per chain.
    steps
        Number of steps, at least the longest lag.
    chains
        How many chains, or the range of their numbers: ``range(7, 14)`` are chains 7 to 13 of any
        longer run with the same seed and lane width, to the last bit.
    noise
        `GaussianNoise`, or None.
    seed
        Whole number >= 0 or `numpy.random.SeedSequence`; required if anything is random.
    lane
        Chains drawn together. It belongs to the seed: another width, other numbers. A lane is
        always drawn whole, so a wide one wastes time on few chains and saves it on many.
    measure
        What to measure of each chain, None for nothing.
    record_every
        Record steps 0, record_every, 2 record_every, ...; None for the last step only. The record
        is the only thing that grows with the number of steps.

    Returns
    -------
    ChainRun

    Raises
    ------
    InvalidInput
        An argument outside its domain, before any step is taken.

    Notes
    -----
    Equation (3) stated; other optimizers and random lag: extension.
    """
    rule = optimizer_named(optimizer)
    plan = checked_plan(
        schedule,
        initial=initial,
        std=std_of(noise),
        steps=steps,
        chains=chains,
        seed=seed,
        random=noise is not None,
        lane=lane,
        measure=measure,
        record_every=record_every,
    )
    values = per_chain(plan.chains, eta=eta, mu=mu)
    check_positive("eta", values["eta"])
    check_momentum(values["mu"])
    _check_drift(drift, plan)

    def stepper(lane: Lane, ring: Ring) -> Stepper:
        own = {name: lane.spread(value, plan.numbers) for name, value in values.items()}
        # Which coordinate is sampled is the ring's business.
        discrete_map = DiscreteMap(drift, rule, ConstantLag(0), **own)
        return GeneralStepper(discrete_map, ring, noise.enters if noise else "recurrence")

    return run(plan, stepper)


def simulate_linear_chains(
    optimizer: str,
    schedule: Schedule | RandomLag,
    *,
    mu: Values,
    x: Values,
    stale_share: Values,
    initial: Values,
    steps: int,
    chains: int | range,
    noise: GaussianNoise | None = None,
    seed: Seed | None = None,
    lane: int = LANE_WIDTH,
    measure: Measure | None = None,
    record_every: int | None = None,
) -> ChainRun:
    r"""Run many chains of the linear map of the deviation q, about as fast as noise can be drawn.

    The map of `simulate_linear`, with fewer roundings: see `LinearMap` in
    `numerics.simulation.steppers` for the operations and their order.

    Parameters
    ----------
    mu, x, stale_share, initial
        Momentum in [0, 1), stiffness per step eta K > 0, stale share, coordinate at step 0 and
        before; each a scalar or one number per chain, so that many parameter sets run at once.
    optimizer, schedule, steps, chains, noise, seed, lane, measure, record_every
        As in `simulate_chains`; the step size is inside x, so noise in the gradient is in units of
        q as well. Without anything random `lane` makes no difference.

    Returns
    -------
    ChainRun

    Raises
    ------
    InvalidInput
        An argument outside its domain, before any step is taken.

    Notes
    -----
    Equation (3) stated at ``stale_share = 1`` and heavy ball; the rest: extension.
    """
    rule = optimizer_named(optimizer)
    plan = checked_plan(
        schedule,
        initial=initial,
        std=std_of(noise),
        steps=steps,
        chains=chains,
        seed=seed,
        random=noise is not None,
        lane=lane,
        measure=measure,
        record_every=record_every,
    )
    values = per_chain(plan.chains, mu=mu, x=x, stale_share=stale_share)
    check_positive("x", values["x"])
    check_momentum(values["mu"])
    enters = None if noise is None else noise.enters
    force, std = values["x"], plan.std
    if rule.averages:
        force = (1 - values["mu"]) * force
        if std is not None and enters == "gradient":
            std = (1 - values["mu"]) * std
    fresh, stale = (1 - values["stale_share"]) * force, values["stale_share"] * force
    lags = plan.schedule
    if lags.longest == 0 or not np.any(stale):
        # On policy: the whole force is one product, whatever the share.
        lags, stale, fresh = ConstantLag(0), force, np.zeros(())
    plan = replace(plan, schedule=lags, std=std)
    if std is None and not isinstance(lags, RandomLag):
        plan = plan.in_lanes_of_all()
    coefficients = {"mu": values["mu"], "stale": stale}
    if np.any(fresh):
        coefficients["fresh"] = fresh
    if std is not None:
        coefficients["std"] = std

    def stepper(lane: Lane, ring: Ring) -> Stepper:
        own = {name: lane.spread(value, plan.numbers) for name, value in coefficients.items()}
        ahead, enters_memory = rule.looks_ahead, enters == "recurrence"
        linear_map = LinearMap(looks_ahead=ahead, enters_memory=enters_memory, **own)
        return LinearStepper(linear_map, ring)

    return run(plan, stepper)


def _check_drift(drift: Drift, plan: Plan) -> None:
    start = np.full(plan.width, plan.initial.flat[0])
    what = f"drift must be elementwise: it is called with a lane of {plan.width} chains"
    try:
        with np.errstate(all="ignore"):
            shape = np.shape(drift(start, start))
    except ValueError as error:  # what NumPy says of shapes that do not broadcast
        raise InvalidInput(f"{what} and fails, {error}") from error
    if shape not in ((), start.shape):
        raise InvalidInput(f"{what} and gives shape {shape}")
