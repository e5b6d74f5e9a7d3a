r"""How far x = eta*K may go under a trainer's schedule of lags.

A constant, a sawtooth and a random lag go to `numerics.dynamics`. Any other schedule repeats after
P steps and is linear, so it is stable iff the map over one period has all its eigenvalues inside
the unit circle; the first x at which one leaves is bracketed on a grid and bisected (extension).
Long periods have narrow windows of instability: one narrower than the grid's step, about 1/(10 P)
of x, may be missed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics import dynamics
from numerics.inputs import known_name
from numerics.kernels import refresh_rule
from numerics.trainers.table import LagTable

__all__ = ["OPTIMIZERS", "Border", "border", "period_radius"]

#: The optimizers that a threshold is known of.
OPTIMIZERS = (*dynamics.OPTIMIZERS, "adam")

_RELATIVE = 1e-12  # width of the last bracket
_FINEST, _COARSEST = 0.1, 0.05  # relative step of the grid: the first over the period, at most
_POINTS = 64  # of the grid, looked at together
_SMALLEST, _LARGEST = 1e-2, 1e2  # of the grid, in units of the border at the longest lag, at none
_MOST_WORK = 1_000_000  # matrix elements one x costs over a period
_SEARCH = 1_000_000_000  # matrix elements the whole grid may cost


@dataclass(frozen=True)
class Border:
    r"""The largest safe x of a schedule, and what it is of.

    Attributes
    ----------
    optimizer, momentum, stale_share
        ``"adam"`` is EMA with its second moment frozen and x = lr*K/(sqrt(v) + eps).
    lag_model
        ``"constant"``, ``"sawtooth"``, ``"periodic"`` or ``"random"``.
    threshold
        Stable below this x, and lost here. Under a random lag where the fluctuations are lost.
        None for a schedule too long to be computed.
    on_policy
        The threshold without any lag: 2(1+mu) for heavy ball, 2(1+mu)/(1-mu) for EMA and Adam.
    rule
        prop-9's, which is sufficient and not sharp; with the mean lag (sawtooth: the refresh, as
        published). None where there is no lag, or it says nothing.
    """

    optimizer: str
    momentum: float
    stale_share: float
    lag_model: str
    threshold: float | None
    on_policy: float
    rule: float | None


def border(
    table: LagTable, *, optimizer: str, mu: Fraction | float, stale_share: Fraction | float
) -> Border:
    r"""Return the largest safe x under the lags of `table`.

    Parameters
    ----------
    table
        From `numerics.trainers.lag_table`.
    optimizer
        ``"heavy-ball"``, ``"ema"``, ``"nesterov"`` or ``"adam"``.
    mu
        Momentum (Adam's beta1), in [0, 1).
    stale_share
        Share of the stiffness computed on the old policy: 1 is the delayed gradient of
        equation (3); that of a trainer is in theory section 3.7.

    Raises
    ------
    InvalidInput
        A value outside its domain.
    """
    recurrence = "ema" if known_name("optimizer", optimizer, OPTIMIZERS) == "adam" else optimizer
    run: dict[str, Any] = {
        "optimizer": recurrence, "mu": float(mu), "stale_share": float(stale_share)
    }  # fmt: skip
    on_policy = float(dynamics.threshold(**run, lag=0).value)
    model = table.lag_model
    threshold: float | None
    if model == "constant":
        threshold = float(dynamics.threshold(**run, lag=table.max).value)
    elif model == "sawtooth":
        threshold = float(dynamics.threshold(**run, refresh=table.max + 1).value)
    elif model == "random":
        threshold = None
        if table.max <= dynamics.LONGEST_MEAN_SQUARE:
            law = [float(share) for share in table.lag_law]
            threshold = float(dynamics.mean_square_threshold(**run, lag_law=law))
    else:
        threshold = _first_unstable(table.step_laws, run, on_policy)
    return Border(
        optimizer, run["mu"], run["stale_share"], model, threshold, on_policy, _rule(table, run)
    )


def period_radius(
    laws: Sequence[Mapping[int, Fraction]],
    x: NDArray[np.float64],
    *,
    optimizer: str,
    mu: float,
    stale_share: float,
) -> NDArray[np.float64]:
    r"""Return the spectral radius of the map over one period, one for each x.

    The state is ``(v, q_k, q_{k-1}, ..., q_{k-L})``; step k pulls with
    ``g = -(x_f q_k + x_s sum_j w_kj q_{k-j})``, w_k its shares of the lags.
    """
    memory, intake, direct, passed = (
        float(part) for part in dynamics.model(optimizer, mu=mu, stale_share=0.0, lag=0).recurrence
    )
    longest = max(max(law) for law in laws)
    fresh, stale = (1 - stale_share) * x[:, None], stale_share * x[:, None]
    state = np.tile(np.eye(longest + 2), (x.size, 1, 1))
    for law in laws:
        now = state[:, 1]
        old = sum((float(share) * state[:, 1 + lag] for lag, share in law.items()), 0.0 * now)
        force = -(fresh * now + stale * old)
        velocity = memory * state[:, 0] + intake * force
        moved = now + direct * force + passed * velocity
        state = np.concatenate([velocity[:, None], moved[:, None], state[:, 1:-1]], axis=1)
    return np.asarray(np.abs(np.linalg.eigvals(state)).max(axis=1))


def _first_unstable(
    laws: Sequence[Mapping[int, Fraction]], run: dict[str, Any], on_policy: float
) -> float | None:
    period, longest = len(laws), max(max(law) for law in laws)
    work = period * (longest + 2) ** 2
    if work > _MOST_WORK:
        return None

    def unstable(x: Any) -> Any:
        return period_radius(laws, np.asarray(x, dtype=np.float64), **run) >= 1

    low = _SMALLEST * float(dynamics.threshold(**run, lag=longest).value)
    span = np.log(_LARGEST * on_policy / low)
    step = min(_COARSEST, max(_FINEST / period, span * work / _SEARCH))
    while low < _LARGEST * on_policy:
        grid = low * np.exp(step * np.arange(1, _POINTS + 1))
        lost = np.flatnonzero(unstable(grid))
        if lost.size:
            high = float(grid[lost[0]])
            low = high * float(np.exp(-step))
            while high - low > _RELATIVE * high:
                middle = (low + high) / 2
                if unstable([middle])[0]:
                    high = middle
                else:
                    low = middle
            return (low + high) / 2
        low = float(grid[-1])
    return None


def _rule(table: LagTable, run: dict[str, Any]) -> float | None:
    kernel_of = run["optimizer"].replace("-", "_")
    given = {"mu": Fraction(run["mu"]), "s": Fraction(run["stale_share"])}
    try:
        if table.lag_model == "sawtooth":
            rule = getattr(refresh_rule, f"{kernel_of}_sawtooth")(N=table.max + 1, **given)
        else:
            rule = getattr(refresh_rule, f"{kernel_of}_constant")(d=table.mean, **given)
    except ZeroDivisionError:  # no lag, no rule
        return None
    return float(rule) if rule > 0 else None
