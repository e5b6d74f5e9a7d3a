"""Holds the JSON that a command printed against the schema that it names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator

from numerics.schemas import load

__all__ = ["check", "faults", "fixed", "objects"]


def check(text: str) -> dict[str, Any]:
    """Return the document that `text` is, if it is strict JSON and as its schema says."""
    document: dict[str, Any] = json.loads(text, parse_constant=_refuse)
    assert next(iter(document)) == "schema", "the first key must name the schema"
    assert faults(document) == []
    return document


def faults(document: dict[str, Any]) -> list[str]:
    """Return what in a document is not as its schema says."""
    found = _validator(document["schema"]).iter_errors(document)
    return [f"{error.json_path}: {error.message[:200]}" for error in found]


def objects(value: Any, path: str = "$") -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every object in a document, with where it is."""
    if isinstance(value, dict):
        yield path, value
        for key, inner in value.items():
            yield from objects(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner, f"{path}[]")


def fixed(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield every part of a schema that says which keys an object has."""
    if isinstance(schema, dict):
        if isinstance(schema.get("properties"), dict) and "required" in schema:
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from fixed(inner)


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(load(name))


def _refuse(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")
