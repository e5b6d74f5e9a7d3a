r"""How far x may go, over arrays: where stability is lost and how, where oscillation sets in.

With the whole force stale, the sawtooth and (under heavy ball or EMA) the constant lag are solved
for all runs at once, at a cost that hardly grows with the lag; every other constant or random lag
from its contacts with the unit circle, runs of one lag at once. What that leaves open, and the
sawtooth of other shares, goes run by run to `numerics.exact`, right to the last digit at any share
in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics import exact
from numerics.dynamics._linear_map import linear_map
from numerics.dynamics._winding import stable_at
from numerics.dynamics.first_contact import first_contact, mean_threshold
from numerics.dynamics.meeting import first_meeting
from numerics.dynamics.model import FloatArray, Model, model, stiffness
from numerics.dynamics.phase_border import stale_threshold
from numerics.dynamics.roots import characteristic_roots
from numerics.dynamics.sawtooth_border import stale_onset, stale_sawtooth_threshold
from numerics.dynamics.spectrum import LONGEST_SPECTRUM, configurations, dominant
from numerics.inputs import common_shape

__all__ = ["Border", "onset", "stable", "threshold"]

_SURE = 1e-14  # relative error a threshold may have that is not left to `numerics.exact`
_RELATIVE = 1e-9  # width of the last bracket of an onset under a random lag
# Parts of the threshold at which that onset is looked for first, before it is bracketed.
_WALK = np.sort([*np.geomspace(1e-5, 1, 200, endpoint=False), *np.arange(1, 200) / 200, 1 - 1e-9])


@dataclass(frozen=True, eq=False)
class Border:
    r"""Where stability is first lost as x grows.

    Attributes
    ----------
    value
        x, of the common shape; a scalar for a single run.
    kind
        Where the root is then: ``"real"`` (at 1), ``"flip"`` (-1) or ``"neimark-sacker"`` (a
        complex pair); text, or an array of it.
    """

    value: Any
    kind: Any


def threshold(
    optimizer: str,
    *,
    mu: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Border:
    r"""Return the first x > 0 at which the mean map loses stability.

    Parameters
    ----------
    optimizer, mu, stale_share, lag, refresh, lag_law
        As in `model`. Any refresh, and without Nesterov any lag, where the whole force is stale
        (share 1); up to `numerics.exact.LONGEST_DELAY` otherwise.

    Returns
    -------
    Border

    Raises
    ------
    InvalidInput, ConfigurationError
        A value outside its domain, or shapes that do not broadcast.

    Notes
    -----
    Theory sections 3.1, 3.2 and 3.3 (extension). Constant and sawtooth lag: to the last digit or
    two; random lag: about 1e-12, where two roots do not meet on the circle.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    flat = family.flat(family.shape)
    if family.lag_model == "random":
        value, kind, _ = mean_threshold(flat)
    else:
        value = np.empty(flat.mu.size)
        kind = np.empty(flat.mu.size, dtype="U14")
        fast = _solved_at_once(flat)
        value[fast], kind[fast] = _at_once(flat.take(fast))
        open_ = ~fast
        if family.lag_model == "constant":
            open_ = _from_contacts(flat, ~fast, value, kind)
        rest = np.flatnonzero(open_)
        for place, c in zip(rest, configurations(flat.take(rest)), strict=True):
            border = exact.threshold(c)
            value[place], kind[place] = border.value, border.kind
    return Border(value.reshape(family.shape)[()], kind.reshape(family.shape)[()])


def onset(
    optimizer: str,
    *,
    mu: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Any:
    r"""Return the first x at which the dominant root is no longer real and positive.

    NaN where it is so up to the threshold. Parameters and errors as in `threshold`.

    Notes
    -----
    Theory section 3.4 (extension). About 1e-14, but under a random lag with a share outside
    [0, 1]: there to 1e-9, from the first of 400 points up to the threshold that swings; a swing
    that begins and ends between two of them is missed.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    flat = family.flat(family.shape)
    value = np.empty(flat.mu.size)
    left = np.ones(flat.mu.size, dtype=np.bool_)
    if family.lag_model != "random":
        fast = _solved_at_once(flat)
        value[fast], left[fast] = _onset_at_once(flat.take(fast)), False
    if family.lag_model != "sawtooth":
        for rows in _alike(flat, left & (flat.stale_share >= 0) & (flat.stale_share <= 1)):
            value[rows], left[rows] = first_meeting(flat.take(rows)), False
    rest = flat.take(left)
    if family.lag_model == "random":
        value[left] = _first_oscillation(rest)
    else:
        found = (exact.onset(c) for c in configurations(rest))
        value[left] = [np.nan if x is None else x for x in found]
    return value.reshape(family.shape)[()]


def stable(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Any:
    """Return whether the mean map decays at x; within rounding of a border the answer is either.

    Parameters and errors as in `threshold`; `certified_stable` decides on the border too.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    if family.lag_model == "constant":
        flat = family.flat(shape)
        stiff = np.broadcast_to(force, shape).reshape(-1)
        assert flat.steps is not None
        return stable_at(linear_map(flat, stiff), flat.steps).reshape(shape)[()]
    rate = dominant(
        optimizer, mu=mu, x=x, stale_share=stale_share, refresh=refresh, lag_law=lag_law
    ).rate
    return (rate < 0)[()]


def _solved_at_once(flat: Model) -> NDArray[np.bool_]:
    at_once = flat.lag_model == "sawtooth" or not flat.recurrence.direct.any()
    return np.asarray((flat.stale_share == 1) & at_once)


def _averaged(flat: Model) -> FloatArray:
    """Return by how much the optimizer weakens the force: 1 - mu for EMA."""
    return flat.gain[0]


def _at_once(flat: Model) -> tuple[FloatArray, NDArray[np.str_]]:
    if flat.lag_model == "sawtooth":
        return stale_sawtooth_threshold(flat)
    assert flat.steps is not None
    value = stale_threshold(flat.mu, flat.steps) / _averaged(flat)
    return value, np.where(flat.steps == 0, "flip", "neimark-sacker")


def _from_contacts(
    flat: Model, wanted: NDArray[np.bool_], value: FloatArray, kind: NDArray[np.str_]
) -> NDArray[np.bool_]:
    """Fill in what the contacts tell to the last digits, and return which they do not."""
    left = wanted.copy()
    for rows in _alike(flat, wanted):
        found = first_contact(flat.take(rows))
        sure = found.error <= _SURE
        value[rows[sure]], kind[rows[sure]] = found.x[sure], found.kind[sure]
        left[rows[sure]] = False
    return left


def _alike(flat: Model, wanted: NDArray[np.bool_]) -> Iterator[NDArray[np.intp]]:
    """Split the wanted members by lag, but for the longest; a law has one reach as it is."""
    if flat.steps is None:
        yield np.flatnonzero(wanted)
        return
    for lag in np.unique(flat.steps[wanted & (flat.steps <= LONGEST_SPECTRUM)]):
        yield np.flatnonzero(wanted & (flat.steps == lag))


def _onset_at_once(flat: Model) -> FloatArray:
    r"""Heavy ball, share 1: ``(1-z)(z-mu) z**(d-1)`` at the largest root z of its derivative.

    Theory section 3.4, with 1 - z and z - mu written so that nothing cancels at mu near 1.
    """
    if flat.lag_model == "sawtooth":
        return stale_onset(flat)
    assert flat.steps is not None
    mu, d = flat.mu, flat.steps.astype(np.float64)
    friction = 1 - mu
    root = np.hypot(d * friction, 2 * np.sqrt(mu))
    slow = 2 * friction / (2 + d * friction + root)
    bend = np.where(d == 0, 1.0, root + 2 * mu)  # 0 at lag 0 without momentum
    fast = friction * (d + (d * d * friction + 4 * mu) / bend) / (2 * (d + 1))
    delayed = slow * fast * np.exp((d - 1) * np.log1p(-np.where(d == 0, 0.0, slow)))
    at_once = (friction / (1 + np.sqrt(mu))) ** 2
    return np.asarray(np.where(d == 0, at_once, delayed) / _averaged(flat))


def _first_oscillation(flat: Model) -> FloatArray:
    """Walk up to the first point that swings, then bisect back to where that began."""
    threshold = mean_threshold(flat).x
    low, high = np.zeros(flat.mu.size), np.full(flat.mu.size, np.nan)
    for part in _WALK:
        here = part * threshold
        open_ = np.isnan(high)
        monotone = _monotone(flat, here)
        low, high = np.where(open_ & monotone, here, low), np.where(open_ & ~monotone, here, high)
    while np.any(high - low > _RELATIVE * high):
        middle = (low + high) / 2
        monotone = _monotone(flat, np.where(np.isnan(middle), threshold / 2, middle))
        low, high = np.where(monotone, middle, low), np.where(monotone, high, middle)
    return np.asarray((low + high) / 2)


def _monotone(flat: Model, x: FloatArray) -> NDArray[np.bool_]:
    """Whether the dominant root is real and positive, so that nothing swings in the long run."""
    z, _ = characteristic_roots(flat, x)
    return np.asarray((z[:, 0].imag == 0) & (z[:, 0].real > 0))
