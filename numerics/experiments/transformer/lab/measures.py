r"""What is measured on a policy before its run, by name; each adds facts."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from numerics.experiments.transformer.lab.flow import adam_flow, flow
from numerics.experiments.transformer.lab.policy import Policy, gram, move, success_logit, trained
from numerics.experiments.transformer.lab.response import response
from numerics.experiments.transformer.lab.rest_measures import gain_wide, kernel_at_rest
from numerics.experiments.transformer.lab.trainer import optimizer
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task
from numerics.experiments.transformer.theory.scalar import drift

__all__ = ["MEASURES"]

_STEP = 0.05  # of the logit, between two gains; halving it changes them by less than 1 %


def _gain_along(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    """Return the gain along the way of one prompt to higher logits, ``gain_at`` and ``gain_along``.

    With one prompt, on-policy and without KL, every expected gradient points along the slope of its
    logit, whatever the group size, so that without momentum and with small steps all runs from this
    policy go about the same way, and the gain along it is what the scalar theory needs.
    """
    start = float(success_logit(first, work).detach()[0])
    at: list[float] = []
    along: list[float] = []
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


def _mean_field(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    """Return the mean success that the mean drift alone gives the same network, ``mean_field``.

    Every prompt's logit is pushed by D_G of its own success probability, through the slopes that
    the network has, without sampling: any number of prompts, on-policy, without KL.
    """
    walker = copy.deepcopy(first)
    force = drift(setting.group_size, setting.normaliser)
    step = optimizer(setting, trained(walker), eta)
    means = []
    for _ in range(setting.steps + 1):
        logits = success_logit(walker, work)
        success = torch.sigmoid(logits.detach())
        means.append(float(success.mean()))
        if setting.until < 1 and float(success.min()) > setting.until:
            break
        pushes = torch.tensor([force(logit) for logit in logits.tolist()])
        step.zero_grad()
        (-(pushes * logits).mean() / work.length).backward()
        step.step()
    return {"mean_field": [float(f"{mean:.5g}") for mean in means]}


#: name -> function of setting, task, first policy, reference and step size.
MEASURES: Mapping[str, Callable[[Setting, Task, Policy, Policy, float], dict[str, Any]]] = {
    "adam-flow": adam_flow,
    "flow": flow,
    "gain-along": _gain_along,
    "gain-wide": gain_wide,
    "kernel-at-rest": kernel_at_rest,
    "mean-field": _mean_field,
    "response": response,
}
