"""What may be in the JSON of every command, as JSON Schema documents (draft 2020-12).

Every command's ``--json`` prints an object whose key ``schema`` names one of them, such as
``grpo-dynamics/predict/1``; the document is the package's file ``predict-1.json``. The number is
raised when what the document accepts changes, and the document of the old number stays.
"""

from __future__ import annotations

import json
import re
from importlib import resources
from typing import Any

from numerics.inputs import known_name

__all__ = ["load", "names"]

_PREFIX = "grpo-dynamics/"
_FILE = re.compile(r"([a-z-]+)-([0-9]+)\.json")


def names() -> tuple[str, ...]:
    """Return the names of all schemas, such as ``grpo-dynamics/predict/1``, sorted."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    found = filter(None, map(_FILE.fullmatch, files))
    return tuple(sorted(f"{_PREFIX}{file[1]}/{file[2]}" for file in found))


def load(name: str) -> dict[str, Any]:
    """Return the schema of this name as plain data.

    Parameters
    ----------
    name
        What the key ``schema`` of an output says.

    Raises
    ------
    UnknownName
        If there is no such schema; the message lists those that there are.
    """
    file = known_name("schema", name, names()).removeprefix(_PREFIX).replace("/", "-")
    text = resources.files(__name__).joinpath(f"{file}.json").read_text(encoding="utf-8")
    document: dict[str, Any] = json.loads(text)
    return document
