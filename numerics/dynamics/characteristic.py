r"""The characteristic polynomial of a constant or random lag, written around z = 1.

With L the longest lag, ``P(z) = z**(L+1) chi(z)`` has one root for each number the map remembers:
q now and up to L steps back, and the optimizer's buffer. With w = z - 1, G(1) = g0 + g1 and the
survival function ``S_m = P(D >= m)``,

    P = z**L (w (w + 1 - mu) + x (G(1) + g0 w)) - s x (G(1) + g0 w) w sum_m S_m z**(L-m),

in which nothing cancels where a root is slow, w near 0. (Extension; chi is theory section 1's.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics.model import FloatArray, Model

__all__ = ["ComplexArray", "Curve", "coefficients", "curve", "force_coefficients", "law_of"]

ComplexArray = NDArray[np.complex128]


def law_of(family: Model) -> FloatArray:
    """Return the probabilities of the lags 0..L, shape (n, L+1), of a flat family of one L."""
    if family.law is not None:
        return family.law
    law = np.zeros((*family.shape, family.longest + 1))
    law[:, -1] = 1.0
    return law


def force_coefficients(family: Model) -> FloatArray:
    """Return the coefficients of G(z) (1 - s + s E z**-D) by the powers 0, -1, ..., (n, L+2)."""
    g0, g1 = family.gain
    seen = family.stale_share[:, None] * law_of(family)
    seen[:, 0] += 1 - family.stale_share
    result = np.zeros((seen.shape[0], seen.shape[1] + 1))
    result[:, :-1] = g0[:, None] * seen
    result[:, 1:] += g1[:, None] * seen
    return result


def coefficients(family: Model, x: FloatArray) -> FloatArray:
    """Return the coefficients of P, highest power first, shape (n, L+3)."""
    force = force_coefficients(family)
    result = np.zeros((force.shape[0], force.shape[1] + 1))
    result[:, 0] = 1.0
    result[:, 1] = -1 - family.mu
    result[:, 2] = family.mu
    result[:, 1:] += x[:, None] * force
    return result


@dataclass(frozen=True, eq=False)
class Curve:
    """P of n runs as a function; all but `survival`, (n, L), are columns, (n, 1)."""

    x: FloatArray
    g0: FloatArray
    static: FloatArray
    friction: FloatArray
    stale: FloatArray
    survival: FloatArray

    def take(self, rows: NDArray[np.intp]) -> Curve:
        """Return the chosen runs."""
        return Curve(*(array[rows] for array in vars(self).values()))

    def at(self, z: ComplexArray, w: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
        r"""Return P and its derivative at z = 1 + w, shape (n, k), for ``|z| > 1`` of ``P/z**L``.

        Both z and w are given, because each is accurate where the other is not.
        """
        longest = self.survival.shape[1]
        outside = np.abs(z) > 1
        u = np.where(outside, 1 / np.where(outside, z, 1.0), z)
        memory, slope = np.zeros_like(z), np.zeros_like(z)  # a polynomial in u, its derivative
        for m in range(longest):
            first, last = self.survival[:, m, None], self.survival[:, longest - 1 - m, None]
            slope = slope * u + memory
            memory = memory * u + np.where(outside, last, first)
        slope = np.where(outside, -u * u * (memory + u * slope), slope)
        memory = np.where(outside, u * memory, memory)
        push = self.static + self.g0 * w
        fresh = w * (w + self.friction) + self.x * push
        power = np.where(outside, 1.0, u**longest)
        lower = np.where(outside, 0.0, longest * u ** max(longest - 1, 0))
        value = power * fresh - self.stale * push * w * memory
        derivative = power * (2 * w + self.friction + self.x * self.g0) + lower * fresh
        derivative -= self.stale * ((push + self.g0 * w) * memory + push * w * slope)
        return value, derivative

    def step(self, z: ComplexArray, w: ComplexArray, others: ComplexArray) -> ComplexArray:
        """Return Newton's step, ``1/(P'/P - others)``; P itself may be 0 or next to it."""
        value, slope = self.at(z, w)
        powers = np.where(np.abs(z) > 1, self.survival.shape[1] / z, 0.0)  # divided out of P
        return np.asarray(value / (slope + value * (powers - others)))


def curve(family: Model, x: FloatArray) -> Curve:
    """Return P of a flat family of one L as a function of z."""
    g0, g1 = family.gain
    law = law_of(family)
    column = {
        "x": x,
        "g0": g0,
        "static": g0 + g1,
        "friction": 1 - family.mu,
        "stale": family.stale_share * x,
    }
    return Curve(
        **{name: array[:, None] for name, array in column.items()},
        survival=np.cumsum(law[:, :0:-1], axis=1)[:, ::-1],
    )
