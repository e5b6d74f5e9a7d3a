"""The linear map as everybody writes it: a companion matrix over the last d + 1 coordinates."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def companion(mu: float, x: float, lag: int) -> Array:
    """Return the matrix of q_{k+1} = (1 + mu) q_k - mu q_{k-1} - x q_{k-lag}, lag >= 1."""
    size = lag + 1
    matrix = np.zeros((size, size))
    matrix[0, 0] = 1 + mu
    matrix[0, 1] = -mu
    matrix[0, lag] -= x
    matrix[np.arange(1, size), np.arange(size - 1)] = 1
    return matrix


def spectral_radius(mu: float, x: float, lag: int) -> float:
    """Return the largest modulus of an eigenvalue."""
    return float(np.abs(np.linalg.eigvals(companion(mu, x, lag))).max())
