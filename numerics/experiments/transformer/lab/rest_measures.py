r"""What is measured on a policy that a KL term holds: the gain far around, the kernel at rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from numerics.experiments.transformer.lab.policy import (
    Policy,
    gram,
    log_probabilities,
    move,
    success_logit,
    trained,
)
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task
from numerics.experiments.transformer.theory.anchored import Anchor
from numerics.experiments.transformer.theory.stationary import held
from numerics.inputs import InvalidInput

__all__ = ["gain_wide", "kernel_at_rest"]

_STEP = 0.1
_LEAST, _MOST = 0.0, 9.0
_RELAX = 60.0  # steps of the mean drift, in units of 1/x


def gain_wide(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    """Return the gain from the first policy down to a logit of 0 and up to 9, as ``gain_along``."""
    start = float(success_logit(first, work).detach()[0])
    found = {}
    for end in (_LEAST, _MOST):
        walker = copy.deepcopy(first)
        for place in np.linspace(start, end, 1 + round(abs(end - start) / _STEP)):
            move(walker, work, float(place))
            found[round(float(place), 5)] = float(f"{gram(walker, work)[0, 0]:.5g}")
    at = sorted(found)
    return {"gain_at": at, "gain_along": [found[place] for place in at]}


def kernel_at_rest(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    r"""Return what `answers.Answers` needs, where the mean drift brings the policy to rest.

    The policy follows the mean drift, summed over all answers, until it rests.

    Returns
    -------
    dict
        ``rest_said`` and ``rest_held``: log-probabilities of the answers under the policy and under
        the reference. ``rest_kernel``: the scalar products of the slopes of the former, the lower
        triangle row by row.
    """
    if work.length != 1 or setting.prompts != 1:
        raise InvalidInput("kernel-at-rest is for one prompt with one answer word")
    anchor = held(setting)
    walker = copy.deepcopy(first)
    fixed = log_probabilities(reference, work)[0].detach().double()
    for _ in range(round(_RELAX / (setting.pace * anchor.rests[0].stiffness))):
        _drift(walker, work, fixed, anchor, eta)
    weights = trained(walker)
    said = log_probabilities(walker, work)[0]
    each = [torch.autograd.grad(one, weights, retain_graph=True) for one in said]
    slopes = torch.stack([torch.cat([part.reshape(-1) for part in one]) for one in each]).double()
    kernel = (slopes @ slopes.T).numpy()
    return {
        "rest_said": _rounded(said.detach().double().numpy()),
        "rest_held": _rounded(fixed.numpy()),
        "rest_kernel": _rounded(kernel[np.tril_indices(len(kernel))]),
    }


def _drift(walker: Policy, work: Task, fixed: Any, anchor: Anchor, eta: float) -> None:
    """Make one step along the mean drift."""
    logit = success_logit(walker, work)[0]
    said = log_probabilities(walker, work)[0].double()
    here = Anchor(anchor.group_size, 0.0, anchor.kl, anchor.p_ref).drift(float(logit.detach()))
    # On-policy the gradient of k3 is that of KL(pi_ref || pi).
    away = said.exp() * (said - fixed) if anchor.kl == "reverse" else -fixed.exp() * said
    weights = trained(walker)
    slopes = torch.autograd.grad(here * logit - anchor.beta * away.sum(), weights)
    with torch.no_grad():
        for weight, slope in zip(weights, slopes, strict=True):
            weight += eta * slope


def _rounded(values: NDArray[np.float64]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]
