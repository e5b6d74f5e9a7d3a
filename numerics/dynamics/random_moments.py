r"""What a lag drawn at random adds to the fluctuations of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._runs import over_runs, per_unit
from numerics.dynamics._stationary import random_lags
from numerics.dynamics.model import FloatArray, Model, model

__all__ = ["RandomLagVariance", "random_lag_variance"]


@dataclass(frozen=True, eq=False)
class RandomLagVariance:
    r"""Stationary variance under a random lag, float64 of the common shape.

    Attributes
    ----------
    variance
        Of q, per unit of noise variance.
    of_mean_map
        Of the map that sees the lag's mean effect at every step, ``z**-d`` replaced by its mean.
    ratio
        The first over the second: 1 where the lag is certain.
    margin
        1 less the gain by which the randomness of the force returns as noise of its own. The run is
        stable in mean square where its mean is stable and this is positive; NaN where not even the
        mean is stable.
    """

    variance: Any
    of_mean_map: Any
    ratio: Any
    margin: Any


def random_lag_variance(
    optimizer: str,
    *,
    mu: ArrayLike,
    x: ArrayLike,
    stale_share: ArrayLike,
    lag_law: ArrayLike,
    noise_enters: str,
    unstable: str = "raise",
) -> RandomLagVariance:
    r"""Return the stationary variance under a lag drawn afresh at every step, and its parts.

    Parameters
    ----------
    optimizer, mu, x, stale_share, lag_law, noise_enters, unstable
        As in `stationary_variance`.

    Returns
    -------
    RandomLagVariance

    Raises
    ------
    InvalidInput, UnstableError
        As in `stationary_variance`.

    Notes
    -----
    Theory section 3, point 3 (extension). The force differs from its mean over the lag by
    ``x_s (q_{k-D} - E_D q_{k-D})``, which is white and uncorrelated with everything before. So the
    lag is noise in the gradient of variance ``x_s**2 sum_ij p_i p_j (r(0) - r(|i-j|))`` with r the
    autocovariance of q under both noises: a linear equation for one number.
    """

    def solve(family: Model, force: FloatArray) -> FloatArray:
        return random_lags(family, force, noise_enters)

    family = model(optimizer, mu=mu, stale_share=stale_share, lag_law=lag_law)
    found = over_runs(family, x, noise_enters, unstable, solve)
    scaled, of_mean_map, margin = np.moveaxis(found, -1, 0)
    return RandomLagVariance(
        variance=per_unit(x, scaled, added=0),
        of_mean_map=per_unit(x, of_mean_map, added=0),
        ratio=(scaled / of_mean_map)[()],
        margin=margin[()],
    )
