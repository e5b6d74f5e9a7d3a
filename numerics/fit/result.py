"""A fitted curve: what it is, what it says, where it goes and how well that is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.fit.family import Basis, Family, Readings
from numerics.fit.noise import Noise, spike_weight
from numerics.fit.projection import Constraint
from numerics.fit.series import Series
from numerics.inputs import floats

__all__ = ["STEPS", "Fit"]

FloatArray = NDArray[np.float64]

#: Readings that are steps as the log counts them, not durations.
STEPS = frozenset({"inflection", "second_start", "second_inflection"})


@dataclass(frozen=True, eq=False)
class Fit:
    r"""One family at its best.

    Attributes
    ----------
    series, family
        What was fitted with what.
    inner, amplitudes
        Nonlinear coordinates as the search sees them, and the amplitudes.
    noise
        The noise about the curve.
    held
        What is held: "failure at low", "R_inf at the greatest it can be".
    constraint
        The same for machines.
    log_likelihood
        Of the rewards, in rewards, with the spikes' tail.
    spikes
        Rows whose innovation is beyond `SPIKE` standard deviations.
    """

    series: Series
    family: Family
    inner: FloatArray
    amplitudes: FloatArray
    noise: Noise
    constraint: Constraint
    log_likelihood: float
    spikes: NDArray[np.int64]

    @property
    def held(self) -> tuple[str, ...]:
        """What is held at a bound."""
        return self.constraint.names

    @property
    def free_parameters(self) -> int:
        """Number of free parameters of the curve."""
        return len(self.family.coordinates) + int(self.constraint.directions.shape[1])

    @property
    def parameters(self) -> int:
        """Number of free parameters, those of the noise included."""
        return self.free_parameters + (1 if self.noise.share == 0 else 3)

    @property
    def bic(self) -> float:
        """Bayesian information criterion."""
        return -2 * self.log_likelihood + self.parameters * float(np.log(len(self.series)))

    @property
    def aicc(self) -> float:
        """Akaike's information criterion with its small-sample correction."""
        k, rows = self.parameters, len(self.series)
        return -2 * self.log_likelihood + 2 * k * rows / (rows - k - 1)

    @cached_property
    def values(self) -> Mapping[str, float]:
        """Nonlinear parameters by name, times in steps since the origin."""
        return self.family.values(self.inner, self.series.span)

    @cached_property
    def readings(self) -> Readings:
        """What the curve says in the theory's terms; `numerics.fit.QUANTITIES` has the names."""
        return self.read(self.inner, self.amplitudes)

    def read(self, inner: FloatArray, amplitudes: FloatArray) -> Readings:
        """Return the readings of another curve of the family, steps as the log counts them."""
        found = self.family.read(self.family.values(inner, self.series.span), amplitudes)
        return {
            name: value + self.series.origin if name in STEPS else value
            for name, value in found.items()
        }

    @cached_property
    def curve(self) -> FloatArray:
        """The curve at the rows."""
        return np.asarray(self._basis[0] @ self.amplitudes)

    @cached_property
    def residual(self) -> FloatArray:
        """Rewards minus curve."""
        return np.asarray(self.series.value - self.curve)

    @cached_property
    def tangent(self) -> FloatArray:
        """Derivative of the curve at the rows in all free parameters, (rows, free_parameters)."""
        return self._tangent(self._basis)

    @cached_property
    def covariance(self) -> FloatArray:
        """Covariance of the free parameters at first order; a direction not seen has none."""
        white = self.whiten(self.tangent) * self.spike_root[:, None]
        return np.asarray(np.linalg.pinv(white.T @ white, rcond=1e-13, hermitian=True))

    @cached_property
    def noise_std(self) -> FloatArray:
        """Standard deviation of each row about the curve."""
        return self.noise.std(self.series.binomial_variance(self.curve), len(self.series))

    @cached_property
    def innovations(self) -> FloatArray:
        """The residual as unit-variance innovations."""
        return self.whiten(self.residual)

    @cached_property
    def spike_root(self) -> FloatArray:
        """Square root of the weight of each row."""
        return np.sqrt(spike_weight(self.innovations))

    def whiten(self, columns: FloatArray) -> FloatArray:
        """Return columns of rewards at the rows as the noise makes innovations of them."""
        std = self.noise_std if columns.ndim == 1 else self.noise_std[:, None]
        return self.noise.innovations(columns / std)

    def at(self, step: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the curve at any steps and its standard error there, at first order."""
        lean = self.gradient(step)
        variance = np.einsum("ij,jk,ik->i", lean, self.covariance, lean)
        curve = self._basis_at(step)[0] @ self.amplitudes
        return np.asarray(curve), np.sqrt(np.maximum(variance, 0.0))

    def gradient(self, step: ArrayLike) -> FloatArray:
        """Return the derivative of the curve at any steps in the free parameters."""
        return self._tangent(self._basis_at(step))

    def _basis_at(self, step: ArrayLike) -> Basis:
        time = np.atleast_1d(floats(step=step)["step"]) - self.series.origin
        time = np.maximum(time - (self.series.averaged_over - 1) / 2, 0.0)
        return self.family.at(time, self.inner, self.series.span)

    @cached_property
    def _basis(self) -> Basis:
        return self.family.at(self.series.time, self.inner, self.series.span)

    def _tangent(self, basis: Basis) -> FloatArray:
        phi, slopes = basis
        return np.column_stack([(slopes @ self.amplitudes).T, phi @ self.constraint.directions])
