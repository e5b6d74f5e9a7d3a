"""The numbers of the prose, computed while the site is built; `docs/numbers.toml` says how."""

from __future__ import annotations

import math
import tomllib
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import numpy as np
from rooms import public_rooms

import derivations
import numerics

__all__ = ["NumberError", "numbers"]

_KEYS = {"value", "format"}


class NumberError(ValueError):
    """A row of the file that gives no number; the message starts with its name."""


def numbers(path: Path) -> dict[str, str]:
    """Return name -> formatted value of every row of the file at `path`.

    Raises
    ------
    NumberError
        If a row has other keys than ``value`` and ``format``, or does not evaluate.
    """
    for room in public_rooms():
        import_module(room)
    known = {
        "derivations": derivations, "numerics": numerics, "np": np, "math": math,
        "Fraction": Fraction,
    }  # fmt: skip
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: _written(name, row, known) for name, row in rows.items()}


def _written(name: str, row: object, known: dict[str, object]) -> str:
    if not isinstance(row, dict) or row.keys() != _KEYS:
        raise NumberError(f"{name}: give value = EXPRESSION and format = SPEC, nothing else")
    try:
        return format(eval(row["value"], {**known}), row["format"])
    except Exception as error:  # whatever an expression may raise
        raise NumberError(f"{name}: {row['value']}: {error!r}") from error
