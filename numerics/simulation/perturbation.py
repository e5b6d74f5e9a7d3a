r"""What a small deviation from a fixed point does on the nonlinear map: how it grows, and swings.

Two measurements of the same thing. `follow_deviation` runs the map and looks, for as long as asked:
whenever the deviation has become small or large, it is blown up or shrunk again about the fixed
point, with the factor on record (Benettin's method), so that it neither drowns in rounding nor
leaves the neighbourhood. `tangent_propagator` displaces every coordinate of the state by a little,
runs the map through one period of the schedule and takes the difference quotient: the tangent map,
whose eigenvalues need no long run. Neither knows a slope, a characteristic function or a threshold.
Provenance: extension.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import (
    InvalidInput,
    Values,
    check_momentum,
    check_positive,
    common_shape,
    floats,
    whole_number,
)
from numerics.simulation.optimizer import optimizer_named
from numerics.simulation.scalar_map import DiscreteMap, Drift, State
from numerics.simulation.schedule import Schedule, check_schedule

Floats = NDArray[np.float64]

_SIZE = 1e-6  # of the deviation after each rescaling, in units of the parameters
_HUGE = 1e300
_BOX = 8  # looks over which the size of a swinging deviation is averaged
_PATIENCE = 4  # steps between two looks at its size, where the schedule has no period
_DISPLACED = 2e-3  # the larger of the propagator's two displacements


@dataclass(frozen=True, eq=False)
class Deviation:
    r"""What became of a small deviation.

    Attributes
    ----------
    growth
        Natural logarithm of its growth factor per step, over the run, shape ``chains``.
    crossings
        How often it passed through zero in the second half of the run, looked at once a period of
        the schedule, so that each look sees the same map.
    """

    growth: Floats
    crossings: NDArray[np.int64]


def follow_deviation(
    drift: Drift,
    optimizer: str,
    schedule: Schedule,
    *,
    eta: Values,
    mu: Values,
    point: Values,
    steps: int,
    direction: Values = 1.0,
) -> Deviation:
    r"""Run the nonlinear map from rest beside a fixed point and follow the deviation.

    Parameters
    ----------
    drift
        ``drift(theta, theta_old)``: parameters on the last axis.
    optimizer, schedule
        As in `simulate`.
    eta, mu
        Step size and momentum, arrays that broadcast to the shape ``chains``.
    point
        The fixed point, ``(n,)`` or ``(*chains, n)``; as exact as floats can be.
    steps
        Length of the run.
    direction
        Which way the deviation starts, ``(n,)``; a crossing is a change of sign along it.

    Returns
    -------
    Deviation

    Raises
    ------
    InvalidInput
        An argument outside its domain, before any step is taken.

    Notes
    -----
    The growth is the mean of the logarithm's increments under a window that vanishes smoothly at
    both ends of the run's later part, so that a swinging deviation does not blur it. A slow swing
    needs half the run to be seen: one whose period is longer than the run may not be.
    """
    values, chains = _checked(optimizer, schedule, eta=eta, mu=mu, point=point, direction=direction)
    steps = whole_number("steps", steps, least=16 * schedule.period)
    start = values["direction"] / np.linalg.norm(values["direction"])
    rest = np.broadcast_to(values["point"], (*chains, values["point"].shape[-1]))
    discrete_map = DiscreteMap(
        drift, optimizer_named(optimizer), schedule, values["eta"], values["mu"]
    )
    at_rest, state = discrete_map.at_rest(rest), discrete_map.at_rest(rest + _SIZE * start)
    looks = steps // schedule.period
    window = np.sin(np.pi * np.linspace(0, 1, looks - looks // 4 + 1)) ** 4
    window = np.concatenate([np.zeros(looks // 4), window / window.sum()])
    growth, crossings = np.zeros(chains), np.zeros(chains, dtype=np.int64)
    side = np.ones(chains, dtype=bool)
    squares = np.zeros((_BOX, *chains))
    squares[-1] = _SIZE**2
    size = np.full(chains, np.log(_SIZE))
    every = _PATIENCE if schedule.period == 1 else 1
    with np.errstate(all="ignore"):  # a chain that leaves is brought back
        for look in range(looks):
            for _ in range(schedule.period):
                discrete_map.advance(state)
            deviation = state.history[-1] - rest
            squares[look % _BOX] = np.sum(deviation * deviation, axis=-1)
            total = np.nan_to_num(squares.sum(axis=0), nan=_HUGE, posinf=_HUGE)
            now = np.log(np.clip(total, 1 / _HUGE, _HUGE)) / 2
            growth += window[look] * (now - size)
            size = now
            passed = deviation @ start >= 0
            if look >= looks // 2:
                crossings += passed != side
            side = passed
            if look % every == 0:
                factor = _rescale(state, at_rest, schedule)
                lost = np.isnan(factor)
                squares = np.where(lost, _SIZE**2 / _BOX, squares * factor * factor)
                size = np.where(lost, np.log(_SIZE), size + np.log(factor))
    return Deviation(growth / schedule.period, crossings)


def _rescale(state: State, at_rest: State, schedule: Schedule) -> Floats:
    """Bring the deviation of the whole state back to its size; return the factor.

    A deviation that has grown out of all numbers begins again; its factor is NaN.
    """
    rest, still = at_rest.history[-1], at_rest.memory
    seen = _seen(schedule)
    deviations = [theta - rest for theta in list(state.history)[-seen:]]
    memory = state.memory - still
    largest = np.abs(np.stack([*deviations, memory])).max(axis=(0, -1))
    lost = ~np.isfinite(largest)
    factor = np.where(lost, np.nan, np.where(largest > 0, _SIZE / largest, 1.0))
    scale = factor[..., None]
    deviations = [np.where(lost[..., None], _SIZE, scale * q) for q in deviations]
    unseen = [rest] * (len(state.history) - seen)
    state.history = deque([*unseen, *(rest + q for q in deviations)], maxlen=len(state.history))
    state.memory = still + np.where(lost[..., None], 0.0, scale * memory)
    return factor


def _seen(schedule: Schedule) -> int:
    """Coordinates a period can still see when it begins; after a refresh, only the present one."""
    return 1 + max(0, *(schedule.lag_at(step) - step for step in range(schedule.period)))


def tangent_propagator(
    drift: Drift, optimizer: str, schedule: Schedule, *, eta: Values, mu: Values, point: Values
) -> Floats:
    r"""Measure the tangent map of one period of the schedule at a fixed point.

    Parameters
    ----------
    drift, optimizer, schedule, eta, mu, point
        As in `follow_deviation`.

    Returns
    -------
    ndarray
        Shape ``(*chains, size, size)``: the derivative of the state after a period with respect to
        the state before it (the coordinates the period can see, oldest first, then the optimizer's
        memory), by central differences extrapolated once; accurate to about 1e-11 for a drift that
        is smooth over 0.002. A deviation is multiplied by it once a period.

    Raises
    ------
    InvalidInput
        An argument outside its domain.
    """
    values, chains = _checked(optimizer, schedule, eta=eta, mu=mu, point=point, direction=1.0)
    rest = np.broadcast_to(values["point"], (*chains, values["point"].shape[-1]))
    discrete_map = DiscreteMap(
        drift, optimizer_named(optimizer), schedule, values["eta"], values["mu"]
    )
    seen, depth, n = _seen(schedule), schedule.longest + 1, rest.shape[-1]
    size = (seen + 1) * n
    # One row for each displacement, sign and coordinate of the state that is displaced.
    steps = _DISPLACED * np.array([1.0, -1.0, 0.5, -0.5])
    units = np.eye(size).reshape(size, seen + 1, *(1 for _ in chains), n)
    displaced = steps.reshape(-1, *(1 for _ in units.shape)) * units
    parts = [displaced[:, :, part] for part in range(seen + 1)]
    memory = discrete_map.at_rest(rest).memory
    past = [rest + part for part in parts[:-1]]
    unseen = [np.broadcast_to(rest, np.broadcast_shapes(past[0].shape))] * (depth - seen)
    state = State(deque([*unseen, *past], maxlen=depth), memory + parts[-1])
    for _ in range(schedule.period):
        discrete_map.advance(state)
    after = [theta - rest for theta in list(state.history)[-seen:]] + [state.memory - memory]
    ends = np.concatenate(np.broadcast_arrays(*after), axis=-1)
    widths = 2 * steps[0::2].reshape(-1, *(1 for _ in ends[0].shape))
    quotients = (ends[0::2] - ends[1::2]) / widths
    columns = (4 * quotients[1] - quotients[0]) / 3
    return np.moveaxis(columns, 0, -1)


def _checked(
    optimizer: str, schedule: Schedule, **given: Values
) -> tuple[dict[str, Floats], tuple[int, ...]]:
    """Return the arguments as arrays, eta and mu with an axis for the parameters; and chains."""
    optimizer_named(optimizer)
    check_schedule(schedule)
    values = floats(**given)
    check_positive("eta", values["eta"])
    check_momentum(values["mu"])
    values["point"] = np.atleast_1d(values["point"])
    values["direction"] = np.broadcast_to(values["direction"], values["point"].shape[-1:])
    if not np.any(values["direction"]):
        raise InvalidInput("direction is 0: give the direction in which the deviation starts")
    chains = common_shape(
        eta=values["eta"].shape, mu=values["mu"].shape, point=values["point"].shape[:-1]
    )
    for name in ("eta", "mu"):
        values[name] = values[name][..., None]
    return values, chains
