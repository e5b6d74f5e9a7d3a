r"""Autocovariance under a constant or a random lag, from the Yule-Walker equations.

With ``f_j`` the force at age j in the recurrence, ``y(k) = r(0) - r(k)`` and
``p(k) = y(k) - y(k-1)``, unit white noise on the right side of the recurrence gives

    p(k) - mu p(k-1) + sum_j f_j y(|k-j|) = G(1) x r(0)      for k >= 1,   p(0) = -p(1),

and at k = 0 the noise. The unknowns are the p(k) and x r(0): all finite as x -> 0, where r(0) is
not, and no difference of nearly equal numbers is formed. Under a random lag these are the equations
of the mean map, z**-d replaced by its mean. (Theory section 3, points 3 and 5.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from numerics.dynamics._linear_map import LinearMap
from numerics.dynamics.model import FloatArray, IntArray

__all__ = ["Structure", "filtered", "forces", "structure"]

_WORK = 2_000_000  # matrix elements held at a time


class Structure(NamedTuple):
    r"""Second moments of q per unit of noise.

    Attributes
    ----------
    scaled
        x r(0), shape (n,).
    differences
        y(k) = r(0) - r(k) for k = 0, 1, ..., shape (n, lags + 1).
    """

    scaled: FloatArray
    differences: FloatArray


def structure(linear: LinearMap, law: FloatArray, lags: int) -> Structure:
    """Return the moments of stable maps under unit white noise on the right side, y(0) to y(lags).

    `law` holds the probabilities of the lags 0..L, shape (n, L+1).
    """
    size = law.shape[-1] + 2
    parts = [
        _solved(linear.take(part), law[part], lags) for part in _blocks(law.shape[0], size * size)
    ]
    return Structure(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def filtered(white: Structure, linear: LinearMap, noise_enters: str) -> Structure:
    """Return the moments under noise that passes through the optimizer, and one lag fewer.

    Noise with the spectrum ``a - b |z - 1|**2`` brings a times y less b times its bend.
    """
    level, bend = linear.filter(noise_enters)
    y = white.differences
    first = y[:, 1]
    bends = np.diff(y, n=2, axis=1) - 2 * first[:, None]
    return Structure(
        level * white.scaled - 2 * bend * linear.x * first,
        np.concatenate([y[:, :1], level[:, None] * y[:, 1:-1] + bend[:, None] * bends], axis=1),
    )


def _blocks(count: int, each: int) -> Iterator[IntArray]:
    size = max(1, _WORK // each)
    for begin in range(0, max(count, 1), size):
        yield np.arange(begin, min(begin + size, count))


def _solved(linear: LinearMap, law: FloatArray, lags: int) -> Structure:
    force = forces(linear, law)
    mu, goal = linear.mu, linear.total
    count, size = force.shape
    at = np.arange(size)
    # A force at age j in equation k acts on y(|k - j|): on y(m) with j = k - m or j = k + m.
    reach = np.concatenate([force, np.zeros((count, size))], axis=1)
    on = reach[:, (at[:, None] - at) % (2 * size)] + reach[:, at[:, None] + at] * (at > 0)
    # y(m) is the sum of p(1) to p(m).
    matrix = np.flip(np.cumsum(np.flip(on, axis=2), axis=2), axis=2)
    noise = (1 - mu)[:, None] * matrix[:, 1] - mu[:, None] * matrix[:, 2] + matrix[:, 0]
    matrix[:, at[1:], at[1:]] += 1.0
    matrix[:, at[2:], at[1:-1]] -= mu[:, None]
    matrix[:, 1, 1] += mu
    matrix[:, :, 0] = -goal[:, None]
    # Equation 0 less (1 - mu) times equation 1 plus mu times equation 2 has no difference left.
    matrix[:, 0] = -noise
    matrix[:, 0, 0] = 2 * (1 - mu) * goal
    right = np.zeros((count, size, 1))
    right[:, 0] = 1.0
    solution = _solution(matrix, right)[..., 0]
    scaled = solution[:, 0]
    y = np.zeros((count, max(size, lags + 1)))
    np.cumsum(solution[:, 1:], axis=1, out=y[:, 1:size])
    ages = force[:, :0:-1]
    for k in range(size, lags + 1):
        p = y[:, k - 1] - y[:, k - 2]
        pull = np.einsum("ij,ij->i", ages, y[:, k - size + 1 : k])
        y[:, k] = y[:, k - 1] + mu * p + goal * scaled - pull
    return Structure(scaled, y[:, : lags + 1])


def _solution(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return the solutions, NaN where a run is on the border itself and there is none."""
    try:
        return np.asarray(np.linalg.solve(matrix, right))
    except np.linalg.LinAlgError:
        none = np.linalg.slogdet(matrix)[0] == 0
        matrix[none] = np.eye(matrix.shape[-1])
        solution = np.asarray(np.linalg.solve(matrix, right))
        solution[none] = np.nan
        return solution


def forces(linear: LinearMap, law: FloatArray) -> FloatArray:
    """Return f_0 = 0, f_1, ..., f_{L+2}, shape (n, L+3)."""
    force = linear.stale[:, None] * law
    force[:, 0] += linear.fresh
    result = np.zeros((law.shape[0], law.shape[1] + 2))
    result[:, 1:-1] = linear.now[:, None] * force
    result[:, 2:] += linear.before[:, None] * force
    return result
