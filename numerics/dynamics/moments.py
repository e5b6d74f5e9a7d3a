r"""How a stable run fluctuates around its fixed point: stationary second moments of q.

All are per unit of noise variance; the noise is white and enters where `noise_enters` says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._runs import over_runs, per_unit
from numerics.dynamics._stationary import by_phase, correlations, variances
from numerics.dynamics.model import FloatArray, Model, model
from numerics.inputs import whole_number

__all__ = [
    "autocovariance",
    "phase_autocovariance",
    "stationary_covariance",
    "stationary_variance",
]


def stationary_variance(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    noise_enters: str,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
    unstable: str = "raise",
) -> Any:
    r"""Return the stationary variance of q per unit of noise variance.

    Parameters
    ----------
    optimizer, mu, stale_share, lag, refresh, lag_law
        As in `model`. A refresh may be up to 2000 steps, a `lag_law` may reach as far; a constant
        lag may be any.
    x
        Stiffness per step eta*K > 0, per unit of which q fluctuates.
    noise_enters
        ``"recurrence"``: added to the right side of the recurrence of q at every step, not filtered
        by the optimizer. ``"gradient"``: added to the gradient, step size inside, so that EMA and
        Nesterov filter it as they filter the force. The same thing for heavy ball.
    unstable
        ``"raise"`` if any run is not stable, or ``"nan"`` in its place.

    Returns
    -------
    float64 scalar or array of the common shape. Under a sawtooth it is periodic in the phase and
    the mean over the phases is returned; under a random lag the run must be stable in mean square.

    Raises
    ------
    InvalidInput
        A value outside its domain, or shapes that do not broadcast.
    UnstableError
        A run without a stationary state, when `unstable` is ``"raise"``.

    Notes
    -----
    Theory section 3, points 2, 3 and 5 (extension); closed forms at lag 0 and 1. At a constant lag
    the work grows with the logarithm of the lag. Relative error about 1e-15 for x well below the
    border, however small x and 1 - mu are; near the border it grows as 1e-16 over the relative
    distance to it in x, `mu` or `stale_share`, which is what rounding those costs. Under a sawtooth
    with x above 1 the error near the border is up to 1e-14 over the square of ``1 - mu`` or of the
    share, whichever is larger; refresh 1 and share 0 are computed as lag 0 and lose nothing.
    """

    def solve(family: Model, force: FloatArray) -> FloatArray:
        return variances(family, force, noise_enters)

    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    return per_unit(x, over_runs(family, x, noise_enters, unstable, solve), added=0)


def autocovariance(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lags: int,
    noise_enters: str,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
    unstable: str = "raise",
) -> Any:
    r"""Return ``r(k) = E[q_j q_{j+k}]`` for k = 0, 1, ..., `lags`, per unit of noise variance.

    Parameters
    ----------
    optimizer, mu, x, stale_share, noise_enters, lag, refresh, lag_law, unstable
        As in `stationary_variance`; a constant lag may be up to 2000 steps.
    lags
        The largest time difference k, in steps.

    Returns
    -------
    float64 array of the common shape and one more axis of ``lags + 1``. Under a sawtooth the mean
    over the phases of j, which is the autocovariance of a run whose phase is not known.

    Raises
    ------
    InvalidInput, UnstableError
        As in `stationary_variance`.

    Notes
    -----
    Theory section 3, points 2, 3 and 5 (extension). The Yule-Walker equations up to the lag, then
    the recurrence. The error relative to r(0) is that of `stationary_variance` (three digits worse
    without lag at mu near 1 and x above 1) and at most about 1e-16 more for each step of k; r(k)
    itself, once decayed, keeps fewer digits.
    """
    lags = whole_number("lags", lags, least=0)

    def solve(family: Model, force: FloatArray) -> FloatArray:
        return correlations(family, force, noise_enters, lags)

    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )
    return per_unit(x, over_runs(family, x, noise_enters, unstable, solve), added=1)


def stationary_covariance(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    size: int,
    noise_enters: str,
    lag: ArrayLike | None = None,
    refresh: ArrayLike | None = None,
    lag_law: ArrayLike | None = None,
    unstable: str = "raise",
) -> Any:
    r"""Return the stationary covariance of the state ``(q_k, q_{k-1}, ..., q_{k-size+1})``.

    Parameters
    ----------
    optimizer, mu, x, stale_share, noise_enters, lag, refresh, lag_law, unstable
        As in `autocovariance`.
    size
        How many of the last deviations, at least 1. At a constant lag d they tell the mean of all
        to come if they are d + 1 under heavy ball and EMA (2 at d = 0 with momentum), d + 2 under
        Nesterov with noise in the recurrence. With its noise in the gradient no number is enough.

    Returns
    -------
    float64 array of the common shape and two more axes of `size`: entry i, j is ``r(|i - j|)``.

    Raises
    ------
    InvalidInput, UnstableError
        As in `autocovariance`.
    """
    size = whole_number("size", size, least=1)
    r = autocovariance(
        optimizer, mu=mu, x=x, stale_share=stale_share, lags=size - 1, noise_enters=noise_enters,
        lag=lag, refresh=refresh, lag_law=lag_law, unstable=unstable,
    )  # fmt: skip
    age = np.arange(size)
    return r[..., np.abs(age[:, None] - age)]


def phase_autocovariance(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    refresh: int,
    lags: int,
    noise_enters: str,
    unstable: str = "raise",
) -> Any:
    r"""Return ``E[q_j q_{j+k}]`` by the phase of j, the steps since the sampler was refreshed.

    Parameters
    ----------
    optimizer, mu, x, stale_share, lags, noise_enters, unstable
        As in `autocovariance`.
    refresh
        One refresh interval for all, from 1 (on-policy) to 2000.

    Returns
    -------
    float64 array of the common shape and two more axes: the phase, `refresh` long, and k from 0 to
    `lags`. Entry ``[..., j, 0]`` is the variance at phase j.

    Raises
    ------
    InvalidInput, UnstableError
        As in `autocovariance`.

    Notes
    -----
    Theory section 3, point 2 (extension): the two-by-two Lyapunov equation of one period.
    """
    refresh = whole_number("refresh", refresh, least=1)
    lags = whole_number("lags", lags, least=0)

    def solve(family: Model, force: FloatArray) -> FloatArray:
        return by_phase(family, force, noise_enters, lags)

    family = model(optimizer, mu=mu, stale_share=stale_share, refresh=refresh)
    return per_unit(x, over_runs(family, x, noise_enters, unstable, solve), added=2)
