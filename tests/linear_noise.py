r"""The linear map with noise, run step by step in plain arrays: an oracle for second moments.

From ``v_k = memory v_{k-1} + intake g_k``, ``q_{k+1} = q_k + direct g_k + passed v_k`` with
``g_k = -(x_f q_k + x_s q_{k-lag})``, and from no solved equation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np


class Noisy(NamedTuple):
    """A run and where its noise enters; `lag` and `refresh` as in the exact dynamics."""

    optimizer: str
    mu: float
    x: float
    stale_share: float
    noise_enters: str

    @property
    def given(self) -> dict[str, Any]:
        """The run as the functions under test take it, but for the lag."""
        return {"optimizer": self.optimizer} | {
            name: value for name, value in self._asdict().items() if name != "optimizer"
        }


def run(
    noisy: Noisy,
    noise: Iterable[Any],
    *,
    chains: int,
    lag_at: Callable[[int], Any],
    longest: int,
    first: int = 0,
) -> Iterator[Any]:
    """Yield q after each row of `noise`, the first of which enters at step `first`.

    ``lag_at(k)`` is the lag of step k: a number, or one for each chain. Before, all was zero.
    """
    optimizer, mu, x, s, enters = noisy
    memory, intake, direct, passed = {
        "heavy-ball": (mu, 1.0, 0.0, 1.0),
        "ema": (mu, 1 - mu, 0.0, 1.0),
        "nesterov": (mu, 1.0, 1.0, mu),
    }[optimizer]
    chain = np.arange(chains)
    history = np.zeros((longest + 1, chains))  # row k % (longest + 1) is q_k
    v = carried = np.zeros(chains)
    for k, kick in enumerate(noise, start=first):
        q = history[k % (longest + 1)]
        g = -((1 - s) * x * q + s * x * history[(k - lag_at(k)) % (longest + 1), chain])
        if enters == "gradient":
            g = g + kick
        v = memory * v + intake * g
        q = q + direct * g + passed * v
        if enters == "recurrence":
            carried = mu * carried + kick  # mu (q_k - q_{k-1}) carries a kick of q on
            q = q + carried
        history[(k + 1) % (longest + 1)] = q
        yield q


def correlations(noisy: Noisy, steps: int, lags: int, **delay: int) -> Any:
    """Return E[q_j q_{j+k}] by the phase of j, from the responses to a unit kick in each phase.

    Shape (phases, lags + 1); one phase under a constant lag. `steps` must outlast the responses.
    """
    phases = delay.get("refresh", 1)
    longest = delay.get("lag", phases - 1)
    result = np.zeros((phases, lags + 1))
    for phase in range(phases):
        noise = np.zeros((steps + lags, 1))
        noise[0] = 1.0
        path = run(
            noisy, noise, chains=1, longest=longest, first=phase,
            lag_at=(lambda k: k % phases) if "refresh" in delay else (lambda k: longest),
        )  # fmt: skip
        q = np.concatenate(list(path))
        for k in range(lags + 1):
            products = q[:steps] * q[k : k + steps]
            for j in range(phases):  # q[i] is at step phase + 1 + i
                result[j, k] += products[(j - phase - 1) % phases :: phases].sum()
    return result
