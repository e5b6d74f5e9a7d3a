r"""Whether a map with constant lag is stable, from the phase of chi along the unit circle.

All roots lie inside when the phase of chi turns by exactly pi on the upper half circle from 1 to -1
(argument principle). On that way chi is the sum of two parts,

    P(z) = (z - 1)(1 - mu/z) + x_f G(z)   and   Q(z) = x_s G(z) z**-d,

whose phases are known in closed form whatever d. Where ``|P| > |Q|`` the phase of chi is within a
quarter turn of that of P, elsewhere of that of Q, and where they are equal it is halfway between
both. That happens at two points at most: ``|P|**2 - |Q|**2`` is quadratic in ``u = |z - 1|**2``. So
the answer costs the same for every lag. (Extension; theory section 3, points 1 and 7.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics._linear_map import LinearMap
from numerics.dynamics.model import FloatArray, IntArray

__all__ = ["stable_at"]


def stable_at(linear: LinearMap, lag: IntArray) -> NDArray[np.bool_]:
    """Return whether every root of chi is inside the unit circle, shape (n,).

    Within rounding of the border the answer is either.
    """
    with np.errstate(all="ignore"):  # NaN, beyond the range of floats, is not 1
        places = _places(linear)
        fresh_leads = _excess(linear, (places[:-1] + places[1:]) / 2) > 0
        of_fresh, of_stale = _phases(linear, lag, places)
        first, last = (np.where(fresh_leads[i], of_fresh[i], of_stale[i]) for i in (0, -1))
        # At a change of lead the phase is halfway between both, whole turns put aside.
        whole = np.rint((of_stale - of_fresh)[1:-1] / (2 * np.pi))
        changes = fresh_leads[:-1].astype(int) - fresh_leads[1:]
        turned = (last - first) / np.pi - 2 * (whole * changes).sum(axis=0)
        return np.asarray(np.rint(turned) == 1)


def _quadratic(linear: LinearMap) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the coefficients of 1, u and u**2 in ``|P|**2 - |Q|**2``."""
    mu, now, before, fresh = linear.mu, linear.now, linear.before, linear.fresh
    levels = linear.x * (linear.fresh - linear.stale)  # x_f**2 - x_s**2
    slope = (1 - mu) ** 2 - fresh * (now * (1 + mu) + before * (3 - mu)) - levels * now * before
    return levels * linear.total**2, slope, mu + fresh * before


def _excess(linear: LinearMap, u: FloatArray) -> FloatArray:
    level, slope, bend = _quadratic(linear)
    return level + u * (slope + u * bend)


def _places(linear: LinearMap) -> FloatArray:
    """Return u at the ends of the half circle and, between, where ``|P| = |Q|``; shape (4, n).

    A point that does not exist is put at an end.
    """
    level, slope, bend = _quadratic(linear)
    under = slope * slope - 4 * level * bend
    larger = -(slope + np.copysign(np.sqrt(under), slope)) / 2
    found = np.sort([larger / bend, level / larger], axis=0)
    found = np.where(np.isnan(found), 0.0, np.clip(found, 0.0, 4.0))
    return np.stack([np.zeros_like(level), *found, np.full_like(level, 4.0)])


def _phases(linear: LinearMap, lag: IntArray, u: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the phases of P and of Q, continuous along the half circle."""
    height = np.sqrt(u * (4 - u)) / 2  # sin w, where z = exp(iw)
    c = linear.mu + linear.fresh * linear.before  # P is z + b + c/z
    of_fresh = np.arctan2((1 - c) * height, linear.fresh * linear.total - (1 + c) * u / 2)
    of_gain = np.arctan2(-linear.before * height, linear.total - linear.before * u / 2)
    turn = 2 * np.arcsin(np.sqrt(u) / 2)
    of_stale = np.where(linear.stale < 0, np.pi, 0.0) + of_gain - lag * turn
    return of_fresh, np.asarray(of_stale)
