"""The linear map in plain numbers, written from the recurrences and from no derivation.

An oracle for the tests of derived results: v_k = memory*v_(k-1) + intake*g_k and
q_(k+1) = q_k + direct*g_k + passed*v_k with g_k = -(x_f*q_k + x_s*q_old).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp, mpf
from scipy.linalg import solve_discrete_lyapunov


@dataclass(frozen=True)
class Plain:
    """One configuration; `lag` is the lag or, under ``sawtooth``, the refresh."""

    optimizer: str
    lag_model: str
    mu: float
    share: float
    lag: int

    @property
    def gains(self) -> tuple[float, float, float]:
        """memory, and what g_k and g_(k-1) bring to q_(k+1) - q_k - memory*(q_k - q_(k-1))."""
        memory, intake, direct, passed = {
            "heavy-ball": (self.mu, 1.0, 0.0, 1.0),
            "ema": (self.mu, 1 - self.mu, 0.0, 1.0),
            "nesterov": (self.mu, 1.0, 1.0, self.mu),
        }[self.optimizer]
        return memory, direct + passed * intake, -memory * direct

    def chi(self, h: Any, x: Any) -> Any:
        """Characteristic function at e**h, with the phase mean under a sawtooth."""
        memory, now, before = self.gains
        z = mp.e**h
        if self.lag_model == "constant":
            aged = z**-self.lag
        else:
            aged = sum((z**-j for j in range(self.lag)), mpf(0)) / self.lag
        force = x * ((1 - mpf(self.share)) + mpf(self.share) * aged)
        return (z - 1) * (1 - memory / z) + (now + before / z) * force

    def steps(self, x: float) -> list[np.ndarray]:
        """Matrices of one period on (g_(k-1), anchor, q_k, q_(k-1), ...), one per step."""
        memory, now, before = self.gains
        sawtooth = self.lag_model == "sawtooth"
        size = 4 if sawtooth else 3 + max(1, self.lag)
        matrices = []
        for phase in range(self.lag if sawtooth else 1):
            old = (2 if phase == 0 else 1) if sawtooth else 2 + self.lag
            force = np.zeros(size)
            force[2] -= (1 - self.share) * x
            force[old] -= self.share * x
            step = np.zeros((size, size))
            step[0] = force
            step[1, old if sawtooth else 1] = 1 if sawtooth else 0
            step[2] = now * force
            step[2, 0] += before
            step[2, 2] += 1 + memory
            step[2, 3] -= memory
            for row in range(3, size):
                step[row, row - 1] = 1
            matrices.append(step)
        return matrices

    def decay(self, x: float) -> complex:
        """Dominant eigenvalue of one step (sawtooth: N-th root over a period)."""
        period = np.linalg.multi_dot([*self.steps(x)[::-1], np.eye(len(self.steps(x)[0]))])
        values = np.linalg.eigvals(period)
        return complex(values[np.argmax(abs(values))]) ** (1 / len(self.steps(x)))

    def variance(self, x: float) -> float:
        """Stationary variance of q for unit noise, averaged over the phases."""
        matrices = self.steps(x)
        size = len(matrices[0])
        kick = np.zeros((size, size))
        kick[2, 2] = 1.0
        period, noise = np.eye(size), np.zeros((size, size))
        for step in matrices:
            period, noise = step @ period, step @ noise @ step.T + kick
        covariance, total = solve_discrete_lyapunov(period, noise), 0.0
        for step in matrices:
            total += covariance[2, 2]
            covariance = step @ covariance @ step.T + kick
        return float(total / len(matrices))
