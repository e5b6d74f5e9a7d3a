"""Wheel and sdist: what is in them, and that the wheel works away from the source tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable
from email import message_from_string
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
#: What a source tree is made of; whatever else stands in it was made from it.
ROOMS = ("derivations", "numerics", "tests", "docs", ".ci")
_MADE = shutil.ignore_patterns("__pycache__", "_build", ".*_cache", ".hypothesis")
FILES = (
    "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "LICENSE", "MANIFEST.in",
    "pyproject.toml",
)  # fmt: skip
CLAIM = """
[[claim]]
id = "draft-eq-9"
quantity = "damping"
says = "1 - mu - x*d**2/2"
relation = "exact"
model = { optimizer = "heavy-ball", lag_model = "constant", stale_share = 1 }
expect = "refuted"
"""
#: Counts what each file of data that comes with the packages holds.
DATA = """
from derivations.evidence import load_evidence
from derivations.record import load_record, load_statements
from numerics.experiments.bandit.plan import load as load_plan
from numerics.schemas import load, names
print(len(load_record()), len(load_statements()), len(load_evidence().claims))
print(len(load_plan(quick=True).schedules), len([load(name) for name in names()]))
"""


def ran(*command: object, cwd: Path, status: int = 0) -> str:
    """Run a command that must not find the source tree by accident; return what it printed."""
    blind = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=blind, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree: an old build in the tree itself would end up in the wheel."""
    copy = tmp_path_factory.mktemp("packaging") / "the source"
    for room in ROOMS:
        shutil.copytree(ROOT / room, copy / room, ignore=_MADE)
    for file in FILES:
        shutil.copy(ROOT / file, copy)
    return copy


@pytest.fixture(scope="module")
def built(source: Path) -> tuple[Path, Path]:
    """The sdist, and the wheel that is built from it and from nothing else."""
    out = source.parent / "built"
    ran(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source, cwd=source.parent)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def away(built: tuple[Path, Path]) -> Path:
    """A directory with the wheel in an environment of its own, and no source tree above it."""
    here = built[1].parent.parent / "far away"
    here.mkdir()
    venv.create(here / "env", with_pip=False)
    python = here / "env" / "bin" / "python"
    packages = Path(ran(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))",
                        cwd=here).strip())  # fmt: skip
    # The dependencies are those of the running interpreter; what is installed here comes first.
    theirs = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (packages / "dependencies.pth").write_text("\n".join(theirs), encoding="utf-8")
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet")
    ran(*pip, "--no-deps", "--no-index", "--disable-pip-version-check", built[1], cwd=here)
    (here / "draft.toml").write_text(CLAIM, encoding="utf-8")
    return here


def files_of(root: Path, tops: Iterable[str]) -> set[str]:
    paths = (path for top in tops for path in (root / top).rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix() for path in paths}


def grpo(away: Path, *arguments: object, status: int = 0) -> str:
    return ran(away / "env" / "bin" / "grpo-dynamics", *arguments, cwd=away, status=status)


def test_the_wheel_has_both_packages_whole_and_nothing_else(
    source: Path, built: tuple[Path, Path]
) -> None:
    """Every file of them: code, TOML, CSS, schemas, results, py.typed."""
    with zipfile.ZipFile(built[1]) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    expected = files_of(source, ("derivations", "numerics"))
    assert held == expected
    assert {"derivations/py.typed", "numerics/py.typed"} <= held
    assert {Path(name).suffix for name in held} >= {".py", ".toml", ".css", ".json", ".typed"}


def test_the_metadata_says_what_it_is(built: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(built[1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        told = message_from_string(wheel.read(name).decode())
        assert any(name.endswith("licenses/LICENSE") for name in wheel.namelist())
    assert (told["Name"], told["License-Expression"]) == ("grpo-dynamics", "Apache-2.0")
    assert "Typing :: Typed" in told.get_all("Classifier", [])
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [need for need in told.get_all("Requires-Dist", []) if "extra ==" not in need]
    assert sorted(needs) == sorted(project["dependencies"])


def test_the_sdist_has_what_the_tests_need(source: Path, built: tuple[Path, Path]) -> None:
    with tarfile.open(built[0]) as sdist:
        names = (member.name.partition("/")[2] for member in sdist if member.isfile())
        held = set(names)
    assert (files_of(source, ROOMS) | set(FILES)) - held == set()
    assert [name for name in held if "__pycache__" in name or name.endswith(".pyc")] == []


def test_what_is_imported_is_what_was_installed(away: Path) -> None:
    where = "import derivations, numerics; print(derivations.__file__, numerics.__file__, sep='|')"
    for path in ran(away / "env" / "bin" / "python", "-c", where, cwd=away).strip().split("|"):
        assert Path(path).is_relative_to(away)


def test_commands_run_away_from_the_source(away: Path) -> None:
    assert "usage: grpo-dynamics" in grpo(away, "--help")
    run = "--optimizer heavy-ball --momentum 0.9 --lag-model constant --lag 1 --x 0.01 --json"
    found = json.loads(grpo(away, "predict", *run.split()))
    assert found["threshold"] == pytest.approx(0.1)
    assert "damping = delta*(1 - mu - d*s*x)" in grpo(away, "derive", "theorem-7")


def test_an_audit_and_its_page_need_the_data_of_the_package(away: Path) -> None:
    said = grpo(away, "audit", "draft.toml", "--html", "page.html")
    assert "REFUTED (proved)" in said
    assert "</style>" in (away / "page.html").read_text(encoding="utf-8")
    counts = ran(away / "env" / "bin" / "python", "-c", DATA, cwd=away).split()
    assert min(map(int, counts)) > 0


def test_what_only_a_clone_can_do_is_refused(away: Path) -> None:
    assert grpo(away, "report", "--check", status=2) == ""
