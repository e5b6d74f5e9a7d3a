"""The house rules on who may import whom, and on size."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib.util import resolve_name
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
HEAVY = {"sympy", "z3", "flint", "scipy", "matplotlib", "hypothesis"}


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {
    module_name(path): path
    for top in ("derivations", "numerics")
    for path in (ROOT / top).rglob("*.py")
}


@cache
def imports(name: str) -> frozenset[str]:
    """Every module that `name` imports, anywhere in it, late imports included."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            package = name if MODULES[name].name == "__init__.py" else name.rpartition(".")[0]
            source = resolve_name("." * node.level + (node.module or ""), package)
            inner = {f"{source}.{alias.name}" for alias in node.names}
            found |= (inner & MODULES.keys()) | {source}
    return frozenset(found)


def reachable(name: str) -> set[str]:
    """All modules that importing and using `name` can bring in, as far as our own code goes."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current not in seen:
            seen.add(current)
            if current in MODULES:
                waiting += imports(current)
    return seen


def room(prefix: str) -> list[str]:
    found = [name for name in MODULES if name == prefix or name.startswith(f"{prefix}.")]
    assert found, f"there is no {prefix}"
    return found


def inside(names: set[str], prefix: str) -> set[str]:
    return {name for name in names if name == prefix or name.startswith(f"{prefix}.")}


@pytest.mark.parametrize("name", room("derivations"))
def test_derivations_do_not_know_numerics(name: str) -> None:
    assert not inside(reachable(name), "numerics")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("numerics.simulation", "numerics.exact"),
        ("numerics.exact", "numerics.simulation"),
        ("numerics.simulation", "numerics.kernels"),
        ("numerics.simulation", "derivations"),
    ],
)
def test_the_simulation_stays_independent(one: str, other: str) -> None:
    for name in room(one):
        assert not inside(reachable(name), other), name


@pytest.mark.parametrize("prefix", ["numerics.simulation", "numerics.exact", "numerics.kernels"])
def test_numbers_run_without_sympy(prefix: str) -> None:
    for name in room(prefix):
        assert not inside(reachable(name), "sympy"), name


def test_no_module_is_long() -> None:
    paths = [*MODULES.values(), *(ROOT / "tests").rglob("*.py")]
    lengths = {str(path.relative_to(ROOT)): path.read_bytes().count(b"\n") for path in paths}
    assert {name: lines for name, lines in lengths.items() if lines > 400} == {}


def loaded_by(code: str) -> set[str]:
    """Names of the top-level packages in memory after a fresh interpreter ran `code`."""
    # The first line starts a marker of its own: --help prints to the same stream.
    ending = "\nimport sys; print('\\0', *{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code + ending], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.rpartition("\0")[2].split())


HELP = "from numerics import cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass"


def test_importing_numerics_is_light() -> None:
    assert not loaded_by("import numerics") & HEAVY


def test_help_needs_the_standard_library_only() -> None:
    loaded = loaded_by(HELP)
    assert "argparse" in loaded
    assert not loaded & (HEAVY | {"numpy", "tqdm", "derivations"})


def test_the_map_of_the_house_is_true() -> None:
    """Every path the architecture page names exists, and it names every module and room."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:derivations|numerics|tests|docs)/[^`*]*)`", page)
    named = {path.rstrip("/") for path in paths}
    assert {path for path in named if not (ROOT / path).exists()} == set()
    rooms = {
        entry.relative_to(ROOT).as_posix()
        for top in ("derivations", "numerics")
        for entry in (ROOT / top).iterdir()
        if entry.suffix == ".py" or (entry.is_dir() and any(entry.glob("*.py")))
    }
    assert {name for name in rooms if not name.endswith("__init__.py")} - named == set()
