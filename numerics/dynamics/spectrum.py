r"""The modes of the mean map over arrays: all roots, and the one that outlives the others.

Constant and random lag: roots of chi, per step. Sawtooth: eigenvalues of the monodromy matrix over
one refresh interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from numerics.dynamics.model import FloatArray, Model, model, stiffness
from numerics.dynamics.monodromy import monodromy_eigenvalues
from numerics.dynamics.roots import characteristic_roots, log_modulus
from numerics.exact import Configuration
from numerics.inputs import InvalidInput, common_shape

__all__ = [
    "LONGEST_SPECTRUM",
    "Dominant",
    "dominant",
    "relaxation_time",
    "roots",
    "spectral_radius",
]

#: The longest lag whose roots are computed, in steps: the work grows with its cube.
LONGEST_SPECTRUM = 512


@dataclass(frozen=True, eq=False)
class Dominant:
    r"""The root of largest modulus; of a conjugate pair, the upper one. Scalars for a single run.

    Attributes
    ----------
    root
        The root z of chi; under a sawtooth, the eigenvalue over one refresh interval.
    modulus
        Spectral radius per step.
    rate
        ``ln`` of it, per step; below 0 the run decays, -inf if all is over in finitely many steps.
    period
        Steps of one oscillation; inf where the root is real and positive, 2 (under a sawtooth
        2 refresh) where it is real and negative.
    """

    root: Any
    modulus: Any
    rate: Any
    period: Any


def roots(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> NDArray[np.complex128]:
    r"""Return all characteristic roots (sawtooth: eigenvalues of the monodromy), largest first.

    Parameters
    ----------
    optimizer, mu, stale_share, lag, refresh, lag_law
        As in `model`; a lag, not a refresh, is at most `LONGEST_SPECTRUM`.
    x
        Stiffness per step eta*K > 0.

    Returns
    -------
    complex array of the common shape and one axis more, of the longest lag plus 2: as many numbers
    as the map remembers. Shorter lags are filled up with zeros, roots of what is forgotten. Under a
    sawtooth the last axis is 2: q at the refresh and the optimizer's buffer.

    Raises
    ------
    InvalidInput
        A value outside its domain, or shapes that do not broadcast.

    Notes
    -----
    Roots of chi(z), theory section 1 (extension). Relative error of z - 1 about 1e-14 for simple
    roots, however slow; where m roots meet, about (1e-16)^(1/m) of their distance from 0. The rate
    of the sawtooth, ln|z| over a refresh, has a relative or absolute error of about 1e-13.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    if family.lag_model == "sawtooth":
        z, _, shape = _over_a_refresh(family, x)
    else:
        z, _, shape = _of(family, x)
    return np.asarray(z.reshape((*shape, z.shape[1])))


def dominant(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Dominant:
    """Return the dominant root, its modulus per step, its rate and its period.

    Parameters and errors as in `roots`.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    if family.lag_model == "sawtooth":
        z, rate, shape = _over_a_refresh(family, x)
        refreshed = np.broadcast_to(np.asarray(family.steps, dtype=np.float64), shape)
        return _dominant(z[:, 0].reshape(shape), rate.reshape(shape) / refreshed, refreshed)
    z, w, shape = _of(family, x)
    rate = log_modulus(z[:, :1], w[:, :1])[:, 0].reshape(shape)
    root = z[:, 0].reshape(shape)
    return _dominant(root, rate, np.ones(shape))


def spectral_radius(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Any:
    """Return the spectral radius per step; parameters and errors as in `dominant`."""
    return dominant(
        optimizer, mu=mu, x=x, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    ).modulus


def relaxation_time(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
) -> Any:
    """Return ``-1/rate`` in steps, inf where the run does not decay; as in `dominant`."""
    rate = dominant(
        optimizer, mu=mu, x=x, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    ).rate
    with np.errstate(divide="ignore"):
        return np.where(rate < 0, -1 / rate, np.inf)[()]


def configurations(family: Model) -> list[Configuration]:
    """Return the members of a flat family with constant or sawtooth lag, for `numerics.exact`."""
    assert family.steps is not None
    name = "lag" if family.lag_model == "constant" else "refresh"
    return [
        Configuration(family.optimizer, family.lag_model, mu, share, **{name: steps})
        for mu, share, steps in zip(
            family.mu.tolist(), family.stale_share.tolist(), family.steps.tolist(), strict=True
        )
    ]


def _of(family: Model, x: ArrayLike) -> tuple[Any, Any, tuple[int, ...]]:
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    if family.longest > LONGEST_SPECTRUM:
        raise InvalidInput(
            f"a lag of {family.longest}: roots are computed up to {LONGEST_SPECTRUM} steps; "
            "the threshold has no such limit"
        )
    flat = family.flat(shape)
    stiff = np.broadcast_to(force, shape).reshape(-1)
    width = family.longest + 2
    z = np.zeros((stiff.size, width), dtype=np.complex128)
    w = np.full_like(z, -1.0)
    lags = flat.steps if flat.steps is not None else np.full(stiff.size, family.longest)
    for each in np.unique(lags):  # runs that remember equally long are one stack of matrices
        chosen = np.flatnonzero(lags == each)
        found, below = characteristic_roots(flat.take(chosen), stiff[chosen])
        z[chosen, : found.shape[1]], w[chosen, : found.shape[1]] = found, below
    return z, w, shape


def _over_a_refresh(family: Model, x: ArrayLike) -> tuple[Any, Any, tuple[int, ...]]:
    force = stiffness(x)
    shape = common_shape(parameters=family.shape, x=force.shape)
    z, rate = monodromy_eigenvalues(family.flat(shape), np.broadcast_to(force, shape).reshape(-1))
    return z, rate, shape


def _dominant(root: Any, rate: FloatArray, steps: FloatArray) -> Dominant:
    angle = np.abs(np.angle(root))
    with np.errstate(divide="ignore"):
        period = np.where(angle > 0, 2 * np.pi * steps / angle, np.inf)
    return Dominant(root[()], np.exp(rate), rate[()], period[()])
