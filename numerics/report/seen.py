r"""What can be seen of the linear map by running it, without its characteristic polynomial."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from numerics.report.borders import swings
from numerics.report.motion import kick_responses
from numerics.report.witness import Run
from numerics.simulation import simulate_linear

__all__ = ["Seen", "autocovariance", "period", "radius", "refreshed", "relaxation", "swinging"]

#: Steps that a run may take.
_LONG = 10_000
#: The same for a run whose swings are looked for: it shrinks to e^-300.
_SHRINKING = 20_000


@dataclass(frozen=True)
class Seen:
    """A value seen on the map, and the size that its error is relative to."""

    value: float
    size: float


def radius(run: Run) -> Seen:
    """Return the growth per step."""
    return Seen(run.growth(), 1.0)


def relaxation(run: Run) -> Seen | None:
    """Return the steps in which the run shrinks by e; None where it does not, or hardly."""
    growth = run.growth()
    time = -1 / math.log(growth) if 0 < growth < 1 else math.inf
    return Seen(time, time) if time < 1e5 else None


def autocovariance(run: Run, shift: int = 0) -> Seen | None:
    """Return the stationary mean of q times q of `shift` steps later, for unit white noise.

    The sum over the response to one kick, averaged over the phases at which it can come; for the
    variance that is right under any lag model, for a shift under constant lag. None where the
    response takes too long to die out.
    """
    if not run.growth() < math.exp(-20 / _LONG):
        return None
    share = np.array(float(run.stale_share))
    path = kick_responses(
        run.optimizer, run.schedule, mu=float(run.mu), x=np.array(float(run.x)), stale_share=share
    )
    found = (path[shift:] * path[: max(len(path) - shift, 0)]).sum(axis=0).mean()
    return Seen(float(found), float((path**2).sum(axis=0).mean()))


def period(run: Run) -> Seen | None:
    """Return the steps of a swing, from the angle of the pair of modes that a run is left with.

    Seen once a period of the schedule and divided by its growth, such a run keeps to
    u_{n+1} = 2 c u_n - u_{n-1}, with c the cosine of the angle. None where it does not.
    """
    every = run.schedule.period
    growth = run.growth() ** every
    looks = 2000 if growth == 1 else min(2000, int(300 / abs(math.log(growth))))
    path = simulate_linear(
        run.optimizer, run.schedule, mu=float(run.mu), x=float(run.x),
        stale_share=float(run.stale_share), steps=looks * every, record_every=every,
    ).path  # fmt: skip
    u = (path / growth ** np.arange(looks + 1))[looks // 2 :]
    if len(u) < 4:
        return None
    middle, beside = u[1:-1], u[2:] + u[:-2]
    cosine = float(middle @ beside / (2 * middle @ middle))
    off = float(np.abs(beside - 2 * cosine * middle).max() / np.abs(u).max())
    if off > 1e-9 or abs(cosine) > 1 - 1e-4:
        return None
    time = 2 * math.pi * every / math.acos(cosine)
    return Seen(time, time)


def swinging(run: Run, x: NDArray[np.float64]) -> NDArray[np.bool_] | None:
    """Whether the dominant mode is no longer real and positive at each x; None if it takes long.

    What no longer decays counts: a positive mode cannot leave the unit circle, as chi(1) > 0.
    """
    growth = np.array([run.at(Fraction(at)).growth() for at in x])
    decays = growth < 1
    if np.any(-300 / np.log(growth[decays]) > _SHRINKING):
        return None
    found = ~decays
    share = np.array(float(run.stale_share))
    found[decays] = swings(run.optimizer, run.schedule, float(run.mu), x[decays], share)
    return found


def refreshed(run: Run) -> list[Fraction] | None:
    """Return q exactly at the start and after one, two and three refreshes.

    A state at a refresh is two numbers, so that q_{n+2} = T q_{n+1} - D q_n, with T and D the trace
    and the determinant of the map over one refresh. None where one mode alone is seen, and nothing
    of the other.
    """
    path = simulate_linear(
        run.optimizer, run.schedule, mu=run.mu, x=run.x, stale_share=run.stale_share,
        steps=3 * run.lag, record_every=run.lag,
    ).path  # fmt: skip
    q = [Fraction(value) for value in path]
    return q if q[0] * q[2] != q[1] ** 2 else None
