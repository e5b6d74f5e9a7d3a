r"""Profile-likelihood intervals, of any quantity of a curve, and whether the log determines it.

The profile at a value is the least deviance of all curves on which the quantity has that value. It
is found by Levenberg and Marquardt over all parameters with one more residual, heavy, that pulls
the quantity there; the deviance is then read at the value that was reached, so the pull need not be
exact. The noise is estimated anew at every point: what looks like a slow wander about one curve is
part of another.

An interval holds the values whose deviance is below the squared quantile of Student's t. Where the
profile is below it all the way to the end of the search, the log does not determine the quantity on
that side: the interval is open there, and `Interval.why` says it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, log

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.stats import t as student

from numerics.fit.noise import Noise, estimate_noise, spike_weight
from numerics.fit.point import orthonormal, without_plateau
from numerics.fit.quantities import QUANTITIES, ends_of, from_rest
from numerics.fit.result import Fit
from numerics.inputs import InvalidInput

__all__ = ["Interval", "intervals"]

FloatArray = NDArray[np.float64]

_PULL = 300.0  # standard deviations of the noise for one standard error of the quantity
_NEAR = 0.03  # of the root of the deviance; within it an end is found
_TRIES = 12
_STEP = 1e-4  # of a parameter, for the gradient of a quantity


@dataclass(frozen=True)
class Interval:
    """An interval of a quantity.

    Attributes
    ----------
    estimate
        The quantity of the best curve.
    low, high
        Ends; None where the interval is open.
    level
        Its coverage, such as 0.9.
    determined
        Whether both ends are closed.
    why
        In words, what the log says of a quantity that is not determined; empty otherwise.
    """

    estimate: float
    low: float | None
    high: float | None
    level: float
    determined: bool
    why: str


def intervals(
    found: Fit, names: Sequence[str] | None = None, *, level: float = 0.9
) -> dict[str, Interval]:
    """Return profile-likelihood intervals of readings of a fit, all of them by default.

    Raises
    ------
    InvalidInput
        A name that this family does not read, or a level that is not between 0 and 1.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level is {level}: give a coverage between 0 and 1")
    chosen = list(found.readings) if names is None else list(names)
    for name in chosen:
        if name not in found.readings:
            raise InvalidInput(
                f"{found.family.name} has no {name!r}: it reads {', '.join(found.readings)}"
            )
    profile, done = _Profile(found), {}
    for name in chosen:
        if name != "x_over_damping":
            done[name] = profile.interval(name, level)
    if "x_over_damping" in chosen:
        tau = done["tau"] if "tau" in done else profile.interval("tau", level)
        done["x_over_damping"] = _reciprocal(tau)
    return {name: done[name] for name in chosen}


def _reciprocal(tau: Interval) -> Interval:
    """Return the interval of 1/tau."""
    low, high = (None if end is None else 1 / end for end in (tau.high, tau.low))
    why = tau.why.replace("tau", "1/tau", 1).replace("ing it ", "ing tau ")
    return Interval(1 / tau.estimate, low, high, tau.level, tau.determined, why)


def _scale(
    name: str, found: Fit
) -> tuple[Callable[[float], float], Callable[[float], float]]:
    """Return the scale on which a quantity is moved, and the way back: logarithmic if it is > 0."""
    kind = QUANTITIES[name].kind
    if kind == "reward" or name == "p_0" or (kind == "step" and not from_rest(found)):
        return float, float
    zero = found.series.origin if kind == "step" else 0.0
    return (lambda v: log(max(v - zero, 1e-300))), (lambda u: exp(u) + zero)


@dataclass(frozen=True, eq=False)
class _Place:
    """A point of a profile: all free parameters, and the noise that is best there."""

    point: FloatArray
    noise: Noise
    deviance: float

    @property
    def root(self) -> float:
        return float(max(self.deviance, 0.0) ** 0.5)


class _Profile:
    """The profiles of one fit, over its nonlinear coordinates and free amplitudes."""

    def __init__(self, found: Fit) -> None:
        self.found, self.given = found, found.series
        self.count = len(found.family.coordinates)
        self.hold = without_plateau(found)
        self.plateau = np.array(found.family.plateau)
        z = self.hold.directions.T @ (found.amplitudes - self.hold.fixed)
        point = np.concatenate([found.inner, z])
        self.left = max(1, len(self.given) - point.size)
        self.known = self.given.binomial_variance(found.curve)
        self.tangent = orthonormal(self._slopes(point))
        noise, self.least = self._noise(point, found.noise)
        self.best = _Place(point, noise, 0.0)
        # what a plateau beyond its bound is pushed back with
        self.stop = _PULL * (len(self.given) / found.noise.variance) ** 0.5

    def interval(self, name: str, level: float) -> Interval:
        estimate = self.found.readings[name]
        limit = float(student.ppf((1 + level) / 2, self.left))
        low, high, low_natural, high_natural = ends_of(name, self.found)
        there, back = _scale(name, self.found)

        def quantity(point: FloatArray) -> float:
            return there(self._read(point).get(name, estimate))

        ends: list[float | None] = []
        sides: list[str] = []
        for word, end, natural in (
            ("lowering", min(low, estimate), low_natural),
            ("raising", max(high, estimate), high_natural),
        ):
            found = self._side(quantity, there(end), limit)
            ends.append(back(found) if found is not None else end if natural else None)
            if ends[-1] is None:
                sides.append(f"{word} it to {end:.4g} costs less than {limit**2:.2f} of deviance")
        why = f"{name} is not determined by this log: {' and '.join(sides)}" if sides else ""
        return Interval(estimate, ends[0], ends[1], level, not sides, why)

    def _side(
        self, quantity: Callable[[FloatArray], float], end: float, limit: float
    ) -> float | None:
        """Return where the root of the deviance is `limit` on the way to `end`, None if nowhere.

        The root of the deviance is nearly linear in the distance, so false position finds it.
        """
        here = quantity(self.best.point)
        room, sign = abs(end - here), 1.0 if end > here else -1.0
        if room == 0:
            return None
        error = min(max(self._error(quantity), 1e-6 * room), room, 1.0)
        inside, outside = (0.0, 0.0), None
        place, distance = self.best, min(limit * error, room)
        for _ in range(_TRIES):
            new = self._pulled(quantity, here + sign * distance, place, error)
            moved = sign * (quantity(new.point) - here)
            if abs(new.root - limit) < _NEAR and moved > 0:
                return here + sign * moved
            if new.root > limit:
                if outside is None or moved < outside[0]:
                    outside = (max(moved, inside[0]), new.root)
            elif distance >= room * (1 - 1e-9):
                return None
            else:
                inside, place = (max(moved, distance, inside[0]), new.root), new
            if outside is None:
                distance = min(distance * min(max(limit / max(new.root, 1e-9), 1.3), 4.0), room)
            else:
                share = (limit - inside[1]) / max(outside[1] - inside[1], 1e-9)
                distance = inside[0] + min(max(share, 0.1), 0.9) * (outside[0] - inside[0])
        return here + sign * distance

    def _pulled(
        self, quantity: Callable[[FloatArray], float], goal: float, start: _Place, error: float
    ) -> _Place:
        """Return the best place with the quantity at `goal`, or as near as it can be."""
        whiten = self._whitener(start)
        pull = _PULL / error

        def residual(point: FloatArray) -> FloatArray:
            return np.concatenate(
                [
                    whiten(self.given.value - self._curve(point)),
                    [self.stop * self._excess(point), pull * (quantity(point) - goal)],
                ]
            )

        def jacobian(point: FloatArray) -> FloatArray:
            push = np.zeros(point.size)
            if self._excess(point):
                push[self.count :] = self.stop * (self.plateau @ self.hold.directions)
            return np.vstack(
                [-whiten(self._slopes(point)), push, pull * self._gradient(quantity, point)]
            )

        begin = self._along(quantity, goal, start, whiten)
        if not residual(begin) @ residual(begin) < residual(start.point) @ residual(start.point):
            begin = start.point
        found = least_squares(
            residual, begin, jac=jacobian, method="lm", xtol=1e-6, ftol=1e-8, max_nfev=60
        ).x
        noise, cost = self._noise(found, start.noise)
        return _Place(found, noise, 2 * (cost - self.least))

    def _along(
        self,
        quantity: Callable[[FloatArray], float],
        goal: float,
        start: _Place,
        whiten: Callable[[FloatArray], FloatArray],
    ) -> FloatArray:
        """Return where the quantity is about `goal` on the cheapest straight way from a place."""
        lean = self._gradient(quantity, start.point)
        white = whiten(self._slopes(start.point))
        square = white.T @ white
        move = np.linalg.solve(square + 1e-9 * np.trace(square) * np.eye(lean.size), lean)
        slope = float(lean @ move)
        if not slope > 0:
            return start.point
        return start.point + np.clip(move * (goal - quantity(start.point)) / slope, -2.0, 2.0)

    def _error(self, quantity: Callable[[FloatArray], float]) -> float:
        """Return the standard error of a quantity at first order."""
        lean = self._gradient(quantity, self.best.point)
        white = self._whitener(self.best)(self._slopes(self.best.point))
        square = white.T @ white
        inverse = np.linalg.inv(square + 1e-10 * np.trace(square) * np.eye(lean.size))
        return float(np.sqrt(max(float(lean @ inverse @ lean), 0.0)))

    def _whitener(self, place: _Place) -> Callable[[FloatArray], FloatArray]:
        """Return what makes innovations of rewards, in the noise of a place, spikes at weight."""
        std = place.noise.std(self.known, len(self.given))
        left = self.given.value - self._curve(place.point)
        weight = np.sqrt(spike_weight(place.noise.innovations(left / std)))

        def whiten(columns: FloatArray) -> FloatArray:
            if columns.ndim == 1:
                return place.noise.innovations(columns / std) * weight
            return place.noise.innovations(columns / std[:, None]) * weight[:, None]

        return whiten

    def _noise(self, point: FloatArray, before: Noise) -> tuple[Noise, float]:
        return estimate_noise(
            self.given.value - self._curve(point), self.known, self.tangent, before
        )

    def _gradient(self, quantity: Callable[[FloatArray], float], point: FloatArray) -> FloatArray:
        steps = _STEP * np.eye(point.size)
        return np.array([quantity(point + s) - quantity(point - s) for s in steps]) / (2 * _STEP)

    def _read(self, point: FloatArray) -> dict[str, float]:
        low, high = self.found.family.box()
        inner = np.clip(point[: self.count], low, high)
        return self.found.read(inner, self._amplitudes(point))

    def _amplitudes(self, point: FloatArray) -> FloatArray:
        return np.asarray(self.hold.fixed + self.hold.directions @ point[self.count :])

    def _excess(self, point: FloatArray) -> float:
        """Return how far the plateau is beyond what it can be."""
        plateau = float(self.plateau @ self._amplitudes(point))
        return plateau - float(np.clip(plateau, *self.given.plateaus))

    def _curve(self, point: FloatArray) -> FloatArray:
        return np.asarray(self._basis(point)[0] @ self._amplitudes(point))

    def _slopes(self, point: FloatArray) -> FloatArray:
        """Return the derivative of the curve in all free parameters, (rows, parameters)."""
        phi, slopes = self._basis(point)
        return np.column_stack([(slopes @ self._amplitudes(point)).T, phi @ self.hold.directions])

    def _basis(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        return self.found.family.at(self.given.time, point[: self.count], self.given.span)
