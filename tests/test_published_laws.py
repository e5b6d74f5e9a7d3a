"""n1 and s1 on logs: on synthetic ones always, on public ones where `../shared` has them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from benchmarks import published_laws as laws
from fit_cases import gaussian
from test_fit_real_logs import EXPECTED

from derivations.evidence import EvidenceRecord
from derivations.record import JudgedEntry, load_record
from numerics import cli
from numerics.fit import TOLD_APART, compare
from numerics.report import Report, claims, terminal

RECORD = {entry.id: entry for entry in load_record()}
MEASURED = [entry for entry in RECORD.values() if entry.measured]


def table(begin: str) -> list[list[str]]:
    """Return the cells of a table of the page, without its head."""
    text = laws.PAGE.read_text("utf-8")
    block = text.split(f"<!-- {begin}: begin -->")[1].split(f"<!-- {begin}: end -->")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.strip().splitlines()[2:]
    ]


def verdict(behind: str) -> str:
    return "worse" if float(behind) >= TOLD_APART else "undecided"


# --- the page and the record ---------------------------------------------------------------------


def test_the_page_has_every_log_and_the_record_counts_them() -> None:
    rows = table("laws")
    assert [row[0] for row in rows] == [label for label, _, _ in laws.CASES]
    assert {(file, run) for _, file, run in laws.CASES} == {case[:2] for case in EXPECTED}
    counts = {
        law: Counter(verdict(row[3 + place]) for row in rows) for place, law in enumerate(laws.LAWS)
    }
    assert counts["exponential"] == {"worse": 9, "undecided": 4}
    assert counts["sigmoid"] == {"worse": 3, "undecided": 10}
    assert counts["compute-law"] == {"worse": 5, "undecided": 8}
    for row in rows:  # the best of all families is preferred to none of the others that are here
        assert min(map(float, row[3:6])) >= 0
        assert (row[2] in laws.LAWS) == (min(map(float, row[3:6])) == 0)
    exponents = [float(row[6].split()[0]) for row in rows if row[0].startswith("tiny")]
    assert (min(exponents), max(exponents)) == (1.9, 2.6)
    assert "13 public logs the exponential is worse than another family in 9" in RECORD["n1"].left
    assert "undecided in 4, the sigmoid worse in 3 and undecided in 10" in RECORD["n1"].left
    assert "worse than another family in 5 and undecided in 8" in RECORD["s1"].left


def test_the_page_says_how_rarely_the_verdict_errs() -> None:
    rows = table("trials")
    assert [row[0] for row in rows] == list(laws.LAWS)
    for place, row in enumerate(rows):
        assert int(row[1]) == laws.COUNT
        assert float(row[2 + place].removesuffix(" %")) <= 1.0


@pytest.mark.parametrize("entry", MEASURED, ids=lambda entry: entry.id)
def test_what_is_measured_is_told_and_never_green(entry) -> None:
    alone = Report(
        record=(JudgedEntry(entry, ()),), statements=(), derivations=(), crosschecks=(),
        figures=(), evidence=EvidenceRecord({}, {}), changes=(), on_the_map={}, versions={},
    )  # fmt: skip
    assert f"measured: grpo-dynamics {entry.measured}" in terminal.render(alone)
    page = claims.record(alone)
    assert f"Measured by <code>grpo-dynamics {entry.measured}</code>" in page
    row = page[page.index("<tbody>") :]
    assert "holds" not in row.split("</tbody>")[0].replace(entry.left, "").replace("it holds", "")
    assert "docs/" in entry.left
    with pytest.raises(SystemExit) as told:
        cli.main([entry.measured.split()[0], "--help"])
    assert told.value.code == 0


def test_the_record_has_all_that_are_measured() -> None:
    by: dict[str, list[str]] = {}
    for entry in MEASURED:
        by.setdefault(" ".join(entry.measured.split()[:2]), []).append(entry.id)
    assert by == {
        "experiment transformer": ["p3", "p4", "p5", "p6", "p8", "p9", "p10", "p13", "m1"],
        "experiment bandit": ["p14", "p15"],
        "fit LOG": ["p16", "n1", "s1"],
    }
    for id in ("n1", "s1"):
        assert RECORD[id].provenance.value == "stated"
        assert len(RECORD[id].readings) >= 6


# --- logs ----------------------------------------------------------------------------------------


def test_public_logs_say_what_the_page_says() -> None:
    """Reads `../shared`; checks nothing for a log that is not there."""
    said = {row[0]: row for row in table("laws")}
    for found in laws.on_logs(laws.LOGS):
        row = [cell.strip() for cell in found.row().strip("|").split("|")]
        page = said[row[0]]
        assert row[:3] == page[:3]
        for now, then, law in zip(row[3:6], page[3:6], laws.LAWS, strict=True):
            assert float(now) == pytest.approx(float(then), abs=0.3, rel=0.01)
            assert found.ranked.standing(law) == verdict(then)
        ours, theirs = ([float(n) for n in re.findall(r"[\d.]+", r[6])] for r in (row, page))
        assert ours == pytest.approx(theirs, rel=0.06)
        best, low = (float(n) for n in re.findall(r"[\d.]+", row[7])[:2])
        assert best > low - 0.005


@pytest.mark.parametrize("law", laws.LAWS)
def test_a_law_is_not_worse_on_a_log_it_has_made(law: str) -> None:
    assert [row[law] for row in laws.trial(law, range(4))].count("worse") == 0
    one, other = laws.synthetic(law, 3), laws.synthetic(law, 3)
    assert np.array_equal(one.value, other.value)


CLEAN = {
    "exponential": (lambda t: -np.expm1(-t / 60), ["undecided", "undecided", "worse"]),
    "sigmoid": (lambda t: 1 / (1 + np.exp(-(t - 120) / 30)), ["worse", "preferred", "worse"]),
    "compute-law": (lambda t: 1 / (1 + (70 / t) ** 1.5), ["worse", "worse", "preferred"]),
}


@pytest.mark.parametrize("law", CLEAN)
def test_a_clean_log_tells_the_laws_apart(law: str) -> None:
    """But for the exponential, which is a sigmoid begun far above its half."""
    share, standings = CLEAN[law]
    ranked = compare(gaussian(0.2 + 0.6 * share(np.arange(400) + 0.5), 0.003, seed=2))
    assert [ranked.standing(name) for name in laws.LAWS] == standings
    assert ranked.best.family.name == law


def test_standing_needs_a_rival() -> None:
    t = np.arange(400) + 0.5
    given = gaussian(0.2 + 0.6 / (1 + (70 / t) ** 1.5), 0.003, seed=2)
    assert compare(given, ["compute-law"]).standing("compute-law") == "undecided"
    two = compare(given, ["compute-law", "exponential"])
    assert two.standing("compute-law") == "preferred"
    assert two.standing("exponential") == "worse"


def test_the_command_says_how_each_law_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw = np.random.default_rng(3)
    t = np.arange(1, 301)
    reward = 0.2 + 0.6 / (1 + np.exp(-(t - 120) / 20)) + 0.01 * draw.standard_normal(300)
    log = tmp_path / "log.csv"
    rows = (f"{step},{value}\n" for step, value in zip(t, reward, strict=True))
    log.write_text("step,reward\n" + "".join(rows))
    assert cli.main(["fit", str(log)]) == 0
    text = capsys.readouterr().out
    assert re.search(r"n1, single exponential +worse than [\w-]+ by \d+\.\d\n", text)
    assert re.search(r"n1 \(v1\), sigmoid +preferred\n", text)
    assert re.search(r"s1, compute-performance law +worse than [\w-]+ by \d+\.\d\n", text)
    assert cli.main(["fit", str(log), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(law["id"], law["standing"]) for law in found["laws"]] == [
        ("n1", "worse"), ("n1", "preferred"), ("s1", "worse"),
    ]  # fmt: skip
    assert cli.main(["fit", str(log), "--family", "sigmoid", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["laws"] == []
