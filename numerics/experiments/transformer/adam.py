r"""E6-adam: a speed that does not know the size of the drift, and a rest that does not know 1/G."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.ring_down import rest_of
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.adam_theory import at_rest, expected_way, way
from numerics.experiments.transformer.theory.anchored import Anchor, weight_for
from numerics.experiments.transformer.theory.curve import Curve, sampled_drift
from numerics.experiments.transformer.theory.scalar import drift
from numerics.experiments.transformer.theory.seeds import Case, alike, together
from numerics.plots import COLOURS, panel, plain_ticks, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ADAM"]

_EXPERIMENT = "E6-adam"
_SPEED = "speed over the learning rate"
_VARIANCE = "variance of the logit"
_POWER = "power of G of the variance"
_BURN_IN = 0.15  # of a run that starts at its fixed point
_LONG = 100  # steps from which a run is one about the memory of the second moment


def _settings(plan: Plan) -> list[Setting]:
    seeds = range(plan["seeds"])
    moving = [
        Setting(
            policy_seed=seed, seed=seed, optimizer="adam", p_ref=case["p_start"], mu=case["mu"],
            pace=case["rate"], normaliser=case["normaliser"], group_size=plan["group_size"],
            steps=case["steps"], measures=("adam-flow",),
        )
        for case, seed in product(plan["moving"], seeds)
    ]  # fmt: skip
    return [*moving, *_resting(plan["resting"], seeds)]


def _resting(plan: Plan, seeds: Sequence[int]) -> list[Setting]:
    found = []
    sizes = list(zip(plan["group_sizes"], plan["steps"], strict=True))
    for (size, steps), seed in product(sizes, seeds):
        p_ref = plan["p_ref"]
        beta = round(weight_for(plan["p_star"], group_size=size, kl="k3", p_ref=p_ref), 6)
        found.append(Setting(
            policy_seed=seed, seed=seed, optimizer="adam", mu=plan["mu"], pace=plan["rate"],
            p_ref=p_ref, p_start=round(Anchor(size, beta, "k3", p_ref).rests[0].p, 6), beta=beta,
            kl="k3", group_size=size, steps=steps, measures=("adam-flow",),
        ))  # fmt: skip
    return found


def _rows(runs: Sequence[Run]) -> list[Row]:
    families = alike(runs)
    moving = [some for some in families if not some[0].setting.beta]
    short = [some for some in moving if some[0].setting.steps < _LONG]
    long = [some for some in moving if some[0].setting.steps >= _LONG]
    resting = [some for some in families if some[0].setting.beta]
    return compare(_EXPERIMENT, [
        *_speeds(short), *(case for some in long for case in _memory(some)), *_rests(resting),
    ])  # fmt: skip


def _name(setting: Setting) -> str:
    kind = {"group-std": "std-normalised", "none": "mean only"}[setting.normaliser]
    return f"{kind}, p from {setting.p_ref:g}, mu {setting.mu:g}"


def _speed(run: Run) -> tuple[float, float]:
    """Return the measured and the predicted speed, over the learning rate and the slopes."""
    setting, curve = run.setting, Curve.of_adam(run, kept=False)
    start, end = run.logit[[0, -1], 0]
    measured = (curve.arc(end) - curve.arc(start)) / (setting.pace * setting.steps)
    predicted = expected_way(
        curve, start=float(start), rate=setting.pace, mu=setting.mu,
        group_size=setting.group_size, normaliser=setting.normaliser, steps=setting.steps,
    )  # fmt: skip
    return float(measured), predicted / setting.steps


def _speeds(short: Sequence[Sequence[Run]]) -> list[Case]:
    """Return the speeds, and their ratios to the first beside those of the plain gradient."""
    speeds = [np.array([_speed(run) for run in some]).T for some in short]
    drifts = [
        drift(s.group_size, s.normaliser)(float(some[0].logit[0, 0]))
        for some in short
        for s in (some[0].setting,)
    ]
    cases: list[Case] = []
    for some, (measured, predicted), push in zip(short, speeds, drifts, strict=True):
        name = _name(some[0].setting)
        cases.append(together(name, _SPEED, "exact", predicted, measured))
        if some is not short[0]:
            quantity = f"speed over that of: {_name(short[0][0].setting)}"
            ratio = measured / speeds[0][0]
            exact = float((predicted / speeds[0][1]).mean())
            cases.append((name, quantity, "exact", exact, ratio))
            cases.append((name, quantity, "rival", float(push / drifts[0]), ratio))
    return cases


def _memory(some: Sequence[Run]) -> list[Case]:
    """Return the logit gained, given the run's samples: slopes remembered, or as they are now."""
    setting = some[0].setting
    gained = np.array([run.logit[-1, 0] - run.logit[0, 0] for run in some])
    cases = []
    for theory, kept in (("exact", True), ("rival", False)):
        predicted = np.array([_gained(run, kept) for run in some])
        quantity = f"logit gained in {setting.steps} steps"
        cases.append(together(_name(setting), quantity, theory, predicted, gained))
    return cases


def _gained(run: Run, kept: bool) -> float:
    curve, start = Curve.of_adam(run, kept=kept), float(run.logit[0, 0])
    passed = run.setting.pace * way(sampled_drift(run), run.setting.mu)
    return float(curve.logit(curve.arc(start) + passed)) - start


def _rest(run: Run) -> tuple[float, float]:
    """Return the measured and the predicted variance of the logit."""
    rest = rest_of(run.setting)
    kick = run.setting.pace * float(Curve.of_adam(run, kept=False).slope_at(rest.logit))
    late = run.logit[round(_BURN_IN * run.setting.steps) :, 0]
    predicted = at_rest(rest, kick=kick, mu=run.setting.mu)[1]
    return float(((late - rest.logit) ** 2).mean()), predicted


def _rests(resting: Sequence[Sequence[Run]]) -> list[Case]:
    found = [np.array([_rest(run) for run in some]).T for some in resting]
    cases = [
        together(f"at rest, G {some[0].setting.group_size}", _VARIANCE, "exact", *both[::-1])
        for some, both in zip(resting, found, strict=True)
    ]
    if len(found) < 2:
        return cases
    ends = [some[0].setting.group_size for some in (resting[0], resting[-1])]
    power = np.log(found[-1] / found[0]) / np.log(ends[1] / ends[0])
    name = f"at rest, G {ends[0]} to {ends[1]}"
    return [
        *cases,
        (name, _POWER, "exact", float(power[1].mean()), power[0] - power[1] + power[1].mean()),
        (name, _POWER, "source", -1.0, power[0]),
    ]


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    name = "transformer_adam"
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, runs, rows)))}


def _draw(runs: Sequence[Run], rows: Sequence[Row], axes: Axes) -> None:
    """Draw the variance at rest against the group size: Adam's law, and the plain gradient's."""
    some = [row for row in rows if row.quantity == _VARIANCE]
    sizes = np.array([int(row.case.rsplit(" ", 1)[1]) for row in some])
    measured: NDArray[np.float64] = np.array([row.measured for row in some])
    bars = np.array([[row.measured - row.low, row.high - row.measured] for row in some]).T
    axes.errorbar(sizes, measured, yerr=bars, fmt="o", color=COLOURS["blue"],
                  markerfacecolor="none", capsize=2.5, label="measured")  # fmt: skip
    axes.plot(sizes, [row.predicted for row in some], color=COLOURS["blue"],
              label="Adam, frozen second moment")  # fmt: skip
    axes.plot(sizes, some[0].predicted * sizes[0] / sizes, "--", color=COLOURS["orange"],
              label="1/G, the plain gradient's")  # fmt: skip
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes)
    plain_ticks(axes)
    axes.set_xlabel("group size G")
    axes.set_ylabel("variance of the logit at rest")
    axes.set_title("Adam: the variance at rest falls as 1/sqrt(G)")
    axes.legend(fontsize=7.6)


ADAM = Experiment(
    id=_EXPERIMENT,
    title="Adam: speed, memory, and rest",
    question="Which predictions for a plain gradient survive Adam, and what takes their place?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    series=("reward",),
    headline=f"at rest, G 16 to 256 / {_POWER} / exact",
)
