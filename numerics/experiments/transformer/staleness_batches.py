r"""E5-clip and E5-reuse: what clipping does past the border, and a batch that is used again.

Both are about the trainer's own staleness, old samples with the ratio. Linear theory ends where the
clip begins; the predictions are averages over scalar runs of the trainer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from numerics.experiments.transformer.comparison import Row, compare
from numerics.experiments.transformer.experiment import Experiment, Plan
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.theory.anchored import Anchor, weight_for
from numerics.experiments.transformer.theory.cycles import period
from numerics.experiments.transformer.theory.scalar_trainer import scalar_runs
from numerics.plots import COLOURS, panel, plain_ticks, standing_alone

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CLIP", "REUSE"]

FloatArray = NDArray[np.float64]
Statistic = Callable[[FloatArray], FloatArray]

_CHAINS = 24
_SETTLED = 5  # samplings until a run has forgotten where it began


def _setting(plan: Plan, seed: int, *, group_size: int, **own: Any) -> Setting:
    p_star, p_ref = plan["p_star"], plan["p_ref"]
    beta = weight_for(p_star, group_size=group_size, kl="reverse", p_ref=p_ref)
    rest = float(np.log(p_star / (1 - p_star)))
    stiffness = Anchor(group_size, beta, "reverse", p_ref).rest(rest).stiffness
    return Setting(
        policy_seed=seed, seed=seed, p_ref=p_ref, p_start=p_star, beta=float(f"{beta:.6g}"),
        pace=float(f"{plan['x'] / stiffness:.4g}"), group_size=group_size, **own,
    )  # fmt: skip


def _measured_once(settings: list[Setting]) -> list[Setting]:
    """Have the gain along the way measured in the first run of each network; all share it."""
    seen: set[int] = set()
    found = []
    for setting in settings:
        first = setting.policy_seed not in seen
        seen.add(setting.policy_seed)
        found.append(replace(setting, measures=("gain-along",)) if first else setting)
    return found


def _clip_settings(plan: Plan) -> list[Setting]:
    return _measured_once([
        _setting(
            plan, seed, group_size=plan["group_size"], refresh=refresh, clip=clip,
            steps=refresh * plan["samplings"],
        )
        for refresh, clip, seed in product(
            plan["refreshes"], (float("inf"), plan["clip"]), range(plan["seeds"])
        )
    ])  # fmt: skip


def _reuse_settings(plan: Plan) -> list[Setting]:
    steps = plan["refresh"] * plan["samplings"]
    uses: tuple[dict[str, Any], ...] = (
        {"refresh": plan["refresh"]},
        {"refresh": 1, "trl": (("num_iterations", plan["refresh"]),)},
    )
    return _measured_once([
        _setting(plan, seed, group_size=size, steps=steps, **use)
        for size, use, seed in product(plan["group_sizes"], uses, range(plan["seeds"]))
    ])


def _swing(logits: FloatArray) -> FloatArray:
    """Return half the root mean square of the change from one sampling to the next, a run a row."""
    return np.asarray(np.sqrt(np.mean(np.diff(logits) ** 2, axis=-1)) / 2)


def _spread(logits: FloatArray) -> FloatArray:
    """Return the standard deviation at the samplings."""
    return np.asarray(logits.std(axis=-1))


def _multiplier(logits: FloatArray) -> FloatArray:
    """Return the regression of a sampling's deviation on that of the one before."""
    away = logits - logits.mean(-1, keepdims=True)
    return np.asarray((away[:, 1:] * away[:, :-1]).sum(-1) / (away[:, :-1] ** 2).sum(-1))


def _clip_case(run: Run) -> str:
    clip = run.setting.clip
    return f"refresh {period(run)}, {'no clip' if np.isinf(clip) else f'clip {clip}'}"


def _reuse_case(run: Run) -> str:
    used = "fresh samples" if run.setting.refresh == period(run) else "one batch"
    return f"G {run.setting.group_size}, {used}"


def _rows(
    runs: Sequence[Run], *, experiment: str, case: Callable[[Run], str],
    statistics: dict[str, Statistic],
) -> list[Row]:  # fmt: skip
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(case(run), []).append(run)
    ways = {run.setting.policy_seed: run.facts for run in runs if "gain_along" in run.facts}
    said = {name: _predicted(some, ways, statistics.values()) for name, some in groups.items()}
    compared = []
    for name, some in groups.items():
        measured = _measured([run.logit.T for run in some], some, statistics.values())
        theories = {"exact": said[name]}
        if name.endswith("one batch"):  # that only the lag matters, and not the batch
            theories["rival"] = said[name.replace("one batch", "fresh samples")]
        for (place, quantity), (theory, values) in product(enumerate(statistics), theories.items()):
            middle = float(values[place].mean())
            off = measured[place] - values[place]
            compared.append((name, quantity, theory, middle, middle + off))
    return compare(experiment, compared)


def _predicted(
    some: Sequence[Run], ways: Mapping[int, Mapping[str, Any]], statistics: Iterable[Statistic]
) -> FloatArray:
    """Return the average of each statistic over scalar runs, (statistics, runs)."""
    paths = [
        scalar_runs(
            run, gain_at=np.array(way["gain_at"]), gain=np.array(way["gain_along"]), chains=_CHAINS
        )
        for run in some
        for way in (ways[run.setting.policy_seed],)
    ]
    return _measured(paths, some, statistics)


def _measured(
    paths: Sequence[FloatArray], some: Sequence[Run], statistics: Iterable[Statistic]
) -> FloatArray:
    """Return each statistic of the logits at the samplings, (statistics, runs)."""
    settled = [
        path[:, :: period(run)][:, _SETTLED:] for path, run in zip(paths, some, strict=True)
    ]
    return np.array([[statistic(one).mean() for one in settled] for statistic in statistics])


def _figures(runs: Sequence[Run], rows: Sequence[Row]) -> dict[str, str]:
    name = "transformer_clip"
    return {f"{name}.svg": standing_alone(panel(name, partial(_draw, rows)))}


def _draw(rows: Sequence[Row], axes: Axes) -> None:
    for ending, colour in (("no clip", "orange"), ("clip 0.2", "blue")):
        some = [row for row in rows if row.case.endswith(f", {ending}")]
        at = [int(row.case.split()[1].rstrip(",")) for row in some]
        axes.plot(at, [row.predicted for row in some], color=COLOURS[colour], label=ending)
        axes.errorbar(
            at, [row.measured for row in some],
            yerr=[[r.measured - r.low for r in some], [r.high - r.measured for r in some]],
            fmt="o", color=COLOURS[colour], markerfacecolor="none", capsize=2.5,
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_yticks([0.05, 0.1, 0.2, 0.5, 1, 2])
    plain_ticks(axes)
    axes.set_xlabel("steps between two samplings of the policy")
    axes.set_ylabel("swing of the logit")
    axes.set_title("past the border, the clip holds the swing")
    axes.legend()


CLIP = Experiment(
    id="E5-clip",
    title="past the border, with the clip and without",
    question="What does the clip range do to a run whose refresh interval is too long?",
    settings=_clip_settings,
    rows=partial(
        _rows, experiment="E5-clip", case=_clip_case, statistics={"swing of the logit": _swing}
    ),
    figures=_figures,
    headline="refresh 20, clip 0.2 / swing of the logit / exact",
)

REUSE = Experiment(
    id="E5-reuse",
    title="one batch used again, against fresh samples of the same old policy",
    question="Of what a re-used batch does, how much is lag and how much is over-fitting it?",
    settings=_reuse_settings,
    rows=partial(
        _rows, experiment="E5-reuse", case=_reuse_case,
        statistics={"multiplier": _multiplier, "spread of the logit": _spread},
    ),
    figures=lambda runs, rows: {},
    headline="G 16, one batch / spread of the logit / exact",
)  # fmt: skip
