"""From arguments that broadcast to a flat family of runs and back, everything checked first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._linear_map import NOISE_ENTERS
from numerics.dynamics.model import FloatArray, Model, stiffness
from numerics.exact import UnstableError
from numerics.inputs import common_shape, known_name

__all__ = ["WHEN_UNSTABLE", "over_runs", "per_unit"]

#: What to do where there is no stationary state: raise `UnstableError`, or return NaN there.
WHEN_UNSTABLE = ("raise", "nan")


def over_runs(
    family: Model,
    x: ArrayLike,
    noise_enters: str,
    unstable: str,
    solve: Callable[[Model, FloatArray], FloatArray],
) -> FloatArray:
    """Return `solve` of the flat family and x, in the common shape and whatever axes it adds.

    The first number it returns of a run is NaN where there is no stationary state.
    """
    known_name("noise_enters", noise_enters, NOISE_ENTERS)
    known_name("unstable", unstable, WHEN_UNSTABLE)
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    flat = family.flat(shape)
    stiff = np.broadcast_to(force, shape).reshape(-1)
    found = solve(flat, stiff)
    head = found
    while head.ndim > 1:
        head = head[:, 0]
    none = np.isnan(head)
    if unstable == "raise" and none.any():
        first = int(np.argmax(none))
        raise UnstableError(
            f"no stationary state in {int(none.sum())} of {none.size} runs, the first at "
            f"mu = {_shown(flat.mu[first])}, x = {_shown(stiff[first])}: lower x or the lag, or "
            "ask for unstable='nan'"
        )
    return found.reshape((*shape, *found.shape[1:]))


def per_unit(x: ArrayLike, scaled: FloatArray, *, added: int) -> Any:
    """Return moments from x times them, x checked; `added` axes came to the common shape."""
    force = np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):  # an x at the end of the range of floats
        return (scaled / force.reshape(force.shape + (1,) * added))[()]


def _shown(value: np.float64) -> str:
    """Return the number in six digits, or in all where those are of another one next to 1."""
    short = f"{value:g}"
    return repr(float(value)) if short == "1" else short
