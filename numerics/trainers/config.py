"""Configuration files as trainers write them, flattened to dotted keys; ``KEY=VALUE`` overrides."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from numerics.inputs import InvalidInput

__all__ = ["SUFFIXES", "overrides", "read_config"]

#: What the name of a configuration file may end in.
SUFFIXES = (".json", ".yaml", ".yml", ".toml")

_LARGEST_FILE = 4_000_000
_MOST_KEYS = 20_000


def read_config(path: Path) -> dict[str, object]:
    """Return the settings in a file by dotted key.

    A mapping, nested as in verl or flat as in trl; a W&B ``config.yaml``, whose every entry is
    ``{desc, value}``; or a list of ``KEY=VALUE`` texts, as hydra's ``overrides.yaml``.

    Raises
    ------
    InvalidInput
        Not one of `SUFFIXES`, not of the format that its name says, or neither mapping nor list.
    OSError
        If it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise InvalidInput(f"{path}: its name must end in {', '.join(SUFFIXES)} to be read")
    with path.open("rb") as file:
        raw = file.read(_LARGEST_FILE + 1)
    if len(raw) > _LARGEST_FILE:
        raise InvalidInput(f"{path}: more than {_LARGEST_FILE} bytes; that is no configuration")
    try:
        written = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path}: not UTF-8 text (byte {error.start})") from error
    try:
        content = _parsed(path, written, suffix)
        if isinstance(content, dict) and content:
            flat: dict[str, object] = {}
            _flatten(content, "", flat, path)
            return flat
    except RecursionError as error:
        raise InvalidInput(f"{path}: nested too deeply to be a configuration") from error
    if isinstance(content, list) and all(isinstance(item, str) for item in content) and content:
        return overrides(content)
    raise InvalidInput(f"{path}: holds no settings; it must be a mapping of keys to values")


def overrides(items: Iterable[str]) -> dict[str, object]:
    """Return ``KEY=VALUE`` texts by key; a leading ``+`` or ``++``, as hydra takes it, is dropped.

    Raises
    ------
    InvalidInput
        A text without a key or an equals sign.
    """
    found: dict[str, object] = {}
    for item in items:
        key, equals, value = item.strip().partition("=")
        key = key.strip().lstrip("+")
        if not equals or not key or key != "".join(key.split()):
            raise InvalidInput(f"{item!r} is no override: write KEY=VALUE")
        found[key] = value.strip().strip("'\"")
    return found


def _parsed(path: Path, written: str, suffix: str) -> Any:
    try:
        if suffix == ".json":
            return json.loads(written)
        if suffix == ".toml":
            return tomllib.loads(written)
        return _yaml(written)
    except ValueError as error:
        kind = {".yml": "YAML"}.get(suffix, suffix[1:].upper())
        raise InvalidInput(f"{path}: not valid {kind}: {error}") from error


def _yaml(written: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(written)
    except yaml.YAMLError as error:
        raise ValueError(" ".join(str(error).split())) from error


def _flatten(content: dict[Any, Any], prefix: str, flat: dict[str, object], path: Path) -> None:
    for key, value in content.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and "value" in value and value.keys() <= {"value", "desc"}:
            value = value["value"]  # as W&B writes it
        if isinstance(value, dict):
            _flatten(value, f"{name}.", flat, path)
        else:
            flat[name] = value
        if len(flat) > _MOST_KEYS:
            raise InvalidInput(f"{path}: more than {_MOST_KEYS} keys; that is no configuration")
