"""Which run a row belongs to, and which step it is of."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.store import Reading

__all__ = ["members", "number_rows", "told_apart"]

Floats = NDArray[np.float64]


def told_apart(reading: Reading, values: dict[str, Floats]) -> tuple[list[str], list[str]]:
    r"""Return the name of each row's run and notes on how it was found.

    Raises
    ------
    InvalidInput
        Every row is of a run of its own: a table of end points.
    """
    store = reading.store
    if any(store.labels):
        one = len(set(store.labels)) == 1
        return [""] * store.rows if one else _filled(store.labels), []
    steps = any(vocabulary.step_rank(name) is not None for name in values)
    for name, texts in store.texts.items():
        many = Counter(texts.values())
        if not steps and store.rows > 1 and len(many) >= 0.9 * store.rows:
            raise InvalidInput(
                f"refused as a curve: {store.rows} rows of {len(many)} different runs (column "
                f"{name!r}) and no step: these are end points of runs, not a curve of one"
            )
        if 1 < len(many) <= store.rows / 2:
            last = name.rpartition("/")[2]
            named = {text: f"{last} {text}" if text.isdecimal() else text for text in many}
            labels = _filled([named.get(texts.get(row, ""), "") for row in range(store.rows)])
            return labels, [f"{len(many)} runs told apart by the column {name!r}"]
    return [""] * store.rows, []


def number_rows(
    reading: Reading, values: dict[str, Floats], fate: NDArray[np.object_], labels: list[str]
) -> tuple[Floats, NDArray[np.bool_], str, list[str]]:
    r"""Return the step of each row, which are counted, the column used ("" if none), and notes.

    The column is the best that numbers nearly all reward rows. Evaluation rows without it take
    their own step column, or else the step of the row before. The training rows of a run
    without any step are counted.
    """
    reward = fate == "reward"
    ranked = sorted(
        (rank, name) for name in values
        if (rank := vocabulary.step_rank(name)) is not None and _moves(values[name], reward)
    )  # fmt: skip
    cover = {name: np.isfinite(values[name][reward]).mean() for _, name in ranked if reward.any()}
    if not any(cover.values()):
        step, note = _counted(reading, values, fate, labels)
        unusable = [
            f"the step column {name!r} " + (
                "stands still" if np.isfinite(values[name]).any()
                else "holds no number that can be a step"
            ) for name in values
            if vocabulary.step_rank(name) is not None and reading.store.present(name).any()
            and not _moves(values[name], reward)
        ]  # fmt: skip
        return step, np.ones(fate.size, dtype=bool), "", [*unusable, note]
    name = next(name for _, name in ranked if cover[name] >= 0.9 * max(cover.values()))
    step = values[name].copy()
    plain = next((values[n] for n in values if vocabulary.normal(n) == "step"), None)
    told = plain is not None and np.array_equal(plain[reward], step[reward], equal_nan=True)
    notes = [] if told else [f"steps are from the column {name!r}"]
    counted = np.zeros(fate.size, dtype=bool)
    for label, mine in members(labels):
        if not np.isfinite(step[mine][reward[mine]]).any():
            numbers, note = _counted(reading, values, fate, labels)
            step[mine] = numbers[mine]
            counted[mine] = True
            notes.append(f"of {label}, {note}")
    for row in np.flatnonzero(~np.isfinite(step) & (fate == "evaluation")):
        own = [
            column[row] for other, column in values.items()
            if vocabulary.is_evaluation(other) and np.isfinite(column[row])
            and vocabulary.step_rank(_bare(other)) is not None
        ]  # fmt: skip
        step[row] = own[0] if own else step[row - 1] if row else 0.0
    return step, counted, name, notes


def _moves(column: Floats, reward: NDArray[np.bool_]) -> bool:
    """Whether a column can number rows: one that is the same in all of them does not."""
    told = column[reward][np.isfinite(column[reward])]
    return bool(np.isfinite(column).any() and (told.size < 3 or np.ptp(told) > 0))


def members(labels: list[str]) -> list[tuple[str, NDArray[np.intp]]]:
    """Return each label with its rows, in the order of their first rows."""
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(labels):
        rows.setdefault(label, []).append(row)
    return [(label, np.array(mine)) for label, mine in rows.items()]


def _counted(
    reading: Reading, values: dict[str, Floats], fate: NDArray[np.object_], labels: list[str]
) -> tuple[Floats, str]:
    """Number the training rows 1, 2, 3, ..., each run for itself.

    The count starts anew where the epoch falls back to its first value, and after a summary
    unless the epoch goes on.
    """
    logged = reading.configuration.get("logging_steps")
    interval = float(logged) if isinstance(logged, int | float) and logged > 0 else 1.0
    training = np.isin(fate, ("reward", "reward is no number", "without reward"))
    step = np.zeros(fate.size)
    count: Counter[str] = Counter()
    epochs = next((c for n, c in values.items() if vocabulary.normal(n) == "epoch"), None)
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    ended: set[str] = set()
    for row, label in enumerate(labels):
        if fate[row] == "summary":
            ended.add(label)
        if training[row]:
            now = math.nan if epochs is None else float(epochs[row])
            before = last.get(label, math.nan)
            fell = now < before and now <= first[label]
            if reading.restarts and (fell or (label in ended and not now >= before)):
                count[label] = 0
            ended.discard(label)
            if not math.isnan(now):
                first.setdefault(label, now)
                last[label] = now
        count[label] += int(training[row])
        step[row] = count[label] * interval
    times = "" if interval == 1 else f", times the logging interval {interval:g}"
    return step, f"the log carries no step: rows are counted from 1{times}"


def _filled(labels: list[str]) -> list[str]:
    """Give a row without a label that of the row before, and the first ones that of the next."""
    last = next((label for label in labels if label), "")
    filled = []
    for label in labels:
        last = label or last
        filled.append(last)
    return filled


def _bare(name: str) -> str:
    return name.partition("/")[2] or name.partition("_")[2]
