"""The best curve of one family: curve and noise in turns, until neither moves."""

from __future__ import annotations

from math import erf, exp, log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from numerics.fit.families import FAMILIES, family_names, finite_group
from numerics.fit.family import Family
from numerics.fit.noise import SPIKE, Noise, estimate_noise, spike_loss
from numerics.fit.projection import Constraint, Problem, Solution, free
from numerics.fit.result import Fit
from numerics.fit.series import Series
from numerics.inputs import InvalidInput, known_name

__all__ = ["family_of", "fit", "orthonormal", "problem_of", "too_few_rows", "without_plateau"]

FloatArray = NDArray[np.float64]

_ROUNDS = 6
_SETTLED = 0.01  # of the log-likelihood
_STARTS = 2  # of the grid of starts, those followed to their optimum
_SPARE = 3  # rows a family needs beyond its parameters
#: ln of the integral of exp(-spike_loss), which a Gaussian alone would have at ln(2 pi)/2.
_NORM = log(
    sqrt(2 * pi) * erf(SPIKE / sqrt(2)) + 2 * exp(-(SPIKE**2) / 2) * SPIKE / (SPIKE**2 - 1)
)


def family_of(name: str, given: Series) -> Family:
    """Return a family by name.

    Raises
    ------
    InvalidInput
        An unknown name, or the finite group without a group size.
    """
    if known_name("family", name, family_names()) != "finite-group":
        return FAMILIES[name]
    if given.group_size is None:
        raise InvalidInput("finite-group needs the group size: give group_size")
    return finite_group(given.group_size)


def too_few_rows(family: Family, given: Series) -> bool:
    """Whether a series has too few rows for a family."""
    return len(given) < family.size + _SPARE


def fit(given: Series, family: str | Family = "three-phase", *, near: Fit | None = None) -> Fit:
    r"""Fit one family by maximum likelihood.

    Parameters
    ----------
    given
        The rewards.
    family
        A name of `family_names`, or a `Family` of your own.
    near
        A fit of the same family to a similar series (a rolling origin): the search also starts
        there.

    Returns
    -------
    Fit

    Raises
    ------
    InvalidInput
        An unknown family, or fewer rows than it has parameters, and 3.

    Notes
    -----
    In turns: the curve, by variable projection from the two best of a grid of starts (afterwards
    from where it is), and the noise, by restricted likelihood. A plateau beyond `Series.plateaus`
    is held at their end and the curve fitted again.
    """
    chosen = family_of(family, given) if isinstance(family, str) else family
    if too_few_rows(chosen, given):
        raise InvalidInput(
            f"{chosen.name} has {chosen.size} parameters and needs {chosen.size + _SPARE} rows; "
            f"there are {len(given)}"
        )
    chosen = chosen.resolved(len(given))
    constraint = _start(given, chosen)
    extra = [] if near is None else [near.inner]
    best = _alternate(given, chosen, constraint, extra)
    held = _beyond(best)
    return best if held is None else _alternate(given, chosen, held, [best.inner])


def _alternate(
    given: Series, family: Family, constraint: Constraint, extra: list[FloatArray]
) -> Fit:
    """Return the fit under a constraint."""
    plain = Problem(
        family, given.time, given.value, given.span, constraint, lambda v: v / given.spread
    )
    points = sorted((plain.at(start) for start in family.starts()), key=lambda s: s.cost)
    ends = [plain.solve(s.inner) for s in points[:_STARTS]]
    ends += [plain.solve(start) for start in extra]
    ranked = sorted(ends, key=lambda s: s.cost)
    best = _settle(given, family, constraint, ranked[0])
    # Another optimum that is nearly as good by plain squares may be the better one under the noise.
    for other in ranked[1:]:
        if (other.cost < 1.02 * ranked[0].cost
                and np.abs(other.inner - ranked[0].inner).max(initial=0.0) > 0.05):
            best = max(best, _settle(given, family, constraint, other), key=_likelihood)
    return best


def _likelihood(found: Fit) -> float:
    return found.log_likelihood


def _settle(given: Series, family: Family, constraint: Constraint, start: Solution) -> Fit:
    """Return the fit that curve and noise in turns come to from a start."""
    noise: Noise | None = None
    point, best = start, None
    for _ in range(_ROUNDS):
        noise, _ = _noise_about(given, family, constraint, point, noise)
        now = _made(given, family, constraint, point, noise)
        problem = problem_of(now)
        point = problem.solve(point.inner)
        after = _made(given, family, constraint, point, noise)
        if best is not None and after.log_likelihood < best.log_likelihood + _SETTLED:
            return best if best.log_likelihood >= after.log_likelihood else after
        best = after
    assert best is not None
    return best


def problem_of(found: Fit) -> Problem:
    """Return the least-squares problem in the noise of a fit, spikes at their weight."""
    root = found.spike_root

    def whiten(columns: FloatArray) -> FloatArray:
        return found.whiten(columns) * (root if columns.ndim == 1 else root[:, None])

    given = found.series
    return Problem(found.family, given.time, given.value, given.span, found.constraint, whiten)


def _made(
    given: Series, family: Family, constraint: Constraint, point: Solution, noise: Noise
) -> Fit:
    draft = Fit(
        given, family, point.inner, point.amplitudes, noise, constraint, 0.0, np.empty(0, np.int64)
    )
    innovations = draft.innovations
    likelihood = (
        -float(spike_loss(innovations).sum())
        - noise.log_determinant(draft.noise_std)
        - len(given) * _NORM
    )
    return Fit(
        given, family, point.inner, point.amplitudes, noise, constraint, likelihood,
        np.flatnonzero(np.abs(innovations) > SPIKE),
    )  # fmt: skip


def _noise_about(
    given: Series,
    family: Family,
    constraint: Constraint,
    point: Solution,
    before: Noise | None,
) -> tuple[Noise, float]:
    phi, slopes = family.at(given.time, point.inner, given.span)
    curve = phi @ point.amplitudes
    lean = np.column_stack([(slopes @ point.amplitudes).T, phi @ constraint.directions])
    return estimate_noise(
        given.value - curve, given.binomial_variance(curve), orthonormal(lean), before
    )


def orthonormal(columns: FloatArray) -> FloatArray:
    """Return an orthonormal basis of what columns span, however they are scaled."""
    size = np.linalg.norm(columns, axis=0)
    u, s, _ = np.linalg.svd(columns[:, size > 0] / size[size > 0], full_matrices=False)
    return np.asarray(u[:, s > 1e-6])


def _start(given: Series, family: Family) -> Constraint:
    """Return what is held from the start: the reward of failure, where it is known."""
    constraint = free(family.linear)
    if family.starts_at_low and given.bounds is not None:
        return _hold(constraint, np.eye(family.linear)[0], given.bounds[0], "failure at low")
    return constraint


def without_plateau(found: Fit) -> Constraint:
    """Return the constraint of a fit but for a plateau held at its bound."""
    return _start(found.series, found.family)


def _hold(constraint: Constraint, row: FloatArray, value: float, name: str) -> Constraint:
    """Return the constraint with ``row @ amplitudes = value`` as well."""
    seen = row @ constraint.directions
    missing = value - float(row @ constraint.fixed)
    fixed = constraint.fixed + constraint.directions @ (seen * missing / float(seen @ seen))
    rest = np.linalg.svd(seen[None, :])[2][1:].T
    return Constraint(fixed, constraint.directions @ rest, (*constraint.names, name))


def _beyond(found: Fit) -> Constraint | None:
    """Return the constraint that holds a plateau at the end of `plateaus` it is beyond, or None."""
    row = np.array(found.family.plateau)
    if not np.any(row @ found.constraint.directions):
        return None
    plateau = float(row @ found.amplitudes)
    low, high = found.series.plateaus
    if low <= plateau <= high:
        return None
    bound, name = (low, "least") if plateau < low else (high, "greatest")
    return _hold(found.constraint, row, bound, f"R_inf at the {name} it can be")
