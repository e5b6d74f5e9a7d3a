"""The evidence record: no verdict steps down unseen, and only a person accepts a step."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from dataclasses import asdict, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_check import check

from derivations import evidence
from derivations.audit import judge_claim
from derivations.claim import Claim, Rung
from derivations.claim_file import ClaimFileError
from derivations.domain import Domain
from derivations.evidence import (
    PATH,
    Change,
    EvidenceRecord,
    Standing,
    changes,
    evidence_of,
    load_evidence,
    missing_tools,
    written,
)
from derivations.record import load_record, load_statements
from numerics import cli
from numerics.report import generated
from numerics.report import run as job
from numerics.report.double_check import double_check

A = Standing(
    "threshold, exact: x < 1 - mu; lag 1", "holds", "certified", "at 60 points",
    "mu in [0, 1); x in (0, inf); where mu > x",
)  # fmt: skip
TOOLS = {"sympy": "1.14", "z3-solver": "4", "python-flint": "0.7"}


def record(versions: dict[str, str] | None = None, **claims: Standing) -> EvidenceRecord:
    return EvidenceRecord(TOOLS if versions is None else versions, claims)


# --- the file ------------------------------------------------------------------------------------


def test_the_record_has_every_claim_and_no_other() -> None:
    claims = [claim for entry in load_record() for _, claim in entry.readings]
    claims += load_statements()
    assert list(load_evidence().claims) == [claim.id for claim in claims]


def test_the_record_is_kept_as_it_is_written() -> None:
    kept = load_evidence()
    assert list(kept.versions) == list(evidence.TOOLS)
    assert written(kept) == PATH.read_text(encoding="utf-8")


@given(
    st.dictionaries(st.text(), st.builds(Standing, *[st.text()] * 5), max_size=3),
    st.dictionaries(st.from_regex(r"[a-z0-9-]+", fullmatch=True), st.text(), max_size=3),
)
def test_any_text_survives(claims: dict[str, Standing], versions: dict[str, str]) -> None:
    read = tomllib.loads(written(EvidenceRecord(versions, claims)))
    assert read["versions"] == versions
    assert read.get("claim", {}) == {id: asdict(standing) for id, standing in claims.items()}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace('"certified"', '"sure"'),
        lambda text: text.replace('"holds"', '"true"'),
        lambda text: text.replace("rung =", "height ="),
        lambda text: text.replace('"certified"', "2"),
        lambda text: "claim = 1\n",
        lambda text: text.replace('"1.14"', "1"),
        lambda text: "versions = []\n",
        lambda text: text[: len(text) // 2],
    ],
)
def test_a_spoilt_record_is_refused_by_name(tmp_path: Path, spoil: Callable[[str], str]) -> None:
    path = tmp_path / "evidence.toml"
    path.write_text(spoil(written(record(a=A))), encoding="utf-8")
    with pytest.raises(ClaimFileError, match=r"evidence\.toml") as refused:
        load_evidence(path)
    assert "\n" not in str(refused.value)


def test_without_a_record_nothing_is_recorded(tmp_path: Path) -> None:
    assert load_evidence(tmp_path / "none.toml") == EvidenceRecord()


# --- what counts as a step down ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "words", "slid"),
    [
        ({"rung": "tested"}, "tested, was certified", True),
        ({"verdict": "undecided", "rung": "none"}, "undecided, was holds", True),
        ({"verdict": "refuted", "rung": "proved"}, "refuted, was holds", True),
        ({"domain": "mu in [0, 1/2)"}, f"over [mu in [0, 1/2)], was over [{A.domain}]", True),
        ({"domain": A.domain + "; where x > 1"}, "over", True),
        ({"claim": "threshold, exact: x < 1"}, f"[threshold, exact: x < 1], was [{A.claim}]", True),
        ({"rung": "proved"}, "proved", False),
        ({"method": "at 53 points"}, "by [at 53 points], was by [at 60 points]", False),
    ],
)
def test_each_change_is_named_and_weighed(now: dict[str, str], words: str, slid: bool) -> None:
    (change,) = changes(record(a=A, b=A), record(a=replace(A, **now), b=A))
    assert (change.id, change.slid) == ("a", slid)
    assert words in change.words
    assert str(change).startswith("a: ")


def test_nothing_changed_is_nothing_said() -> None:
    assert changes(record(a=A), record({**TOOLS, "z3-solver": "5"}, a=A)) == ()


def test_a_claim_cannot_come_or_go_unseen() -> None:
    came, went = changes(record(old=A), record(new=A))
    assert came == Change("new", "judged, and not in the evidence record", True)
    assert went == Change("old", "in the evidence record, and judged no longer", True)


def test_another_sympy_may_write_a_restriction_in_other_words_but_not_drop_one() -> None:
    newer = {**TOOLS, "sympy": "9"}
    other = replace(A, domain="mu in [0, 1); x in (0, inf); where mu - x > 0")
    more = replace(A, domain=A.domain + "; where x < 1")
    less = replace(A, domain="mu in [0, 1); x in (0, inf)")
    for wording, versions, slid in (
        (other, TOOLS, True),
        (other, newer, False),
        (more, newer, True),
        (less, newer, True),
    ):
        (change,) = changes(record(a=A), record(versions, a=wording))
        assert change.slid is slid


def test_what_a_claim_says_and_its_ranges_are_part_of_the_record() -> None:
    model = {"optimizer": "heavy-ball", "lag_model": "constant", "lag": 0}
    one, other = (
        Standing.of(judge_claim(Claim("a", "mass", "(1 + mu)/2", model=model, domain=domain)))
        for domain in ({}, {"mu": Domain(low=Fraction(0), high=Fraction(1, 2))})
    )
    assert one.claim.startswith("mass, exact: (1 + mu)/2; optimizer heavy-ball; ")
    assert "mu in [0, 1/2]" in other.claim


# --- a missing solver ----------------------------------------------------------------------------


def test_a_missing_solver_is_the_reason_given(monkeypatch: pytest.MonkeyPatch) -> None:
    model = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1, "lag": 1}
    claim = Claim("a", "threshold", "x < 1 - mu", model=model)
    before = evidence_of([judge_claim(claim)])
    assert before.claims["a"].method == "SMT: the negation is unsatisfiable"
    monkeypatch.setitem(sys.modules, "z3", None)
    assert missing_tools() == ["z3-solver"]
    now = evidence_of([judge_claim(claim)])
    assert "z3-solver" not in now.versions
    (change,) = changes(before, now)
    assert (change.slid, change.words) == (
        True,
        "certified, was proved (z3-solver not installed)",
    )


# --- the command ---------------------------------------------------------------------------------

IDS = ("p7", "p8")
_judged: dict[str, Any] = {}


def _once(claim: Claim) -> Any:
    if claim.id not in _judged:
        audited = judge_claim(claim)
        _judged[claim.id] = audited, double_check(audited)
    return _judged[claim.id]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A source tree with an evidence record of two entries and one statement, which are judged."""
    entries = [entry for entry in load_record() if entry.id in IDS]
    claims = [claim for claim in load_statements() if claim.id == "sec-3.1.lag-1"]
    monkeypatch.setattr(job, "load_record", lambda: entries)
    monkeypatch.setattr(job, "load_statements", lambda: claims)
    monkeypatch.setattr(job, "CATALOGUE", {})
    monkeypatch.setattr(job, "_CHECKS", {})
    monkeypatch.setattr(job.figures, "FIGURES", {})
    monkeypatch.setattr(job, "_checked", _once)
    monkeypatch.setattr("numerics.report.make", partial(job.make, processes=1))
    (tmp_path / "derivations").mkdir()
    path = tmp_path / "derivations" / "evidence.toml"
    monkeypatch.setattr(job, "load_evidence", lambda: load_evidence(path))
    monkeypatch.setattr(generated, "source_tree", lambda: tmp_path)
    whole = load_evidence()
    part = {id: row for id, row in whole.claims.items() if id.startswith(("p7.", "p8."))}
    part["sec-3.1.lag-1"] = whole.claims["sec-3.1.lag-1"]
    path.write_text(written(EvidenceRecord(whole.versions, part)), encoding="utf-8")
    return path


def alter(path: Path, **claims: dict[str, str] | None) -> None:
    """Change standings in a copy of the record; None takes the claim out."""
    before = load_evidence(path)
    rows = dict(before.claims)
    for name, change in claims.items():
        id = name.replace("_", ".")
        if change is None:
            del rows[id]
        else:
            rows[id] = replace(rows.get(id, A), **change)
    path.write_text(written(EvidenceRecord(before.versions, rows)), encoding="utf-8")


def run(tmp_path: Path, *flags: str) -> int:
    return cli.main(["report", "--out", str(tmp_path / "out"), *flags])


def test_the_report_is_as_recorded(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path) == 0
    assert "12 claims against the evidence record\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"p14_1": {}}, "! p14.1: in the evidence record, and judged no longer"),
        ({"p8_3": None}, "! p8.3: judged, and not in the evidence record"),
        ({"p8_3": {"verdict": "refuted"}}, "! p8.3: holds, was refuted"),
        ({"p8_3": {"domain": "every d"}}, "! p8.3: over"),
    ],
)
def test_a_slide_fails_the_report_by_name(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    change: dict[str, dict[str, str] | None], line: str,
) -> None:  # fmt: skip
    alter(kept, **change)
    before = kept.read_bytes()
    assert run(tmp_path) == 1
    out = capsys.readouterr().out
    assert line in out
    assert "1 slid, 0 changed" in out
    assert "--accept" in out
    assert max(map(len, out.splitlines()[:-2])) <= 80
    assert kept.read_bytes() == before
    assert "✗ slid" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_a_lower_rung_fails_until_it_is_accepted_and_says_what_it_lowers(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def weaker(claim: Claim) -> Any:
        audited, check = _once(claim)
        if claim.id != "p8.3":
            return audited, check
        lower = replace(audited.verdict.evidence, rung=Rung.CERTIFIED)
        return replace(audited, verdict=replace(audited.verdict, evidence=lower)), check

    monkeypatch.setattr(job, "_checked", weaker)
    line = "! p8.3: certified, was proved"
    assert run(tmp_path) == 1
    assert line in capsys.readouterr().out
    assert run(tmp_path, "--json") == 1
    assert check(capsys.readouterr().out)["evidence"]["changes"] == [
        {"id": "p8.3", "words": "certified, was proved", "slid": True}
    ]
    assert load_evidence(kept).claims["p8.3"].rung == "proved"
    assert run(tmp_path, "--accept") == 0
    out = capsys.readouterr().out
    assert line in out
    assert "accepted" in out
    assert load_evidence(kept).claims["p8.3"].rung == "certified"
    assert run(tmp_path) == 0


def test_a_step_up_is_a_suggestion(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alter(kept, p8_3={"rung": "tested"})
    assert run(tmp_path) == 0
    out = capsys.readouterr().out
    assert "+ p8.3: proved over" in out
    assert "0 slid, 1 changed" in out


def test_what_is_not_sound_is_not_accepted(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        job, "counterexamples", lambda rows: job.Crosscheck("a", "b", 1, 1, 0, "", "")
    )
    alter(kept, p8_3={"rung": "tested"})
    before = kept.read_bytes()
    assert run(tmp_path, "--accept") == 1
    assert "not accepted: " in capsys.readouterr().out
    assert kept.read_bytes() == before


@pytest.mark.parametrize(("module", "name"), [("z3", "z3-solver"), ("flint", "python-flint")])
def test_nothing_is_accepted_without_a_solver(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, module: str, name: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("numerics.report.make", lambda progress: pytest.fail("it worked"))
    monkeypatch.setitem(sys.modules, module, None)
    before = kept.read_bytes()
    assert run(tmp_path, "--accept") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert name in error
    assert kept.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_one_thing_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for flags in (("--accept", "--check"), ("--accept", "--update"), ("--check", "--update")):
        assert run(tmp_path, *flags) == 2
        assert "one at a time" in capsys.readouterr().err


def test_a_contradiction_fails_the_report_with_claim_and_point(
    kept: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(claim: Claim) -> Any:
        audited, check = _once(claim)
        if claim.id == "sec-3.1.lag-1":
            false = replace(audited.claim, says="x < 1 - mu**2")
            check = double_check(replace(audited, claim=false))
        return audited, check

    monkeypatch.setattr(job, "_checked", planted)
    assert run(tmp_path) == 1
    out = capsys.readouterr().out
    assert "2 failed" in out
    assert "! what the solver proved, decided again" in out
    assert "at sec-3.1.lag-1 at heavy-ball, lag 1, mu = " in out
