r"""Stationary second moments of a flat family, whatever its lag model.

Everything is x times a covariance, which stays finite as x -> 0, and NaN where there is no
stationary state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics._delay_line import level
from numerics.dynamics._linear_map import LinearMap, linear_map
from numerics.dynamics._mean_stability import stable_in_the_mean
from numerics.dynamics._sawtooth_moments import phases
from numerics.dynamics._single_run import single_variance
from numerics.dynamics._winding import stable_at
from numerics.dynamics._yule_walker import Structure, filtered, structure
from numerics.dynamics.model import FloatArray, IntArray, Model
from numerics.inputs import InvalidInput

__all__ = ["LONGEST", "by_phase", "correlations", "random_lags", "variances"]

#: The longest lag or refresh whose moments are found step by step.
LONGEST = 2000

_BLOCK = 4096  # maps worked on at once; more would leave the cache
_WORK = 2_000_000  # numbers held at once
_SAFE = 1e-2  # where the line divides by less, digits are lost with its square


class _RandomLag(NamedTuple):
    r"""Moments under a lag drawn afresh at every step; shapes as in `Structure`.

    Attributes
    ----------
    total
        Of q.
    of_mean_map
        Of the map that has ``z**-d`` replaced by its mean, driven by the same noise.
    margin
        What is left of 1 when the noise that the lag makes of itself is taken off; the map is
        stable in mean square where it is stable in the mean and this is positive.
    """

    total: Structure
    of_mean_map: Structure
    margin: FloatArray


def variances(family: Model, x: FloatArray, noise_enters: str) -> FloatArray:
    """Return x Var(q), averaged over the phases under a sawtooth; shape (n,)."""
    if family.lag_model == "random":
        return correlations(family, x, noise_enters, 0)[:, 0]
    assert family.steps is not None
    if family.lag_model == "sawtooth":
        result = np.empty(x.size)
        on_policy = (family.steps == 1) | (family.stale_share == 0)
        late = family.take(~on_policy)
        result[~on_policy] = correlations(late, x[~on_policy], noise_enters, 0)[:, 0]
        without = _without_lag(family.take(on_policy))
        result[on_policy] = variances(without, x[on_policy], noise_enters)
        return result
    lag = family.steps
    if x.size == 1:
        alone = single_variance(linear_map(family, x), int(lag[0]), noise_enters, _SAFE)
        if alone is not None:
            return np.array([alone])
    return _where_stable(
        family, x, (), _BLOCK, lambda linear, at: _variances(linear, lag[at], noise_enters)
    )


def correlations(family: Model, x: FloatArray, noise_enters: str, lags: int) -> FloatArray:
    """Return x times the autocovariance at 0..lags, averaged over the phases; (n, lags + 1)."""
    _check_reach(family)
    if family.lag_model == "sawtooth":
        result = np.empty((x.size, lags + 1))
        assert family.steps is not None
        for refresh in np.unique(family.steps):
            members = np.flatnonzero(family.steps == refresh)
            chosen = family.take(members)
            result[members] = by_phase(chosen, x[members], noise_enters, lags).mean(axis=1)
        return result
    if family.lag_model == "random":
        return _of_random_lag(family, x, noise_enters, lags)
    return _of_constant_lag(family, x, noise_enters, lags)


def by_phase(family: Model, x: FloatArray, noise_enters: str, lags: int) -> FloatArray:
    """Return x E[q_j q_{j+k}], (n, refresh, lags + 1), of a sawtooth family of one refresh."""
    _check_reach(family)
    assert family.steps is not None
    refresh = int(family.steps.max(initial=1))
    if refresh == 1:
        return correlations(_without_lag(family), x, noise_enters, lags)[:, None]
    result = np.empty((x.size, refresh, lags + 1))
    for part in _parts(x.size, max(1, _WORK // (refresh * (lags + 4)))):
        found = phases(linear_map(family.take(part), x[part]), refresh, noise_enters, lags)
        result[part] = np.where(found.stable[:, None, None], found.scaled, np.nan)
    return result


def _without_lag(family: Model) -> Model:
    """Return a sawtooth family of refresh 1 or share 0 as what it is: on-policy, no lag at all."""
    assert family.steps is not None
    return replace(family, lag_model="constant", steps=np.zeros_like(family.steps))


def random_lags(family: Model, x: FloatArray, noise_enters: str) -> FloatArray:
    """Return x Var(q), that of the mean map, and the margin of mean-square stability, (n, 3)."""
    _check_reach(family)
    assert family.law is not None
    law = family.law

    def solve(linear: LinearMap, at: IntArray) -> FloatArray:
        found = _random_lag(linear, law[at], noise_enters, 0)
        return np.stack([found.total.scaled, found.of_mean_map.scaled, found.margin], axis=1)

    return _where_stable(family, x, (3,), _together(law.shape[-1]), solve)


def _random_lag(linear: LinearMap, law: FloatArray, noise_enters: str, lags: int) -> _RandomLag:
    r"""Return the moments of maps stable in the mean, shape (n,).

    A lag drawn afresh makes the force random by ``x_s (q_{k-D} - E_D q_{k-D})``, which is white and
    uncorrelated with the rest: noise in the gradient of variance
    ``x_s**2 sum_ij p_i p_j y(|i-j|)``, y being that of q, this noise included.
    """
    reach = law.shape[-1]
    white = structure(linear, law, max(lags, reach) + 1)
    own = filtered(white, linear, noise_enters)
    of_force = filtered(white, linear, "gradient")
    margin = 1 - linear.stale**2 * _spread(of_force, law)
    made = linear.stale**2 * _spread(own, law) / np.where(margin > 0, margin, np.nan)
    total = Structure(
        own.scaled + made * of_force.scaled,
        own.differences + made[:, None] * of_force.differences,
    )
    return _RandomLag(total, own, margin)


def _spread(moments: Structure, law: FloatArray) -> FloatArray:
    """Return the mean over the lag of (q_{k-D} - E_D q_{k-D})**2."""
    age = np.arange(law.shape[-1])
    apart = moments.differences[:, np.abs(age[:, None] - age)]
    return np.asarray(np.einsum("ni,nij,nj->n", law, apart, law))


def _of_random_lag(family: Model, x: FloatArray, noise_enters: str, lags: int) -> FloatArray:
    assert family.law is not None
    law = family.law

    def solve(linear: LinearMap, at: IntArray) -> FloatArray:
        return _correlations(linear, _random_lag(linear, law[at], noise_enters, lags).total, lags)

    return _where_stable(family, x, (lags + 1,), _together(law.shape[-1]), solve)


def _of_constant_lag(family: Model, x: FloatArray, noise_enters: str, lags: int) -> FloatArray:
    assert family.steps is not None
    steps = family.steps
    result = np.empty((x.size, lags + 1))

    def solve(linear: LinearMap, at: IntArray) -> FloatArray:
        white = structure(linear, _certain(lag, at.size), lags + 1)
        return _correlations(linear, filtered(white, linear, noise_enters), lags)

    for lag in map(int, np.unique(steps)):
        members = np.flatnonzero(steps == lag)
        chosen = family.take(members)
        size = _together(lag + 1)
        result[members] = _where_stable(chosen, x[members], (lags + 1,), size, solve)
    return result


def _variances(linear: LinearMap, lag: IntArray, noise_enters: str) -> FloatArray:
    scaled, first, safety = level(linear, lag)
    total, bend = linear.filter(noise_enters)
    result = total * scaled - 2 * bend * linear.x * first
    poor = (safety < _SAFE) & (lag <= LONGEST)
    for steps in map(int, np.unique(lag[poor])):
        members = np.flatnonzero(poor & (lag == steps))
        chosen = linear.take(members)
        white = structure(chosen, _certain(steps, members.size), 2)
        result[members] = filtered(white, chosen, noise_enters).scaled
    return result


def _correlations(linear: LinearMap, moments: Structure, lags: int) -> FloatArray:
    below = linear.x[:, None] * moments.differences[:, : lags + 1]
    return moments.scaled[:, None] - below


def _certain(lag: int, count: int) -> FloatArray:
    law = np.zeros((count, lag + 1))
    law[:, -1] = 1.0
    return law


def _where_stable(
    family: Model,
    x: FloatArray,
    inner: tuple[int, ...],
    together: int,
    solve: Callable[[LinearMap, IntArray], FloatArray],
) -> FloatArray:
    """Return what `solve` says of the stable members of a constant or random family, NaN else."""
    result = np.full((x.size, *inner), np.nan)
    for part in _parts(x.size, together):
        chosen = family.take(part)
        linear = linear_map(chosen, x[part])
        stable = _stable(chosen, linear)
        if np.any(stable):
            found = solve(linear.take(stable), part[stable])
            # Within rounding of the border what comes out may be no variance.
            found[found.reshape(len(found), -1)[:, 0] <= 0] = np.nan
            result[part[stable]] = found
    return result


def _stable(family: Model, linear: LinearMap) -> NDArray[np.bool_]:
    """Return which maps of constant lag are stable, of random lag which in the mean."""
    if family.steps is not None:
        return stable_at(linear, family.steps)
    assert family.law is not None
    return stable_in_the_mean(linear, family.law)


def _together(delays: int) -> int:
    """Return how many maps with matrices of that size are worked on at once."""
    return max(1, _WORK // (delays + 2) ** 2)


def _parts(count: int, size: int) -> Iterator[IntArray]:
    for begin in range(0, count, size):
        yield np.arange(begin, min(begin + size, count))


def _check_reach(family: Model) -> None:
    if family.longest > LONGEST:
        raise InvalidInput(
            f"a lag or refresh of {family.longest} steps is given: these moments take up to "
            f"{LONGEST} (the variance at a constant lag takes any)"
        )
