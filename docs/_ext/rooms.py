"""The public API: the rooms that the reference documents, and what each public name says of itself.

The pages of `docs/reference/api/` are the list: a room is public if one of them has a block
``{room} NAME``.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["PAGES", "constant_doc", "public_rooms"]

PAGES = Path(__file__).resolve().parent.parent / "reference" / "api"
_ROOM = re.compile(r"^```\{room\} (\S+)$", re.MULTILINE)


def public_rooms() -> list[str]:
    """Return the names of the public modules, in the order of the reference."""
    return [
        name
        for page in sorted(PAGES.glob("*.md"))
        for name in _ROOM.findall(page.read_text(encoding="utf-8"))
    ]


def constant_doc(module: ModuleType, name: str) -> str:
    """Return what stands in ``#:`` lines above the assignment of `name`, or above its import's.

    The empty string if nothing does.
    """
    source = inspect.getsource(module)
    lines = source.splitlines()
    for node in ast.parse(source).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    origin = "." * node.level + (node.module or "")
                    package = module.__name__ if hasattr(module, "__path__") else module.__package__
                    return constant_doc(import_module(origin, package), alias.name)
        elif name in _targets(node):
            above = node.lineno - 1
            first = above
            while first and lines[first - 1].startswith("#:"):
                first -= 1
            return " ".join(line.removeprefix("#:").strip() for line in lines[first:above])
    return ""


def _targets(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return (target.id for target in targets if isinstance(target, ast.Name))
