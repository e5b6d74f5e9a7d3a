r"""A steady push, and what momentum makes of it: a part of E6.

Near a success probability of one half the drift of the logit is at its maximum, so that it hardly
changes over a run that moves a little: the logit goes up a ramp. Momentum sets its speed (gain) and
by how many steps it trails (inertia). Both are read against the drift that the run's own samples
gave, so that no sampling noise is left in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.experiment import Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.curve import Curve, sampled_drift
from numerics.experiments.transformer.theory.seeds import Case, alike
from numerics.kernels.oscillator import heavy_ball_constant

__all__ = ["DELAY", "GAIN", "cases", "delay", "gain", "read", "settings"]

_MEMORIES = 10  # of 1/(1 - mu) steps, after which a ramp is read
GAIN, DELAY = "speed over that of the drift alone", "steps behind"


def settings(plan: Plan) -> list[Setting]:
    """Return the runs: every optimizer at every momentum, and none."""
    ramp = plan["ramp"]
    kinds = [("heavy-ball", 0.0), *product(ramp["optimizers"], ramp["mus"])]
    return [
        Setting(
            policy_seed=seed, seed=seed, p_ref=ramp["p_start"], optimizer=optimizer, mu=mu,
            pace=ramp["pace"] / gain(optimizer, mu), group_size=ramp["group_size"],
            steps=ramp["steps"], measures=("flow",),
        )
        for (optimizer, mu), seed in product(kinds, range(plan["seeds"]))
    ]  # fmt: skip


def gain(optimizer: str, mu: float) -> float:
    """Return the speed that a steady unit push ends in: the sum of the response to one push."""
    return 1.0 if optimizer == "ema" else 1 / (1 - mu)


def delay(optimizer: str, mu: float) -> float:
    r"""Return by how many steps the discrete map trails a push that began at step 0.

    The mean delay of the response to one push, from the step it is made in: mu/(1 - mu) for heavy
    ball and EMA, whose response goes as mu^j; mu less of them for Nesterov, which looks mu steps
    ahead. Theorem-7's M/C = (1 + mu)/(2 (1 - mu)) is half a step more. From rest means that steps
    -1 and 0 are at one place, so the velocity is 0 half a step before step 0: with that clock both
    are the same.
    """
    return mu / (1 - mu) - (mu if optimizer == "nesterov" else 0.0)


def read(run: Run) -> tuple[float, float]:
    """Return the gain and the delay of a run, read where its start is forgotten.

    There it stands at ``eta * gain * (clock - delay * push)``, the clock being the sum of the
    pushes that its samples gave.
    """
    curve, logit = Curve.of(run), run.logit[:, 0]
    push = curve.slope_at(logit[:-1]) * sampled_drift(run)
    clock = np.concatenate([[0.0], np.cumsum(push)])
    late = slice(max(len(push) // 2, round(_MEMORIES / (1 - run.setting.mu))), None)
    speed, behind = np.polyfit(clock[late], curve.arc(logit)[late] / run.facts["eta"], 1)
    return float(speed), float(-behind / speed / push[late].mean())


def _theories(optimizer: str, mu: float) -> Mapping[str, tuple[tuple[str, float], ...]]:
    # The source speaks of momentum mu as of one thing, Adam's beta1 included.
    mass, damping, _ = heavy_ball_constant(mu=mu, x=0.0, d=0.0, s=1.0)
    sourced = (("source", float(1 / damping)),) if optimizer == "ema" else ()
    return {
        GAIN: (("exact", gain(optimizer, mu)), *sourced),
        DELAY: (("exact", delay(optimizer, mu)), ("source", float(mass / damping))),
    }


def cases(runs: Sequence[Run]) -> list[Case]:
    """Return gain and delay of each optimizer and momentum."""
    found: list[Case] = []
    for some in alike(runs):
        setting = some[0].setting
        values = dict(zip((GAIN, DELAY), _columns(some), strict=True))
        name = f"ramp, {setting.optimizer}, mu {setting.mu:g}"
        for quantity, theories in _theories(setting.optimizer, setting.mu).items():
            for theory, predicted in theories:
                found.append((name, quantity, theory, predicted, values[quantity]))
    return found


def _columns(some: Sequence[Run]) -> NDArray[np.float64]:
    return np.array([read(run) for run in some]).T
