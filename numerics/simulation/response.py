r"""Linear response: where a mean drift comes to rest, and how stiffly, measured.

Assumption 1 puts one scalar coordinate with slopes K_f and K_s in place of the drift
``g(theta, theta_old)``. Here the drift is displaced and looked at, in as many parameters as it has:
the slopes are matrices, and whether one scalar can stand for them is a question with an answer.
No closed form is used for what is measured. Provenance: K_f, K_s, K and s as theory section 1
defines them (stated for s = 1); matrices, modes and errors: extension.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values, check_positive, floats
from numerics.simulation.fixed_point import RANK, NoFixedPoint, evaluated, settle, shown, solve
from numerics.simulation.scalar_map import Drift

__all__ = [
    "Mode", "NoFixedPoint", "Response", "SeveralFixedPoints", "fixed_points", "linear_response",
]  # fmt: skip

Floats = NDArray[np.float64]

_LEVELS = 6  # halvings of the displacement that the slopes are extrapolated from
_SAME = 1e-6  # roots closer than this, relative, are one


class SeveralFixedPoints(InvalidInput):
    """The given starts lead to different fixed points, and which is meant was not said."""


@dataclass(frozen=True, eq=False)
class Mode:
    r"""One eigendirection of the stiffness K_f + K_s.

    Attributes
    ----------
    rate
        Its eigenvalue; complex where the drift circles.
    fresh, stale
        The parts of `rate` from K_f and K_s: ``w K_f v / w v`` with left and right eigenvectors.
    vector
        v, of length 1.
    leakage
        ``|K_f v - fresh v|`` over the norm of K: 0 where the mode is one of K_f and of K_s as well,
        so that the scalar theory holds for it exactly if its rate is real.
    neutral
        Whether the rate is 0 within the measurement: a direction that changes nothing (adding a
        constant to all logits).
    """

    rate: complex
    fresh: complex
    stale: complex
    vector: NDArray[np.complex128]
    leakage: float
    neutral: bool

    @property
    def stale_share(self) -> complex:
        """``s = stale/rate``."""
        return self.stale / self.rate


@dataclass(frozen=True, eq=False)
class Response:
    r"""A fixed point and the slopes of the drift there, as measured.

    Attributes
    ----------
    point
        theta_star, shape ``(n,)``.
    fresh, stale
        ``K_f = -dg/dtheta`` and ``K_s = -dg/dtheta_old``, shape ``(n, n)``, per step size.
    fresh_error, stale_error
        Estimated error of each entry; large where the drift has a kink.
    """

    point: Floats
    fresh: Floats
    stale: Floats
    fresh_error: Floats
    stale_error: Floats

    @property
    def stiffness(self) -> Floats:
        """``K = K_f + K_s``, shape ``(n, n)``."""
        return self.fresh + self.stale

    @property
    def error(self) -> float:
        """Estimated error of the worst entry of K."""
        return float((self.fresh_error + self.stale_error).max())

    @property
    def commutator(self) -> float:
        r"""``|K_f K_s - K_s K_f| / |K|^2`` in the Frobenius norm.

        0 where K_f and K_s have their modes in common, so that the system is as many scalar
        theories side by side. Infinite where K is 0.
        """
        difference = self.fresh @ self.stale - self.stale @ self.fresh
        size = np.linalg.norm(self.stiffness) ** 2
        return float(np.linalg.norm(difference) / size) if size > 0 else np.inf

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """All modes of K, the slowest first."""
        rates, right = np.linalg.eig(self.stiffness.astype(np.complex128))
        left = np.linalg.pinv(right)
        size = max(float(np.linalg.norm(self.stiffness)), np.finfo(np.float64).tiny)
        neutral = max(10 * len(rates) * self.error, RANK * size)
        found = []
        for k, rate in enumerate(rates):
            vector = right[:, k]
            fresh = complex(left[k] @ self.fresh @ vector)
            leakage = float(np.linalg.norm(self.fresh @ vector - fresh * vector)) / size
            stale = complex(left[k] @ self.stale @ vector)
            found.append(
                Mode(complex(rate), fresh, stale, vector, leakage, bool(abs(rate) <= neutral))
            )
        return tuple(sorted(found, key=lambda mode: (mode.rate.real, mode.rate.imag)))

    @property
    def attracting(self) -> bool:
        """Whether a slow enough run comes back: all rates but the neutral have positive real part.

        Judged on policy, so that lag and step size play no part.
        """
        return all(mode.rate.real > 0 for mode in self.modes if not mode.neutral)

    @property
    def only_mode(self) -> Mode:
        """The one mode that is not neutral: what the scalar theory is about.

        Raises
        ------
        InvalidInput
            There are several, or none: then no scalar stands for the drift.
        """
        acting = [mode for mode in self.modes if not mode.neutral]
        if len(acting) != 1:
            raise InvalidInput(
                f"the drift has {len(acting)} modes that are not neutral, not one: use modes"
            )
        return acting[0]


def linear_response(drift: Drift, guess: Values, *, displacement: float = 0.25) -> Response:
    r"""Find the fixed point that a slow run comes to, and measure the slopes of the drift there.

    Parameters
    ----------
    drift
        ``drift(theta, theta_old)``: parameters on the last axis, elementwise over the axes before.
    guess
        Where the run starts: a number, an array ``(n,)``, or several starts ``(m, n)`` that must
        all lead to one fixed point. The reference policy is a natural one.
    displacement
        The largest displacement used, halved five times; below the distance over which the drift
        is smooth, in the units of the parameters (0.25 suits logits).

    Returns
    -------
    Response

    Raises
    ------
    NoFixedPoint
        The drift leads nowhere from some start; the message says how far the search came.
    SeveralFixedPoints
        The starts lead to different ones; the message lists them.
    InvalidInput
        `guess` or `displacement` outside its domain, or a drift that changes the shape.
    """
    starts, displacement = _checked(guess, displacement)
    points = [settle(drift, start, stride=4 * displacement) for start in starts]
    roots = _distinct(drift, points, displacement)
    if len(roots) > 1:
        listed = "; ".join(shown(root.point) for root in roots)
        raise SeveralFixedPoints(
            f"the starts lead to {len(roots)} fixed points, {listed}: give one start"
        )
    return roots[0]


def fixed_points(drift: Drift, starts: Values, *, displacement: float = 0.25) -> list[Response]:
    r"""Return the response at every fixed point that any start leads to, repelling ones included.

    From each start both a slow run and Newton's method are followed; one that leads nowhere is
    passed over. Points that differ by a neutral direction only (a constant added to all logits)
    count as one.

    Parameters
    ----------
    drift, displacement
        As in `linear_response`.
    starts
        A number, an array ``(n,)`` or ``(m, n)``.

    Returns
    -------
    list of Response
        In the order found; empty if nothing was.

    Raises
    ------
    InvalidInput
        As in `linear_response`.
    """
    starts, displacement = _checked(starts, displacement)
    points = []
    for start in starts:
        for search in (partial(settle, stride=4 * displacement), solve):
            with suppress(NoFixedPoint):
                points.append(search(drift, start))
    return _distinct(drift, points, displacement)


def _checked(starts: Values, displacement: float) -> tuple[Floats, float]:
    values = floats(guess=starts, displacement=displacement)
    check_positive("displacement", values["displacement"])
    if values["displacement"].ndim or values["guess"].ndim > 2 or not values["guess"].size:
        raise InvalidInput(
            f"guess has shape {values['guess'].shape}: give a number, (n,), or starts (m, n)"
        )
    return np.atleast_2d(values["guess"]), float(values["displacement"])


def _distinct(drift: Drift, points: list[Floats], displacement: float) -> list[Response]:
    found: list[Response] = []
    for point in points:
        if not any(_is_same(known, point) for known in found):
            found.append(_measured(drift, point, displacement))
    return found


def _measured(drift: Drift, point: Floats, displacement: float) -> Response:
    """Displace the current policy and the sampling policy in turn."""
    fresh, fresh_error = _slopes(
        lambda theta: drift(theta, np.broadcast_to(point, theta.shape)), point, displacement
    )
    stale, stale_error = _slopes(
        lambda theta_old: drift(np.broadcast_to(point, theta_old.shape), theta_old),
        point, displacement,
    )  # fmt: skip
    return Response(point, fresh, stale, fresh_error, stale_error)


def _is_same(known: Response, point: Floats) -> bool:
    """Whether two roots differ by rounding or along a neutral direction only."""
    gap = point - known.point
    close = _SAME * max(1.0, float(np.abs(point).max()))
    return bool(np.abs(gap).max() <= close or _moves(known.stiffness, gap) <= close)


def _moves(stiffness: Floats, gap: Floats) -> float:
    """Return the length of the part of `gap` that the stiffness acts on."""
    _, sizes, rows = np.linalg.svd(stiffness)
    acting = rows[sizes > RANK * sizes[0]]
    return float(np.linalg.norm(acting @ gap))


def _slopes(
    function: Callable[[Floats], Values], point: Floats, displacement: float
) -> tuple[Floats, Floats]:
    r"""Return minus the Jacobian and its estimated error, by Richardson's extrapolation.

    Central differences at displacements h, h/2, h/4, ... have an error in even powers of h, which
    Neville's table removes one after another. The error is the last change in the table, and what
    the rounding of the points and of the values makes of the smallest difference.
    """
    units = np.eye(point.size)
    table: list[Floats] = []
    before = np.zeros(())
    for level in range(_LEVELS):
        h = displacement / 2**level
        ahead, behind = (evaluated(function, point + sign * h * units) for sign in (1, -1))
        if not (np.all(np.isfinite(ahead)) and np.all(np.isfinite(behind))):
            raise NoFixedPoint(
                f"the drift is not finite within {h:g} of {shown(point)}: lower displacement"
            )
        before = table[-1] if table else before
        row = [-(ahead - behind).T / (2 * h)]
        for order, known in enumerate(table, 1):
            row.append(row[-1] + (row[-1] - known) / (4**order - 1))
        table = row
    rounding = (
        max(float(np.abs(ahead).max()), float(np.abs(behind).max()))
        + float(np.abs(ahead - behind).max()) * float(np.abs(point).max()) / h
    ) * np.finfo(np.float64).eps
    change = np.maximum(np.abs(table[-1] - table[-2]), np.abs(table[-1] - before))
    return table[-1], change + rounding / h
