r"""Threshold and onset of the sawtooth with the whole force stale, in closed form, over arrays.

At share 1 trace and determinant of the monodromy matrix are affine in x. With ``m = mu**N``,
``r = sum_j mu**j``, ``J = sum_j j mu**j`` over j < N, ``S = N r - J`` and the optimizer's
``c = passed intake``,

    trace = 1 + m - x (direct N + c S),    det = m - x (direct N m - c J),
    det(I + M) = 2 (1 + m) - x (direct N (1 + m) + c D),   det(I - M) = x G(1) N r,

    D = (1 + m) S - mu r**2 = r + (1 - mu) sum_j (j + 1) (N - 1 - j) mu**j,

and no sum has terms of both signs. The first of det(I + M) and 1 - det to vanish is the threshold.
(Extension; theory section 3.2 for heavy ball.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics.model import FloatArray, Model

__all__ = ["stale_onset", "stale_sawtooth_threshold"]


def stale_sawtooth_threshold(family: Model) -> tuple[FloatArray, NDArray[np.str_]]:
    """Return the threshold and its kind of a flat sawtooth family of share 1."""
    part = _parts(family)
    flip = 2 * (1 + part.m) / part.flip_pull
    turns = part.circle_pull > 0
    pair = np.where(turns, part.lost / np.where(turns, part.circle_pull, 1.0), np.inf)
    return np.minimum(flip, pair), np.where(pair < flip, "neimark-sacker", "flip")


def stale_onset(family: Model) -> FloatArray:
    r"""Return the first x at which the eigenvalues turn complex or their sum falls to 0, or NaN.

    With ``a = 1 - m`` and ``k = det(I - M)/x`` the discriminant is ``(a + b x)**2 - 4 k x``.
    """
    part = _parts(family)
    rest = part.m * part.real_pull + part.lost * part.circle_pull  # k - a b
    meeting = part.lost**2 / (part.real_pull + rest + 2 * np.sqrt(part.real_pull * rest))
    first = np.minimum(meeting, (1 + part.m) / part.trace_pull)
    return np.asarray(np.where(first < stale_sawtooth_threshold(family)[0], first, np.nan))


class _Parts(NamedTuple):
    """``m``, ``1 - m``, and what x is multiplied by in the trace and in the three conditions."""

    m: FloatArray
    lost: FloatArray
    trace_pull: FloatArray
    real_pull: FloatArray
    flip_pull: FloatArray
    circle_pull: FloatArray


def _parts(family: Model) -> _Parts:
    assert family.steps is not None
    mu, n = family.mu, family.steps.astype(np.float64)
    _, intake, direct, passed = family.recurrence
    through, static = passed * intake, sum(family.gain)
    m, r, first, second = _sums(family)
    own = (n - 1) * r + (n - 2) * first - second
    return _Parts(
        m=m,
        lost=(1 - mu) * r,
        trace_pull=direct * n + through * (n * r - first),
        real_pull=static * n * r,
        flip_pull=direct * n * (1 + m) + through * (r + (1 - mu) * own),
        circle_pull=through * first - direct * n * m,
    )


def _sums(family: Model) -> tuple[FloatArray, ...]:
    """Return mu**N and the sums of mu**j, j mu**j and j**2 mu**j over j < N, by doubling."""
    assert family.steps is not None
    left, shape = family.steps.copy(), family.mu.shape
    zero = np.zeros(shape)
    found: tuple[FloatArray, ...] = (zero, np.ones(shape), zero, zero, zero)
    square: tuple[FloatArray, ...] = (np.ones(shape), family.mu, np.ones(shape), zero, zero)
    while True:
        odd = left & 1 == 1
        joined = _joined(found, square)
        found = tuple(np.where(odd, a, b) for a, b in zip(joined, found, strict=True))
        left = left >> 1
        if not left.any():
            return found[1:]
        square = _joined(square, square)


def _joined(one: tuple[FloatArray, ...], other: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    """Join the sums of two stretches of j, each given with its length and mu to that length."""
    n, power, level, first, second = one
    n_next, power_next, level_next, first_next, second_next = other
    return (
        n + n_next,
        power * power_next,
        level + power * level_next,
        first + power * (first_next + n * level_next),
        second + power * (second_next + n * (2 * first_next + n * level_next)),
    )
