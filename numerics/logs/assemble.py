"""From rows to a `Log`: every row gets one fate, and the training rows become runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.meaning import Meant, settings, understand, unite
from numerics.logs.order import Ordered, missing, ordered, spacing
from numerics.logs.stepping import members, number_rows, told_apart
from numerics.logs.store import Reading
from numerics.logs.table import Column, Gap, Log, Run

__all__ = ["assemble"]

Floats = NDArray[np.float64]
_TRAINING = ("reward", "reward is no number", "without reward")
#: These log each step by itself, so that a row is never a mean over several.
_STEP_BY_STEP = ("verl", "tinker", "openrlhf", "nemo-rl")


@dataclass
class _Table:
    """What is known while the rows are sorted out; `fate` is what became of each."""

    reading: Reading
    values: dict[str, Floats]
    meant: Meant
    fate: NDArray[np.object_]
    tested: NDArray[np.bool_]
    step: Floats
    counted: NDArray[np.bool_]


def assemble(path: Path, reading: Reading) -> Log:
    r"""Make the log of what the reader of a format found.

    Raises
    ------
    InvalidInput
        No row, no reward, a reward that is no curve, or end points only; the message says which.
    """
    store = reading.store
    if not store.rows:
        raise InvalidInput("no row with a number in it; nothing to read")
    store.check_size()
    values = {name: store.dense(name) for name in store.names}
    labels, label_notes = told_apart(reading, values)
    united = unite(reading, values)
    meant = understand(reading, values)
    reading.configuration |= settings(values)
    fate, tested = _fates(reading, values, meant)
    step, counted, step_name, step_notes = number_rows(reading, values, fate, labels)
    values.pop(step_name, None)
    fate[~np.isfinite(step) & (fate != "summary")] = "without step"
    table = _Table(reading, values, meant, fate, tested, step, counted)
    runs: list[Run] = []
    evaluations: list[Run] = []
    for label, mine in members(labels):
        for name, training, evaluation in _starts(table, label, mine):
            run = _run(table, name, training, evaluation=False)
            if run.has("reward"):
                runs.append(run)
            if evaluation.size:
                evaluations.append(_run(table, name, evaluation, evaluation=True))
    if not runs:
        counts = ", ".join(f"{count} {kind}" for kind, count in Counter(fate.tolist()).items())
        raise InvalidInput(f"no training row has both a reward and a step (rows: {counts})")
    fates = Counter(fate.tolist())
    if reading.unread:
        fates["refused"] += reading.unread
    notes = _notes(reading, meant, fates, runs)
    return Log(
        path=str(path),
        format=reading.format,
        version=meant.version,
        runs=tuple(runs),
        evaluations=tuple(evaluations),
        rows=dict(fates),
        gaps=tuple(Gap(run.name, *skipped) for run in runs for skipped in missing(run.step)),
        refused=(*reading.refused, *meant.refused),
        notes=(*reading.notes, *label_notes, *united, *step_notes, *notes),
        configuration=dict(reading.configuration),
    )


def _fates(
    reading: Reading, values: dict[str, Floats], meant: Meant
) -> tuple[NDArray[np.object_], NDArray[np.bool_]]:
    """Return what each row is, and which rows hold a number of held-out prompts."""
    rows = reading.store.rows

    def any_of(names: list[str], *, finite: bool) -> NDArray[np.bool_]:
        masks = [
            np.isfinite(values[name]) if finite else reading.store.present(name) for name in names
        ]
        return np.any(masks, axis=0) if masks else np.zeros(rows, dtype=bool)

    rewards = meant.names("reward")
    reward = any_of(rewards, finite=True)
    tested = any_of([name for name in values if vocabulary.is_evaluation(name)], finite=True)
    marked = any_of([n for n in values if vocabulary.marks_evaluation(n)], finite=False)
    summary = any_of([n for n in values if vocabulary.summarises(n)], finite=False)
    fate = np.full(rows, "without reward", dtype=object)
    for mask, name in (
        (any_of(rewards, finite=False), "reward is no number"),
        (summary, "summary"),
        (tested, "evaluation"),
        (reward, "reward"),
        (marked, "evaluation"),
    ):
        fate[mask] = name
    return fate, tested | marked


def _starts(
    table: _Table, label: str, mine: NDArray[np.intp]
) -> list[tuple[str, NDArray[np.intp], NDArray[np.intp]]]:
    """Return of each start of training: name, its training rows, its evaluation rows."""
    reading = table.reading
    training = mine[np.isin(table.fate[mine], _TRAINING)]
    evaluation = mine[table.tested[mine] & np.isfinite(table.step[mine])]
    starts = _in_order(table, training, restarts=reading.restarts, record=True)
    starts = [start for start in starts if start.size]
    bounds = [*(start.min() for start in starts[1:]), table.step.size]
    found = []
    before = -1
    for number, (start, bound) in enumerate(zip(starts, bounds, strict=False), 1):
        part = evaluation[(evaluation > before) & (evaluation < bound)]
        # A row that was set aside as training is no evaluation either.
        part = part[np.isin(table.fate[part], ("evaluation", "reward"))]
        [tests] = _in_order(table, part, restarts=False, record=False)
        named = f"start {number}" if len(starts) > 1 else ""
        found.append((" ".join(filter(None, (label, named))), start, tests))
        before = bound - 1
    return found


def _in_order(
    table: _Table, rows: NDArray[np.intp], *, restarts: bool, record: bool
) -> list[NDArray[np.intp]]:
    """Bring rows to increasing step, one array of them a start; note what was set aside."""
    step = table.step[rows]
    if np.any(np.diff(step) <= 0) and np.unique(step).size == step.size:
        order = np.argsort(step)  # no step twice: only the order of the file is another
        return [rows[order]]
    # A summary between two rows ends a training.
    summaries = np.cumsum(table.fate == "summary")[rows]
    starts: list[Ordered] = ordered(
        step, partial(_alike, table, rows), keeps=table.reading.keeps, restarts=restarts,
        ended=np.diff(summaries, prepend=summaries[:1]) > 0,
    )  # fmt: skip
    for start in starts:
        for held, more in start.merged:
            for column in table.values.values():
                if np.isnan(column[rows[held]]):
                    column[rows[held]] = column[rows[more]]
            if table.fate[rows[more]] == "reward":
                table.fate[rows[held]] = "reward"
            table.fate[rows[more]] = "merged"
        if record:
            table.fate[rows[start.duplicate]] = "duplicate"
            table.fate[rows[start.superseded]] = "superseded"
    return [rows[start.rows] for start in starts]


def _alike(table: _Table, rows: NDArray[np.intp], one: int, other: int) -> str:
    """Compare two rows of one step; when they were written does not count."""
    more = False
    for column in table.meant.training:
        if column.quantity == "time" or column.name not in table.values:
            continue
        first, second = table.values[column.name][rows[[one, other]]]
        if np.isnan(second):
            continue
        if np.isnan(first):
            more = True
        elif first != second:
            return "different"
    return "complement" if more else "equal"


def _run(table: _Table, name: str, rows: NDArray[np.intp], *, evaluation: bool) -> Run:
    """Make the run of some rows; columns that hold no number there are left out."""
    meant = table.meant.evaluation if evaluation else table.meant.training
    columns: list[Column] = []
    values: dict[str, Floats] = {}
    for column in meant:
        if column.name not in table.values:
            continue
        mine = table.values[column.name][rows]
        if evaluation and not vocabulary.is_evaluation(column.name):
            # In a row that is both, a column without the prefix is of training.
            mine = np.where(table.fate[rows] == "evaluation", mine, np.nan)
        if np.isfinite(mine).any():
            columns.append(column)
            values[column.name] = mine
    step = table.step[rows]
    source = "counted" if table.counted[rows].any() else table.reading.step_source
    main = "eval_reward" if evaluation else "reward"
    with_reward = np.zeros(rows.size, dtype=bool)
    for column in columns:
        if column.quantity == main:
            with_reward |= np.isfinite(values[column.name])
    return Run(
        name=name,
        step=step,
        step_source=source,
        columns=tuple(columns),
        values=values,
        spacing=spacing(step[with_reward]),
        averaged=False if evaluation else _averaged(table, step, source),
    )


def _averaged(table: _Table, step: Floats, source: str) -> bool | None:
    """Say whether a row is a mean over several steps, as far as the log tells."""
    between = spacing(step)
    if between is None or source == "counted":
        return None
    if between <= 1 or table.meant.trainer in _STEP_BY_STEP:
        return False
    return True if table.meant.trainer == "trl" else None


def _notes(reading: Reading, meant: Meant, fates: Counter[str], runs: list[Run]) -> list[str]:
    notes = []
    if fates["superseded"]:
        notes.append(
            f"{fates['superseded']} rows superseded: of rows of one step the {reading.keeps} "
            f"counts, for {reading.keeps_because}"
        )
    if len(runs) > 1 and any("start " in run.name for run in runs):
        notes.append("the step falls back to the start: what follows is another run")
    if any(run.spacing is None and run.step.size > 2 for run in runs):
        notes.append(
            "the reward rows are not equally spaced: a sampled or thinned log is no basis for "
            "verdicts on oscillation"
        )
    empty = [name for name in meant.empty if name not in reading.store.texts]
    if empty:
        shown = ", ".join(empty[:6]) + (", ..." if len(empty) > 6 else "")
        notes.append(f"columns without a number: {shown}")
    return notes
