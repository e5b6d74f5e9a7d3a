r"""The KL term of the objective: exact, or by an estimator inside the loss.

With ``l = log(pi/pi_ref)`` of a sample and ``rho = pi/pi_old``, an estimator k adds
``-beta E_old k`` to the objective. Its gradient is ``-beta E_old (dk/d log pi) grad log pi``, so an
estimator enters a gradient through one number an arm. Provenance: reverse KL stated (equation 2);
the estimators are those of published trainers (extension).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def penalty(kl: str, weights: Array, log_ratio: Array, policy: Array, ratio: Array) -> Array:
    r"""Return the KL term of each column: exact, or the estimator's mean over the samples.

    `log_ratio` is l, `ratio` rho and `policy` pi, each ``(arms, columns)`` and possibly complex.
    """
    if kl == "reverse":
        terms = policy * log_ratio
    elif kl == "k1":
        terms = weights * log_ratio
    elif kl == "k2":
        terms = weights * log_ratio**2 / 2
    else:
        terms = weights * (np.exp(-log_ratio) + log_ratio - 1)
        terms = terms if kl == "k3" else terms * ratio
    result: Array = terms.sum(axis=0)
    return result


def slope(kl: str, weights: Array, log_ratio: Array, policy: Array, ratio: Array | None) -> Array:
    r"""Return the derivative of `penalty` in each arm's log probability; `ratio` None is 1.

    ``d(l^2/2) = l``, ``d(e^-l + l - 1) = 1 - e^-l``, ``d(rho k3) = rho (k3 + 1 - e^-l) = rho l``:
    in the mean, k3 with the ratio has the force of reverse KL. Reverse KL itself has
    ``d(pi l) = pi (l + 1)``, whose 1 is left out: ``sum pi grad log pi = 0``.
    """
    if kl == "reverse":
        return policy * log_ratio
    if kl == "k1":
        return weights
    if kl == "k2":
        return weights * log_ratio
    if kl == "k3":
        return weights * -np.expm1(-log_ratio)
    return weights * log_ratio if ratio is None else weights * ratio * log_ratio
