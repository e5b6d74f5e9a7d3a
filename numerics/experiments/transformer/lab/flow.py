r"""The curves that runs follow, measured before them: the gradient's, and Adam's.

With one prompt every gradient points along the slope of its logit, so that a run of small steps
follows one curve of the weights, and the gain along it is all that the scalar theory needs. Moving
the weights to given logits by the shortest way does not stay on that curve.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch

from numerics.experiments.transformer.lab.policy import Policy, success_logit, trained
from numerics.experiments.transformer.setting import Setting
from numerics.experiments.transformer.tasks import Task

__all__ = ["adam_flow", "flow"]

_STEP = 0.2  # of the logit; with 0.05 the way to one logit more changes by less than 0.05 %
_ADAM_STEP = 0.1
_BEYOND = 1.0  # logits beyond the first policy that are looked at, if nothing says where a run ends
_EPS = 1e-8  # torch's for Adam: weights that the logit does not depend on stay where they are

_Direction = list[Any]


def _slope(walker: Policy, work: Task) -> tuple[float, _Direction]:
    logit = success_logit(walker, work)[0]
    return float(logit.detach()), list(torch.autograd.grad(logit, trained(walker)))


def _moved(walker: Policy, direction: _Direction, by: float) -> Policy:
    found = copy.deepcopy(walker)
    with torch.no_grad():
        for weight, way in zip(trained(found), direction, strict=True):
            weight.add_(way, alpha=by)
    return found


def _product(one: _Direction, two: _Direction) -> float:
    return sum(float((a.double() * b.double()).sum()) for a, b in zip(one, two, strict=True))


def _end(setting: Setting, start: float) -> float:
    """Return the logit up to which the curve is wanted: a little beyond where the run ends."""
    if setting.until < 1:
        return math.log(setting.until / (1 - setting.until)) + 2 * _STEP
    return start + _BEYOND


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def flow(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    r"""Return the gain along the gradient flow to higher logits, ``gain_at`` and ``gain_along``.

    Four slopes a step (Runge and Kutta), each step as long as the gain says for 0.2 of the logit.
    """
    walker = copy.deepcopy(first)
    logit, slope = _slope(walker, work)
    end = _end(setting, logit)
    at, along = [logit], [_product(slope, slope)]
    while logit < end:
        way = _STEP / along[-1]
        slopes = [slope]
        for part in (0.5, 0.5, 1.0):
            slopes.append(_slope(_moved(walker, slopes[-1], part * way), work)[1])
        mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in zip(*slopes, strict=True)]
        walker = _moved(walker, mean, way)
        logit, slope = _slope(walker, work)
        at.append(logit)
        along.append(_product(slope, slope))
    return {"gain_at": _rounded(at), "gain_along": _rounded(along)}


def adam_flow(
    setting: Setting, work: Task, first: Policy, reference: Policy, eta: float
) -> dict[str, Any]:
    r"""Return what a step of Adam does to the logit along Adam's own curve.

    A weight moves by the learning rate times its slope h over the root mean square of its slopes so
    far, as long as the second moment forgets nothing. Where no slope has changed since the start
    that is a sign, and the logit moves by the sum of \|h\|.

    Returns
    -------
    dict
        ``adam_at``: logits; ``adam_kept``: sum of h**2/rms there, of all slopes since the start;
        ``adam_now``: sum of \|h\| there.
    """
    walker = copy.deepcopy(first)
    logit, slope = _slope(walker, work)
    end = _end(setting, logit)
    square, passed = [(h.double() ** 2) for h in slope], 0.0
    found: dict[str, list[float]] = {"adam_at": [], "adam_kept": [], "adam_now": []}
    while True:
        direction = _preconditioned(slope, square)
        kept = _product(slope, direction)
        found["adam_at"].append(logit)
        found["adam_kept"].append(kept)
        found["adam_now"].append(sum(float(h.double().abs().sum()) for h in slope))
        if logit >= end:
            return {name: _rounded(values) for name, values in found.items()}
        way = _ADAM_STEP / kept
        middle = _slope(_moved(walker, direction, way / 2), work)[1]
        square = [
            (v * passed + h.double() ** 2 * way) / (passed + way)
            for v, h in zip(square, middle, strict=True)
        ]
        passed += way
        walker = _moved(walker, _preconditioned(middle, square), way)
        logit, slope = _slope(walker, work)


def _preconditioned(slope: _Direction, square: _Direction) -> _Direction:
    return [(h / (torch.sqrt(v) + _EPS)).to(h.dtype) for h, v in zip(slope, square, strict=True)]
