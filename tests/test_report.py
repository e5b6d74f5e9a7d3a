"""The report: what goes into it, how it is written down, and that it can turn out badly."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from schema_check import check

from derivations.claim import Evidence, Rung, Verdict, VerdictWord
from derivations.evidence import EvidenceRecord, load_evidence
from numerics import cli
from numerics.report import OutputError, Report, generated, make, page, staged, terminal
from numerics.report import run as job
from numerics.report.crosscheck import Crosscheck
from numerics.workers import in_processes

VOID = {"meta", "br", "link", "img", "hr", "input"}


@pytest.fixture(scope="module")
def report() -> Iterator[Report]:
    """A report of a few entries, statements, derivations and cross-checks, and of every figure."""
    with pytest.MonkeyPatch.context() as patch:
        record = [entry for entry in job.load_record() if entry.id in ("p1", "p4", "p7", "p12")]
        claims = [c for c in job.load_statements() if c.id.startswith(("lemma-4", "theorem-7"))]
        judged = {claim.id for entry in record for _, claim in entry.readings}
        judged |= {claim.id for claim in claims}
        kept = load_evidence()
        shown = {id: standing for id, standing in kept.claims.items() if id in judged}
        patch.setattr(job, "load_evidence", lambda: EvidenceRecord(kept.versions, shown))
        patch.setattr(job, "load_record", lambda: record)
        patch.setattr(job, "load_statements", lambda: claims)
        patch.setattr(job, "CATALOGUE", {id: job.CATALOGUE[id] for id in ("lemma-4", "lemma-5")})
        patch.setattr(job, "_CHECKS", {"stiffness": job._CHECKS["stiffness"]})
        yield make(processes=1)


def undecided(report: Report) -> Report:
    """The same report, had nothing spoken for or against the first reading of its first entry."""
    first = report.record[0]
    name, audited = first.readings[0]
    open_question = replace(audited, verdict=Verdict(VerdictWord.UNDECIDED, Evidence()))
    judged = replace(first, readings=((name, open_question), *first.readings[1:]))
    return replace(report, record=(judged, *report.record[1:]))


class Page(HTMLParser):
    """Reads a page strictly: every element is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.tags: set[str] = set()
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "srcset", "action", "data"):
                self.links.append(value or "")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


# --- the page ------------------------------------------------------------------------------------


def test_the_page_needs_nothing_but_itself(report: Report) -> None:
    text = page.render(report)
    read = Page(text)
    assert read.tags.isdisjoint({"script", "link", "img", "iframe", "object"})
    assert len(read.ids) == len(set(read.ids))
    assert {link[1:] for link in read.links} <= set(read.ids)
    assert all(link.startswith("#") for link in read.links)
    assert "@import" not in text
    assert all(piece.startswith("#") for piece in text.split("url(")[1:])


def test_the_page_shows_every_part(report: Report) -> None:
    text = page.render(report)
    words = " ".join(Page(text).words)
    for judged in report.record:
        for shown in (judged.entry.statement, judged.entry.meaning, judged.entry.left):
            assert shown in words
        for name, audited in judged.readings:
            assert name in words
            assert audited.claim.says in words
            assert all(value in words for value in audited.verdict.counterexample.values())
    for shown in (*report.derivations, *report.statements):
        assert getattr(shown, "title", "") in words
    for figure in report.figures:
        assert figure.caption in words
        assert all(panel in text for panel in figure.panels)
    for row in report.crosschecks:
        assert row.reason in words
    assert "Not everything is as expected" not in words


def test_the_page_escapes_what_it_is_given(report: Report) -> None:
    attack = "</style></td><script>alert(1)</script>\"'&"
    first = report.record[0]
    entry = replace(first.entry, statement=attack, meaning=attack, left=attack)
    _, audited = first.readings[0]
    verdict = replace(audited.verdict, notes=(attack,), derived=attack, witness=attack)
    judged = replace(first, entry=entry, readings=((attack, replace(audited, verdict=verdict)),))
    row = Crosscheck.of(attack, attack, {attack: 1.0}, 0.0, attack)
    hostile = replace(
        report, record=(judged,), crosschecks=(row,), versions={attack: attack},
        figures=(replace(report.figures[0], title=attack, alt=attack, caption=attack),),
    )  # fmt: skip
    read = Page(page.render(hostile))
    assert "script" not in read.tags
    assert " ".join(read.words).count(attack) >= 9


def test_undecided_is_never_green(report: Report) -> None:
    open_report = undecided(report)
    name = open_report.record[0].readings[0][0]
    before, text = page.render(report), page.render(open_report)
    reading = text[text.index("<tbody>") : text.index(name)]
    assert 'class="reading undecided"' in reading
    assert "? undecided" in reading
    assert "holds" not in reading
    assert text.count('class="badge holds"') == before.count('class="badge holds"') - 1
    assert "Not everything is as expected" in text
    assert not open_report.as_expected
    table = terminal.render(open_report)
    assert "UNDECIDED none" in " ".join(table.split())
    assert "! expected: holds" in table
    assert "1 undecided; 1 NOT as expected" in table


def test_an_installed_package_has_the_style_of_the_page() -> None:
    root = Path(__file__).resolve().parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]
    assert list(patterns) == ["*"]  # so a pattern is looked for in every package
    packages = {
        path.parent
        for name in ("derivations", "numerics")
        for path in (root / name).rglob("__init__.py")
    }
    packaged = {
        path for folder in packages for pattern in patterns["*"] for path in folder.glob(pattern)
    }
    data = {
        path
        for package in ("derivations", "numerics")
        for path in (root / package).rglob("*.*")
        if path.suffix in (".css", ".toml", ".html")
    }
    assert data <= packaged


def test_figures_are_the_same_every_time(report: Report) -> None:
    again = {figure.id: figure for figure in report.figures}
    assert list(again) == ["stability", "trajectories", "truncation", "fluctuations"]
    for figure in (job.figures.FIGURES["trajectories"](), job.figures.FIGURES["fluctuations"]()):
        assert figure == again[figure.id]
    for figure in report.figures:
        assert figure.alt
        for panel in figure.panels:
            assert "<metadata" not in panel
            assert "var(--ink" in panel


# --- the terminal and the data -------------------------------------------------------------------


def test_the_table_fits_and_misses_nothing(report: Report) -> None:
    table = terminal.render(report)
    assert max(map(len, table.splitlines())) <= 80
    joined = " ".join(table.split())
    assert "REFUTED proved" in joined
    rungs = [row for row in table.splitlines() if row.endswith(("proved", "certified", "tested"))]
    assert len(rungs) == sum(len(judged.readings) for judged in report.record)
    assert "the map 4 cross-checks in" in joined
    assert "0 failed" in joined


def test_the_json_is_strict_and_complete(report: Report) -> None:
    data = report.json()
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    assert data["schema"] == "grpo-dynamics/report/1"
    assert data["as_expected"] is True
    readings = [reading for entry in data["record"] for reading in entry["readings"]]
    for reading in readings:
        assert reading["verdict"] in ("holds", "refuted")
        assert set(reading["evidence"]) == {"rung", "method", "domain"}
    refuted = {r["id"] for r in readings if r["verdict"] == "refuted" and r["id"][:2] == "p7"}
    assert refuted <= set(data["on_the_map"])
    assert [row["id"] for row in data["derivations"]] == ["lemma-4", "lemma-5"]
    assert data["versions"]["sympy"][0].isdigit()


def test_the_evidence_record_is_what_is_judged_now(report: Report) -> None:
    claims = sum(len(judged.readings) for judged in report.record) + len(report.statements)
    assert len(report.evidence.claims) == claims > 10
    assert report.changes == ()
    assert f"{claims} claims against the evidence record" in terminal.render(report)
    assert "all as recorded" in page.render(report)
    assert report.json()["evidence"] == {"claims": claims, "changes": [], "accepted": False}


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_DISTRIBUTIONS", ("sympy", "no-such-program"))
    assert job._versions()["no-such-program"] == "not installed"


def test_processes_change_nothing() -> None:
    jobs = [("statement", "lemma-4.mass"), ("derivation", "lemma-4"), ("record", "p4")]
    shared, alone = (list(in_processes(job._do, jobs, processes=n)) for n in (2, 1))
    assert shared[1:] == alone[1:]
    assert shared[0][0].json() == alone[0][0].json()


# --- writing -------------------------------------------------------------------------------------


def write(out: Path, text: str, *, fail: bool = False) -> None:
    with staged(out) as scratch:
        (scratch / "index.html").write_text(text)
        assert not (out / "index.html").exists() or (out / "index.html").read_text() != text
        if fail:
            raise RuntimeError("half way")


def test_files_appear_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "new" / "report"
    with pytest.raises(RuntimeError, match="half way"):
        write(out, "half", fail=True)
    assert list((tmp_path / "new").iterdir()) == []
    write(out, "one")
    (out / "mine.txt").write_text("kept")
    with pytest.raises(RuntimeError, match="half way"):
        write(out, "two", fail=True)
    contents = {path.name: path.read_text() for path in out.iterdir()}
    assert contents == {"index.html": "one", "mine.txt": "kept"}
    write(out, "two")
    assert (out / "index.html").read_text() == "two"


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(OutputError, match="taken is a file"), staged(tmp_path / "taken"):
        pytest.fail("the work must not begin")
    assert (tmp_path / "taken").read_text() == "mine"


# --- the command ---------------------------------------------------------------------------------


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.parametrize("good", [True, False])
def test_the_command_writes_and_says_how_it_went(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], as_json: bool, good: bool,
) -> None:  # fmt: skip
    wanted = report if good else undecided(report)
    monkeypatch.setattr("numerics.report.make", lambda progress: wanted)
    out = tmp_path / "out"
    status = cli.main(["report", "--out", str(out), *(["--json"] if as_json else [])])
    printed = capsys.readouterr()
    assert status == (0 if good else 1)
    assert printed.err == ""
    assert {path.name for path in out.iterdir()} == {"index.html", "report.json"}
    assert (out / "index.html").read_text(encoding="utf-8") == page.render(wanted)
    written = json.loads((out / "report.json").read_text(encoding="utf-8"))
    if as_json:
        assert check(printed.out) == written
    else:
        assert terminal.render(wanted) in printed.out
        assert max(map(len, terminal.render(wanted).splitlines())) <= 80


def test_the_command_refuses_a_file_before_it_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("numerics.report.make", lambda progress: pytest.fail("it worked"))
    (tmp_path / "taken").write_text("mine")
    for out in (tmp_path / "taken", tmp_path / "taken" / "below"):
        assert cli.main(["report", "--out", str(out)]) == 2
        error = capsys.readouterr().err
        assert error.startswith("grpo-dynamics: error: ")
        assert error.count("\n") == 1
        assert "taken" in error


# --- generated files -----------------------------------------------------------------------------


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with one generated folder, whose one file is out of date."""

    def differing(folder: Path) -> list[str]:
        return [] if (folder / "a.md").read_text() == "new" else ["a.md: differs"]

    def regenerate(folder: Path) -> None:
        (folder / "a.md").write_text("new")

    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("old")
    monkeypatch.setattr(generated, "PARTS", (generated.Part("docs", differing, regenerate),))
    monkeypatch.setattr(generated, "source_tree", lambda: tmp_path)
    return tmp_path


def test_drift_is_found_named_and_mended(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", "--check"]) == 1
    assert "docs/a.md: differs" in capsys.readouterr().out
    assert cli.main(["report", "--check", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["drift"] == ["docs/a.md: differs"]
    assert (tree / "docs" / "a.md").read_text() == "old"
    assert cli.main(["report", "--update"]) == 0
    assert cli.main(["report", "--check"]) == 0


def test_only_a_source_tree_has_generated_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (generated.source_tree() / "pyproject.toml").is_file()
    inside = tmp_path / "site-packages" / "numerics" / "report" / "generated.py"
    monkeypatch.setattr(generated, "__file__", str(inside))
    assert cli.main(["report", "--check"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "clone" in error


def test_the_parts_are_the_book_the_kernels_the_figures_and_the_tables() -> None:
    folders = [part.folder for part in generated.PARTS]
    assert folders == ["docs/derivations", "numerics/kernels", "docs/figures", "docs"]
    assert Rung.PROVED > Rung.NONE
