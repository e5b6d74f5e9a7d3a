r"""The exact threshold of a constant lag with the whole force stale, over arrays.

On the border a root is at ``z = exp(iw)`` where, with ``s = sin(w/2)``,

    w (d + 1/2) = atan2((1 - mu) + 2 mu s**2, mu sin w),    x_c = 2 s sqrt((1 - mu)**2 + 4 mu s**2)

(theory section 3.1, with the arctangent of the complementary angle, in which nothing cancels). The
left side grows and the right side falls, so there is one root in (0, pi) for d >= 1, and Newton's
method inside a bracket finds it in a handful of steps. At d = 0 the root is at -1 and
``x_c = 2(1 + mu)``. Extension.
"""

from __future__ import annotations

import numpy as np

from numerics.dynamics.model import FloatArray, IntArray

__all__ = ["border_phase", "stale_threshold"]

_STEPS = 60  # a halving of the bracket each, where Newton's step leaves it; a handful otherwise
_ENOUGH = 2e-16


def border_phase(mu: FloatArray, lag: IntArray) -> FloatArray:
    """Return the angle w of the root on the unit circle at the border, pi at lag 0; shape (n,)."""
    rate = lag + 0.5
    # Without momentum w is the upper end; with it, two limits of the right side bound w from above.
    high = np.pi / (2 * lag + 1)
    with np.errstate(divide="ignore"):
        guess = np.minimum(high, np.sqrt((1 - mu) / np.maximum(lag, 1)))
    low, w = np.zeros_like(high), np.where(lag == 0, np.pi, guess)
    active = np.flatnonzero(lag > 0)
    for _ in range(_STEPS):
        m, a, at = mu[active], rate[active], w[active]
        half = np.sin(at / 2)
        beside, along = (1 - m) + 2 * m * half * half, m * np.sin(at)
        excess = a * at - np.arctan2(beside, along)
        # The derivative of the arctangent, over the squared distance of mu z from 1.
        slope = a + m * ((1 - m) - 2 * half * half) / ((1 - m) ** 2 + 4 * m * half * half)
        low[active] = np.where(excess < 0, at, low[active])
        high[active] = np.where(excess > 0, at, high[active])
        step = at - excess / slope
        inside = (step > low[active]) & (step < high[active])
        new = np.where(inside, step, (low[active] + high[active]) / 2)
        w[active] = np.where(excess == 0, at, new)
        moved = np.abs(w[active] - at) > _ENOUGH * at
        active = active[moved]
        if not active.size:
            break
    return w


def stale_threshold(mu: FloatArray, lag: IntArray) -> FloatArray:
    """Return x_c of heavy ball with the whole force stale, shape (n,)."""
    half = np.sin(border_phase(mu, lag) / 2)
    return np.asarray(2 * half * np.sqrt((1 - mu) ** 2 + 4 * mu * half * half))
