r"""The scalar GRPO map, run step by step from equation (3).

``theta_{k+1} = theta_k + eta g(theta_k; theta_old) + mu (theta_k - theta_{k-1})``, with
``theta_old`` the coordinate of ``lag_at(k)`` steps ago, and the other optimizers in the same loop.
Nothing here knows a characteristic function, a threshold or a variance: this is what derived
results are held against.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import (
    InvalidInput,
    Values,
    check_momentum,
    check_positive,
    common_shape,
    known_name,
    numbers,
    whole_number,
)
from numerics.simulation.optimizer import Optimizer, optimizer_named
from numerics.simulation.schedule import Schedule, check_schedule

#: ``drift(theta, theta_old)``: the mean gradient at `theta` on samples of `theta_old`.
Drift: TypeAlias = Callable[[Values, Values], Values]

#: How noise enters. ``"recurrence"``: a kick of the coordinate, added to the right side of
#: ``theta_{k+1} - theta_k - mu (theta_k - theta_{k-1}) = ...``; ``"gradient"``: added to g.
NOISE_ENTERS: tuple[str, ...] = ("recurrence", "gradient")


@dataclass
class State:
    """Everything the next step depends on; the newest coordinate is ``history[-1]``."""

    history: deque[Values]
    memory: Values
    carried_kick: Values = 0
    step: int = 0


@dataclass(frozen=True)
class DiscreteMap:
    """One step of the map, for any drift, optimizer and schedule."""

    drift: Drift
    optimizer: Optimizer
    schedule: Schedule
    eta: Values
    mu: Values

    def at_rest(self, theta: Values) -> State:
        """Return the state of a run that has always stood at `theta`."""
        depth = self.schedule.longest + 1
        return State(deque([theta] * depth, maxlen=depth), self.optimizer.memory_at_rest(theta))

    def advance(self, state: State, noise: Values = None, enters: str = "recurrence") -> Values:
        """Take one step, in place, and return the new coordinate."""
        theta_old = state.history[-1 - self.schedule.lag_at(state.step)]
        return self.move(state, theta_old, noise, enters)

    def move(self, state: State, theta_old: Values, noise: Values, enters: str) -> Values:
        """Take one step on samples of `theta_old`, in place, and return the new coordinate."""
        theta = state.history[-1]
        gradient = self.drift(theta, theta_old)
        if noise is not None and enters == "gradient":
            gradient = gradient + noise
        theta, state.memory = self.optimizer.step(
            theta, state.memory, gradient, eta=self.eta, mu=self.mu
        )
        if noise is not None and enters == "recurrence":
            # mu (theta_k - theta_{k-1}) carries a kick on. A rule that remembers the path does
            # that by itself; one that remembers gradients never saw the kick, so it is done here.
            if self.optimizer.remembers == "gradients":
                noise = state.carried_kick = self.mu * state.carried_kick + noise
            theta = theta + noise
        state.history.append(theta)
        state.step += 1
        return theta


@dataclass(frozen=True, eq=False)
class Run:
    r"""A recorded run.

    Attributes
    ----------
    steps
        The recorded steps, shape ``(records,)``; step 0 is the initial state.
    path
        The coordinate at those steps, shape ``(records, *chains)``; float64, or `Fraction` objects
        in an exact run. Infinite from the step at which a chain overflowed.
    overflow_step
        The step at which each chain left the floating-point range, -1 where it never did;
        shape ``chains``.
    """

    steps: NDArray[np.int64]
    path: NDArray[Any]
    overflow_step: NDArray[np.int64]

    @property
    def overflowed(self) -> bool:
        """Whether any chain left the floating-point range."""
        return bool(np.any(self.overflow_step >= 0))


def simulate(
    drift: Drift,
    optimizer: str,
    schedule: Schedule,
    *,
    eta: Values,
    mu: Values,
    initial: Values,
    steps: int,
    noise: Values = None,
    noise_enters: str | None = None,
    record_every: int = 1,
) -> Run:
    r"""Run ``theta_{k+1} = theta_k + eta g(theta_k; theta_old) + mu (theta_k - theta_{k-1})``.

    Parameters
    ----------
    drift
        ``drift(theta, theta_old)``, elementwise.
    optimizer
        ``"heavy-ball"`` (the equation above, stated), ``"ema"`` or ``"nesterov"`` (extensions).
    schedule
        `ConstantLag`, `Sawtooth` or anything with their members.
    eta, mu, initial
        Step size > 0, momentum in [0, 1), coordinate at step 0 and at every step before it (the
        run starts from rest). Scalars or arrays that broadcast to the shape ``chains``. If one is
        a `Fraction`, none may be a float, and the run is exact (as far as `drift` is).
    steps
        Number of steps, at least the longest lag.
    noise
        None, or an array ``(steps, *chains)`` of noise values, used as given.
    noise_enters
        How `noise` enters, required with it. ``"recurrence"``: added to the right side of the
        recurrence for the coordinate, as is (not multiplied by `eta`, not filtered by the
        optimizer's gain on the gradient). ``"gradient"``: added to the gradient.
    record_every
        Record steps 0, record_every, 2 record_every, ...

    Returns
    -------
    Run

    Raises
    ------
    InvalidInput
        An argument outside its domain, or shapes that do not broadcast; before any step is taken.
    """
    rule = optimizer_named(optimizer)
    check_schedule(schedule)
    steps = whole_number("steps", steps, least=0)
    if schedule.longest > steps:
        raise InvalidInput(f"a lag of {schedule.longest} is longer than the run of {steps} steps")
    record_every = whole_number("record_every", record_every, least=1)
    given = {"eta": eta, "mu": mu, "initial": initial}
    if noise is not None:
        given["noise"] = noise
        if noise_enters is None:
            raise InvalidInput(f"noise needs noise_enters: one of {', '.join(NOISE_ENTERS)}")
    if noise_enters is not None:
        known_name("noise_enters", noise_enters, NOISE_ENTERS)
    values = numbers(**given)
    check_positive("eta", values["eta"])
    check_momentum(values["mu"])
    shapes = {name: array.shape for name, array in values.items()}
    if noise is not None:
        if shapes["noise"][:1] != (steps,):
            raise InvalidInput(f"noise has shape {shapes['noise']}: its first axis must be {steps}")
        shapes["noise"] = shapes["noise"][1:]
    start = values["initial"][()]
    with np.errstate(all="ignore"):
        shapes["drift"] = np.shape(drift(start, start))
    start = np.broadcast_to(start, common_shape(**shapes))[()]
    discrete_map = DiscreteMap(drift, rule, schedule, values["eta"][()], values["mu"][()])
    return _run(discrete_map, start, steps, values.get("noise"), noise_enters, record_every)


def _run(
    discrete_map: DiscreteMap,
    start: Values,
    steps: int,
    noise: NDArray[Any] | None,
    noise_enters: str | None,
    record_every: int,
) -> Run:
    shape = np.shape(start)
    exact = np.asarray(start).dtype == object
    recorded = np.arange(0, steps + 1, record_every)
    path = np.full((recorded.size, *shape), None if exact else np.inf)
    path[0] = start
    overflow_step = np.full(shape, -1)
    state = discrete_map.at_rest(start)
    with np.errstate(all="ignore"):  # leaving the range is looked for, and reported, below
        for step in range(1, steps + 1):
            kick = None if noise is None else noise[step - 1]
            theta = discrete_map.advance(state, kick, noise_enters or "recurrence")
            if not exact and not np.all(np.isfinite(theta)):
                left = ~np.isfinite(theta) & (overflow_step < 0)
                overflow_step = np.where(left, step, overflow_step)
                if np.all(overflow_step >= 0):
                    break  # nothing finite is left; the rest of the path stays infinite
                state.history[-1] = theta = np.where(overflow_step >= 0, np.inf, theta)
            if step % record_every == 0:
                path[step // record_every] = theta
    return Run(recorded, path, overflow_step)


def linear_drift(*, x: Values, stale_share: Values) -> Drift:
    r"""Return ``g = -(x_f q + x_s q_old)``, ``x_f = (1 - s) x``, ``x_s = s x``.

    The mean drift of Assumption 1 linearised at its fixed point, with the step size inside:
    x = eta K. Stated for s = 1 (equation 3's whole force on the old policy); any share: extension.
    """
    x_f, x_s = (1 - stale_share) * x, stale_share * x
    return lambda q, q_old: -(x_f * q + x_s * q_old)


def simulate_linear(
    optimizer: str,
    schedule: Schedule,
    *,
    mu: Values,
    x: Values,
    stale_share: Values,
    steps: int,
    initial: Values = 1,
    noise: Values = None,
    noise_enters: str | None = None,
    record_every: int = 1,
) -> Run:
    r"""Run the linear mean map of the deviation q from the fixed point.

    Heavy ball: ``q_{k+1} = q_k + mu (q_k - q_{k-1}) - x_f q_k - x_s q_{k-lag}``.

    Parameters
    ----------
    x
        Dimensionless stiffness per step, eta K > 0; an array broadcasts with the others.
    stale_share
        s, the part of the restoring force computed on the old policy; any real number.
    optimizer, schedule, mu, steps, initial, noise, noise_enters, record_every
        As in `simulate`; the step size is inside x, so "gradient" noise is in units of q as well.

    Returns
    -------
    Run
        Exact, in `Fraction`, if any of `mu`, `x`, `stale_share`, `initial` is a `Fraction`.

    Raises
    ------
    InvalidInput
        As in `simulate`, and for x <= 0.
    """
    given = {"mu": mu, "x": x, "stale_share": stale_share, "initial": initial}
    values = numbers(**given if noise is None else {**given, "noise": noise})
    check_positive("x", values["x"])
    return simulate(
        linear_drift(x=values["x"][()], stale_share=values["stale_share"][()]),
        optimizer,
        schedule,
        eta=1,
        mu=values["mu"],
        initial=values["initial"],
        steps=steps,
        noise=values.get("noise"),
        noise_enters=noise_enters,
        record_every=record_every,
    )
