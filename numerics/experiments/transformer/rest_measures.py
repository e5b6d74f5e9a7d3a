r"""What is measured on a policy that a KL term holds: the gain far around, the noise at rest."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from numerics.experiments.transformer.anchored import Anchor
from numerics.experiments.transformer.policy import (
    Policy,
    gram,
    log_probabilities,
    move,
    success_logit,
    trained,
)
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task
from numerics.inputs import InvalidInput

__all__ = ["gain_wide", "noise_at_rest"]

_STEP = 0.1
_LEAST, _MOST = 0.0, 9.0
_RELAX = 30.0  # in units of 1/x


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


def noise_at_rest(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    r"""Return how the answers of a class differ once the mean drift has brought the policy to rest.

    Two answers of one class move the logit differently, which is a noise that two arms have not.
    The policy follows the mean drift, by enumeration, until it rests, and there an answer a has

        v = grad log pi(a) . grad logit / gain,     c = its KL gradient per unit of its slope,

    whose moments within each class are what the noise of a group needs.

    Returns
    -------
    dict
        ``rest_logit``, ``rest_gain``, and ``within``: class -> mean of c v, variance of v,
        covariance of v and c v, variance of c v.
    """
    if work.length != 1 or setting.prompts != 1 or not isinstance(setting.p_ref, float):
        raise InvalidInput("noise-at-rest is for one prompt with one answer word")
    anchor = Anchor(setting.group_size, setting.beta, setting.kl, setting.p_ref)
    walker = copy.deepcopy(first)
    held = log_probabilities(reference, work)[0].detach().double()
    x = setting.pace * anchor.rests[0].stiffness
    for _ in range(round(_RELAX / x)):
        _drift(walker, work, held, anchor, eta)
    weights = trained(walker)
    said = log_probabilities(walker, work)[0]
    logit = success_logit(walker, work)[0]
    slope = torch.autograd.grad(logit, weights, retain_graph=True)
    gain = _dot(slope, slope)
    v = np.array([
        _dot(torch.autograd.grad(one, weights, retain_graph=True), slope) / gain for one in said
    ])  # fmt: skip
    pi, ref = said.detach().double().exp().numpy(), held.exp().numpy()
    c = np.log(pi / ref) if setting.kl == "reverse" else 1 - ref / pi
    right = work.right[0]
    within = {
        name: _within(pi[chosen], v[chosen], c[chosen] * v[chosen])
        for name, chosen in (("right", right), ("wrong", ~right))
    }
    return {"rest_logit": float(logit.detach()), "rest_gain": gain, "within": within}


def _drift(walker: Policy, work: Task, held: Any, anchor: Anchor, eta: float) -> None:
    """Make one step along the mean drift."""
    logit = success_logit(walker, work)[0]
    said = log_probabilities(walker, work)[0].double()
    here = Anchor(anchor.group_size, 0.0, anchor.kl, anchor.p_ref).drift(float(logit.detach()))
    away = (said.exp() * (said - held)).sum() if anchor.kl == "reverse" else -(held.exp() * said).sum()
    weights = trained(walker)
    slopes = torch.autograd.grad(here * logit - anchor.beta * away, weights)
    with torch.no_grad():
        for weight, slope in zip(weights, slopes, strict=True):
            weight += eta * slope


def _dot(one: Any, two: Any) -> float:
    return sum(float((a.double() * b.double()).sum()) for a, b in zip(one, two, strict=True))


def _within(
    pi: NDArray[np.float64], v: NDArray[np.float64], w: NDArray[np.float64]
) -> list[float]:
    share = pi / pi.sum()
    mean_v, mean_w = share @ v, share @ w
    moments = (
        mean_w, share @ (v - mean_v) ** 2, share @ ((v - mean_v) * (w - mean_w)),
        share @ (w - mean_w) ** 2,
    )  # fmt: skip
    return [float(f"{moment:.6g}") for moment in moments]
