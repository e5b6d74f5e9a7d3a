r"""Group size as a noise temperature: lemma-6's formula, the exact value, and what lag does to it.

Temperature is K Var(q). Gradient noise of variance S per step brings eta**2 S times the variance
per unit of noise, so the temperature is eta S times x Var(q), which is finite as x -> 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from numerics.dynamics._linear_map import LinearMap, linear_map
from numerics.dynamics._runs import over_runs
from numerics.dynamics._stationary import variances
from numerics.dynamics.model import FloatArray, Model, model

__all__ = ["NoiseTemperature", "noise_temperature", "variance_growth"]


@dataclass(frozen=True, eq=False)
class NoiseTemperature:
    r"""Temperature K Var(q) in units of eta S, float64 of the common shape.

    Attributes
    ----------
    exact
        Of the discrete map.
    lemma_6
        ``1/(2 ((1-mu) - x_s d))`` for heavy ball, its like for the others; infinite where that
        damping is not positive, so that the formula has no stationary state.
    ratio
        The first over the second: ``1 + x/(2 (1+mu)) + O(x**2)`` for heavy ball at a constant lag.
    """

    exact: Any
    lemma_6: Any
    ratio: Any


def noise_temperature(
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
) -> NoiseTemperature:
    r"""Return the noise temperature, exact and by lemma-6, in units of eta S.

    Parameters
    ----------
    optimizer, mu, x, stale_share, noise_enters, lag, refresh, lag_law, unstable
        As in `stationary_variance`. S is the variance of the gradient noise per step, proportional
        to 1/G at leading order (`group_moments`). With ``"recurrence"`` the noise eta xi is added
        to q unfiltered by the optimizer, the lemma's premise; heavy ball knows no difference.

    Returns
    -------
    NoiseTemperature

    Raises
    ------
    InvalidInput, UnstableError
        As in `stationary_variance`.

    Notes
    -----
    Lemma 6 is stated in words; its formula ``Var(q) = eta S/(2 K ((1-mu) - x_s d))`` is
    reconstructed: noise over twice theorem-7's damping, with the mean lag under a sawtooth or a
    random lag (extension, like the other optimizers).
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )

    def solve(flat: Model, force: FloatArray) -> FloatArray:
        linear = linear_map(flat, force)
        damping = (1 - linear.mu) - linear.before * linear.x
        damping -= linear.total * linear.stale * _mean_lag(flat)
        damped = damping > 0
        rule = np.where(damped, _level(linear, noise_enters, np.where(damped, damping, 1)), np.inf)
        return np.stack([variances(flat, force, noise_enters), rule], axis=1)

    exact, rule = np.moveaxis(over_runs(family, x, noise_enters, unstable, solve), -1, 0)
    return NoiseTemperature(exact=exact[()], lemma_6=rule[()], ratio=(exact / rule)[()])


def variance_growth(
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
    r"""Return x Var(q) over its limit as x -> 0: 1 for a slow run, unbounded at the threshold.

    An early warning: fluctuations that grow beyond what a slower run of the same noise has.

    Parameters
    ----------
    optimizer, mu, x, stale_share, noise_enters, lag, refresh, lag_law, unstable
        As in `stationary_variance`.

    Returns
    -------
    float64 scalar or array of the common shape, positive.

    Raises
    ------
    InvalidInput, UnstableError
        As in `stationary_variance`.

    Notes
    -----
    The limit of x Var(q) is ``1/(2 (1-mu))`` for heavy ball, whatever the lag (theory section 3,
    point 5; extension). Towards a threshold x_c where the root crosses the
    circle it diverges as ``A x/(x_c - x)``; where it only touches, faster. At a constant lag and
    noise in the recurrence, with z on the unit circle the root of chi at x_c,

        (x_c - x) Var(q) -> x_c / (m Re[(z - 1)(1 - mu/z) conj(z chi'(z))]),

    m = 1 for a complex pair and 2 for a flip, z = -1: a mode of residue 1/chi'(z) and modulus
    ``1 - (x_c - x) d ln|z|/dx`` leaves that variance. Noise in the gradient multiplies it by
    ``|G(z)|**2``.
    """
    family = model(
        optimizer, mu=mu, stale_share=stale_share, lag=lag, refresh=refresh, lag_law=lag_law
    )

    def solve(flat: Model, force: FloatArray) -> FloatArray:
        linear = linear_map(flat, force)
        slow = _level(linear, noise_enters, 1 - linear.mu)
        return variances(flat, force, noise_enters) / slow

    return over_runs(family, x, noise_enters, unstable, solve)[()]


def _level(linear: LinearMap, noise_enters: str, damping: FloatArray) -> FloatArray:
    """Return x Var(q) of the oscillator: noise over twice the damping and the slope in x."""
    return linear.filter(noise_enters)[0] / (2 * linear.total * damping)


def _mean_lag(family: Model) -> FloatArray:
    if family.law is not None:
        return np.asarray(family.law @ np.arange(family.law.shape[-1], dtype=np.float64))
    assert family.steps is not None
    steps = family.steps.astype(np.float64)
    return (steps - 1) / 2 if family.lag_model == "sawtooth" else steps
