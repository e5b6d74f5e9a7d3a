r"""Mean-square stability under a random lag: its threshold, and how fast the second moment grows.

A random lag puts the force off its mean by ``x_s (q_{k-D} - E q_{k-D})``: white noise of the
gradient, made by q itself. So the second moment settles exactly if the mean does and the gain of
that loop, ``x_s**2 sum_ij p_i p_j (r(0) - r(|i-j|))`` with r the autocovariance of q under unit
noise, is below 1. Both r and the loop are linear equations affine in x, so all x at which the gain
is 1 are eigenvalues of one pencil of the size of the lag, not of its square. (Extension; theory
section 3, point 3.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._stationary import random_lags
from numerics.dynamics.characteristic import coefficients
from numerics.dynamics.first_contact import mean_threshold
from numerics.dynamics.model import FloatArray, IntArray, Model, model, stiffness
from numerics.dynamics.roots import characteristic_roots, log_modulus
from numerics.inputs import InvalidInput, common_shape

__all__ = ["LONGEST_MEAN_SQUARE", "mean_square_radius", "mean_square_threshold"]

#: The longest lag of a law whose second moments are propagated: the work grows with its cube.
LONGEST_MEAN_SQUARE = 256

_REAL = 1e-6  # relative imaginary part up to which an eigenvalue may be real
_APART, _CLOSE, _SECANTS = 1e-7, 1e-3, 4  # polishing of an eigenvalue, relative
_WORK = 1_000_000  # matrix elements held at a time
_HALVINGS = 60
_FIRST_STEP = 1e-3  # of the search for a growth rate at which the gain is below 1


def mean_square_threshold(
    optimizer: str, *, mu: ArrayLike, stale_share: ArrayLike, lag_law: ArrayLike
) -> Any:
    r"""Return the first x > 0 at which the second moment of q stops decaying.

    Never above the threshold of the mean, and equal to it where the lag is certain.

    Parameters
    ----------
    optimizer, mu, stale_share, lag_law
        As in `model`; the law reaches at most `LONGEST_MEAN_SQUARE`.

    Returns
    -------
    float64 scalar or array of the common shape.

    Raises
    ------
    InvalidInput
        A value outside its domain, or a law that reaches too far.

    Notes
    -----
    Theory section 3, point 3 (extension). Relative error about 1e-13 at lags up to 64. The longest
    law takes seconds.
    """
    family = _checked(model(optimizer, mu=mu, stale_share=stale_share, lag_law=lag_law))
    flat = family.flat(family.shape)
    of_mean = mean_threshold(flat).x
    found = [_where_the_gain_is_one(flat.take(part)) for part in _parts(flat)]
    value = np.fmin(of_mean, np.concatenate(found)) if found else of_mean
    return value.reshape(family.shape)[()]


def mean_square_radius(
    optimizer: str, *, mu: ArrayLike, x: ArrayLike, stale_share: ArrayLike, lag_law: ArrayLike
) -> Any:
    r"""Return the growth factor of the second moment of q per step, below 1 if it decays.

    The spectral radius of ``C -> E[M_D C M_D^T]``, with M_D the map of a step at lag D. It is the
    square of the mean map's unless it is larger, and then the one value at which the gain of the
    loop, moments at step k weighted by its power -k, is 1.

    Parameters and errors as in `mean_square_threshold`; x > 0 is the stiffness per step.
    """
    family = _checked(model(optimizer, mu=mu, stale_share=stale_share, lag_law=lag_law))
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    flat = family.flat(shape)
    stiff = np.broadcast_to(force, shape).reshape(-1)
    rate = [_growth(flat.take(part), stiff[part]) for part in _parts(flat)]
    return np.exp(np.concatenate([*rate, np.empty(0)])).reshape(shape)[()]


def _checked(family: Model) -> Model:
    if family.longest > LONGEST_MEAN_SQUARE:
        raise InvalidInput(
            f"lag_law reaches to lag {family.longest}: second moments are propagated up to "
            f"{LONGEST_MEAN_SQUARE} steps"
        )
    return family


def _parts(flat: Model) -> list[IntArray]:
    members = np.arange(flat.mu.size)
    size = max(1, _WORK // (flat.longest + 4) ** 2)
    return [members[begin : begin + size] for begin in range(0, members.size, size)]


def _where_the_gain_is_one(family: Model) -> FloatArray:
    """Return the least such x > 0, beyond the mean's threshold without meaning; NaN for none.

    The pencil ``S + x T`` is regular at x = 0, where nothing pulls and so nothing is noise.
    """
    still, moved = (_loop(family, np.full(family.mu.size, x)) for x in (0.0, 1.0))
    inverse = np.linalg.eigvals(np.linalg.solve(still, still - moved))
    real = (inverse.real > 0) & (np.abs(inverse.imag) <= _REAL * inverse.real)
    largest = np.where(real, inverse.real, 0.0).max(axis=1)
    with np.errstate(divide="ignore"):
        return _polished(family, 1 / largest)


def _polished(family: Model, x: FloatArray) -> FloatArray:
    """Return the zero of 1 less the gain next to x; NaN where there is none in the stable mean."""
    last, result = x * (1 - _APART), x
    with np.errstate(invalid="ignore", divide="ignore"):
        before, now = (_margin(family, at) for at in (last, x))
        for _ in range(_SECANTS):
            step = now * (result - last) / (now - before)
            step = np.where(np.abs(step) < _CLOSE * result, step, 0.0)
            last, before = result, now
            result = result - step
            now = _margin(family, result)
        return np.where(np.abs(now) < _CLOSE, result, np.nan)


def _margin(family: Model, x: FloatArray) -> FloatArray:
    finite = np.isfinite(x)
    margin = random_lags(family, np.where(finite, x, 1.0), "gradient")[:, 2]
    return np.where(finite, margin, np.nan)


def _loop(family: Model, x: FloatArray) -> FloatArray:
    r"""Return the equations of the closed loop, singular where the gain is 1, shape (n, k, k).

    Unknown are ``R = x G(1) r(0)`` and ``y(m) = r(0) - r(m)`` for m from 1, of q as it would be
    without the optimizer's gain, and t. Equation k is ``sum_i a_i y(|k-i|) - R = 0``, a_i being the
    coefficients of P, but at k = 0 there is noise, ``-x t`` with ``t = x s**2 E Y(|D - D'|)``, Y
    being y behind the gain.
    """
    assert family.law is not None
    poly, share = coefficients(family, x), family.stale_share
    count, size = poly.shape
    matrix = np.zeros((count, size + 1, size + 1))
    matrix[:, :size, :size] = _around(poly)
    matrix[:, :size, 0] = -1.0  # y(0) is 0: its place is R's
    matrix[:, 0, size] = x
    g0, g1 = family.gain
    spread = (x * share**2)[:, None] * _behind_gain(g0, g1, _distances(family.law))
    matrix[:, size, 1:size] = -spread[:, 1:]
    matrix[:, size, 1] += 2 * x * share**2 * g0 * g1
    matrix[:, size, size] = 1.0
    return matrix


def _around(poly: FloatArray) -> FloatArray:
    """Return the matrices of ``y -> sum_i a_i y(|k-i|)``, k from 0."""
    count, size = poly.shape
    at = np.arange(size)
    matrix = np.zeros((count, size, size))
    for age in range(size):
        matrix[:, at, np.abs(at - age)] += poly[:, age, None]
    return matrix


def _distances(law: FloatArray) -> FloatArray:
    """Return P(|D - D'| = m) of two independent lags, m = 0..L."""
    lags = law.shape[1]
    return np.stack(
        [(2.0 if m else 1.0) * (law[:, : lags - m] * law[:, m:]).sum(axis=1) for m in range(lags)],
        axis=1,
    )


def _behind_gain(g0: FloatArray, g1: FloatArray, weights: FloatArray) -> FloatArray:
    """Return weights of r(0), r(1), ... for those given of the autocovariance behind the gain."""
    count, lags = weights.shape
    result = np.zeros((count, lags + 2))
    result[:, :lags] = (g0 * g0 + g1 * g1)[:, None] * weights
    beside = (g0 * g1)[:, None] * weights
    result[:, 1 : lags + 1] += beside
    result[:, : lags - 1] += beside[:, 1:]
    result[:, 1] += beside[:, 0]
    return result


def _growth(family: Model, x: FloatArray) -> FloatArray:
    """Return ln of the growth factor: the gain falls with it, so its place is found by halving."""
    z, w = characteristic_roots(family, x)
    low = 2 * log_modulus(z[:, :1], w[:, :1])[:, 0]
    if family.longest == 0:
        return low
    dead = np.isneginf(low)  # one step forgets all: then no lag acts, and nothing is random
    low = np.where(dead, 0.0, low)
    step = np.full_like(low, _FIRST_STEP)
    while np.any(beyond := _gain_exceeds_one(family, x, low + step) & ~dead):
        step = np.where(beyond, 2 * step, step)
    high = low + step
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        beyond = _gain_exceeds_one(family, x, middle)
        low, high = np.where(beyond, middle, low), np.where(beyond, high, middle)
    return np.where(dead, -np.inf, (low + high) / 2)


def _gain_exceeds_one(family: Model, x: FloatArray, rate: FloatArray) -> Any:
    r"""Whether it does with the moments of step k weighted by ``exp(-k rate)``.

    So weighted, q is the q of a map with all roots divided by ``exp(rate/2)``. The determinant of
    the closed loop is that of the open one, positive beyond the mean map's own growth factor, times
    1 less the gain.
    """
    assert family.law is not None
    size = family.law.shape[1] + 2
    with np.errstate(all="ignore"):
        fade = np.exp(-rate[:, None] / 2 * np.arange(size))
        faded = family.law * fade[:, : size - 2]
        weights = -_distances(faded)
        weights[:, 0] += (faded * fade[:, : size - 2]).sum(axis=1)
        g0, g1 = family.gain
        matrix = np.zeros((len(x), size + 1, size + 1))
        matrix[:, :size, :size] = _around(coefficients(family, x) * fade)
        matrix[:, 0, size] = -((family.stale_share * x) ** 2) * np.exp(-rate)
        matrix[:, size, :size] = -_behind_gain(g0, g1 * fade[:, 1], weights)
        matrix[:, size, size] = 1.0
        return ~(np.linalg.slogdet(matrix)[0] > 0)
