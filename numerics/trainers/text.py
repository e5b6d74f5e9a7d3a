"""A table of lags for people and for machines."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from numerics.trainers.border import Border
from numerics.trainers.table import LagTable

__all__ = ["as_json", "render"]

_COLUMNS = 80
_NAME = 12
_MOST_STEPS = 8
_MOST_LAGS = 12


def as_json(table: LagTable, border: Border | None, x: Fraction | None = None) -> dict[str, Any]:
    """Return the table and its border, JSON-ready; `x` adds how much room is left."""
    return {
        "trainer": table.trainer,
        "settings": dict(table.settings),
        "defaults": list(table.defaults),
        "lags": [list(step) for step in table.lags],
        "weights": table.weights and [[float(part) for part in step] for step in table.weights],
        "mean": float(table.mean),
        "max": table.max,
        "lag_law": [float(share) for share in table.lag_law],
        "lag_model": table.lag_model,
        "ratio_is_one": table.ratio_is_one,
        "staleness": table.staleness,
        "updates_per_rollout": float(table.updates_per_rollout),
        "uses_per_completion": table.uses,
        "reward_rows": list(table.reward_rows),
        "max_samples": table.max_samples,
        "effects": [vars(effect) for effect in table.effects],
        "border": None if border is None else _border_json(border, x),
        "warnings": [vars(notice) for notice in table.notices],
    }


def render(table: LagTable, border: Border | None, x: Fraction | None = None) -> str:
    """Return the table and its border as lines of at most 80 columns."""
    settings = ", ".join(
        f"{name} {_shown(value)}" + (" (default)" if name in table.defaults else "")
        for name, value in table.settings.items()
    )
    lines = [_row(table.trainer, settings), "", *_steps(table), ""]
    lines += [_row("lag", f"mean {float(table.mean):g}, max {table.max}; {_law(table)}")]
    lines += [_row("schedule", _schedule(table))]
    lines += [_row("ratio", _ratio(table))]
    updates, uses = table.updates_per_rollout, table.uses
    lines += [_row(
        "updates", f"{updates} for each generation; every completion is used "
        + ("once" if uses == 1 else f"{uses} times"),
    )]  # fmt: skip
    if table.max_samples is not None:
        lines += [_row("queue", f"at most {table.max_samples} prompts, those in use included")]
    lines += [_row(effect.kind, f"{effect.setting}: {effect.text}") for effect in table.effects]
    if border is not None:
        lines += ["", *_border(border, x)]
    if table.notices:
        lines += ["", "What the settings do not mean:"]
        lines += [_bullet(f"{notice.setting}: {notice.text}") for notice in table.notices]
    return "\n".join(lines)


def _border_json(border: Border, x: Fraction | None) -> dict[str, Any]:
    if x is None:
        return dict(vars(border))
    margin = None if border.threshold is None else border.threshold / float(x)
    return {**vars(border), "x": float(x), "margin": margin}


def _steps(table: LagTable) -> list[str]:
    if table.drawn:
        return [_row("step", "lag of each micro-batch: drawn afresh at every step")]
    shown = table.lags if len(table.lags) <= _MOST_STEPS + 1 else table.lags[:_MOST_STEPS]
    lines = [_row("step", "lag of each micro-batch")]
    for step, lags in enumerate(shown):
        weights = table.weights[step] if table.weights else None
        lines.append(_row(str(step + 1), _lags(lags, weights)))
    if len(shown) < len(table.lags):
        lines.append(_row("...", f"{len(table.lags)} steps in all, to lag {table.max}"))
    return [*lines, _row("", "and so on from step 1")]


def _lags(lags: Sequence[int], weights: Sequence[Fraction] | None) -> str:
    if weights is not None and len(lags) > 1:
        return ", ".join(
            f"{lag} ({float(share):.3g})" for lag, share in zip(lags, weights, strict=True)
        )
    if len(lags) <= _MOST_LAGS:
        return " ".join(map(str, lags))
    runs = [(lag, sum(1 for _ in run)) for lag, run in groupby(lags)]
    written = " ".join(str(lag) if n == 1 else f"{lag}*{n}" for lag, n in runs[:_MOST_LAGS])
    return written + (" ..." if len(runs) > _MOST_LAGS else "")


def _law(table: LagTable) -> str:
    law = {lag: share for lag, share in enumerate(table.lag_law) if share}
    if len(law) == 1:
        return "always the same"
    if len(set(law.values())) == 1 and list(law) == list(range(table.max + 1)):
        return f"{'0, 1' if table.max == 1 else f'0 to {table.max}'} equally often"
    if len(law) > _MOST_LAGS:
        return f"{len(law)} different lags"
    return ", ".join(f"{lag} ({float(share):.3g})" for lag, share in law.items())


def _schedule(table: LagTable) -> str:
    mixed = any(len(law) > 1 for law in table.step_laws)
    return {
        "constant": f"constant lag {table.max}" + ("" if table.max else ": on-policy"),
        "sawtooth": f"sawtooth, refreshed every {table.max + 1} steps",
        "periodic": f"periodic, {len(table.lags)} steps"
        + ("; the micro-batches of a step differ" if mixed else ""),
        "random": "random: a law of lags, no order",
    }[table.lag_model]


def _ratio(table: LagTable) -> str:
    if table.max == 0:
        return "identically 1: clipping never fires"
    if table.importance_ratio is False:
        return "identically 1, although completions are stale: clipping never fires"
    if table.importance_ratio is None:
        return "not known"
    return "differs from 1 where the lag is not 0: clipping can fire"


def _border(border: Border, x: Fraction | None) -> list[str]:
    what = f"{border.optimizer}, momentum {border.momentum:g}, stale share {border.stale_share:g}"
    lines = [_row("optimizer", what)]
    lost = "the fluctuations grow" if border.lag_model == "random" else "the run is lost"
    safe = "the schedule is too long for it to be computed"
    if border.threshold is not None:
        safe = f"below {border.threshold:.6g}; at it {lost}"
    lines.append(_row("safe x", safe))
    lines.append(_row("without lag", f"below {border.on_policy:.6g}"))
    rule = "says nothing here" if border.rule is None else f"x below {border.rule:.6g}"
    lines.append(_row("prop-9", f"{rule} (the published rule, not sharp)"))
    if x is not None and border.threshold is not None:
        lines.append(_row("room", f"{border.threshold / float(x):.4g} times the given x"))
    lines.append(_row(
        "x is", "lr*K/(sqrt(v) + eps), v frozen; past it Adam gives bursts"
        if border.optimizer == "adam" else "eta*K, the stiffness per step",
    ))  # fmt: skip
    if border.stale_share == 1 and border.threshold != border.on_policy:
        lines.append(_row("stale share", "1 is equation (3)'s delayed gradient; a trainer that "
            "takes gradients at the current weights has another (see --stale-share)"))  # fmt: skip
    return lines


def _shown(value: object) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, list) else str(value)


def _row(name: str, text: str) -> str:
    return textwrap.fill(
        text, _COLUMNS, initial_indent=f"{name:<{_NAME}} ", subsequent_indent=" " * (_NAME + 1),
        break_on_hyphens=False,
    ).rstrip()  # fmt: skip


def _bullet(text: str) -> str:
    return textwrap.fill(
        text, _COLUMNS - 2, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )
