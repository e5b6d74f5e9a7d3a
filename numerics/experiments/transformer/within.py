r"""The noise of a group whose answers differ within their class.

Given the number right, k of G, the samples of a class are drawn independently from it, so that the
noise of a step is that of k and, on top, the mean of G draws from within the classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import binom

from numerics.experiments.transformer.anchored import EPS, Anchor

__all__ = ["moments"]


def moments(
    anchor: Anchor, logit: float, within: Mapping[str, Sequence[float]]
) -> tuple[float, float]:
    r"""Return mean and variance of the drift of one group.

    Parameters
    ----------
    anchor, logit
        The convention, and where the policy is.
    within
        ``right`` and ``wrong``: mean of c v, variance of v, covariance of v and c v, variance of
        c v, as `rest_measures.noise_at_rest` measures them.
    """
    p = 1 / (1 + np.exp(-logit))
    size = anchor.group_size
    k = np.arange(size + 1)
    share = k / size
    spread = share * (1 - share)
    std = np.sqrt(spread * size / (size - 1)) + EPS
    mean, inside = np.zeros(size + 1), np.zeros(size + 1)
    for name, part, advantage, v in (
        ("right", share, (1 - share) / std, 1 - p),
        ("wrong", 1 - share, -share / std, -p),
    ):
        advantage = np.where(spread > 0, advantage, 0.0)
        pull, vv, vw, ww = within[name]
        mean += part * (advantage * v - anchor.beta * pull)
        inside += part * (advantage**2 * vv - 2 * advantage * anchor.beta * vw + anchor.beta**2 * ww)
    weight = binom.pmf(k, size, p)
    drift = float(weight @ mean)
    return drift, float(weight @ ((mean - drift) ** 2 + inside / size))
