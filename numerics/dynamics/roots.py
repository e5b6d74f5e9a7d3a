r"""All roots of the characteristic polynomial, slow and nearly equal ones included.

Eigenvalues of the companion matrix start Newton's method with the other roots divided out
(Ehrlich's and Aberth's), on the polynomial written around z = 1.
"""

from __future__ import annotations

import numpy as np

from numerics.dynamics.characteristic import ComplexArray, Curve, coefficients, curve
from numerics.dynamics.model import FloatArray, Model

__all__ = ["characteristic_roots", "log_modulus"]

_SWEEPS = 12  # two or three are enough but for nearly equal roots
_SETTLED = 4e-16
_TOGETHER = 1e-6  # eigenvalues this close may have lost half their digits, and their realness
_ALONG = 1e-30  # step along the imaginary axis by which a derivative is taken
_WORK = 1_000_000  # matrix elements held at a time


def characteristic_roots(family: Model, x: FloatArray) -> tuple[ComplexArray, ComplexArray]:
    """Return z and z - 1 of a flat family of one L, both (n, L+2), largest modulus first.

    Of a conjugate pair the upper root comes first. Only z is accurate near 0, only z - 1 near 1.
    """
    poly = coefficients(family, x)
    count = poly.shape[1] - 1
    z = np.zeros((len(x), count), dtype=np.complex128)
    w = np.full_like(z, -1.0)
    degrees = count - np.argmax(poly[:, ::-1] != 0, axis=1)  # the other roots are 0
    size = max(1, _WORK // (count * count))
    for degree in np.unique(degrees[degrees > 0]):
        members = np.flatnonzero(degrees == degree)
        for part in np.split(members, range(size, len(members), size)):
            start = _eigenvalues(poly[part, : degree + 1])
            with np.errstate(all="ignore"):  # a step that overflows is not taken
                settled = _settled(curve(family.take(part), x[part]), start, count - degree)
            z[part, :degree], w[part, :degree] = settled
    order = np.lexsort((-z.imag, -log_modulus(z, w)))
    return np.take_along_axis(z, order, axis=1), np.take_along_axis(w, order, axis=1)


def log_modulus(z: ComplexArray, w: ComplexArray) -> FloatArray:
    r"""Return ln|z|, by w = z - 1 near 1 and by z elsewhere; -inf at 0."""
    near = np.abs(w) < 0.5
    close = np.where(near, w, 0.0)
    with np.errstate(divide="ignore"):
        far = np.log(np.where(near, 1.0, np.abs(z)))
    slow = 0.5 * np.log1p(close.real * (2 + close.real) + close.imag**2)
    return np.asarray(np.where(near, slow, far))


def _eigenvalues(poly: FloatArray) -> ComplexArray:
    degree = poly.shape[1] - 1
    companion = np.zeros((len(poly), degree, degree))
    companion[:, 0, :] = -poly[:, 1:]
    companion[:, range(1, degree), range(degree - 1)] = 1.0
    return np.linalg.eigvals(companion).astype(np.complex128)


def _settled(of: Curve, z: ComplexArray, at_zero: int) -> tuple[ComplexArray, ComplexArray]:
    z, w = _parted(of, z)
    real = z.imag == 0
    itself = np.eye(z.shape[1], dtype=bool)
    for _ in range(_SWEEPS):
        gaps = z[:, :, None] - z[:, None, :]
        near = np.abs(w) < 0.5
        both = near[:, :, None] & near[:, None, :]
        gaps = np.where(both, w[:, :, None] - w[:, None, :], gaps)
        others = np.where(itself, 0.0, 1 / np.where(itself, 1.0, gaps)).sum(axis=2)
        step = of.step(z, w, others + at_zero / z)
        step = np.where(real, step.real, step)
        step = np.where(np.isfinite(step) & (np.abs(step) < 0.1 * np.abs(z)), step, 0.0)
        z, w = z - step, w - step
        if np.all(np.abs(step) <= _SETTLED * np.minimum(np.abs(z), np.abs(w))):
            break
    return z, w


def _parted(of: Curve, z: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    r"""Find anew, around the extremum of P between them, real roots that nearly coincide.

    As eigenvalues they are good to the square root of a rounding only, which can exceed 1 - z, and
    it is open whether they are real. The extremum is a simple root, of P', and well determined.
    """
    z = np.take_along_axis(z, np.argsort(z.real, axis=1, kind="stable"), axis=1)
    w = z - 1
    room = _TOGETHER * np.maximum(1, np.abs(z))
    real = (np.abs(z.imag) <= room) & (np.abs(z) > room)
    together = real[:, :-1] & real[:, 1:] & (np.abs(z[:, 1:] - z[:, :-1]) <= room[:, 1:])
    for column in range(together.shape[1]):
        rows = np.flatnonzero(together[:, column])
        together[rows, column + 1 : column + 2] = False
        if rows.size:
            pair = slice(column, column + 2)
            z[rows, pair], w[rows, pair] = _around_extremum(of.take(rows), z[rows, pair])
    return z, w


def _around_extremum(of: Curve, pair: ComplexArray) -> tuple[ComplexArray, ComplexArray]:
    middle = pair.real.mean(axis=1, keepdims=True)
    offset = middle - 1
    for _ in range(_SWEEPS):
        _, slope = of.at(middle + 1j * _ALONG, offset + 1j * _ALONG)
        bend = slope.imag / _ALONG
        step = np.where(np.isfinite(slope.real / bend), slope.real / bend, 0.0)
        middle, offset = middle - step, offset - step
    height, _ = of.at(middle + 0j, offset + 0j)
    half = np.sqrt(-2 * height.real / bend + 0j)
    half = np.where(np.isfinite(half), half, (pair[:, :1] - pair[:, 1:]) / 2) * [1, -1]
    return middle + half, offset + half
