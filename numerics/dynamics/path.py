r"""The mean path of the exact linear map, at any step, from any start.

The map is a linear recurrence, so a step far away is found by squaring, in as many squarings as the
step has bits (`numerics.dynamics._path_recurrence`). No root is computed, hence no regime decided:
slow modes, double roots and their neighbourhood are all alike. Under a sawtooth the deviations one
period apart obey a recurrence of order two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._path_recurrence import evaluate
from numerics.dynamics._path_start import Start, constant_sequences, sawtooth_sequences
from numerics.dynamics.model import (
    LAG_MODELS,
    FloatArray,
    IntArray,
    Model,
    model,
    stiffness,
)
from numerics.inputs import InvalidInput, check_type, common_shape, floats, rectangular

__all__ = ["LATEST_STEP", "LONGEST_LAG", "State", "path"]

#: The longest lag or refresh accepted. The work for one step grows with the square of the lag.
LONGEST_LAG = 512

#: The last step that can be asked for.
LATEST_STEP = 10**12

_BEYOND = 5000  # larger than any exponent of a float, and far inside 32 bits
_BLOCK = 2**17  # numbers in an array that is worked on at once; larger ones leave the cache


@dataclass(frozen=True, eq=False)
class State:
    r"""Where a run is before step 0.

    Attributes
    ----------
    history
        The deviation q at steps ..., -1, 0 along the last axis, the newest last; at least as many
        as the longest lag and one (one under a sawtooth, which samples at step 0).
    memory
        v_{-1}, what the optimizer remembers: heavy ball its last displacement, ``q_0 - q_{-1}`` if
        it made it; ema the averaged force; nesterov the buffer. 0 at rest.
    """

    history: ArrayLike
    memory: ArrayLike


def path(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    times: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
    initial: State | None = None,
) -> Any:
    r"""Return the deviation q of the noiseless linear map at the steps `times`.

    Parameters
    ----------
    optimizer, mu, stale_share, lag, refresh, lag_law
        As in `model`; lags and refreshes up to 512. With `lag_law` it is the mean over the lags.
    x
        Stiffness per step eta*K > 0.
    times
        Whole steps from 0 to 10**12. They broadcast with the parameters: give parameters a last
        axis of length 1 for the same times everywhere.
    initial
        Where the run starts; by default at rest at 1, that is ``q = 1`` at all steps up to 0 and an
        empty memory. Axes of the history before its last broadcast with the rest.

    Returns
    -------
    float64 scalar or array of the common shape. An unstable run beyond the range of floats is
    infinite, with its sign.

    Raises
    ------
    InvalidInput
        A value outside its domain, a history that is too short, or shapes that do not broadcast; a
        run that grows beyond the range of floats within one lag, which leaves no sign to tell.

    Notes
    -----
    ``q_{k+1} = q_k + direct g_k + passed v_k``, ``v_k = memory v_{k-1} + intake g_k``,
    ``g_k = -(x_f q_k + x_s q_{k-lag})``: equation (3), stated at stale share 1 and heavy ball;
    otherwise extension. Computed with 106 bits and rounded once: with the given numbers taken as
    exact, the result is the float nearest to q, but for an error of 1e-19 of the envelope.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    force = stiffness(x)
    steps = _whole_times(times)
    _check_reach(family)
    history, memory = _start(family, initial)
    inner = common_shape(
        parameters=family.shape,
        x=force.shape,
        history=history.shape[:-1],
        memory=memory.shape,
    )
    shape = common_shape(parameters=inner, times=steps.shape)
    flat = family.flat(inner)
    start = Start(
        np.broadcast_to(force, inner).reshape(-1),
        np.broadcast_to(history, (*inner, history.shape[-1])).reshape(-1, history.shape[-1]).T,
        np.broadcast_to(memory, inner).reshape(-1),
    )
    members = np.broadcast_to(np.arange(flat.mu.size).reshape(inner), shape).reshape(-1)
    result = np.empty(members.size)
    index = np.broadcast_to(steps, shape).reshape(-1)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # looked for below
        for block in _blocks(flat, members):
            result[block] = _values(flat, start, members[block], index[block])
    return result.reshape(shape)[()]


def _values(family: Model, start: Start, members: IntArray, times: IntArray) -> FloatArray:
    """Return q of the given members of a flat family, all of one delay, at the given times."""
    used, member = np.unique(members, return_inverse=True)
    chosen = family.take(used)
    sawtooth = family.lag_model == "sawtooth"
    local, power = start.take(used, 1 if sawtooth else chosen.longest + 1)
    sequences = sawtooth_sequences if sawtooth else constant_sequences
    value, exponent = evaluate(sequences(chosen, local, member, times))
    lost = ~np.isfinite(value)
    if np.any(lost):
        raise InvalidInput(
            f"x is {local.x[member[lost][0]]:g}: so unstable a run leaves the range of floats "
            "within one lag; give a smaller x"
        )
    exponent += power[member]
    return np.asarray(np.ldexp(value, np.clip(exponent, -_BEYOND, _BEYOND).astype(np.int32)))


def _blocks(family: Model, members: IntArray) -> Iterator[IntArray]:
    """Cut the wanted values into blocks of one delay, small enough to stay in the cache."""
    delay = np.full(family.mu.shape, family.longest) if family.steps is None else family.steps
    of_value = delay[members]
    order = np.argsort(of_value, kind="stable")
    found, first = np.unique(of_value[order], return_index=True)
    for longest, begin, end in zip(found, first, [*first, order.size][1:], strict=True):
        size = max(1, _BLOCK // (int(longest) + 2))
        for place in range(begin, end, size):
            yield order[place : min(place + size, end)]


def _whole_times(times: ArrayLike) -> IntArray:
    array = rectangular("times", times)
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"times is {times!r}: give whole numbers of steps >= 0")
    outside = (array < 0) | (array > LATEST_STEP)
    if np.any(outside):
        raise InvalidInput(f"times holds {array[outside][0]}: give steps from 0 to {LATEST_STEP}")
    return array.astype(np.int64)


def _check_reach(family: Model) -> None:
    name = LAG_MODELS[family.lag_model]
    if family.longest > LONGEST_LAG:
        raise InvalidInput(f"{name} reaches {family.longest}: a path takes up to {LONGEST_LAG}")


def _start(family: Model, initial: State | None) -> tuple[FloatArray, FloatArray]:
    """Return the history, oldest first and as long as the longest lag needs, and the memory."""
    needed = 1 if family.lag_model == "sawtooth" else family.longest + 1
    if initial is None:
        return np.ones(needed), np.zeros(())
    check_type("initial", initial, State, "a State(history=..., memory=...), or None")
    given = floats(history=initial.history, memory=initial.memory)
    history = given["history"]
    if history.ndim == 0 or history.shape[-1] < needed:
        held = history.shape[-1] if history.ndim else "no axis of"
        raise InvalidInput(f"history holds {held} steps: give the last {needed}, the newest last")
    return history[..., history.shape[-1] - needed :], given["memory"]
