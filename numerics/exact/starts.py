r"""All roots of the characteristic polynomial in floats, as starts for exact refinement.

Aberth's method: Newton's correction of every root at once, with the other roots divided out. The
corrections of a polynomial with few terms cost O(1) each, so that thousands of roots are a matter
of a second, where companion eigenvalues would take minutes.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from numerics.exact.polynomial import Polynomial

__all__ = ["float_roots"]

_SWEEPS = 200
_ENOUGH = 1e-11  # relative; a start, not an answer
_TINY = 1e-100
_HIT = 1e-30
_BLOCK = 512  # rows of the matrix of root differences held at a time


def float_roots(poly: Polynomial) -> tuple[Decimal, npt.NDArray[np.complex128]]:
    """Return a unit and all roots in it, shape (degree,), to some ten digits where they are simple.

    The starting circles are those of the Newton polygon of the coefficients (Bini's choice).
    """
    degree = max(poly)
    if degree == 0:
        return Decimal(1), np.empty(0, dtype=np.complex128)
    edges = _newton_polygon(poly)
    unit = max(radius for _, _, radius in edges)
    powers = np.array(sorted(poly))
    logs = np.array([float(abs(poly[p]).ln() + p * unit.ln()) for p in sorted(poly)])
    signs = np.array([1.0 if poly[p] > 0 else -1.0 for p in sorted(poly)])
    roots = np.concatenate(
        [
            max(float(radius / unit), _TINY)
            * np.exp(2j * np.pi * (np.arange(right - left) / (right - left) + 0.137 + 0.31 * left))
            for left, right, radius in edges
        ]
    )
    active = np.arange(degree)
    for _ in range(_SWEEPS):
        pull = _pull(powers, logs, signs, roots[active]) - _repulsion(roots, active)
        step = 1 / np.where(pull == 0, 1, pull)
        roots[active] -= step
        active = active[np.abs(step) > _ENOUGH * np.abs(roots[active])]
        if not active.size:
            break
    return unit, roots


def _newton_polygon(poly: Polynomial) -> list[tuple[int, int, Decimal]]:
    """Return ``(left, right, radius)`` of each edge: ``right - left`` roots of about that size."""
    hull: list[int] = []
    height = {power: abs(c).ln() for power, c in poly.items()}
    for power in sorted(poly):
        while len(hull) > 1 and (height[hull[-1]] - height[hull[-2]]) * (power - hull[-2]) <= (
            height[power] - height[hull[-2]]
        ) * (hull[-1] - hull[-2]):
            hull.pop()
        hull.append(power)
    return [
        (left, right, ((height[left] - height[right]) / (right - left)).exp())
        for left, right in pairwise(hull)
    ]


def _pull(
    powers: npt.NDArray[np.int_],
    logs: npt.NDArray[np.float64],
    signs: npt.NDArray[np.float64],
    z: npt.NDArray[np.complex128],
) -> npt.NDArray[np.complex128]:
    """Return derivative over value; the largest term is scaled to 1, so that none overflows."""
    z = np.where(z == 0, _TINY, z)
    exponents = logs + powers * np.log(z)[:, None]
    terms = signs * np.exp(exponents - exponents.real.max(axis=1, keepdims=True))
    value = terms.sum(axis=1)
    # A root that is hit exactly pulls so hard that it stays where it is.
    return np.asarray((terms * powers).sum(axis=1) / z / np.where(abs(value) < _HIT, _HIT, value))


def _repulsion(
    roots: npt.NDArray[np.complex128], active: npt.NDArray[np.int_]
) -> npt.NDArray[np.complex128]:
    """Return, for each active root, the sum of 1/(its distance to each other root)."""
    sums = np.empty(active.size, dtype=np.complex128)
    for start in range(0, active.size, _BLOCK):
        rows = active[start : start + _BLOCK]
        gaps = roots[rows, None] - roots[None, :]
        same = gaps == 0  # itself, or a root it has met
        gaps[same] = 1
        sums[start : start + _BLOCK] = (1 / gaps).sum(axis=1) - same.sum(axis=1)
    return sums
