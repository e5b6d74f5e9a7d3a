r"""What every function of the exact dynamics takes: optimizer, momentum, stale share, lag; checked.

The deviation q from the fixed point is pulled back by ``g_k = -(x_f q_k + x_s q_{k-lag})`` with
``x_f = (1 - s) x`` and ``x_s = s x``. Which of `lag`, `refresh` and `lag_law` is given says how the
lag goes; there is no default, because the answers differ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.exact.configuration import RECURRENCES
from numerics.inputs import (
    InvalidInput,
    check_momentum,
    check_positive,
    common_shape,
    floats,
    known_name,
    rectangular,
)

__all__ = ["LAG_MODELS", "OPTIMIZERS", "FloatArray", "IntArray", "Model", "model", "stiffness"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: The names an `optimizer` argument may have.
OPTIMIZERS = tuple(RECURRENCES)

#: Lag model and the argument that chooses it.
LAG_MODELS = {"constant": "lag", "sawtooth": "refresh", "random": "lag_law"}

_SUM = 1e-12

#: Of x and of the size of the share: their products and powers stay in the range of floats, and the
#: part of the force that acts at once keeps a digit.
_LARGEST = 1e15


class Recurrence(NamedTuple):
    r"""``v_k = memory v_{k-1} + intake g_k``, then ``q_{k+1} = q_k + direct g_k + passed v_k``."""

    memory: FloatArray
    intake: FloatArray
    direct: FloatArray
    passed: FloatArray


@dataclass(frozen=True, eq=False)
class Model:
    r"""A validated family of runs, everything but the stiffness per step x = eta*K.

    Attributes
    ----------
    optimizer
        ``"heavy-ball"``, ``"ema"`` or ``"nesterov"``.
    lag_model
        ``"constant"``, ``"sawtooth"`` or ``"random"``.
    mu, stale_share
        Momentum in [0, 1) and stale share, any real; each in the shape it was given. Where no lag
        acts (lag 0, refresh 1) the share decides nothing and is 1.
    steps
        Lag or refresh in the shape it was given; None when the lag is random.
    law
        Probabilities of the lags 0..L along the last axis, each law summing to 1 to rounding; None
        unless the lag is random.
    shape
        What `mu`, `stale_share` and `steps` (or `law` without its last axis) broadcast to.
    """

    optimizer: str
    lag_model: str
    mu: FloatArray
    stale_share: FloatArray
    steps: IntArray | None
    law: FloatArray | None
    shape: tuple[int, ...]

    @property
    def recurrence(self) -> Recurrence:
        """The optimizer's coefficients, each in the shape of `mu`."""
        own = RECURRENCES[self.optimizer](self.mu)
        return Recurrence(*(np.full_like(self.mu, coefficient) for coefficient in own))

    @property
    def gain(self) -> tuple[FloatArray, FloatArray]:
        r"""``(g0, g1)`` of the gain ``G(z) = g0 + g1/z`` by which chi multiplies the force."""
        memory, intake, direct, passed = self.recurrence
        return direct + passed * intake, 0.0 - memory * direct

    @property
    def longest(self) -> int:
        """The longest lag (sawtooth: refresh) of the family, 0 if it is empty."""
        if self.law is not None:
            return int(self.law.shape[-1]) - 1
        assert self.steps is not None
        return int(self.steps.max(initial=0))

    def flat(self, shape: tuple[int, ...]) -> Model:
        """Return the family broadcast to `shape` and laid out along one axis."""
        count = math.prod(shape)

        def along_one_axis(array: NDArray[Any]) -> NDArray[Any]:
            if array.shape != shape:
                array = np.broadcast_to(array, shape)
            return array.reshape(count)

        law = self.law
        if law is not None:
            law = np.broadcast_to(law, (*shape, law.shape[-1])).reshape(count, law.shape[-1])
        return Model(
            self.optimizer,
            self.lag_model,
            along_one_axis(self.mu),
            along_one_axis(self.stale_share),
            None if self.steps is None else along_one_axis(self.steps),
            law,
            (count,),
        )

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Model:
        """Return the chosen members (a mask or indices) of a flat family."""
        mu = self.mu[chosen]
        return Model(
            self.optimizer,
            self.lag_model,
            mu,
            self.stale_share[chosen],
            None if self.steps is None else self.steps[chosen],
            None if self.law is None else self.law[chosen],
            mu.shape,
        )


def model(
    optimizer: str,
    *,
    mu: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Model:
    r"""Check the description of a family of runs and return it.

    Parameters
    ----------
    optimizer
        ``"heavy-ball"`` (equation 3), ``"ema"`` (Adam's beta1) or ``"nesterov"`` (torch's SGD).
    mu
        Momentum in [0, 1).
    stale_share
        Share s of the stiffness that acts through the old policy, from -1e15 to 1e15.
    lag
        Constant lag in steps, whole numbers from 0.
    refresh
        Sawtooth: at step k the lag is ``k mod refresh``; whole numbers from 1.
    lag_law
        Probabilities of the lags 0, 1, ..., L along the last axis; the lag is drawn afresh at every
        step. The axes before the last broadcast with the other arguments.

    Raises
    ------
    InvalidInput
        Not exactly one of `lag`, `refresh` and `lag_law`; a value outside its domain; a law that
        does not sum to 1 within 1e-12; shapes that do not broadcast.
    """
    known_name("optimizer", optimizer, OPTIMIZERS)
    given = {
        name: value
        for name, value in (("lag", lag), ("refresh", refresh), ("lag_law", lag_law))
        if value is not None
    }
    if len(given) != 1:
        what = " and ".join(given) or "none of them"
        raise InvalidInput(f"{what} given: give exactly one of lag, refresh, lag_law")
    ((name, value),) = given.items()
    numbers = floats(mu=mu, stale_share=stale_share)
    check_momentum(numbers["mu"])
    _check_size("stale_share", numbers["stale_share"])
    steps = law = None
    if name == "lag_law":
        law = _probabilities(value)
        last, at_once = law.shape[:-1], law[..., 0] == 1
    else:
        least = 0 if name == "lag" else 1
        steps = _whole(name, value, least=least)
        last, at_once = steps.shape, steps == least
    shapes = {key: array.shape for key, array in numbers.items()}
    shape = common_shape(**shapes, **{name: last})
    share = numbers["stale_share"]
    if at_once.any():
        share = np.where(at_once, 1.0, share)
    lag_model = next(kind for kind, argument in LAG_MODELS.items() if argument == name)
    return Model(optimizer, lag_model, numbers["mu"], share, steps, law, shape)


def stiffness(x: ArrayLike) -> FloatArray:
    """Return the stiffness per step x = eta*K as an array, or raise if it is not above 0.

    Raises
    ------
    InvalidInput
        If a value is not a number above 0 and up to 1e15.
    """
    array = floats(x=x)["x"]
    check_positive("x", array)
    _check_size("x", array)
    return array


def _check_size(what: str, value: FloatArray) -> None:
    if (np.abs(value) > _LARGEST).any():
        largest = np.abs(value).max()
        raise InvalidInput(f"{what} reaches {largest:g} in size: it may be up to {_LARGEST:g}")


def _whole(name: str, value: ArrayLike, *, least: int) -> IntArray:
    array = rectangular(name, value)
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"{name} is {value!r}: give whole numbers of steps >= {least}")
    if not np.all(array >= least):
        raise InvalidInput(f"{name} holds {array.min()}: every one must be >= {least}")
    if not np.all(array <= np.iinfo(np.int64).max):
        raise InvalidInput(f"{name} holds {array.max()}: that is beyond 64 bits")
    return array.astype(np.int64)


def _probabilities(value: ArrayLike) -> FloatArray:
    law = floats(lag_law=value)["lag_law"]
    if law.ndim == 0 or law.shape[-1] == 0:
        raise InvalidInput(f"lag_law is {value!r}: give the probabilities of lags 0, 1, ..., L")
    if not np.all(law >= 0):
        raise InvalidInput(f"lag_law holds {law.min()}: a probability must be >= 0")
    total = law.sum(axis=-1, keepdims=True)
    wrong = np.abs(total - 1) > _SUM
    if np.any(wrong):
        raise InvalidInput(
            f"lag_law sums to {float(total[wrong][0])!r}: probabilities must sum to 1 within {_SUM}"
        )
    return np.asarray(law / total)
