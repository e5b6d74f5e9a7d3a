r"""Where, on the simulated map, a return turns oscillatory and where it stops being a return.

One search, two kinds of probe: long runs beside the fixed point, and the eigenvalues of the map's
measured tangent. Step sizes are in units of the measured stiffness, x = eta K.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.bandit.plan import Search
from numerics.experiments.bandit.prediction import Borders
from numerics.inputs import InvalidInput, Values
from numerics.simulation import Schedule
from numerics.simulation.perturbation import follow_deviation, tangent_propagator
from numerics.simulation.scalar_map import Drift

__all__ = ["Located", "Probe", "climb", "locate", "looks_of", "runs", "sight", "tangent"]

Floats = NDArray[np.float64]
Decisions = NDArray[np.bool_]
#: ``probe(x)``: whether the map grows, and whether it swings, at each x of ``(*chains, m)``.
Probe = Callable[[Floats], tuple[Decisions, Decisions]]


@dataclass(frozen=True, eq=False)
class Located:
    r"""Borders in x = eta K, shape ``chains``.

    Attributes
    ----------
    threshold
        The first x of the climb at which small deviations grow; NaN if none up to the highest.
    onset
        The first at which they pass through zero again and again while they shrink; NaN if none
        before the threshold.
    """

    threshold: Floats
    onset: Floats

    def borders(self, *chain: int) -> Borders:
        """Return those of one chain."""
        found = (self.threshold[chain], self.onset[chain])
        return Borders(*(None if math.isnan(x) else float(x) for x in found))


def runs(
    drift: Drift,
    schedule: Schedule,
    *,
    mu: Values,
    point: Values,
    stiffness: Values,
    steps: int,
    direction: Values = 1.0,
) -> Probe:
    """Return the probe that runs the nonlinear map, from rest beside the fixed point."""

    def probe(x: Floats) -> tuple[Decisions, Decisions]:
        found = follow_deviation(
            drift, "heavy-ball", schedule,
            eta=x / np.asarray(stiffness)[..., None], mu=np.asarray(mu)[..., None],
            point=np.asarray(point)[..., None, :], steps=steps, direction=direction,
        )  # fmt: skip
        return found.growth > 0, found.crossings > 0

    return probe


def tangent(
    drift: Drift,
    schedule: Schedule,
    *,
    mu: Values,
    point: Values,
    stiffness: Values,
    turn: float = 0.0,
    lead: float = 0.0,
) -> Probe:
    r"""Return the probe that asks the measured tangent map for its eigenvalues.

    The map swings if an eigenvalue that is not real and positive is the largest. Made stricter or
    laxer, it says what a run can tell: `turn` is the smallest angle of an eigenvalue that counts as
    swinging, `lead` the logarithm by which its modulus must exceed (below 0: may fall short of)
    those that do not swing; both a step.
    """

    def probe(x: Floats) -> tuple[Decisions, Decisions]:
        matrix = tangent_propagator(
            drift, "heavy-ball", schedule,
            eta=x / np.asarray(stiffness)[..., None], mu=np.asarray(mu)[..., None],
            point=np.asarray(point)[..., None, :],
        )  # fmt: skip
        eigenvalues = np.linalg.eigvals(matrix)
        angle = np.abs(np.angle(eigenvalues)) / schedule.period
        size = np.log(np.maximum(np.abs(eigenvalues), 1e-300)) / schedule.period
        turns = (angle > 0) & (angle >= turn)
        swinging, other = (
            np.where(chosen, size, -np.inf).max(axis=-1) for chosen in (turns, ~turns)
        )
        return size.max(axis=-1) > 0, swinging > other + lead

    return probe


def looks_of(steps: int) -> tuple[dict[str, float], ...]:
    r"""Return, for `tangent`: what is, when a run of so many steps may show it, and when it must.

    A run looks at its second half. A slow turn is sure to be seen once that holds half a turn. A
    swing that is only about to outlive the rest is sure to be seen if its lead, over half the run,
    makes up for a start of a hundredth; one still behind may be seen if it started a hundred times
    ahead.
    """
    lead = math.log(100) / (steps / 2)
    return {}, {"lead": -lead}, {"turn": math.pi / (steps / 2), "lead": lead}


def sight(exact: Borders, may: Borders, must: Borders) -> tuple[float, float]:
    """Return how early and how late, relative, runs may find an onset that is exactly known.

    Infinitely early if runs may show one that is not there, infinitely late if they may miss it.
    """
    if exact.onset is None:
        return (0.0 if may.onset is None else -math.inf), 0.0
    return (
        -math.inf if may.onset is None else may.onset / exact.onset - 1,
        math.inf if must.onset is None else must.onset / exact.onset - 1,
    )


def climb(search: Search) -> Floats:
    """Return the x that are tried first."""
    decades = math.log10(search.highest / search.lowest)
    return np.geomspace(search.lowest, search.highest, math.ceil(search.per_decade * decades) + 1)


def locate(probe: Probe, chains: tuple[int, ...], search: Search, *, rounds: int = 1) -> Located:
    r"""Climb in x until the map swings, and on until it grows; then divide the last step.

    Parameters
    ----------
    probe
        `runs` or `tangent`.
    chains
        Shape of what is searched at once.
    search
        Where and how finely.
    rounds
        How often the last step is divided; each narrows it by ``search.sections + 1``.

    Raises
    ------
    InvalidInput
        The map grows or swings already at the lowest x.
    """
    grid = np.broadcast_to(climb(search), (*chains, climb(search).size))
    grows, swings = probe(grid)
    if np.any(grows[..., 0] | swings[..., 0]):
        raise InvalidInput(f"the map swings or grows already at x = {search.lowest:g}: start lower")
    unstable = _first(grows)
    # Of the step in which it begins to grow, the part before may still swing: look there too.
    swinging = np.minimum(_first(swings), unstable)
    grow, swing = _step(grid, unstable), _step(grid, swinging)
    swung = _at(swings & ~grows, swinging)
    for _ in range(rounds):
        parts = [
            np.geomspace(low, high, search.sections + 2, axis=-1)[..., 1:]
            for low, high in (grow, swing)
        ]
        grows, swings = probe(np.concatenate([part[..., :-1] for part in parts], axis=-1))
        half = search.sections
        grow = _narrowed(grow, parts[0], _first(grows[..., :half]))
        inside = (swings & ~grows)[..., half:]
        swung = swung | inside.any(axis=-1)
        swing = _narrowed(swing, parts[1], _first(inside))
    middle = [np.sqrt(low * high) for low, high in (grow, swing)]
    none = unstable == grid.shape[-1]
    return Located(np.where(none, np.nan, middle[0]), np.where(swung, middle[1], np.nan))


def _first(answers: Decisions) -> NDArray[np.int64]:
    """Return the index of the first yes along the last axis, its length where there is none."""
    return np.asarray(np.where(answers.any(axis=-1), answers.argmax(axis=-1), answers.shape[-1]))


def _at(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    index = np.minimum(index, values.shape[-1] - 1)
    return np.asarray(np.take_along_axis(values, index[..., None], axis=-1)[..., 0])


def _step(grid: Floats, index: NDArray[np.int64]) -> tuple[Floats, Floats]:
    return _at(grid, index - 1), _at(grid, index)


def _narrowed(
    ends: tuple[Floats, Floats], inner: Floats, first: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the part of the step that ends at the first yes; `inner` holds the upper ends."""
    lower = np.concatenate([ends[0][..., None], inner[..., :-1]], axis=-1)
    return _at(lower, first), _at(inner, first)
