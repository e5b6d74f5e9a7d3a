"""The sample of every module judged: scores at the terminal and in docs/reliability.md."""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mutation import judge, known
from mutation.known import Known
from mutation.mutants import Mutant, Population
from mutation.page import page
from mutation.responsible import TESTS

ROOT = judge.ROOT
PAGE = ROOT / "docs" / "reliability.md"
SEED = "2025"
#: One place in so many of a module is drawn, rounded up; the tests of derivations take longer.
ONE_IN = {"numerics": 40, "derivations": 80}


@dataclass
class Score:
    """What became of the mutants of one module.

    `drawn` counts how those of the sample ended: "failed" and "timed out" are killed, "passed"
    survived, and of these "equivalent" are known to be. `before` counts the same as it was when
    they were drawn, without the tests that were added since. `survivors` are those that live or are
    equivalent, mutants of the ledger that are not in the sample included.
    """

    module: str
    places: int
    drawn: Counter[str] = field(default_factory=Counter)
    before: Counter[str] = field(default_factory=Counter)
    survivors: list[Mutant] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    """Judge the modules asked for; return 1 if a mutant lives of which the ledger knows nothing."""
    parser = argparse.ArgumentParser(prog="python tests/mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="path; all, if none is given")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(ROOT)}")
    parser.add_argument("--session", type=Path, metavar="FILE", help="go on from FILE")
    options = parser.parse_args(arguments)
    unknown = set(options.modules) - TESTS.keys()
    if unknown:
        parser.error(f"no such module in mutation/responsible.py: {', '.join(sorted(unknown))}")
    start = time.monotonic()
    ledger = known.load()
    session = Session(options.session)
    scores = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve()
        judge.prepare(tree)
        for module in options.modules or TESTS:
            scores.append(score(tree, module, ledger, session))
            print(as_text(scores[-1], known.by_key(ledger)), flush=True)
    print(f"{time.monotonic() - start:.0f} s")
    if options.write:
        facts = {"tool": version("cosmic-ray"), "seed": SEED, **ONE_IN}
        PAGE.write_text(page(scores, ledger, formulas(), **facts), encoding="utf-8")
    expected = {entry.key for entry in ledger if not entry.test}
    living = [mutant for s in scores for mutant in s.survivors if mutant.key not in expected]
    if living:
        print(f"{len(living)} mutants live that are not in {known.LEDGER.name}", file=sys.stderr)
    return 1 if living else 0


class Session:
    """What was found already, kept in a file of one JSON object a line.

    How a test file ended on a mutant stands as long as neither the mutated module nor that file is
    another, so only what is new is run again. The usual times of the files are kept too.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._found: dict[str, str | float] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._found.update(json.loads(line))

    def get(self, what: str) -> Any:
        """Return what was found of a mutant and a test file; None, if nothing was."""
        return self._found.get(what)

    def enter(self, what: str, found: str | float) -> None:
        """Enter how a test file ended on a mutant, or its usual time."""
        self._found[what] = found
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({what: found}) + "\n")


def score(tree: Path, module: str, ledger: Sequence[Known], session: Session) -> Score:
    """Judge the sample of one module, and what the ledger has of it."""
    source = (tree / module).read_text(encoding="utf-8")
    population = Population(module, source)
    one_in = ONE_IN[module.partition("/")[0]]
    sample = population.draw(math.ceil(len(population) / one_in), SEED)
    about = known.by_key([entry for entry in ledger if entry.module == module])
    here = Score(module, len(population))
    drawn = {mutant.key for mutant in sample}
    others = [
        mutant
        for entry in about.values()
        if entry.key not in drawn
        for mutant in population.find(entry.within, entry.was, entry.becomes)[:1]
    ]
    if sample:
        for test in TESTS[module]:
            _measure(tree, test, session)
    for mutant in [*sample, *others]:
        entry, ended = about.get(mutant.key), _judged(tree, mutant, session)
        if ended != "failed" and entry is not None and entry.reason:
            ended = "equivalent"  # one that is only slower may also reach the limit
        if ended in ("passed", "equivalent"):
            here.survivors.append(mutant)
        if mutant.key in drawn:
            here.drawn[ended] += 1
            here.before["passed" if entry is not None and entry.test else ended] += 1
    return here


def _judged(tree: Path, mutant: Mutant, session: Session) -> str:
    """Run the responsible test files one after the other until one does not pass."""
    asked = {t: _digest(mutant.module, mutant.code, _source(tree, t)) for t in TESTS[mutant.module]}
    known_ends = [session.get(what) for what in asked.values()]
    for ended in known_ends:
        if ended not in (None, "passed"):
            return str(ended)
    with judge.mutated(tree, mutant.module, mutant.code):
        for (test, what), found in zip(asked.items(), known_ends, strict=True):
            if found is None:
                limit = 5 + 2 * session.get(_digest(_source(tree, test)))
                ended = judge.run(tree, test, limit).ended
                session.enter(what, ended)
                if ended != "passed":
                    return ended
    return "passed"


def _measure(tree: Path, test: str, session: Session) -> None:
    """Enter the processor time a test file takes without a mutant; it must pass there."""
    if session.get(_digest(_source(tree, test))) is None:
        run = judge.run(tree, test, 600)
        if run.ended != "passed":
            raise RuntimeError(f"{test}: {run.ended} without a mutant\n{run.said}")
        session.enter(_digest(_source(tree, test)), run.seconds)


def _source(tree: Path, test: str) -> str:
    return (tree / "tests" / f"{test}.py").read_text(encoding="utf-8")


def _digest(*texts: str) -> str:
    return sha256("\0".join(texts).encode()).hexdigest()


def as_text(score: Score, about: Mapping[str, Known]) -> str:
    """Return a module's score for the terminal."""
    ends = ", ".join(f"{count} {what}" for what, count in sorted(score.drawn.items())) or "nothing"
    lines = [f"{score.module}: {score.places} places, drawn: {ends}"]
    for mutant in score.survivors:
        entry = about.get(mutant.key)
        lines.append(f"  {mutant.line} in {mutant.within or 'the module'}:")
        lines += [f"    - {mutant.was}", f"    + {mutant.becomes}"]
        if entry is not None:
            lines.append(f"    {entry.reason or entry.open or f'to be killed by {entry.test}'}")
    return "\n".join(lines)


def formulas() -> str:
    """Run the mutation test of the stated formulas and return what it prints of its score."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-s", "-q", "tests/test_mutation.py"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stdout)
    said = [line for line in done.stdout.splitlines() if line.startswith("mutants of the stated")]
    return f"{said[0]}\n{done.stdout.splitlines()[-1]}"
