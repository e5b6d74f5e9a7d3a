r"""Drift and noise of finite groups, by summing over every outcome of a group.

Two arms with rewards 1 and 0, on-policy: k successes of G give the sample drift of the logit

    g(k) = rbar (1 - rbar)/std        rbar = k/G,

or its like under another convention, and k is binomial, or beta-binomial when prompts differ in
difficulty. prop-10 and theory section 3, point 9 have the leading order in 1/G; this is all of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import poch

from numerics.dynamics.model import FloatArray
from numerics.inputs import (
    InvalidInput,
    Values,
    check_positive,
    common_shape,
    floats,
    known_name,
    rectangular,
    whole_number,
)

__all__ = [
    "BASELINES",
    "LARGEST_GROUP",
    "NORMALISERS",
    "GroupMoments",
    "beta_mixture",
    "group_moments",
]

#: What is taken off a reward: the mean of its group, or of the others in it.
BASELINES = ("group-mean", "leave-one-out")

#: What an advantage is divided by: the standard deviation of its group, or nothing.
NORMALISERS = ("group-std", "none")

#: Groups are summed outcome by outcome, up to this size.
LARGEST_GROUP = 100_000

_WORK = 1_000_000  # outcomes held at a time


@dataclass(frozen=True, eq=False)
class GroupMoments:
    r"""Drift and noise of one group, float64 of the common shape.

    Attributes
    ----------
    drift
        Mean of the sample drift of the logit.
    drift_factor
        `drift` over that of an infinite group at eps = 0: ``sqrt(sigma2)`` for ``"group-std"``,
        sigma2 for ``"none"``, averaged over the prompts. NaN where that is 0.
    variance
        Of the sample drift of one group. When prompts differ, of a group of a prompt drawn afresh:
        what differs between prompts is part of it.
    dead
        Probability that all rewards of a group are equal, so that the group teaches nothing.
    live
        1 - dead, without cancellation.
    """

    drift: Any
    drift_factor: Any
    variance: Any
    dead: Any
    live: Any

    def noise_strength(self, groups: int) -> Any:
        """Return S, the variance of the mean drift of so many independent groups a step.

        Raises
        ------
        InvalidInput
            If `groups` is not a whole number from 1.
        """
        return self.variance / whole_number("groups", groups, least=1)


def group_moments(
    *,
    p: ArrayLike,
    correlation: ArrayLike,
    group_size: ArrayLike,
    baseline: str,
    normaliser: str,
    ddof: int | None = None,
    eps: float | None = None,
) -> GroupMoments:
    r"""Return mean and variance of the sample drift of a finite group, exactly.

    Parameters
    ----------
    p
        Success probability in [0, 1]; when prompts differ, its mean over them.
    correlation
        Intra-class correlation of the rewards in [0, 1): 0 when all prompts have the same p, else p
        is Beta-distributed over prompts with this correlation (`beta_mixture`).
    group_size
        G, whole numbers from 2 to 100000.
    baseline
        ``"group-mean"`` or ``"leave-one-out"``.
    normaliser
        ``"group-std"`` or ``"none"`` (mean only). Leave-one-out is known here without a standard
        deviation only.
    ddof, eps
        Of the standard deviation, 0 or 1, and the number >= 0 added to it. Both are required with
        ``"group-std"`` and refused with ``"none"``, where they would change nothing.

    Returns
    -------
    GroupMoments

    Raises
    ------
    InvalidInput
        A value outside its domain, a convention that is missing or has no effect, or shapes that do
        not broadcast.

    Notes
    -----
    A group whose rewards are all equal has drift 0, also at eps = 0. ``g = rbar (1 - rbar)`` over
    ``sqrt(rbar (1 - rbar) G/(G - ddof)) + eps``; mean only, without the divisor; leave-one-out,
    that times ``G/(G-1)``. Relative errors of about 1e-14, at p = 1e-12 and G = 4096 too: the
    probabilities come from the ratios of neighbours, from the mean outward. Stated in words
    (prop-10); the sums, the mixture and leave-one-out are extensions.
    """
    known_name("baseline", baseline, BASELINES)
    known_name("normaliser", normaliser, NORMALISERS)
    _check_convention(baseline, normaliser, ddof, eps)
    values = floats(p=p, correlation=correlation)
    _check_range("p", values["p"], values["p"] <= 1)
    _check_range("correlation", values["correlation"], values["correlation"] < 1)
    sizes = _group_sizes(group_size)
    shape = common_shape(
        p=values["p"].shape, correlation=values["correlation"].shape, group_size=sizes.shape
    )
    mean, likeness, size = (
        np.broadcast_to(array, shape).reshape(-1)
        for array in (values["p"], values["correlation"], sizes)
    )
    rows = np.empty((4, mean.size))
    block = max(1, _WORK // (int(sizes.max(initial=2)) + 1))
    for begin in range(0, mean.size, block):
        part = slice(begin, begin + block)
        weights = _outcomes(mean[part], likeness[part], size[part])
        sample = _sample_drift(size[part], weights.shape[1], baseline, ddof, eps)
        rows[:, part] = _moments(weights, sample, size[part])
    drift, variance, dead, live = rows
    infinite = _infinite_group(mean, likeness, normaliser)
    factor = np.full_like(drift, np.nan)
    np.divide(drift, infinite, out=factor, where=infinite > 0)
    found = (drift, factor, variance, dead, live)
    return GroupMoments(*(array.reshape(shape)[()] for array in found))


def beta_mixture(*, a: ArrayLike, b: ArrayLike) -> tuple[Any, Any]:
    r"""Return ``(p, correlation)`` of prompts whose success probability is Beta(a, b).

    Mean ``a/(a+b)`` and intra-class correlation ``1/(a+b+1)``, that of two rewards of one prompt.

    Raises
    ------
    InvalidInput
        If `a` or `b` is not a finite number above 0, or the shapes do not broadcast.
    """
    values = floats(a=a, b=b)
    for name, array in values.items():
        check_positive(name, array)
    common_shape(a=values["a"].shape, b=values["b"].shape)
    total = values["a"] + values["b"]
    return (values["a"] / total)[()], (1 / (total + 1))[()]


def _check_convention(baseline: str, normaliser: str, ddof: object, eps: Values) -> None:
    if normaliser == "none":
        if ddof is not None or eps is not None:
            raise InvalidInput("ddof and eps belong to normaliser 'group-std': leave them out")
        return
    if baseline == "leave-one-out":
        raise InvalidInput("baseline 'leave-one-out' is given: use it with normaliser 'none'")
    if ddof is None or eps is None:
        raise InvalidInput("normaliser 'group-std' needs ddof (0 or 1) and eps (>= 0)")
    if whole_number("ddof", ddof, least=0) > 1:
        raise InvalidInput(f"ddof is {ddof}: use 0 or 1")
    if floats(eps=eps)["eps"].ndim or eps < 0:
        raise InvalidInput(f"eps is {eps!r}: give one number >= 0")


def _check_range(name: str, value: FloatArray, below: Any) -> None:
    if not np.all((value >= 0) & below):
        end = "]" if name == "p" else ")"
        raise InvalidInput(f"{name} is {value}: it must lie in [0, 1{end}")


def _group_sizes(group_size: ArrayLike) -> Any:
    array = rectangular("group_size", group_size)
    if array.dtype.kind not in "iu" or not np.all((array >= 2) & (array <= LARGEST_GROUP)):
        raise InvalidInput(
            f"group_size is {group_size!r}: give whole numbers from 2 to {LARGEST_GROUP}"
        )
    return array.astype(np.int64)


def _outcomes(p: FloatArray, correlation: FloatArray, size: Any) -> FloatArray:
    r"""Return P(k successes), shape (n, largest size + 1).

    ``P(k+1)/P(k) = (G-k)(p + k t)/((k+1)(1-p + (G-k-1) t))`` with t = correlation/(1-correlation)
    is the beta-binomial, and the binomial at t = 0. Products from the mean outward neither overflow
    nor underflow where it matters; logarithms of factorials would lose four digits.
    """
    k = np.arange(int(size.max()) + 1)
    g, p, t = size[:, None], p[:, None], (correlation / (1 - correlation))[:, None]
    up = np.maximum(g - k, 0) * (p + k * t)
    down = (k + 1) * ((1 - p) + np.maximum(g - k - 1, 0) * t)
    mean = np.rint(g * p)
    rising, falling = np.ones_like(up), np.ones_like(up)
    np.divide(up, down, out=rising, where=(k >= mean) & (k < g))
    np.divide(down, up, out=falling, where=k < mean)
    weights = np.ones_like(up)
    with np.errstate(under="ignore"):
        weights[:, 1:] = np.cumprod(rising[:, :-1], axis=1)
        weights *= np.flip(np.cumprod(np.flip(falling, axis=1), axis=1), axis=1)
        weights[k > g] = 0.0
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _sample_drift(
    size: Any, outcomes: int, baseline: str, ddof: int | None, eps: float | None
) -> FloatArray:
    """Return g(k), shape (n, outcomes), 0 where k is 0, G or no outcome."""
    k, g = np.arange(outcomes), size[:, None]
    spread = np.maximum(k * (g - k), 0) / (g * g)
    if baseline == "leave-one-out":
        return np.asarray(spread * (g / (g - 1)))
    if ddof is None or eps is None:
        return np.asarray(spread)
    divisor = np.sqrt(spread * (g / (g - ddof))) + eps
    return np.asarray(spread / np.where(divisor > 0, divisor, 1.0))


def _moments(weights: FloatArray, sample: FloatArray, size: Any) -> FloatArray:
    """Return the rows drift, variance, dead, live."""
    drift = (weights * sample).sum(axis=1)
    variance = (weights * (sample - drift[:, None]) ** 2).sum(axis=1)
    ends = weights[:, 0] + weights[np.arange(size.size), size]
    inside = (weights * (sample > 0)).sum(axis=1)
    return np.stack([drift, variance, ends, inside])


def _infinite_group(p: FloatArray, correlation: FloatArray, normaliser: str) -> FloatArray:
    """Return the mean over prompts of sqrt(p (1-p)), or of p (1-p)."""
    if normaliser == "none":
        return p * (1 - p) * (1 - correlation)
    result = np.sqrt(p * (1 - p))
    mixed = (correlation > 1e-300) & (result > 0)  # a and b stay within the range of floats
    both = (1 - correlation[mixed]) / correlation[mixed]
    a, b = p[mixed] * both, (1 - p[mixed]) * both
    # Of Beta(a, b): B(a + 1/2, b + 1/2)/B(a, b).
    result[mixed] = poch(a, 0.5) * poch(b, 0.5) / (a + b)
    return result
