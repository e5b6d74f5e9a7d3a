r"""What the linear map itself does, measured on the map: growth, border of stability, variance.

Each function runs the discrete map and looks; none evaluates a formula for what it measures.
"""

from __future__ import annotations

import math
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
    known_name,
    whole_number,
)
from numerics.simulation.optimizer import optimizer_named
from numerics.simulation.scalar_map import NOISE_ENTERS, DiscreteMap, State, linear_drift
from numerics.simulation.schedule import Schedule, check_schedule

#: Steps of the search for the border: 16 to a decade of x.
_SEARCH_RATIO = 10 ** (1 / 16)


class BorderNotFound(InvalidInput):
    """The map is stable, or unstable, on the whole searched interval of x."""


def growth_rate(
    optimizer: str, schedule: Schedule, *, mu: Values, x: Values, stale_share: Values
) -> NDArray[np.float64]:
    r"""Measure the growth factor per step of the linear map, in the long run.

    The map is run through one period of the schedule from every unit state (each coordinate of
    history and memory in turn), with the norm divided out at each step so that nothing overflows
    or underflows. The answers are the columns of the period's propagator; a long run multiplies
    by it once a period, so the growth is its largest eigenvalue modulus, per step.

    Parameters
    ----------
    optimizer, schedule, mu, x, stale_share
        As in `simulate_linear`; `mu`, `x` and `stale_share` broadcast.

    Returns
    -------
    ndarray
        Growth factor per step, of the broadcast shape; below 1 the map forgets, above 1 it
        explodes. Accurate to about 1e-14, where m leading roots meet to about (1e-16)^(1/m).

    Raises
    ------
    InvalidInput
        An argument outside its domain.
    """
    rule = optimizer_named(optimizer)
    check_schedule(schedule)
    values = floats(mu=mu, x=x, stale_share=stale_share)
    check_momentum(values["mu"])
    check_positive("x", values["x"])
    shape = common_shape(**{name: array.shape for name, array in values.items()})
    drift = linear_drift(x=values["x"], stale_share=values["stale_share"])
    discrete_map = DiscreteMap(drift, rule, schedule, 1.0, values["mu"])
    propagator, log_scale = _propagator(discrete_map, shape)
    largest = np.abs(np.linalg.eigvals(propagator)).max(axis=-1)
    per_step = 1 / schedule.period
    return np.asarray(largest**per_step * np.exp(log_scale * per_step))


def _norm(values: NDArray[np.float64], axes: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the largest modulus, or 1 where all is zero: such a map stays at zero when divided."""
    largest = np.abs(values).max(axis=axes)
    return np.where(largest > 0, largest, 1.0)


def _propagator(
    discrete_map: DiscreteMap, shape: tuple[int, ...]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the propagator of one period over its norm, ``(*shape, n, n)``, and the log norm."""
    schedule = discrete_map.schedule
    depth = schedule.longest + 1
    # What a period can still see of the time before it: all of a constant lag, but only the
    # present coordinate when the period begins with a refresh.
    seen = 1 + max(0, *(schedule.lag_at(step) - step for step in range(schedule.period)))
    size = seen + 1
    units = np.eye(size).reshape(size, size, *(1 for _ in shape))
    *past, memory = (np.broadcast_to(unit, (size, *shape)) for unit in units)
    unseen = [np.zeros_like(memory)] * (depth - seen)
    state = State(deque([*unseen, *past], maxlen=depth), memory)
    log_scale = np.zeros(shape)
    for _ in range(schedule.period):
        discrete_map.advance(state)
        # The map is linear, so dividing all of its state divides all of its future.
        scale = _norm(np.stack([*state.history, state.memory]), (0, 1))
        log_scale += np.log(scale)
        state.history = deque((theta / scale for theta in state.history), maxlen=depth)
        state.memory = state.memory / scale
    columns = np.stack([*list(state.history)[-seen:], state.memory])
    return np.moveaxis(columns, (0, 1), (-2, -1)), log_scale


def simulated_border(
    optimizer: str,
    schedule: Schedule,
    *,
    mu: Values,
    stale_share: Values,
    lowest: float = 1e-6,
    highest: float = 1e4,
    relative_accuracy: float = 1e-4,
) -> NDArray[np.float64]:
    r"""Find the first x at which the linear map stops decaying, by running it.

    x climbs from `lowest` in steps of 10^(1/16) until the map grows, then the last step is
    bisected. A window of instability narrower than a step of the climb (possible only for shares
    other than 1) can be missed.

    Parameters
    ----------
    optimizer, schedule, mu, stale_share
        As in `simulate_linear`; `mu` and `stale_share` broadcast.
    lowest, highest
        The searched interval of x.
    relative_accuracy
        Width of the last bracket over x.

    Returns
    -------
    ndarray
        The border x, of the broadcast shape.

    Raises
    ------
    BorderNotFound
        Somewhere the map grows already at `lowest`, or still decays at `highest`.
    InvalidInput
        Any other argument outside its domain.
    """
    values = floats(
        mu=mu, stale_share=stale_share, lowest=lowest, highest=highest, accuracy=relative_accuracy
    )
    for name in ("lowest", "highest", "accuracy"):
        check_positive(name, values[name])

    def grows(x: NDArray[np.float64]) -> NDArray[np.bool_]:
        share = values["stale_share"]
        return growth_rate(optimizer, schedule, mu=values["mu"], x=x, stale_share=share) > 1

    shape = common_shape(mu=values["mu"].shape, stale_share=values["stale_share"].shape)
    below = np.full(shape, float(lowest))
    if np.any(grows(below)):
        raise BorderNotFound(f"the map grows already at x = {lowest:g}: give a smaller lowest")
    above = below * _SEARCH_RATIO
    while not np.all(found := grows(above)):
        if np.any(above[~found] >= highest):
            raise BorderNotFound(f"the map still decays at x = {highest:g}: give a larger highest")
        below = np.where(found, below, above)
        above = np.where(found, above, above * _SEARCH_RATIO)
    for _ in range(max(0, math.ceil(math.log2(math.log(_SEARCH_RATIO) / relative_accuracy)))):
        middle = np.sqrt(below * above)
        found = grows(middle)
        below, above = np.where(found, below, middle), np.where(found, middle, above)
    return np.asarray(np.sqrt(below * above))


@dataclass(frozen=True, eq=False)
class VarianceEstimate:
    r"""Stationary variance measured on independent chains.

    Attributes
    ----------
    variance
        Mean over chains of each chain's time average of q^2 (the mean of q is 0).
    standard_error
        Standard deviation over the independent chains, over the square root of their number.
    chains, burn_in, steps
        How it was measured: chains, steps discarded, steps averaged per chain.
    """

    variance: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    chains: int
    burn_in: int
    steps: int


def stationary_variance_run(
    optimizer: str,
    schedule: Schedule,
    *,
    mu: Values,
    x: Values,
    stale_share: Values,
    noise_enters: str,
    chains: int,
    steps: int,
    rng: np.random.Generator,
    burn_in: int | None = None,
) -> VarianceEstimate:
    r"""Measure the stationary variance of q under unit-variance white Gaussian noise.

    Streaming: memory is that of one state, whatever the number of steps.

    Parameters
    ----------
    optimizer, schedule, mu, x, stale_share, noise_enters
        As in `simulate_linear`; `mu`, `x` and `stale_share` broadcast.
    chains
        Independent chains per parameter set, at least 2.
    steps
        Steps averaged over, rounded up to whole periods of the schedule (its phases count alike).
    rng
        Source of the noise, one ``standard_normal`` of shape ``(chains, *parameters)`` a step.
    burn_in
        Steps discarded first; None for as many as shrink the start from rest to e^-40 of the
        variance. Rounded up to whole periods.

    Returns
    -------
    VarianceEstimate

    Raises
    ------
    InvalidInput
        An argument outside its domain, or a map that does not decay: it has no such variance.
    """
    rule = optimizer_named(optimizer)
    known_name("noise_enters", noise_enters, NOISE_ENTERS)
    chains = whole_number("chains", chains, least=2)
    steps = whole_number("steps", steps, least=1)
    if not isinstance(rng, np.random.Generator):
        raise InvalidInput(f"rng is {rng!r}: give numpy.random.default_rng(seed)")
    growth = growth_rate(optimizer, schedule, mu=mu, x=x, stale_share=stale_share)
    worst = float(growth.max())
    if worst >= 1:
        raise InvalidInput(
            f"the map grows by {worst:.6g} a step, so it has no stationary variance: lower x or lag"
        )
    if burn_in is None:
        burn_in = math.ceil(-20 / math.log(worst)) if worst > 0 else schedule.longest + 2
    burn_in = whole_number("burn_in", burn_in, least=0)
    burn_in += -burn_in % schedule.period
    steps += -steps % schedule.period
    values = floats(mu=mu, x=x, stale_share=stale_share)
    drift = linear_drift(x=values["x"], stale_share=values["stale_share"])
    discrete_map = DiscreteMap(drift, rule, schedule, 1.0, values["mu"])
    state = discrete_map.at_rest(np.zeros((chains, *growth.shape)))
    squares = np.zeros((chains, *growth.shape))
    for step in range(burn_in + steps):
        q = discrete_map.advance(state, rng.standard_normal(squares.shape), noise_enters)
        if step >= burn_in:
            squares += q * q
    squares /= steps
    return VarianceEstimate(
        variance=np.asarray(squares.mean(axis=0)),
        standard_error=np.asarray(squares.std(axis=0, ddof=1) / math.sqrt(chains)),
        chains=chains,
        burn_in=burn_in,
        steps=steps,
    )
