r"""TOML tables read key by key: every value checked, every complaint with its key, in one line."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from numerics.inputs import InvalidInput, known_name

__all__ = ["REQUIRED", "Field", "RunFileError", "array", "flag", "named", "number", "or_word",
           "read_table", "read_variant", "tables", "text", "whole"]  # fmt: skip

_LARGEST_FILE = 10_000_000  # bytes

#: How an array of so many axes is written.
_AXES = ("a number", "an array [...] of numbers", "an array [[...], ...] of rows of numbers")

#: Stands for "no default: the value changes the answer".
REQUIRED = object()


class RunFileError(InvalidInput):
    """A run file that cannot be read as written; the message has the file and the key."""


@dataclass(frozen=True)
class Field:
    """One key of a table: how its value is read, and what it is if left out."""

    read: Callable[[Any], Any]
    default: Any = REQUIRED


def tables(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    RunFileError
        If it is not TOML, or not a file of a sane size.
    OSError
        If it cannot be read.
    """
    with path.open("rb") as file:
        content = file.read(_LARGEST_FILE + 1)
    if len(content) > _LARGEST_FILE:
        raise RunFileError(f"{path}: more than {_LARGEST_FILE} bytes; that is no run file")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RunFileError(f"{path}: not UTF-8 text (byte {error.start})") from error
    except (RecursionError, ValueError) as error:  # TOMLDecodeError, or an endless integer
        raise RunFileError(
            f"{path}: not valid TOML: {str(error) or 'nested too deeply'}"
        ) from error


def read_table(table: object, fields: Mapping[str, Field], where: str) -> dict[str, Any]:
    """Return the values of a table by key, defaults included.

    Raises
    ------
    RunFileError
        On a key that is unknown, missing or has a value it cannot have; starts with `where`.
    """
    if not isinstance(table, dict):
        raise RunFileError(f"{where} is {_shown(table)}; it must be a table")
    found = {}
    try:
        for key in table:
            known_name("key", key, fields)
        for key, field in fields.items():
            if key in table:
                found[key] = field.read(table[key])
            elif field.default is REQUIRED:
                raise InvalidInput(f"it is missing, and has no default{_astray(key, table)}")
            else:
                found[key] = field.default
    except InvalidInput as error:
        at = "" if str(error).startswith("key ") else f" {key}"
        raise RunFileError(f"{where}{at}: {error}") from error
    return found


def read_variant(
    table: object, name: str, variants: Mapping[str, Mapping[str, Field]], where: str
) -> dict[str, Any]:
    """Return the values of a table whose key `name` says which other keys it has.

    Raises
    ------
    RunFileError
        As `read_table`; a key of another variant is refused as such.
    """
    chooser = {name: Field(named(name, tuple(variants)))}
    anything = {key: Field(lambda value: value, None) for own in variants.values() for key in own}
    chosen = read_table(table, {**chooser, **anything}, where)[name]
    own = variants[chosen]
    assert isinstance(table, dict)  # it has been read
    for key in table:
        if key != name and key not in own:
            raise RunFileError(f"{where} {key}: {name} {chosen!r} takes {', '.join(own)} instead")
    return read_table(table, {**chooser, **own}, where)


def text(value: Any) -> str:
    """Read a text."""
    if not isinstance(value, str):
        raise InvalidInput(f"{_shown(value)} is not text in quotes")
    return value


def named(what: str, choices: Sequence[str]) -> Callable[[Any], str]:
    """Return a reader of one of the names `choices`."""
    return lambda value: known_name(what, text(value), choices)


def whole(*, least: int, most: int) -> Callable[[Any], int]:
    """Return a reader of whole numbers from `least` to `most`."""

    def read(value: Any) -> int:
        if type(value) is not int or not least <= value <= most:
            raise InvalidInput(f"{_shown(value)} is not a whole number from {least} to {most}")
        return value

    return read


def number(value: Any) -> float:
    """Read a finite number."""
    if type(value) not in (int, float):
        raise InvalidInput(f"{_shown(value)} is not a number")
    try:
        read = float(value)
    except OverflowError:
        read = np.inf
    if not np.isfinite(read):
        raise InvalidInput(f"{_shown(value)} is not finite")
    return read


def flag(value: Any) -> bool:
    """Read true or false."""
    if type(value) is not bool:
        raise InvalidInput(f"{_shown(value)} is not true or false")
    return value


def array(*dimensions: int) -> Callable[[Any], Any]:
    """Return a reader of rectangular arrays of finite numbers with as many axes as one of these.

    0 stands for a single number; nothing may be empty.
    """

    def read(value: Any) -> Any:
        values = _nested(value)
        try:
            result = np.asarray(values, dtype=np.float64)
        except ValueError:
            raise InvalidInput("its rows have different lengths") from None
        if result.ndim not in dimensions or not result.size:
            expected = " or ".join(_AXES[axes] for axes in dimensions)
            raise InvalidInput(f"{_shown(value)} is not {expected}")
        return result

    return read


def or_word(word: str, read: Callable[[Any], Any], *, means: Any = None) -> Callable[[Any], Any]:
    """Return a reader that takes `word` for `means` and leaves the rest to `read`."""

    def reader(value: Any) -> Any:
        if value == word:
            return means
        try:
            return read(value)
        except InvalidInput as error:
            raise InvalidInput(f"{error}; or give {word!r}") from None

    return reader


def _astray(key: str, table: Mapping[str, Any]) -> str:
    """Return where a missing key stands instead: TOML adds it to the last table before it."""
    inside = [name for name, own in table.items() if isinstance(own, dict) and key in own]
    return f"; the one in [{inside[0]}] belongs above the first table" if inside else ""


def _nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_nested(item) for item in value]
    return number(value)


def _shown(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:56]} ..."
