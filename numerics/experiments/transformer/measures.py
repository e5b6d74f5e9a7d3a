r"""What is measured on a policy before its run, by name; each adds facts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from numerics.experiments.transformer.policy import Policy, gram, move, success_logit
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task

__all__ = ["MEASURES"]

_STEP = 0.05  # of the logit, between two gains; halving it changes them by less than 1 %


def _gain_along(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    """Return the gain along the way of one prompt to higher logits, ``gain_at`` and ``gain_along``.

    With one prompt every expected gradient points along the slope of its logit, whatever the group
    size, so that all runs from this policy go the same way and the gain along it is all that the
    scalar theory needs to know of the network.
    """
    start = float(success_logit(first, work).detach()[0])
    at, along = [], []
    for ends in ((start, start - 1.0), (start, max(start + 1.0, 4.0))):
        walker = copy.deepcopy(first)
        places = np.linspace(*ends, 1 + round(abs(ends[1] - ends[0]) / _STEP))
        for place in places[int(bool(at)) :]:
            move(walker, work, float(place))
            at.append(float(place))
            along.append(float(gram(walker, work)[0, 0]))
    order = np.argsort(at)
    return {
        "gain_at": np.round(np.array(at)[order], 6).tolist(),
        "gain_along": [float(f"{along[place]:.6g}") for place in order],
    }


#: name -> function of setting, task, first policy, reference and step size.
MEASURES: Mapping[str, Callable[[Setting, Task, Policy, Policy, float], dict[str, Any]]] = {
    "gain-along": _gain_along,
}
