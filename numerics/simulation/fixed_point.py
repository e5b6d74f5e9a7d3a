r"""Where a mean drift comes to rest, found by looking at the drift and at nothing else.

Two searches. `settle` goes where a slow run would go from the same start: along the drift, in
implicit steps that become Newton's where the drift is restoring. `solve` is Newton's method from
the start, and finds repelling points as well.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput, Values
from numerics.simulation.scalar_map import Drift

Floats = NDArray[np.float64]

_STEPS = 200  # of either search
_SETTLED = 1e-9  # a Newton step this short, relative, is followed by a last one
_NEAR = 0.1  # a Newton step this short, relative, is trusted where the drift is restoring
_DISPLACED = 1e-4  # relative, for the slope
#: Singular values below this, relative, belong to directions that change nothing.
RANK = 1e-8


class NoFixedPoint(InvalidInput):
    """The drift came to rest nowhere that the search from the given start could reach."""


def settle(drift: Drift, start: Floats, *, stride: float) -> Floats:
    """Follow the drift from `start`, by no more than `stride` at a time, to where it rests."""
    theta, inertia, acting = start, 0.0, -1
    for _ in range(_STEPS):
        force, slope = _look(drift, theta)
        newton, along = _newton_step(slope, force)
        acting = len(along) if acting < 0 else acting
        if len(along) < acting or not np.any(slope):
            raise _nowhere(
                "the drift flattens out instead of coming to a balance", start, theta, force
            )
        lead = float(np.linalg.eigvals(slope).real.max())
        scale = max(1.0, float(np.abs(theta).max()))
        restoring = lead <= RANK * float(np.abs(slope).max())
        if restoring and np.abs(newton).max() <= _NEAR * scale:
            return _polished(drift, theta, start, acting)
        # (1/h - slope) step = force is a step h along the drift, and Newton's for large h.
        inertia = max(inertia / 4, 2 * lead, RANK * float(np.abs(slope).max()))
        step = np.linalg.solve(inertia * np.eye(start.size) - slope, force) @ along.T @ along
        theta = theta + step * min(1.0, stride / max(float(np.abs(step).max()), 1e-300))
    raise _nowhere("a slow run is still on its way", start, theta, force)


def solve(drift: Drift, start: Floats) -> Floats:
    """Return the root that Newton's method, damped, comes to from `start`."""
    return _polished(drift, start, start, -1)


def _polished(drift: Drift, theta: Floats, start: Floats, acting: int) -> Floats:
    for _ in range(_STEPS):
        force, slope = _look(drift, theta)
        step, along = _newton_step(slope, force)
        acting = len(along) if acting < 0 else acting
        if len(along) < acting or not np.any(slope):
            raise _nowhere(
                "the drift flattens out instead of coming to a balance", start, theta, force
            )
        if np.abs(step).max() <= _SETTLED * max(1.0, float(np.abs(theta).max())):
            return np.asarray(theta + step)
        for _ in range(40):
            ahead = evaluated(lambda at: drift(at, at), theta + step)
            if np.linalg.norm(ahead) < np.linalg.norm(force):
                break
            step = step / 2
        else:
            break
        theta = theta + step
    raise _nowhere("Newton's method does not converge", start, theta, force)


def evaluated(function: Callable[[Floats], Values], points: Floats) -> Floats:
    """Return the drift at `points`, refusing one that changes the shape."""
    with np.errstate(all="ignore"):  # what is not finite is refused by name, by who asked
        result = np.asarray(function(points), dtype=np.float64)
    if result.shape != points.shape:
        raise InvalidInput(
            f"the drift turns shape {points.shape} into {result.shape}: it must keep the shape, "
            "with the parameters on the last axis"
        )
    return result


def _look(drift: Drift, theta: Floats) -> tuple[Floats, Floats]:
    """Return the on-policy drift and its Jacobian, by central differences."""
    h = _DISPLACED * max(1.0, float(np.abs(theta).max()))
    ends = theta + h * np.concatenate([0 * theta[None], np.eye(theta.size), -np.eye(theta.size)])
    force, *sides = np.split(evaluated(lambda at: drift(at, at), ends), [1, 1 + theta.size])
    if not np.all(np.isfinite(force)) or not all(np.all(np.isfinite(side)) for side in sides):
        raise NoFixedPoint(f"the drift is not finite near {shown(theta)}: start elsewhere")
    return force[0], (sides[0] - sides[1]).T / (2 * h)


def _newton_step(slope: Floats, force: Floats) -> tuple[Floats, Floats]:
    """Return Newton's step, and a basis of the directions it is taken in: those that change g."""
    left, sizes, right = np.linalg.svd(slope)
    acts = sizes > RANK * sizes[0]
    along = right[acts]
    return np.asarray(-(left[:, acts].T @ force / sizes[acts]) @ along), np.asarray(along)


def _nowhere(what: str, start: Floats, theta: Floats, force: Floats) -> NoFixedPoint:
    return NoFixedPoint(
        f"from {shown(start)} {what}: the search stands at {shown(theta)}, where the drift is "
        f"{float(np.abs(force).max()):.3g}; give a guess nearer to a fixed point"
    )


def shown(point: Floats) -> str:
    """Return a point for a message."""
    return np.array2string(point, precision=6, threshold=6, separator=", ")
