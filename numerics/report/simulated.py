r"""Strong verdicts about the linear map, held against the map itself.

Every quantity of the map has a way to be seen when the map is run. A claim about it is compared
with that at drawn runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy as sp

from derivations.audit import Audited, read_formula
from derivations.claim import Relation
from derivations.judge import balls
from derivations.notation import quantity
from derivations.targets import TARGETS
from numerics.exact import threshold
from numerics.report import seen
from numerics.report.crosscheck import configuration
from numerics.report.drawn import Looks, collected, runs
from numerics.report.witness import NEUTRAL, Run, agrees, printed_conditions

__all__ = ["NOT_OF_THE_MAP", "WAYS", "simulated"]

#: A run that was drawn, to the run that was made (its x may be the printed one) and whether the
#: claim agrees with it; None if it shows nothing.
Look = Callable[[Run], tuple[Run, bool] | None]

#: An observed order falls short by what the next term still adds.
_SLACK = 0.1


def simulated(audited: Audited) -> dict[str, bool]:
    """Run the map at points of a claim's domain.

    Parameters
    ----------
    audited
        A claim that holds.

    Returns
    -------
    dict
        Claim and point to whether the map does there what the claim says; empty for a claim about
        something else than the linear map.
    """
    claim = audited.claim
    if not TARGETS[claim.quantity].linear or claim.quantity in NOT_OF_THE_MAP:
        return {}
    if audited.conventions.get("of") == "oscillator":
        return {}
    way = WAYS.get(claim.quantity)
    if way is None or claim.relation not in way.relations:
        what = f"{claim.relation} claims about {claim.quantity}"
        return {f"{claim.id}: no simulation is written for {what}": False}
    return collected(claim, _looks(audited, way.look(audited)), way.points)


def _looks(audited: Audited, look: Look) -> Looks:
    for run in runs(audited):
        found = look(run)
        yield (str(run), None) if found is None else (str(found[0]), found[1])


def _stability(audited: Audited) -> Look:
    """Hold what a condition says against whether the run decays."""
    conditions = printed_conditions(audited.claim)

    def look(run: Run) -> tuple[Run, bool] | None:
        growth = run.growth()
        if abs(growth - 1) <= NEUTRAL:
            return None
        said = all(balls.truth(relation, run.values()) for relation in conditions)
        return run, agrees(audited.claim, said, growth < 1)

    return look


def _onset(audited: Audited) -> Look:
    """Look for swings below the printed onset, and just above it."""
    printed = _printed(audited)
    parts = np.array([0.7, 0.9, 0.99, 0.999, 1.001])

    def look(run: Run) -> tuple[Run, bool] | None:
        start = printed(run)
        found = seen.swinging(run, start * parts) if start is not None and start > 0 else None
        if start is None or found is None:
            return None
        *below, above = map(bool, found)
        agreed = {
            Relation.EXACT: above and not any(below),
            Relation.UPPER: above or any(below),
            Relation.LOWER: not any(below),
        }
        return run.at(Fraction(start)), agreed[audited.claim.relation]

    return look


def _eigenvalue(reached: Callable[[list[Fraction]], bool]) -> Callable[[Audited], Look]:
    """Run exactly at the printed x, refresh by refresh, and look for an eigenvalue."""

    def way(audited: Audited) -> Look:
        formula = _formula(audited)

        def look(run: Run) -> tuple[Run, bool] | None:
            try:
                x = balls.rational_value(formula, run.values())
            except balls.Undefined:
                return None
            if x is None or x <= 0 or run.lag_model != "sawtooth":
                return None
            q = seen.refreshed(run.at(x))
            return None if q is None else (run.at(x), reached(q))

        return look

    return way


def _flips(q: list[Fraction]) -> bool:
    """Whether 1 + T + D = 0 in q_{n+2} = T q_{n+1} - D q_n: then an eigenvalue is -1."""
    return (q[1] + q[2]) ** 2 == (q[0] + q[1]) * (q[2] + q[3])


def _turns(q: list[Fraction]) -> bool:
    """Whether D = 1 in q_{n+2} = T q_{n+1} - D q_n: then a pair is on the unit circle."""
    return (q[2] + q[0]) * q[2] == (q[3] + q[1]) * q[1]


Measure = Callable[[Run], seen.Seen | None]


def _value(measure: Measure, tolerance: float, small: float) -> Callable[[Audited], Look]:
    """Compare a printed value with what is seen; an asymptotic one at a small x and at its half."""

    def way(audited: Audited) -> Look:
        printed, claim = _printed(audited), audited.claim

        def look(run: Run) -> tuple[Run, bool] | None:
            said, found = printed(run), measure(run)
            if said is None or found is None:
                return None
            return run, _stands(claim.relation, said, found, tolerance)

        def error(run: Run) -> float | None:
            said, found = printed(run), measure(run)
            return None if said is None or found is None else abs(said / found.value - 1)

        def look_twice(run: Run) -> tuple[Run, bool] | None:
            x = Fraction(small * _scale(run))
            far, near = error(run.at(x)), error(run.at(x / 2))
            if far is None or near is None:
                return None
            order = claim.order or 0
            # Where the next term happens to cancel it, the order of a tiny error is another.
            tiny = max(tolerance, (small / 2) ** order / 10)
            return run.at(x), near <= tiny or math.log2(far / near) >= order - _SLACK

        return look_twice if claim.relation is Relation.ASYMPTOTIC else look

    return way


def _autocovariance(audited: Audited) -> Look:
    """Compare at the printed shift, or at several where it is left open."""
    given, printed = audited.conventions["shift"], _printed(audited)
    shifts = (0, 1, 2, 5, 12) if given == "k" else (int(given),)

    def look(run: Run) -> tuple[Run, bool] | None:
        pairs = [(printed(run, k=k), seen.autocovariance(run, k)) for k in shifts]
        known = [(said, found) for said, found in pairs if said is not None and found is not None]
        if len(known) < len(pairs):
            return None
        return run, all(_stands(audited.claim.relation, *pair, 1e-9) for pair in known)

    return look


def _stands(relation: Relation, said: float, found: seen.Seen, tolerance: float) -> bool:
    """Whether a printed value is what was seen, or the bound of it that it is said to be."""
    gap, slack = said - found.value, tolerance * found.size
    return {
        Relation.EXACT: abs(gap) <= slack,
        Relation.UPPER: gap >= -slack,
        Relation.LOWER: gap <= slack,
    }[relation]


def _scale(run: Run) -> float:
    """Return an x below which nothing changes its character: the border, or about the onset."""
    c = configuration(run.optimizer, run.schedule, run.mu, run.stale_share)
    return min(threshold(c).value, float(1 - run.mu) ** 2)


def _formula(audited: Audited) -> sp.Expr:
    """Return the printed formula; of ``x = f`` and ``x < f``, f."""
    formula = read_formula(audited.claim)
    return formula.expression if formula.expression is not None else formula.relations[0].rhs


def _printed(audited: Audited) -> Callable[..., float | None]:
    """Return the printed formula as a function of a run, None where it has no real value."""
    formula = _formula(audited)

    def value(run: Run, **more: int) -> float | None:
        point = run.values() | {quantity(name): Fraction(n) for name, n in more.items()}
        try:
            ball = balls.evaluate(formula, point, 192)
        except balls.Undefined:
            return None
        return float(ball.mid() if hasattr(ball, "mid") else ball)

    return value


@dataclass(frozen=True)
class Way:
    """How claims of these relations about one quantity are looked at, and at how many points."""

    look: Callable[[Audited], Look]
    points: int
    relations: frozenset[Relation]


_BOUND = frozenset({Relation.EXACT, Relation.UPPER, Relation.LOWER})
_ANY = _BOUND | {Relation.ASYMPTOTIC}
# What floats keep: of a radius half of their digits where two roots meet; of the time it makes,
# up to 1e5 steps, seven digits elsewhere; of sums of thousands of terms nine.
_radius = _value(seen.radius, 1e-7, 1e-3)
_time = _value(seen.relaxation, 1e-7, 1e-3)
_variance = _value(seen.autocovariance, 1e-9, 1 / 64)
_period = _value(seen.period, 1e-6, 1e-3)

WAYS: Mapping[str, Way] = {
    "threshold": Way(_stability, 60, _BOUND | {Relation.SUFFICIENT, Relation.NECESSARY}),
    "onset": Way(_onset, 8, _BOUND),
    "flip_threshold": Way(_eigenvalue(_flips), 24, frozenset({Relation.EXACT})),
    "neimark_sacker_threshold": Way(_eigenvalue(_turns), 24, frozenset({Relation.EXACT})),
    "spectral_radius": Way(_radius, 24, _ANY),
    "relaxation_time": Way(_time, 24, _ANY),
    "period": Way(_period, 24, _BOUND),
    "variance": Way(_variance, 24, _ANY),
    "variance_per_noise": Way(_variance, 24, _ANY),
    "autocovariance": Way(_autocovariance, 24, _BOUND),
}

#: Of the oscillator that stands in for the map, so that there is nothing to run.
NOT_OF_THE_MAP = frozenset(
    {
        "mass", "damping", "stiffness", "cubic_coefficient", "rule_threshold", "truncated_onset",
        "trajectory", "inflection_time", "inertial_delay",
    }
)  # fmt: skip
