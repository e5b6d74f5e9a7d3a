r"""Second moments under sawtooth lag, periodic in the phase.

Let a be the sampled q of the last refresh. In ``(q - a, h)``, h what the next displacement
inherits, a step is ``A = [[1 - now x_f, 1], [-kept x_f, mu]]`` plus the push ``-(now, kept) x a``,
so after j steps

    q_j = (1 - x alpha_j) a + beta_j h_0 + noise,     h_j = -x gamma_j a + (1 - lost_j) h_0 + noise

with sums of like sign for alpha, beta, gamma and lost while the fresh force is weak. The covariance
at a refresh is what one period returns; its equation is written for ``x Var(a)``, which stays
finite as x -> 0. (Extension; theory section 3, points 2 and 5.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics._linear_map import LinearMap
from numerics.dynamics.model import FloatArray

__all__ = ["Phases", "phases"]


class Phases(NamedTuple):
    r"""Second moments by phase, the steps since the last refresh.

    Attributes
    ----------
    stable
        Whether the map is, shape (n,); elsewhere the moments mean nothing.
    scaled
        x times E[q_j q_{j+k}], j the phase of the earlier q, shape (n, refresh, lags + 1).
    """

    stable: NDArray[np.bool_]
    scaled: FloatArray


class _Period(NamedTuple):
    """alpha_j, ..., and the covariance (qq, qh, hh) of the noise since, for one j; shapes (n,)."""

    alpha: FloatArray
    beta: FloatArray
    gamma: FloatArray
    lost: FloatArray
    noise: tuple[FloatArray, FloatArray, FloatArray]


def phases(linear: LinearMap, refresh: int, noise_enters: str, lags: int) -> Phases:
    """Return the moments of maps with one refresh interval, per unit of noise."""
    with np.errstate(all="ignore"):  # unstable maps may overflow
        zero = np.zeros_like(linear.x)
        steps = [_Period(zero, zero, zero, zero, (zero, zero, zero))]
        for _ in range(refresh):
            steps.append(_next(linear, steps[-1], linear.kick(noise_enters)))
        *phase, period = steps
        at_refresh = _fixed(linear, period)
        first = np.stack([_moments(linear, j, at_refresh) for j in phase], axis=1)
        return Phases(_stable(linear, period), _later(linear, first, lags))


def _next(linear: LinearMap, j: _Period, kick: tuple[FloatArray, FloatArray]) -> _Period:
    qq, qh, hh = j.noise
    stays, drags, mu = 1 - linear.now * linear.fresh, linear.kept * linear.fresh, linear.mu
    return _Period(
        alpha=stays * j.alpha + j.gamma + linear.now,
        beta=stays * j.beta + (1 - j.lost),
        gamma=mu * j.gamma - drags * j.alpha + linear.kept,
        lost=(1 - mu) + mu * j.lost + drags * j.beta,
        noise=(
            stays * stays * qq + 2 * stays * qh + hh + kick[0] ** 2,
            -stays * drags * qq + (stays * mu - drags) * qh + mu * hh + kick[0] * kick[1],
            drags * drags * qq - 2 * drags * mu * qh + mu * mu * hh + kick[1] ** 2,
        ),
    )


def _stable(linear: LinearMap, n: _Period) -> NDArray[np.bool_]:
    """Jury's conditions for the monodromy matrix [[1 - x alpha, beta], [-x gamma, 1 - lost]]."""
    x, keeps = linear.x, 1 - n.lost
    real = n.alpha * n.lost + n.beta * n.gamma  # det(1 - M) / x
    flip = (2 - x * n.alpha) * (1 + keeps) + x * n.beta * n.gamma  # det(1 + M)
    area = n.lost + x * (n.alpha * keeps - n.beta * n.gamma)  # 1 - det M
    return np.asarray((real > 0) & (flip > 0) & (area > 0))


def _fixed(linear: LinearMap, n: _Period) -> FloatArray:
    """Return (x qq, qh, hh) at a refresh, shape (3, n)."""
    x, (alpha, beta, gamma, lost, noise) = linear.x, n
    stays, keeps = 1 - x * alpha, 1 - lost
    matrix = np.array(
        [
            [alpha * (1 + stays), -2 * stays * beta, -beta * beta],
            [gamma * stays, lost + x * (alpha * keeps + beta * gamma), -beta * keeps],
            [-x * gamma * gamma, 2 * x * gamma * keeps, lost * (1 + keeps)],
        ]
    )
    return _cramer(matrix, np.stack(noise))


def _cramer(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Solve (3, 3, n) for (3, n); no pivot fails where the matrix is singular, unlike LAPACK."""
    u, v, w = matrix.swapaxes(0, 1)
    crossed = np.cross(v, w, axis=0), np.cross(w, u, axis=0), np.cross(u, v, axis=0)
    whole = (u * crossed[0]).sum(axis=0)
    return np.stack([(right * side).sum(axis=0) / whole for side in crossed])


def _moments(linear: LinearMap, j: _Period, at_refresh: FloatArray) -> FloatArray:
    """Return x times the covariances of q_j with q_j, h_j and a, shape (3, n)."""
    x, (level, qh, hh) = linear.x, at_refresh
    qq, inherits = level, x * qh
    stays, keeps = 1 - x * j.alpha, 1 - j.lost
    of_a = stays * qq + j.beta * inherits
    of_h = stays * inherits + j.beta * x * hh
    return np.stack(
        [
            stays * of_a + j.beta * of_h + x * j.noise[0],
            -x * j.gamma * of_a + keeps * of_h + x * j.noise[1],
            of_a,
        ]
    )


def _later(linear: LinearMap, first: FloatArray, lags: int) -> FloatArray:
    """Run the mean map on from each phase; `first` has shape (3, refresh, n)."""
    q, h, a = first
    refresh = q.shape[0]
    found = [q]
    for k in range(lags):
        at_refresh = (np.arange(refresh) + k) % refresh == 0
        a = np.where(at_refresh[:, None], q, a)
        force = linear.fresh * q + linear.stale * a
        q, h = q + h - linear.now * force, linear.mu * h - linear.kept * force
        found.append(q)
    return np.moveaxis(np.stack(found), -1, 0).swapaxes(1, 2)
