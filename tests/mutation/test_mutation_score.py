"""Every module has its tests, the ledger is about the code there is, and scores are counted right.

The mutants themselves need Cosmic Ray and an hour: `python tests/mutation`.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import pytest

from mutation import known
from mutation.known import Known
from mutation.mutants import Mutant
from mutation.page import interval, page
from mutation.responsible import TESTS
from mutation.score import ROOT, Score, Session

LEDGER = known.load()


def _with_code() -> list[str]:
    """Return the modules that have more than imports, and are not a result."""
    places = (
        *(ROOT / "derivations").rglob("*.py"),
        *(ROOT / "numerics/exact").glob("*.py"),
        *(ROOT / "numerics/dynamics").glob("*.py"),
    )
    found = [path.relative_to(ROOT) for path in places if path.name != "__init__.py"]
    return sorted(str(path) for path in found if "results" not in path.parts)


def test_every_module_has_responsible_tests_and_they_exist() -> None:
    assert sorted(TESTS) == _with_code()
    for names in TESTS.values():
        assert names
        assert all((ROOT / "tests" / f"{name}.py").is_file() for name in names)


@pytest.mark.parametrize("entry", LEDGER, ids=lambda entry: f"{entry.module}: {entry.was}")
def test_the_ledger_is_about_the_code_there_is(entry: Known) -> None:
    lines = (ROOT / entry.module).read_text(encoding="utf-8").splitlines()
    joined = " ".join(line.strip() for line in lines)
    assert entry.was in joined
    assert entry.was != entry.becomes
    if entry.test:
        file, _, name = entry.test.partition("::")
        assert file.removesuffix(".py") in TESTS[entry.module]
        tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
        assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_a_mutant_is_entered_once() -> None:
    assert len(known.by_key(LEDGER)) == len(LEDGER)
    with pytest.raises(ValueError, match="twice"):
        known.by_key([*LEDGER, LEDGER[0]])


@pytest.mark.parametrize("what", [{}, {"reason": "a", "test": "b"}, {"test": "a", "open": "b"}])
def test_an_entry_says_one_thing(what: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="give one of"):
        Known("a.py", "f", "x = 1", "x = 2", **what)


def test_the_interval_is_clopper_and_pearsons() -> None:
    """At all killed the lower end is 0.025**(1/n); at none the upper one is its mirror."""
    assert interval(20, 20) == pytest.approx((0.025 ** (1 / 20), 1))
    assert interval(0, 20) == pytest.approx((0, 1 - 0.025 ** (1 / 20)))


def test_a_session_goes_on_where_it_stopped(tmp_path: Path) -> None:
    file = tmp_path / "session"
    Session(file).enter("mutant", "failed")
    Session(file).enter("test_a", 1.5)
    again = Session(file)
    assert (again.get("mutant"), again.get("test_a"), again.get("other")) == ("failed", 1.5, None)


def test_the_page_tells_the_score_as_drawn_from_the_score_now() -> None:
    """Ten drawn: one is equivalent, one had lived and a test was added, one lives."""
    test, reason = (
        Known("a.py", "f", "1", "2", test="t::u"),
        Known("a.py", "g", "3", "4", reason="R"),
    )
    lives = [Mutant("a.py", "g", 9, "3", "4", ""), Mutant("a.py", "h", 12, "5", "6", "")]
    now = Counter({"failed": 7, "timed out": 1, "equivalent": 1, "passed": 1})
    before = Counter({"failed": 6, "timed out": 1, "equivalent": 1, "passed": 2})
    text = page(
        [Score("a.py", 100, now, before, lives)],
        [test, reason],
        "SAID",
        tool="1.0",
        seed="s",
        numerics=10,
        derivations=10,
    )
    assert "| `a.py` | 100 | 10 | 1 | 7/9 = 78 % | 40 % to 97 % | 8/9 = 89 % |" in text
    living, equivalent = text.index("- `a.py`, `h`\n"), text.index("- `a.py`, `g`: R\n")
    added = text.index("- `a.py`, `f`: `t::u`\n")
    assert living < equivalent < added
    assert "SAID" in text
