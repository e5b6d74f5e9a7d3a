r"""E3: where a run under a KL term comes to rest depends on the KL estimator and the group size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.anchored import Anchor, infinite_groups
from numerics.experiments.transformer.theory.scalar import mean_path
from numerics.experiments.transformer.theory.stationary import held
from numerics.plots import COLOURS, panel, plain_ticks, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIXED_POINT"]

_EXPERIMENT = "E3"
_REST, _PATH = "success at rest", "logit at the end"
_KLS = {"reverse": "k3 times the ratio", "k3": "k3 in the loss"}


def _settings(plan: Plan) -> list[Setting]:
    return [
        one
        for case, seed in product([*plan["rests"], *plan["paths"]], range(plan["seeds"]))
        for one in _case(plan, case, seed)
    ]


def _case(plan: Plan, case: Plan, seed: int) -> list[Setting]:
    start = {"p_start": case["p_start"], "measures": ("gain-wide",)} if "p_start" in case else {}
    found = []
    for kl in case.get("kls", plan["kls"]):
        anchor = Anchor(case.get("group_size", plan["group_size"]), case["beta"], kl, case["p_ref"])
        pace = case.get("pace", plan["x"] / anchor.rests[0].stiffness)
        found.append(Setting(
            answers=case.get("answers", 2), policy_seed=seed, seed=seed, p_ref=anchor.p_ref,
            pace=float(f"{pace:.4g}"), group_size=anchor.group_size, beta=anchor.beta, kl=kl,
            steps=case.get("steps", plan["steps"]), **start,
        ))  # fmt: skip
    return found


def _name(run: Run) -> str:
    setting, anchor = run.setting, held(run.setting)
    more = f", from {setting.p_start}" if setting.p_start else ""
    more += f", {setting.answers} answers" if setting.answers > 2 else ""
    return f"{anchor.kl}, p_ref {anchor.p_ref}, beta {anchor.beta}, G {anchor.group_size}{more}"


def _rests(some: Sequence[Run]) -> list[tuple[str, str, str, float, list[float]]]:
    """Return the rows of runs that go from their reference to rest."""
    anchor = held(some[0].setting)
    # Half of the run is for getting there, and half for being there.
    measured = [float(run.p[run.setting.steps // 2 :, 0].mean()) for run in some]
    reverse = Anchor(anchor.group_size, anchor.beta, "reverse", anchor.p_ref)
    theories = {
        "exact": anchor.rests[0].p,
        "source": infinite_groups(beta=anchor.beta, kl=anchor.kl, p_ref=anchor.p_ref),
    }
    if anchor.kl == "k3":
        # That it does not matter whether the ratio is on.
        theories["rival"] = reverse.rests[0].p
    return [(_name(some[0]), _REST, theory, p, measured) for theory, p in theories.items()]


def _paths(some: Sequence[Run]) -> list[tuple[str, str, str, float, list[float]]]:
    """Return the rows of runs that measured their gain: the end of their way."""
    anchor = held(some[0].setting)
    rows = []
    for theory, force in (("exact", anchor.drift), ("source", _infinite(anchor))):
        predicted = np.array([mean_path(run, force)[-1] for run in some])
        # Each seed is another network, with a prediction of its own: what they share is the excess.
        middle = float(predicted.mean())
        excess = np.array([run.logit[-1, 0] for run in some]) - predicted
        rows.append((_name(some[0]), _PATH, theory, middle, (middle + excess).tolist()))
    return rows


def _infinite(anchor: Anchor) -> Callable[[float], float]:
    """Return the drift of infinite groups under the reverse KL."""
    reference = np.log(anchor.p_ref / (1 - anchor.p_ref))

    def drift(logit: float) -> float:
        spread = 1 / (2 + 2 * np.cosh(logit))
        return float(np.sqrt(spread) - anchor.beta * spread * (logit - reference))

    return drift


def _rows(runs: Sequence[Run]) -> list[Row]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        found.setdefault(_name(run), []).append(run)
    rows = [
        row
        for some in found.values()
        for row in (_paths if some[0].setting.measures else _rests)(some)
    ]
    return compare(_EXPERIMENT, rows)


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    name = "transformer_fixed_point"
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, runs, rows)))}


def _draw(runs: Sequence[Run], rows: Sequence[Row], axes: Axes) -> None:
    measured = {row.case: row for row in rows if row.quantity == _REST and row.theory == "exact"}
    seen = {_name(run): held(run.setting) for run in runs if run.setting.answers == 2}
    for (kl, label), colour in zip(_KLS.items(), ("blue", "orange"), strict=True):
        points = [(a, measured[n]) for n, a in seen.items() if a.kl == kl and n in measured]
        for p_ref in sorted({anchor.p_ref for anchor, _ in points}):
            some = [anchor for anchor, _ in points if anchor.p_ref == p_ref]
            betas = np.geomspace(
                0.9 * min(a.beta for a in some), 1.1 * max(a.beta for a in some), 121
            )
            group = some[0].group_size
            finite = [Anchor(group, beta, kl, p_ref).rests[0].p for beta in betas]
            axes.plot(betas, finite, "-", color=COLOURS[colour])
            limit = [infinite_groups(beta=beta, kl=kl, p_ref=p_ref) for beta in betas]
            axes.plot(betas, limit, "--", color=COLOURS[colour], linewidth=1.0)
            if kl == "k3":
                axes.annotate(
                    f"p_ref {p_ref:g}", (betas[-1], finite[-1]), xytext=(4, 0),
                    textcoords="offset points", va="center", fontsize=7.6,
                )  # fmt: skip
        axes.errorbar(
            [anchor.beta for anchor, _ in points], [row.measured for _, row in points],
            yerr=np.transpose([(r.measured - r.low, r.high - r.measured) for _, r in points]),
            fmt="o", color=COLOURS[colour], markerfacecolor="none", capsize=2.5, label=label,
        )  # fmt: skip
    axes.plot([], [], "-", color=COLOURS["faint"], label="finite groups")
    axes.plot([], [], "--", color=COLOURS["faint"], linewidth=1.0, label="infinite groups")
    axes.set_xscale("log")
    axes.set_xticks([0.8, 1, 1.5, 2, 3, 4])
    plain_ticks(axes)
    axes.set_xlim(None, 1.4 * max(anchor.beta for anchor in seen.values()))
    axes.set_ylim(None, 1.02)
    axes.set_xlabel("KL weight beta")
    axes.set_ylabel("success probability at rest")
    axes.set_title("where a transformer comes to rest under a KL term")
    axes.legend(fontsize=7.6)


FIXED_POINT = Experiment(
    id=_EXPERIMENT,
    title="fixed point under a KL term",
    question="Does a run rest where the estimator of its KL term and its group size say?",
    settings=_settings,
    rows=_rows,
    figures=_figures,
    headline="k3, p_ref 0.5, beta 1.6, G 16 / success at rest / exact",
)
