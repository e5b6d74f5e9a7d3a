r"""Variable projection: amplitudes solved exactly, the optimiser sees the nonlinear part alone.

With whitened basis Phi(a) and rewards y the residual is ``P y``, P the projector off the columns of
Phi. Its derivative is taken as ``-P dPhi c`` (Kaufman): the term left out lies in the columns of
Phi, so the gradient is exact, and the Gauss-Newton matrix is that of the full problem with the
amplitudes eliminated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.optimize import leastsq

from numerics.fit.family import Family

__all__ = ["Constraint", "Problem", "Solution", "free"]

FloatArray = NDArray[np.float64]
_TINY = 1e-10  # a column that keeps less than this share of itself beside the others is not free


@dataclass(frozen=True, eq=False)
class Constraint:
    """Amplitudes ``c = fixed + directions @ z`` with z free; `names` says what is held, if any."""

    fixed: FloatArray
    directions: FloatArray
    names: tuple[str, ...] = ()


def free(linear: int) -> Constraint:
    """Return the constraint that holds nothing."""
    return Constraint(np.zeros(linear), np.eye(linear))


@dataclass(frozen=True, eq=False)
class Solution:
    """A point of the search with its amplitudes and cost, half the sum of squares."""

    inner: FloatArray
    amplitudes: FloatArray
    cost: float


@dataclass(eq=False)
class Problem:
    """One weighted least-squares problem; `whiten` is linear and acts on the first axis."""

    family: Family
    time: FloatArray
    value: FloatArray
    span: float
    constraint: Constraint
    whiten: Callable[[FloatArray], FloatArray]
    _key: bytes | None = field(default=None, init=False)
    _residual: FloatArray = field(default_factory=lambda: np.empty(0), init=False)
    _jacobian: FloatArray = field(default_factory=lambda: np.empty((0, 0)), init=False)
    _amplitudes: FloatArray = field(default_factory=lambda: np.empty(0), init=False)

    def solve(self, start: FloatArray) -> Solution:
        """Return the optimum that Levenberg and Marquardt reach from `start`."""
        if start.size:
            found = leastsq(
                self.residual, start, Dfun=self.jacobian, full_output=True,
                xtol=1e-8, ftol=1e-10, gtol=1e-10, maxfev=100,
            )[0]  # fmt: skip
            low, high = self.family.box()
            start = np.clip(found, low, high)
        return self.at(start)

    def at(self, inner: FloatArray) -> Solution:
        """Return the point `inner` with the best amplitudes there."""
        residual = self.residual(inner)
        return Solution(inner, self._amplitudes, 0.5 * float(residual @ residual))

    def residual(self, inner: FloatArray) -> FloatArray:
        """Return the whitened residual, amplitudes at their best."""
        self._evaluate(inner)
        return self._residual

    def jacobian(self, inner: FloatArray) -> FloatArray:
        """Return its derivative, shape (rows, coordinates)."""
        self._evaluate(inner)
        return self._jacobian

    def _evaluate(self, inner: FloatArray) -> None:
        key = inner.tobytes()
        if key == self._key:
            return
        phi, slopes = self.family.at(self.time, inner, self.span)
        hold = self.constraint
        value, basis = self.value, phi
        if hold.names:
            value, basis = value - phi @ hold.fixed, phi @ hold.directions
        value, basis = self.whiten(value), self.whiten(basis)
        if basis.shape[1]:
            q, z = _least_squares(basis, value)
            self._amplitudes = hold.fixed + hold.directions @ z if hold.names else z
            self._residual = value - basis @ z
        else:
            q, self._amplitudes, self._residual = basis, hold.fixed, value
        if inner.size:
            lean = self.whiten((slopes @ self._amplitudes).T)
            self._jacobian = q @ (q.T @ lean) - lean
        self._key = key


def _least_squares(basis: FloatArray, value: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return an orthonormal basis of the columns and the coefficients of `value` in them.

    LAPACK directly: a fit does this a dozen times on a few columns, where wrappers cost more than
    the work. Where a column adds nothing to the ones before, the coefficients of least norm.
    """
    packed, reflectors, _, _ = lapack.dgeqrf(basis)
    columns = basis.shape[1]
    size = [abs(float(packed[k, k])) for k in range(columns)]
    q, _, _ = lapack.dorgqr(packed[:, :columns], reflectors)
    if min(size) > _TINY * max(size):
        z, _ = lapack.dtrtrs(packed[:columns], q.T @ value)
        return q, z
    return q, np.asarray(np.linalg.lstsq(basis, value, rcond=_TINY)[0])
