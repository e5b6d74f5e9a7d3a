"""The learning curve of one run of a log."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numerics.fit.series import Series, series
from numerics.inputs import InvalidInput, known_name
from numerics.logs import Column, Log, Run

__all__ = ["Curve", "curve_of_log"]


@dataclass(frozen=True, eq=False)
class Curve:
    """A series with the run and the column it was read from, and what was assumed."""

    series: Series
    run: Run
    column: Column
    notes: tuple[str, ...]


def curve_of_log(
    log: Log,
    *,
    run: str | None = None,
    column: str | None = None,
    group_size: int | None = None,
    prompts: float | None = None,
    bounds: tuple[float, float] | None = None,
    origin: float | None = None,
) -> Curve:
    """Return the learning curve of a run.

    Parameters
    ----------
    log
        As `numerics.logs.read_log` returns it.
    run
        Which run, needed where the log holds several with rewards.
    column
        Which reward column, by the log's name; the total training reward by default.
    group_size, prompts, bounds, origin
        As in `series`. G and prompts are taken from the log where it tells them; bounds, where G
        and prompts are known and all rewards lie from 0 to 1, are 0 and 1, and a note says so.

    Raises
    ------
    InvalidInput
        No such run or column, several runs and none named, or what `series` refuses.
    """
    chosen = _run(log, run)
    where = _column(chosen, column)
    step, value = chosen.series(where.quantity, where.name)
    notes = []
    told = log.configuration
    if group_size is None and _whole(told.get("group_size")):
        group_size = int(str(told["group_size"]))
        notes.append(f"group size {group_size}: told by the log")
    if prompts is None and _whole(told.get("prompts_per_step")):
        prompts = float(str(told["prompts_per_step"]))
        notes.append(f"{prompts:g} prompts per step: told by the log")
    inside = bool(value.size and value.min() >= 0 and value.max() <= 1)
    if bounds is None and group_size is not None and prompts is not None and inside:
        bounds = (0.0, 1.0)
        notes.append("rewards lie from 0 to 1: taken for success rates (bounds say otherwise)")
    averaged = 1
    if chosen.averaged and step.size > 1:
        averaged = max(1, round(float(np.median(np.diff(step)))))
        notes.append(f"a row is the mean of {averaged} steps; its time is the middle of them")
    if step.size > 1 and step[0] - averaged > 10 * np.median(np.diff(step)) and origin is None:
        notes.append(
            f"the log starts at step {step[0]:g}: curves from rest are taken to start there "
            "(an origin says otherwise)"
        )
    given = series(
        step, value, group_size=group_size, prompts=prompts, bounds=bounds, origin=origin,
        averaged_over=averaged,
    )  # fmt: skip
    return Curve(given, chosen, where, tuple(notes))


def _run(log: Log, name: str | None) -> Run:
    if name is not None:
        if name and not any(run.name for run in log.runs):
            raise InvalidInput(f"run {name!r} is unknown: the log's one run has no name, name none")
        known_name("run", name, [run.name for run in log.runs])
        return next(run for run in log.runs if run.name == name)
    with_rewards = [run for run in log.runs if run.has("reward")]
    if len(with_rewards) > 1:
        names = ", ".join(run.name for run in with_rewards[:8])
        more = len(with_rewards) - 8
        raise InvalidInput(
            f"the log holds {len(with_rewards)} runs: name one of {names}"
            + (f" and {more} more" if more > 0 else "")
        )
    if not with_rewards and not log.runs:
        raise InvalidInput("the log holds no training rows")
    return with_rewards[0] if with_rewards else log.runs[0]


def _column(run: Run, name: str | None) -> Column:
    if name is None:
        return run.column("reward")
    for column in run.columns:
        if column.name == name:
            return run.column(column.quantity, name)
    known_name("column", name, [column.name for column in run.columns])
    raise AssertionError("known_name refuses what is not a column")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
