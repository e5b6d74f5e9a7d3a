r"""Stationary variance at a constant lag in O(log lag) operations, losing nothing to small x.

Let r(k) be the autocovariance of q under unit white noise and ``y(k) = r(0) - r(k)`` its structure
function. With ``y(0) = 0`` and -w(k) the covariance of q_0 with what displacement k inherits,

    y(k+1) = y(k) + w(k) + now u(k)
    w(k+1) = mu w(k) + kept u(k),        u(k) = X - x_f y(k) - x_s y(|k - d|),   X = x r(0).

X and y stay finite as x -> 0, where r(0) does not, so nothing cancels. The equations for
``F(k) = (y(k), w(k))`` run forward and those for its mirror image F(d-k) backward: a line that
carries one signal each way. A stretch of m steps is a two-port,

    F(k+m) = T F(k) + R F(d-k-m) + b,      and the same mirrored,

and two stretches in a row make one (Redheffer's star product), so m steps take log2(m) products.
Half the line closed on itself leaves two unknowns at the end where the noise enters. (Extension;
the delay Lyapunov equation of a discrete map, theory section 3, point 5.)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numerics.dynamics._linear_map import LinearMap
from numerics.dynamics.model import FloatArray, IntArray

__all__ = ["Level", "level"]


class Level(NamedTuple):
    r"""Variance of q under unit white noise on the right side of the recurrence, shapes (n,).

    Attributes
    ----------
    scaled
        X = x r(0).
    first
        y(1) = r(0) - r(1).
    safety
        About the smallest determinant divided by: digits are lost as it goes to 0.
    """

    scaled: FloatArray
    first: FloatArray
    safety: FloatArray


class _Port(NamedTuple):
    """A stretch of the line: T (2, 2, n), R (2, 2, n), b (2, n), and the safety so far."""

    passes: FloatArray
    reflects: FloatArray
    adds: FloatArray
    safety: FloatArray


def level(linear: LinearMap, lag: IntArray) -> Level:
    """Return the variance of stable maps with constant lag, and how safe the digits are."""
    # Without lag all of the force is fresh, and then any lag will do.
    fresh = np.where(lag == 0, linear.x, linear.fresh)
    stale = np.where(lag == 0, 0.0, linear.stale)
    with np.errstate(all="ignore"):  # a vanishing determinant shows in the safety
        return _Line(linear, fresh, stale).closed(np.maximum(lag, 1))


class _Line:
    """The line as one step of it: ``F(k+1) = S F(k) + C F(d-k) + c``."""

    def __init__(self, linear: LinearMap, fresh: FloatArray, stale: FloatArray) -> None:
        self.linear, self.fresh, self.stale = linear, fresh, stale
        zero, one = np.zeros_like(fresh), np.ones_like(fresh)
        self.unit = _matrix(one, zero, zero, one)
        self.step = _matrix(1 - linear.now * fresh, one, -linear.kept * fresh, linear.mu)
        self.mirror = _matrix(-linear.now * stale, zero, -linear.kept * stale, zero)
        self.adds = np.stack([linear.now, linear.kept])

    def closed(self, lag: IntArray) -> Level:
        """Solve for the two unknowns w(0) and y(d), and scale by the noise.

        Until then everything is a form in (1, w(0), y(d)), in units of X.
        """
        linear, loss = self.linear, 1 - self.linear.mu
        start, far = np.zeros((2, 3, lag.size)), np.zeros((3, lag.size))
        start[1, 1] = far[2] = 1.0
        f_1 = self._moved(start, far)
        across, safety = self._across(f_1, np.maximum(lag - 2, 0))
        short = lag == 1
        f_before = np.where(short, start, across)  # F(d-1)
        f_d = np.where(short, f_1, self._moved(f_before, f_1[0]))
        f_after = self._moved(f_d, start[0])
        f_beyond = self._moved(f_after, f_1[0])
        f_2 = self._moved(f_1, f_before[0])
        # w(0) = -mu y(1) + before u(-1) by reflection at 0, where u(-1) is X less these:
        held = self.fresh * f_1[0] + self.stale * f_after[0]
        rows = np.stack([f_d[0] - far, start[1] + linear.mu * f_1[0] + linear.before * held])
        rows[1, 0] -= linear.before
        inverse, determinant = _inverse(rows[:, 1:])
        unknown = _times(inverse, -rows[:, 0])
        y_1, y_2, y_before, y_d, y_after, y_beyond = (
            f[0, 0] + (f[0, 1:] * unknown).sum(axis=0)
            for f in (f_1, f_2, f_before, f_d, f_after, f_beyond)
        )
        # The equation of step 0, where the noise enters, less those of steps 1 and 2 times what
        # leaves no difference of y: a force f at age j brings y(j) + (1-mu) y(j-1) - mu y(j-2).
        now = self.fresh * loss * y_1 + self.stale * (y_after + loss * y_d - linear.mu * y_before)
        before = self.fresh * (y_2 + loss * y_1) + self.stale * (
            y_beyond + loss * y_after - linear.mu * y_d
        )
        scaled = 1 / (2 * loss * linear.total - linear.now * now - linear.before * before)
        return Level(scaled, scaled * y_1, np.minimum(safety, np.abs(determinant)))

    def _moved(self, state: FloatArray, mirrored: FloatArray) -> FloatArray:
        """Return F(k+1), (2, 3, n), from F(k) and the form of y(d-k)."""
        push = -self.stale * mirrored
        push[0] += 1.0
        return _times(self.step, state) + self.adds[:, None] * push

    def _across(self, state: FloatArray, length: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return F(1+length) when F(1) is given at both ends of the line; and the safety."""
        passes, reflects, adds, safety = self._stretch(length // 2)
        # The middle meets its mirror image: itself, or what is one more step ahead.
        odd = length % 2 == 1
        image, turn = _inverse(self.unit - self.mirror)
        ahead = np.where(odd, _times(image, self.step), self.unit)
        pushed = np.where(odd, _times(image, self.adds), 0.0)
        inverse, determinant = _inverse(self.unit - _times(reflects, ahead))
        middle = _times(passes, state)
        middle[:, 0] += adds + _times(reflects, pushed)
        opposite = _times(ahead, _times(inverse, middle))
        opposite[:, 0] += pushed
        result = _times(passes, opposite) + _times(reflects, state)
        result[:, 0] += adds
        smallest = np.minimum(np.abs(determinant), np.where(odd, np.abs(turn), 1.0))
        return result, np.minimum(safety, smallest)

    def _stretch(self, steps: IntArray) -> _Port:
        """Return the two-port of so many steps, each its own number, by repeated doubling."""
        zero = np.zeros_like(self.unit)
        result = _Port(self.unit, zero, zero[0], np.ones_like(self.fresh))
        inverse, determinant = _inverse(self.unit - _times(self.mirror, self.mirror))
        power = _Port(
            _times(inverse, self.step),
            _times(inverse, _times(self.mirror, self.step)),
            _times(inverse, self.adds + _times(self.mirror, self.adds)),
            np.abs(determinant),
        )
        bits = int(steps.max(initial=0)).bit_length()
        for bit in range(bits):
            taken = (steps >> bit) & 1 == 1
            joined = _joined(result, power)
            result = _Port(
                *(np.where(taken, new, old) for new, old in zip(joined, result, strict=True))
            )
            if bit + 1 < bits:
                power = _joined(power, power)
        return result


def _joined(left: _Port, right: _Port) -> _Port:
    """Return two stretches in a row as one, by Redheffer's star product."""
    unit = np.eye(2)[:, :, None]
    inverse, determinant = _inverse(unit - _times(left.reflects, right.reflects))
    through = _times(right.passes, inverse)
    return _Port(
        _times(through, left.passes),
        right.reflects + _times(through, _times(left.reflects, right.passes)),
        right.adds + _times(through, left.adds + _times(left.reflects, right.adds)),
        np.minimum(np.minimum(left.safety, right.safety), np.abs(determinant)),
    )


def _matrix(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    return np.stack([np.stack([a, b]), np.stack([c, d])])


def _times(matrix: FloatArray, right: FloatArray) -> FloatArray:
    """Return matrix (2, 2, n) times right (2, n) or (2, m, n)."""
    columns = right if right.ndim == 3 else right[:, None]
    product = matrix[:, 0, None] * columns[0] + matrix[:, 1, None] * columns[1]
    return np.asarray(product if right.ndim == 3 else product[:, 0])


def _inverse(matrix: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the inverse of (2, 2, n) and the determinant (n)."""
    (a, b), (c, d) = matrix
    determinant = a * d - b * c
    return _matrix(d, -b, -c, a) / determinant, determinant
