"""What the columns of one log mean, by their names, their trainer, its version and the numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from numerics.inputs import InvalidInput
from numerics.logs import vocabulary
from numerics.logs.store import Reading
from numerics.logs.table import Column

__all__ = ["Meant", "settings", "understand", "unite"]

Values = dict[str, NDArray[np.float64]]
_REWARDS = ("reward", "true_reward", "reward_component")
#: Of these a log has several columns at once, which are different things.
_MANY = ("reward_component", "true_reward", "time", "other")


@dataclass(frozen=True)
class Meant:
    """The columns of a log, most total first within a quantity, and what was concluded."""

    trainer: str
    version: str
    training: tuple[Column, ...]
    evaluation: tuple[Column, ...]
    refused: tuple[str, ...]
    #: Columns without a number in them.
    empty: tuple[str, ...]

    def names(self, quantity: str) -> list[str]:
        """Names of the training columns of one quantity."""
        return [column.name for column in self.training if column.quantity == quantity]


def understand(reading: Reading, values: Values) -> Meant:
    r"""Say what each column means.

    Raises
    ------
    InvalidInput
        There is no reward in the log, or none that is a curve.
    """
    trainer = reading.trainer or vocabulary.trainer_of(values)
    since, before = vocabulary.version_of(trainer, values, reading.version_hints)
    when, version = _reward_std(trainer, since, before, values)
    empty = tuple(name for name, column in values.items() if not np.isfinite(column).any())
    ranked: list[tuple[int, Column]] = []
    refused: list[str] = []
    everywhere = _filtering(reading, values)
    for name in values:
        if name in empty or vocabulary.is_evaluation(name):
            continue
        found = vocabulary.find(name, trainer, when)
        column = Column(name, found.quantity, found.meaning)
        why = vocabulary.filtered_because(name)
        if why is None and found.quantity in _REWARDS:
            why = everywhere
        if why is not None:
            refused.append(f"{name} as a reward curve: {why}")
            column = Column(name, "other", f"refused as a reward curve: {why}")
        ranked.append((found.rank, column))
    training = [column for _, column in sorted(ranked, key=lambda pair: pair[0])]
    training = _promoted(training)
    if not any(column.quantity == "reward" for column in training):
        raise InvalidInput(_no_reward(training, refused, values))
    tested = [
        (found.rank, Column(name, found.quantity, found.meaning))
        for name in values if name not in empty
        for found in [vocabulary.find_evaluation(name, trainer)]
    ]
    return Meant(
        trainer=trainer,
        version=version,
        training=tuple(training),
        evaluation=tuple(column for _, column in sorted(tested, key=lambda pair: pair[0])),
        refused=tuple(refused),
        empty=empty,
    )


def unite(reading: Reading, values: Values) -> list[str]:
    r"""Bring a quantity that changes its spelling on the way into one column, and add ratios.

    A log whose trainer was updated between two parts of a run has one name in the rows before and
    another after. Two columns are one if `names.toml` has them in one row and no row of the log
    has both. Returns notes.
    """
    notes = []
    trainer = reading.trainer or vocabulary.trainer_of(values)
    first: dict[int, str] = {}
    for name in list(values):
        found = vocabulary.find(name, trainer)
        if vocabulary.is_evaluation(name) or found.quantity in _MANY:
            continue
        if not np.isfinite(values[name]).any():
            continue
        held = first.setdefault(found.rank, name)
        apart = np.isnan(values[held]) | np.isnan(values[name])
        if held != name and bool(apart.all()):
            there = np.isfinite(values[name])
            values[held][there] = values.pop(name)[there]
            notes.append(f"{name!r} goes on where {held!r} ends: read as one column")
    spellings = {vocabulary.normal(name): name for name in values}
    for top, bottom in vocabulary.ratios():
        if top in spellings and bottom in spellings:
            over, under = spellings[top], spellings[bottom]
            with np.errstate(divide="ignore", invalid="ignore"):
                values[f"{over} / {under}"] = values[over] / values[under]
    return notes


def settings(values: Values) -> dict[str, object]:
    """Return what columns that never change tell of the configuration."""
    found: dict[str, object] = {}
    for name, column in values.items():
        setting = vocabulary.setting(name)
        levels = np.unique(column[np.isfinite(column)])
        if setting and levels.size == 1:
            found[setting] = int(levels[0]) if levels[0].is_integer() else float(levels[0])
    return found


def _promoted(columns: list[Column]) -> list[Column]:
    """Let the only reward of a log be its total reward."""
    if any(column.quantity == "reward" for column in columns):
        return columns
    for quantity in ("true_reward", "reward_component"):
        alike = [column for column in columns if column.quantity == quantity]
        if len(alike) == 1 or (alike and quantity == "true_reward"):
            total = replace(
                alike[0], quantity="reward",
                meaning=f"{alike[0].meaning}; the log has no total reward, so it stands for it",
            )  # fmt: skip
            return [total, *(column for column in columns if column is not alike[0])]
    return columns


def _no_reward(columns: list[Column], refused: list[str], values: Values) -> str:
    if refused:
        return f"refused: {refused[0]}"
    for name, column in values.items():
        if vocabulary.find(name, "").quantity == "reward" and not np.isfinite(column).any():
            return f"the reward column {name!r} holds no number in any of its {column.size} rows"
    known = {column.quantity for column in columns}
    names = ", ".join(list(values)[:8]) + (", ..." if len(values) > 8 else "")
    if "reward_component" in known:
        parts = ", ".join(c.name for c in columns if c.quantity == "reward_component")
        return f"no total reward, only parts of it ({parts}): their weights are not in the log"
    if "loss" in known:
        return (
            "a loss but no reward: the loss of GRPO is not a reward and tells no learning curve; "
            f"it has {names}"
        )
    return f"no reward; the log has {names or 'no column'}"


def _filtering(reading: Reading, values: Values) -> str | None:
    if reading.configuration.get("filter_groups") is True:
        return (
            "algorithm.filter_groups.enable is True: the reward is that of the kept groups, about "
            "0.5 whatever the policy's success is"
        )
    for name, column in values.items():
        finite = column[np.isfinite(column)]
        if finite.size and (why := vocabulary.filtering_because(name, float(finite.max()))):
            return why
    return None


def _reward_std(trainer: str, since: str, before: str, values: Values) -> tuple[str, str]:
    r"""Return which meaning trl's `reward_std` has, and the version in words.

    The keys settle it outside 0.18 to 0.26; between, the numbers may: a step whose groups are all
    dead has mean group std 0, and with one reward function the std over all of its rewards is
    logged too (`rewards/f/std`).
    """
    version = _in_words(trainer, since, before)
    if trainer != "trl":
        return "unknown", version
    if before and vocabulary.release(before) <= (0, 27):
        return "group", version
    if since and vocabulary.release(since) >= (0, 27):
        return "global", version
    by_name = {vocabulary.normal(name): column for name, column in values.items()}
    std = by_name.get("reward_std")
    if std is None:
        return "unknown", version
    late = f"{version}; reward_std shows 0.27 or later, or scale_rewards 'batch'"
    dead = by_name.get("frac_reward_zero_std", np.zeros(0))
    if dead.size and np.any((dead >= 1 - 1e-9) & (std > 1e-6)):
        return "global", late
    of_functions = [
        column for name, column in by_name.items()
        if name.startswith("rewards/") and name.endswith("/std")
    ]  # fmt: skip
    both = np.isfinite(std) & np.isfinite(of_functions[0]) if len(of_functions) == 1 else None
    if both is None or both.sum() < 5 or not np.any(std[both] > 0):
        return "unknown", version
    # Printed logs have four digits; two definitions differ by more.
    if np.allclose(std[both], of_functions[0][both], rtol=2e-3, atol=1e-6):
        return "global", late
    return "group", f"{version}; reward_std shows before 0.27"


def _in_words(trainer: str, since: str, before: str) -> str:
    if not trainer:
        return "unknown"
    if since and before:
        told = f"{since} or later, before {before}"
    else:
        told = f"{since} or later" if since else f"before {before}" if before else ""
    return f"{trainer}, version unknown" if not told else f"{trainer} {told}"
