"""Every public name says what it is, and the reference has it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))

from rooms import constant_doc, public_rooms  # noqa: E402

ROOMS = public_rooms()
_IMPORT = re.compile(r"^(?:>>> )?(from (?:derivations|numerics)\b.*)$", re.MULTILINE)

#: Packages that are not public: what they are for is reached through the command line or a room.
INNER = {
    "derivations", "derivations.judge", "derivations.results",
    "numerics", "numerics.commands", "numerics.experiments", "numerics.explanation",
    "numerics.experiments.transformer.lab", "numerics.experiments.transformer.theory",
    "numerics.kernels", "numerics.report",
}  # fmt: skip


def undocumented(module: ModuleType) -> list[str]:
    """Public names of a room, and public members of its classes, that say nothing."""
    silent = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value):
            generated = str(value.__doc__).startswith(f"{name}(")  # by dataclass or NamedTuple
            if not value.__doc__ or generated:
                silent.append(name)
            silent += [f"{name}.{member}" for member in silent_members(value)]
        elif inspect.isroutine(value):
            silent += [] if value.__doc__ else [name]
        elif not constant_doc(module, name):
            silent.append(name)
    return silent


def silent_members(cls: type) -> list[str]:
    data = {field.name for field in fields(cls)} if is_dataclass(cls) else set()
    kinds = (property, cached_property, classmethod, staticmethod)
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and name not in data
        and (inspect.isfunction(value) or isinstance(value, kinds)) and not value.__doc__
    ]  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_says_what_it_is(room: str) -> None:
    module = import_module(room)
    assert module.__doc__
    assert module.__all__
    assert undocumented(module) == []


def test_a_name_without_docstring_is_found(tmp_path: Path) -> None:
    source = '''\
"""A room."""
from dataclasses import dataclass
__all__ = ["SAID", "SILENT", "Named", "Plain", "said", "silent"]
#: Why.
SAID = 1
SILENT = 2
@dataclass(frozen=True)
class Named:
    """One."""
    size: int = 1
    def told(self): "Yes."
    def untold(self): ...
@dataclass
class Plain:
    size: int
def said(): "Yes."
def silent(): ...
'''
    (tmp_path / "room_of_this_test.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(tmp_path))
    try:
        module = import_module("room_of_this_test")
        assert undocumented(module) == ["SILENT", "Named.untold", "Plain", "silent"]
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules["room_of_this_test"]


def test_every_package_is_public_or_said_to_be_inner() -> None:
    packages = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for top in ("derivations", "numerics")
        for path in (ROOT / top).rglob("__init__.py")
    }
    assert len(ROOMS) == len(set(ROOMS))
    assert packages - set(ROOMS) == INNER


def test_what_the_pages_import_is_public() -> None:
    """A name that documentation shows being imported is one that the reference explains."""
    imported = set()
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for line in _IMPORT.findall(text):
            node = ast.parse(line).body[0]
            assert isinstance(node, ast.ImportFrom)
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
    public = {f"{room}.{name}" for room in ROOMS for name in import_module(room).__all__}
    assert len(imported) > 20
    assert imported - public - set(ROOMS) == set()
