"""How a setting is found in a configuration and read: flags, nested keys and texts alike."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numerics.inputs import InvalidInput
from numerics.trainers.table import Notice

__all__ = [
    "Layer",
    "Setting",
    "Values",
    "count",
    "find",
    "misspelt",
    "number",
    "numbers",
    "read",
    "text",
    "truth",
]

#: One source of settings, such as a file or the flags, flat: dotted keys and plain values.
Layer = Mapping[str, object]

_UNSET = ("", "~", "null", "none")
_INTERPOLATION = re.compile(r"\$\{([\w.-]+)\}")
_CHAIN = 10
_LARGEST_COUNT = 10**9
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?|\d+/\d*[1-9]\d*", re.IGNORECASE)
_NEAR = 0.87


@dataclass(frozen=True)
class Setting:
    """A setting of a trainer.

    Attributes
    ----------
    name
        What flags, tables and messages call it: the last part of the trainer's own key.
    read
        From what a file or a command line holds to a value; raises `InvalidInput`.
    default
        The trainer's own, where it is not given.
    path
        The trainer's full key, where that is longer than `name`; a key that ends in it will do.
    """

    name: str
    read: Callable[[object], Any]
    default: Any = None
    path: str = ""

    def matches(self, key: str) -> bool:
        """Whether `key` is this setting's; a name alone, or anything that ends in its path."""
        path = self.path or self.name
        return key in (self.name, path) or key.endswith(f".{path}")


@dataclass(frozen=True)
class Values:
    """The settings of one trainer, defaults included, and which of them were given."""

    values: Mapping[str, Any]
    given: frozenset[str]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def read(settings: Sequence[Setting], layers: Sequence[Layer]) -> Values:
    """Return the value of every setting; a later layer goes before an earlier one.

    Raises
    ------
    InvalidInput
        A value the setting cannot have, or two keys of one layer that disagree about it.
    """
    merged: dict[str, object] = {}
    for layer in layers:
        merged |= layer
    values: dict[str, Any] = {}
    given = set()
    for setting in settings:
        key, value = find(setting, layers)
        value = _resolved(key, value, merged)
        if value is None or (isinstance(value, str) and value.strip().lower() in _UNSET):
            values[setting.name] = setting.default
            continue
        try:
            values[setting.name] = setting.read(value)
        except InvalidInput as error:
            raise InvalidInput(f"{key} {error}") from error
        given.add(setting.name)
    return Values(values, frozenset(given))


def find(setting: Setting, layers: Sequence[Layer]) -> tuple[str, object]:
    """Return the key and the value of a setting, or its name and None.

    Raises
    ------
    InvalidInput
        Two keys of one layer that disagree.
    """
    for layer in reversed(layers):
        found = [(key, value) for key, value in layer.items() if setting.matches(key)]
        if found:
            for key, value in found[1:]:
                if value != found[0][1]:
                    raise InvalidInput(
                        f"{found[0][0]} is {_shown(found[0][1])} and {key} is {_shown(value)}: "
                        "leave one of them out"
                    )
            return found[0]
    return setting.name, None


def misspelt(
    settings: Sequence[Setting], layers: Sequence[Layer], others: Collection[str]
) -> list[Notice]:
    """Return a notice for each key that nearly is a setting; `others` are real keys not read."""
    names = [setting.name for setting in settings]
    notices = []
    for key in {key: None for layer in layers for key in layer}:
        last = key.rpartition(".")[2]
        if last in names or last in others:
            continue
        near = difflib.get_close_matches(last, names, n=1, cutoff=_NEAR)
        if near:
            notices.append(Notice("key-not-read", key, f"not read; did you mean {near[0]}?"))
    return notices


def count(least: int) -> Callable[[object], int]:
    """Return a reader of whole numbers from `least`, as numbers or as text."""

    def reader(value: object) -> int:
        try:
            found = None if isinstance(value, bool) else Fraction(str(value))
        except (ValueError, ZeroDivisionError):
            found = None
        if found is None or found.denominator != 1:
            raise InvalidInput(f"is {_shown(value)}: give a whole number >= {least}")
        if not least <= found <= _LARGEST_COUNT:
            raise InvalidInput(f"is {_shown(value)}: it must be from {least} to {_LARGEST_COUNT}")
        return int(found)

    return reader


def number(
    *, least: int = 0, above: bool = False, below: int | None = None
) -> Callable[[object], Fraction]:
    """Return a reader of numbers from `least`, or above it, and below `below`."""
    wanted = f"{'above' if above else 'from'} {least}" + (f", below {below}" if below else "")

    def reader(value: object) -> Fraction:
        written = str(value).strip()
        fits = not isinstance(value, bool) and len(written) <= 40 and _NUMBER.fullmatch(written)
        found = Fraction(written) if fits else None
        if found is None:
            raise InvalidInput(f"is {_shown(value)}: give a number {wanted}")
        too_low = found <= least if above else found < least
        if too_low or (below is not None and found >= below) or found > 10**9:
            raise InvalidInput(f"is {_shown(value)}: it must be {wanted}")
        return found

    return reader


def numbers(value: object) -> tuple[Fraction, ...]:
    """Read numbers from 0, as a list or as text such as ``[0.9, 0.999]`` or ``1/2,1/2``."""
    items = value if isinstance(value, list | tuple) else str(value).strip("[]() ").split(",")
    return tuple(number()(item) for item in items)


def truth(value: object) -> bool:
    """Read true or false, also as text."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word not in ("true", "false"):
        raise InvalidInput(f"is {_shown(value)}: give true or false")
    return word == "true"


def text(value: object) -> str:
    """Read a text, a number or a truth value as text."""
    if not isinstance(value, str | int | float):
        raise InvalidInput(f"is {_shown(value)}: give a text")
    return str(value).strip().lower()


def _resolved(key: str, value: object, merged: Layer) -> object:
    """Follow ``${a.b}`` to the value it stands for, as hydra does."""
    for _ in range(_CHAIN):
        if not (isinstance(value, str) and "${" in value):
            return value
        target = _INTERPOLATION.fullmatch(value.strip())
        if target is None or target[1] not in merged:
            break
        value = merged[target[1]]
    raise InvalidInput(f"{key} is {_shown(value)}, which cannot be resolved here: give {key}=VALUE")


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:56]} ..."
