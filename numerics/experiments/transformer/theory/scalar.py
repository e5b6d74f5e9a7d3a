r"""The scalar theory on a network whose gain is known: one coordinate, no fitted constant.

With one prompt the expected gradient is the drift times the slope of the logit, so a run moves
along one curve in the space of weights. With s the way along it in units of the slope,
ds = d(logit)/gain, an update by drift D is s += eta D. Momentum acts on s where the gain is
constant; where it changes, old gradients have the length they had, which is `curve`'s matter.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import group_moments
from numerics.experiments.transformer.setting import EPS, Run
from numerics.experiments.transformer.tasks import task
from numerics.inputs import InvalidInput
from numerics.simulation import optimizer_named

__all__ = ["crossing", "drift", "mean_path"]

_LOGITS = np.linspace(-12.0, 12.0, 2401)


def drift(group_size: int | None, normaliser: str, *, ddof: int = 1) -> Callable[[float], float]:
    r"""Return the mean drift of the logit against the logit, D_G, on-policy and without KL.

    Parameters
    ----------
    group_size
        G; None is the limit of large groups.
    normaliser, ddof
        As `numerics.dynamics.group_moments` takes them.

    Notes
    -----
    Source: theory section 3, point 9 (extension), summed exactly over the outcomes of a group.
    """
    table = _table(group_size, normaliser, ddof)
    return lambda logit: float(np.interp(logit, _LOGITS, table))


@lru_cache
def _table(group_size: int | None, normaliser: str, ddof: int) -> NDArray[np.float64]:
    p = 1 / (1 + np.exp(-_LOGITS))
    scaled = normaliser == "group-std"
    if group_size is None:
        return np.asarray(np.sqrt(p * (1 - p)) if scaled else p * (1 - p))
    moments = group_moments(
        p=p, correlation=0.0, group_size=group_size, baseline="group-mean", normaliser=normaliser,
        ddof=ddof if scaled else None, eps=EPS if scaled else None,
    )  # fmt: skip
    return np.asarray(moments.drift)


def mean_path(run: Run, force: Callable[[float], float]) -> NDArray[np.float64]:
    r"""Return the predicted logit before each step and after the last, (steps + 1,).

    Parameters
    ----------
    run
        A run of one prompt whose setting measured ``gain-along``.
    force
        The drift against the logit.
    """
    setting, facts = run.setting, run.facts
    if "gain_along" not in facts:
        raise InvalidInput(f"run {setting.name} did not measure gain-along; add it to its measures")
    logits, gain = np.array(facts["gain_at"]), np.array(facts["gain_along"])
    slow = 1 / gain
    way = np.concatenate([[0.0], np.cumsum((slow[1:] + slow[:-1]) / 2 * np.diff(logits))])
    rule = optimizer_named(setting.optimizer)
    path = [float(run.logit[0, 0])]
    s = float(np.interp(path[0], logits, way))
    memory = rule.memory_at_rest(s)
    work = task(setting.task, answers=setting.answers, prompts=setting.prompts)
    eta = facts["eta"] / work.length  # the trainer's loss is a mean over the words of a completion
    for _ in range(setting.steps):
        s, memory = rule.step(s, memory, force(path[-1]), eta=eta, mu=setting.mu)
        path.append(float(np.interp(s, way, logits)))
    return np.array(path)


def crossing(path: NDArray[np.float64], level: float) -> float:
    """Return the step at which a path first reaches `level`, between steps by a straight line.

    NaN where it does not.
    """
    over = np.flatnonzero(path >= level)
    if not over.size:
        return float("nan")
    k = int(over[0])
    if k == 0:
        return 0.0
    return float(k - 1 + (level - path[k - 1]) / (path[k] - path[k - 1]))
