r"""E4: how widely a run under a KL term fluctuates about its fixed point, and why so widely."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.dynamics import group_moments, noise_temperature
from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.fluctuation_figures import figures
from numerics.experiments.transformer.setting import EPS, Run, Setting
from numerics.experiments.transformer.theory.anchored import (
    Anchor,
    weight_for,
)
from numerics.experiments.transformer.theory.stationary import (
    LOGIT,
    STEP,
    Family,
    families,
    size_sweeps,
)

__all__ = ["FLUCTUATION"]

_EXPERIMENT = "E4"
_POOLED = 0.35  # up to this x the linear theory is within 2 % of the sampled two-arm map
_FAST = 0.5  # from this x on the exact variance exceeds that of lemma 6 by a third
_Case = tuple[str, str, str, float, NDArray[np.float64]]


def _settings(plan: Plan) -> list[Setting]:
    cases = [
        (case, kl, group_size, knob)
        for case in plan["cases"]
        for kl, group_size, knob in product(
            case.get("kls", plan["kls"]), case["group_sizes"], _knobs(case)
        )
    ]
    seeds = plan["seeds"]
    # Every run samples with a seed of its own, so that the cases can be pooled.
    return [
        replace(_setting(plan, *case), policy_seed=seed, seed=place * seeds + seed)
        for place, case in enumerate(cases)
        for seed in range(seeds)
    ]


def _knobs(case: Plan) -> list[Mapping[str, float]]:
    """Return what a case sweeps: where it rests, or how stiff it is."""
    for one, many in (("p_star", "p_stars"), ("x", "xs")):
        if many in case:
            return [{one: value} for value in case[many]]
    return [{}]


def _setting(
    plan: Plan, case: Plan, kl: str, group_size: int, knob: Mapping[str, float]
) -> Setting:
    values = {**plan, **case, **knob}
    p_ref = values["p_ref"]
    beta = values.get("beta") or weight_for(
        values["p_star"], group_size=group_size, kl=kl, p_ref=p_ref
    )
    rest = Anchor(group_size, beta, kl, p_ref).rests[0]
    pace = case.get("pace", values["x"] / rest.stiffness)
    answers = values.get("answers", 2)
    # With more answers than two the odds within the classes have to come to rest too.
    start: Mapping[str, Any] = (
        {"p_start": rest.p} if answers == 2 else {"measures": ("kernel-at-rest",)}
    )
    return Setting(
        answers=answers, p_ref=p_ref, pace=pace, group_size=group_size, beta=beta, kl=kl,
        steps=values["steps"], **start,
    )  # fmt: skip


def _variances(family: Family) -> list[_Case]:
    """Return the rows of one case."""
    theories = [
        (STEP, "exact", family.predicted(STEP)),
    ]
    if family.answers > 2:
        theories.append((STEP, "rival", family.of_two_arms(STEP, family.rest.noise)))
    elif family.anchor.kl == "reverse":
        theories.append((STEP, "rival", family.of_two_arms(STEP, _silent_noise(family))))
    if family.answers == 2:
        # With more the logit creeps for as long as the odds within the classes come to rest.
        theories.append((LOGIT, "exact", family.predicted(LOGIT)))
    if family.x >= _FAST:
        theories.append((LOGIT, "source", _lemma_6(family)))
    rows: list[_Case] = []
    for quantity, theory, predicted in theories:
        middle = float(predicted.mean())
        # With more answers each network has a prediction of its own: the ratio is what they share.
        values = family.measured(quantity) / predicted * middle
        rows.append((family.name, quantity, theory, middle, values))
    return rows


def _silent_noise(family: Family) -> float:
    """Return S if the KL term brought none; under k3 that is so to leading order in 1/G."""
    return float(group_moments(
        p=family.rest.p, correlation=0.0, group_size=family.anchor.group_size,
        baseline="group-mean", normaliser="group-std", ddof=1, eps=EPS,
    ).variance)  # fmt: skip


def _lemma_6(family: Family) -> NDArray[np.float64]:
    """Return the variance of lemma 6, which leaves out what a finite step adds."""
    found = noise_temperature(
        "heavy-ball", mu=0.0, x=family.x, stale_share=0.0, lag=0, noise_enters="gradient"
    )
    return np.asarray(family.predicted(LOGIT) / found.ratio)


def _powers(some: Sequence[Family]) -> list[_Case]:
    """Return the rows of runs alike but for the group size: the power of G between its ends."""
    rows: list[_Case] = []
    for sweep in size_sweeps(some):
        small, large = sweep[0], sweep[-1]
        sizes = small.anchor.group_size, large.anchor.group_size
        case = (
            f"{small.anchor.kl}, p_star {small.rest.p:.3f} to {large.rest.p:.3f}, "
            f"G {sizes[0]} to {sizes[1]}"
        )
        for quantity in (LOGIT, STEP):
            change = np.log(large.measured(quantity) / small.measured(quantity))
            exact = np.log(large.predicted(quantity).mean() / small.predicted(quantity).mean())
            name, ratio = f"power of G of the {quantity}", np.log(sizes[1] / sizes[0])
            rows.append((case, name, "exact", float(exact / ratio), change / ratio))
            rows.append((case, name, "source", -1.0, change / ratio))
    return rows


def _pooled(some: Sequence[Family]) -> list[_Case]:
    """Return the rows of all slow cases with two answers together: measured over predicted."""
    slow = [family for family in some if family.answers == 2 and family.x <= _POOLED]
    rows: list[_Case] = []
    for quantity in (LOGIT, STEP) if slow else ():
        ratios = np.mean([one.measured(quantity) / one.predicted(quantity) for one in slow], axis=0)
        rows.append((
            f"two answers, {len(slow)} cases", f"{quantity}, over the predicted", "exact", 1.0,
            ratios,
        ))  # fmt: skip
    return rows


def _rows(runs: Sequence[Run]) -> list[Row]:
    found = families(runs)
    cases = [row for family in found for row in _variances(family)]
    return compare(_EXPERIMENT, [*cases, *_powers(found), *_pooled(found)])


FLUCTUATION = Experiment(
    id=_EXPERIMENT,
    title="fluctuation about the fixed point under a KL term",
    question="What sets the noise of a run at rest, besides the group size?",
    settings=_settings,
    rows=_rows,
    figures=lambda runs, rows: figures(families(runs), rows),
    headline="k3, p_star 0.500 to 0.500, G 4 to 64 / power of G of the variance of a step / exact",
)
