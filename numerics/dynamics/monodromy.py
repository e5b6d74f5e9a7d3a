r"""The sawtooth lag: one refresh interval as a 2 x 2 matrix of (q, v), over arrays.

Between refreshes the stale sample Q is constant and a step is affine, ``y -> S y + b Q``, with

    S = [[1 - g0 x_f, passed mu], [-intake x_f, mu]],   b = -x_s (g0, intake).

After N steps Q is renewed: ``M = S**N + T b e_q^T`` with ``T = I + S + ... + S**(N-1)``. As
``S**N = I + T (S - I)``, fresh and stale force add up in the column of q to the whole:

    M e_q = e_q - x (alpha, gamma),     (alpha, gamma) = T (g0, intake).

S**N and T come by repeated squaring; a power of two is taken out where they would overflow.
(Extension; for heavy ball at s = 1 the matrix is theory section 3.2's.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.dynamics.characteristic import ComplexArray
from numerics.dynamics.model import FloatArray, IntArray, Model

__all__ = ["Invariants", "invariants", "monodromy_eigenvalues"]

_LARGE = 2.0**300
_OWN_FORM = 0.25  # fresh share from which the stale sample's push is better eliminated
_STEEP = 2.0  # share from which S**N, which grows with it, is better left out of det M


class Invariants(NamedTuple):
    r"""Trace and determinant of M and the conditions made of them, each without cancellation.

    The eigenvalues lie inside the unit circle iff `real` = det(I - M), `flip` = det(I + M) and
    `circle` = 1 - det M are all above 0. With `exponent` above 0, trace and determinant are those
    of ``M / 2**exponent`` and nothing is stable.
    """

    trace: FloatArray
    det: FloatArray
    real: FloatArray
    flip: FloatArray
    circle: FloatArray
    exponent: IntArray


def invariants(family: Model, x: FloatArray) -> Invariants:
    """Return the invariants of M for a flat sawtooth family at stiffness x."""
    with np.errstate(all="ignore"):  # what overflows is unstable and has been scaled
        return _invariants(family, x)


def _invariants(family: Model, x: FloatArray) -> Invariants:
    assert family.steps is not None
    mu, intake, _, passed = family.recurrence
    g0, g1 = family.gain
    n, share = family.steps, family.stale_share
    fresh = 1 - share
    x_f = fresh * x
    step = np.stack([1 - g0 * x_f, passed * mu, -intake * x_f, mu]).reshape(2, 2, -1)
    power, total, exponent = _powers(step, n)
    (b11, b12), b22 = power[0], power[1, 1]
    alpha, gamma = g0 * total[:, 0] + intake * total[:, 1]
    one = np.exp2(-exponent.astype(np.float64))
    faded = _power_of_det(mu, g1, x_f, n, exponent)  # det S**N, scaled twice
    turned = x * (alpha * b22 - gamma * b12)
    trace = one - x * alpha + b22
    real = x * (g0 + g1) * (total[0, 0] * total[1, 1] - total[0, 1] * total[1, 0])
    # det M = det S**N - s turned = b22 - turned
    steep = np.abs(share) > _STEEP
    lost = intake * x_f * total[0, 1] + (1 - mu) * total[1, 1]  # 1 - b22
    det = np.where(steep, one * b22 - turned, faded - share * turned)
    circle = np.where(steep, lost + turned, _one_less_det(mu, g1, x_f, n) + share * turned)
    flip = (2 * one - x * alpha) * (one + b22) + x * gamma * b12
    # For a fresh share that is not small, M's fixed push is -(s/(1-s)) (I - S**N) e_q.
    own = np.abs(fresh) > _OWN_FORM
    divisor = np.where(own, fresh, 1.0)
    flip = np.where(own, ((fresh - share) * (1 + b22) + b11 + faded) / divisor, flip)
    return Invariants(trace, det, real, flip, circle, exponent)


def _powers(step: FloatArray, n: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return S**n and I + S + ... + S**(n-1), over 2**exponent, and the exponent."""
    power = np.zeros_like(step)
    power[0, 0] = power[1, 1] = 1.0
    total, exponent = np.zeros_like(step), np.zeros_like(n)
    unit = power.copy()
    square, sums, scale = step.copy(), unit.copy(), np.zeros_like(n)
    left = n.copy()
    while True:
        odd = left & 1 == 1
        joined = _joined(power, total, exponent, square, sums, scale)
        power, total = (np.where(odd, a, b) for a, b in zip(joined, (power, total), strict=False))
        exponent = np.where(odd, joined[2], exponent)
        left = left >> 1
        if not left.any():
            return power, total, exponent
        square, sums, scale = _joined(square, sums, scale, square, sums, scale)


def _joined(
    power: FloatArray,
    total: FloatArray,
    exponent: IntArray,
    next_power: FloatArray,
    next_total: FloatArray,
    next_exponent: IntArray,
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Join two stretches of steps: powers multiply, and the later sum is carried through."""
    unscale = np.exp2(-next_exponent.astype(np.float64))
    total = total * unscale + _times(power, next_total)
    power = _times(power, next_power)
    exponent = exponent + next_exponent
    size = np.maximum(np.abs(power).max(axis=(0, 1)), np.abs(total).max(axis=(0, 1)))
    large = np.isfinite(size) & (size > _LARGE)
    taken = np.where(large, np.frexp(size)[1], 0)
    factor = np.exp2(-taken.astype(np.float64))
    return power * factor, total * factor, exponent + taken


def _times(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("ijk,jlk->ilk", a, b))


def _power_of_det(
    mu: FloatArray, g1: FloatArray, x_f: FloatArray, n: IntArray, exponent: IntArray
) -> FloatArray:
    det = mu + g1 * x_f
    sign = np.where((det < 0) & (n & 1 == 1), -1.0, 1.0)
    size = np.where(exponent > 0, np.exp2(n * np.log2(np.abs(det)) - 2.0 * exponent), 0.0)
    return np.where(exponent > 0, sign * size, det ** n.astype(np.float64))


def _one_less_det(mu: FloatArray, g1: FloatArray, x_f: FloatArray, n: IntArray) -> FloatArray:
    """Return 1 - det S**N."""
    det = mu + g1 * x_f
    slow = -np.expm1(n * np.log1p(-((1 - mu) - g1 * x_f)))
    return np.where(det > 0.5, slow, 1 - det ** n.astype(np.float64))


def monodromy_eigenvalues(family: Model, x: FloatArray) -> tuple[ComplexArray, FloatArray]:
    r"""Return the eigenvalues of M, (n, 2), and the log of the larger modulus, (n,).

    The larger modulus comes first and, of a conjugate pair, the upper one. An eigenvalue near 1 or
    -1 is found as its distance from there, in which nothing cancels; one beyond the floats is
    infinite, its logarithm is not.
    """
    with np.errstate(all="ignore"):
        found = invariants(family, x)
        scaled = found.exponent > 0
        trace, det = found.trace, found.det
        away = found.real + found.circle  # 2 - trace
        near_one = ~scaled & (np.abs(2 - trace) < 1)
        bend = np.where(near_one, away * away - 4 * found.real, trace * trace - 4 * det)
        width = np.sqrt(np.abs(bend))
        larger = (trace + np.copysign(width, trace)) / 2
        smaller = np.where(larger != 0, det / np.where(larger != 0, larger, 1.0), 0.0)
        below_one = _smaller_root(away, found.real, width)
        above_minus_one = _smaller_root(trace + 2, found.flip, width)
        beside = np.where(trace >= 0, below_one, above_minus_one)
        slow = ~scaled & (np.abs(np.abs(larger) - 1) < 0.5)
        real_rate = np.where(slow, np.log1p(-beside), np.log(np.abs(larger)))
        slow = ~scaled & (np.abs(det - 1) < 0.5)
        pair_rate = np.where(slow, np.log1p(-found.circle), np.log(np.abs(det))) / 2
        rate = np.where(bend < 0, pair_rate, real_rate) + found.exponent * np.log(2)
        upper = np.where(bend < 0, trace / 2 + 0.5j * width, larger)
        lower = np.where(bend < 0, trace / 2 - 0.5j * width, smaller)
        values = np.stack([upper, lower], axis=-1)
        values = values * np.exp2(found.exponent.astype(np.float64))[:, None]
        return values, np.asarray(rate)


def _smaller_root(total: FloatArray, product: FloatArray, width: FloatArray) -> FloatArray:
    """Return the lesser root of ``u**2 - total u + product``, whose roots are `width` apart."""
    return np.where(total > 0, 2 * product / (total + width), (total - width) / 2)
