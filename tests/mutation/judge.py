"""One mutant, judged: the responsible tests run on a copy of the tree until one fails.

Every run is a fork of a process that has imported the libraries, not the project: importing SymPy
and the rest anew would take longer than most tests.
"""

from __future__ import annotations

import compileall
import importlib
import math
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_COPIED = ("derivations", "numerics", "tests", "docs")
_FILES = ("pyproject.toml", "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff")
_LIBRARIES = ("numpy", "scipy.linalg", "scipy.stats", "sympy", "mpmath", "flint", "z3")
_PYTEST = ("-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--no-header", "--tb", "line")
_MEMORY = 8 * 2**30
_OK, _FAILED, _INTERRUPTED = 0, 1, 2  # of pytest; the last: the mutant could not be imported


@dataclass(frozen=True)
class Run:
    """How a test file ended: "passed", "failed" or "timed out".

    `seconds` are of processor time, `said` is what pytest printed of a failure.
    """

    ended: str
    seconds: float
    said: str = ""


def prepare(tree: Path) -> None:
    """Copy the project to `tree` and compile it there; import the libraries."""
    for name in _COPIED:
        skip = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, tree / name, ignore=skip)
    for name in _FILES:
        shutil.copy(ROOT / name, tree / name)
    for name in ("derivations", "numerics"):
        compileall.compile_dir(tree / name, quiet=1)
    os.environ["PYTHONPATH"] = str(tree)  # of the processes that tests start
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in _LIBRARIES:
        importlib.import_module(name)


@contextmanager
def mutated(tree: Path, module: str, code: str) -> Iterator[None]:
    """Put `code` in the module's place for a while; no compiled copy of it is left to be used."""
    path = tree / module
    compiled = path.parent / "__pycache__"
    for stale in compiled.glob(f"{path.stem}.*.pyc"):
        stale.unlink()
    original = path.read_text(encoding="utf-8")
    path.write_text(code, encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(original, encoding="utf-8")


def run(tree: Path, test: str, limit: float) -> Run:
    """Run this test file of `tree` until one test fails.

    Processor time is limited, not the time on the wall, so a busy machine kills no mutant; only
    one that waits for what never comes is stopped by the clock, after ten times as long.
    """
    log = tree / "last-run.txt"
    start = time.monotonic()
    child = os.fork()
    if not child:
        _in_the_child(tree, test, log, math.ceil(limit))
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() - start > 10 * limit:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return Run("timed out", limit)
        time.sleep(0.01)
    seconds = used.ru_utime + used.ru_stime
    said = log.read_text(encoding="utf-8", errors="replace")
    code = os.waitstatus_to_exitcode(status)
    if code == _OK:
        return Run("passed", seconds)
    if code == -signal.SIGXCPU:
        return Run("timed out", seconds)
    if code in (_FAILED, _INTERRUPTED) or code < 0:  # below zero: a signal, such as a C stack gone
        return Run("failed", seconds, said)
    raise RuntimeError(f"pytest could not run {test}: exit status {code}\n{said}")


def _in_the_child(tree: Path, test: str, log: Path, limit: int) -> None:
    """Become a process group of its own that runs pytest, and never return."""
    code = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        os.chdir(tree)
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        sys.path[:] = [str(tree), *(p for p in sys.path if Path(p) not in (ROOT, ROOT / "tests"))]
        sys.dont_write_bytecode = True
        code = _pytest(tree, test)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def _pytest(tree: Path, test: str) -> int:
    import pytest

    file = str(tree / "tests" / f"{test}.py")
    return int(pytest.main([*_PYTEST, file], plugins=[_Plugin(tree)]))


class _Plugin:
    """What every run needs, done after pytest has prepared its own imports."""

    def __init__(self, tree: Path) -> None:
        self._tree = tree

    def pytest_configure(self) -> None:
        import hypothesis

        import numerics

        # The same examples for every mutant, and none spent on making a failure small.
        hypothesis.settings.register_profile(
            "mutation",
            derandomize=True,
            database=None,
            phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        )
        hypothesis.settings.load_profile("mutation")
        if not Path(numerics.__file__).is_relative_to(self._tree):
            raise RuntimeError(f"the copy is not what is tested: {numerics.__file__}")
