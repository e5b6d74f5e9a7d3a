"""Key names to quantities, as `names.toml` has them; trainers and versions by the keys they log."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = [
    "Name",
    "filtered_because",
    "filtering_because",
    "find",
    "find_evaluation",
    "is_evaluation",
    "marks_evaluation",
    "message_versions",
    "normal",
    "ratios",
    "release",
    "setting",
    "step_rank",
    "summarises",
    "trainer_of",
    "version_of",
]

_SPACED_SLASH = re.compile(r"\s*/\s*")
_SPACES = re.compile(r"[\s-]+")


@dataclass(frozen=True)
class Name:
    """What a column's name means: quantity, meaning, and its rank among those of a quantity."""

    quantity: str
    meaning: str
    rank: int


def normal(name: str) -> str:
    """Return the spelling that names are compared in."""
    name = _SPACES.sub("_", _SPACED_SLASH.sub("/", name.strip().lower()))
    return _pattern(_table()["dropped_prefix"]).sub("", name, count=1) if "/" in name else name


def step_rank(name: str) -> int | None:
    """Return how good the column is at numbering rows, 0 the best; None if it does not."""
    spelling = normal(name)
    return _table()["steps"].index(spelling) if spelling in _table()["steps"] else None


def is_evaluation(name: str) -> bool:
    """Whether the column holds a number of held-out prompts."""
    spelling = normal(name)
    return bool(
        _pattern(_table()["evaluation_prefix"]).match(spelling)
        or spelling in _table()["evaluation_rows"]
    )


def marks_evaluation(name: str) -> bool:
    """Whether a row with this column is an evaluation row whatever else it holds."""
    return normal(name) in _table()["evaluation_rows"]


def summarises(name: str) -> bool:
    """Whether only a summary row has this column."""
    return normal(name) in _table()["summaries"]


def filtered_because(name: str) -> str | None:
    """Return why a reward of this name is no reward curve; None if nothing is wrong with it."""
    return next(
        (row["why"] for row in _table()["filtered"] if _full(row["match"], normal(name))), None
    )


def filtering_because(name: str, largest: float) -> str | None:
    """Return why all rewards of a log with this column are no reward curve, if they are not."""
    return next(
        (
            row["why"]
            for row in _table()["filtering"]
            if _full(row["match"], normal(name)) and largest > row["above"]
        ),
        None,
    )


def ratios() -> list[tuple[str, str]]:
    """Return pairs of columns whose ratio is a quantity."""
    return [(row["over"], row["under"]) for row in _table()["ratios"]]


def setting(name: str) -> str | None:
    """Return which setting a column that never changes tells, if one."""
    told: str | None = _table()["settings"].get(normal(name))
    return told


@cache
def find(name: str, trainer: str, when: str = "unknown") -> Name:
    """Look up a training column; `when` chooses among meanings that changed with the version."""
    spelling = normal(name)
    for rank, row in enumerate(_table()["names"]):
        if (
            row.get("trainer", trainer) == trainer
            and row.get("when", when) == when
            and _full(row["match"], spelling)
        ):
            return Name(row["quantity"], row["meaning"], rank)
    return Name("other", "not a name this version knows", len(_table()["names"]))


@cache
def find_evaluation(name: str, trainer: str) -> Name:
    """Look up a column of an evaluation row, with or without its prefix."""
    spelling = normal(name)
    bare = _pattern(_table()["evaluation_prefix"]).sub("", spelling, count=1)
    for rank, row in enumerate(_table()["evaluations"]):
        if _full(row["match"], bare):
            return Name(row["quantity"], row["meaning"], rank)
    found = find(bare, trainer)
    if found.quantity in ("reward", "true_reward"):
        return Name("eval_reward", "mean reward or score of held-out prompts", found.rank)
    return Name(found.quantity, f"on held-out prompts: {found.meaning}", found.rank)


def trainer_of(names: Iterable[str]) -> str:
    """Return which trainer logs such names; empty if none is recognised."""
    spellings = [normal(name) for name in names]
    for row in _table()["trainers"]:
        if any(_full(row["match"], spelling) for spelling in spellings):
            return str(row["name"])
    return ""


def message_versions(line: str) -> list[tuple[str, str, str]]:
    """Return what a line of a console tells of the version: trainer, since, before."""
    return [
        (row["trainer"], row.get("since", ""), row.get("before", ""))
        for row in _table()["versions"]
        if "message" in row and re.search(row["message"], line)
    ]


def version_of(
    trainer: str, names: Iterable[str], hints: Iterable[tuple[str, str, str]] = ()
) -> tuple[str, str]:
    """Return the version as far as the keys tell: since which release, before which; "" unknown."""
    spellings = [normal(name) for name in names]
    told = [
        (row["trainer"], row.get("since", ""), row.get("before", ""))
        for row in _table()["versions"]
        if "match" in row and any(_full(row["match"], spelling) for spelling in spellings)
    ]
    told = [each for each in [*told, *hints] if each[0] == trainer]
    since = max((low for _, low, _ in told if low), key=release, default="")
    before = min((high for _, _, high in told if high), key=release, default="")
    return since, before


def release(version: str) -> tuple[int, ...]:
    """Return a version as numbers that compare."""
    return tuple(map(int, version.split(".")))


@cache
def _table() -> dict[str, Any]:
    text = files("numerics.logs").joinpath("names.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


@cache
def _pattern(expression: str) -> re.Pattern[str]:
    return re.compile(expression.replace("<right>", _table()["right"]))


def _full(expression: str, spelling: str) -> bool:
    matches: Callable[[str], object] = _pattern(expression).fullmatch
    return matches(spelling) is not None
