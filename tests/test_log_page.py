"""The page of a log: it stands alone, it is safe, and its numbers are those of the JSON."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from diagnose_logs import make_log, make_run, rise

from numerics.diagnose import FAULT, diagnose
from numerics.fit import compare, curve_of_log, intervals
from numerics.forecast import forecast
from numerics.log_page import log_page, page
from numerics.log_page.course import courses
from numerics.logs import Column, Log, Run
from numerics.pages import number
from numerics.trainers import as_json, lag_table

ROWS = 90
VOID = {"meta", "wbr", "br"}
HOSTILE = (
    '<script>alert("1")</script>', "\"'><img src=x onerror=a()>", "$\\frac{", "_汉字\x07&amp;",
)  # fmt: skip


class Reader(HTMLParser):
    """What a browser would make of the page, refusing what it would have to mend."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.dials: list[set[float]] = []
        self.numbers: set[float] = set()
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        assert len(given) == len(attrs)
        self.tags.append((tag, given))
        if tag not in VOID:
            self.open.append(tag)
        if given.get("class") == "dial":
            self.dials.append(set())
        if tag == "data":
            value = float(str(given["value"]))
            self.numbers.add(value)
            if "article" in self.open:
                self.dials[-1].add(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data

    def attributes(self, name: str) -> list[str]:
        return [str(attrs[name]) for _, attrs in self.tags if name in attrs]


def faulty(name: str = "", seed: int = 1) -> Run:
    """A run whose entropy collapses while its reward rises and half its groups are dead."""
    random = np.random.default_rng(seed)
    step = np.arange(ROWS)
    fall = np.where(step < 40, 0.5, 0.5 * np.exp(-(step - 40) / 8))
    return make_run(
        name=name,
        reward=rise(ROWS, 12) + 0.05 * random.standard_normal(ROWS),
        true_reward=rise(ROWS, 14) / 2 + 0.05 * random.standard_normal(ROWS),
        dead_fraction=random.binomial(8, 0.5, ROWS) / 8,
        entropy=fall * np.exp(0.05 * random.standard_normal(ROWS)),
    )


def numbers_of(tree: Any) -> Iterator[float]:
    if isinstance(tree, Mapping):
        for value in tree.values():
            yield from numbers_of(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from numbers_of(value)
    elif isinstance(tree, int | float) and not isinstance(tree, bool):
        yield float(tree)


@pytest.fixture(scope="module")
def log() -> Log:
    return make_log(faulty(), group_size=8)


@pytest.fixture(scope="module")
def html(log: Log) -> str:
    return log_page(log, diagnose(log))


def test_the_page_is_well_formed_and_needs_nothing_but_itself(html: str) -> None:
    read = Reader(html)
    assert {"script", "link", "img", "iframe", "object", "base"}.isdisjoint(t for t, _ in read.tags)
    ids = read.attributes("id")
    assert len(ids) == len(set(ids))
    for name in ("href", "xlink:href", "src"):
        for target in read.attributes(name):
            assert target.startswith("#")
            assert target[1:] in ids
    assert set(re.findall(r"url\(#?", html)) <= {"url(#"}
    assert "@import" not in html
    addresses = set(re.findall(r'[\w:]+="https?://[^"]*"', html))
    assert {address.partition("=")[0] for address in addresses} <= {"xmlns", "xmlns:xlink"}


def test_the_numbers_are_those_of_the_json(log: Log, html: str) -> None:
    (found,) = diagnose(log)
    told, read = found.to_json(), Reader(html)
    assert FAULT in {finding["verdict"] for finding in told["findings"]}
    assert len(read.dials) == 4
    for finding, shown in zip(told["findings"], read.dials, strict=True):
        onset = finding["onset"] and {key: finding["onset"][key] for key in ("step", "low", "high")}
        wanted = [finding["value"], onset, finding["called_at"], finding["measures"]]
        assert set(numbers_of(wanted)) <= shown
    shape = told["shape"]
    wanted = [told["rows"], told["best_step"], shape["early"], shape["late"]]
    assert set(numbers_of(wanted)) <= read.numbers


def test_every_sentence_of_a_finding_is_on_the_page(log: Log, html: str) -> None:
    (found,) = diagnose(log)
    text = Reader(html).text
    for finding in found.findings:
        for sentence in (*finding.evidence, *finding.missing):
            assert sentence in text
        for rival in finding.rivals:
            assert rival.explanation in text
            assert rival.test in text


def test_the_curve_is_that_of_the_fit(log: Log, html: str) -> None:
    best = compare(curve_of_log(log).series).best
    told = intervals(best, [name for name in ("R_inf", "tau") if name in best.readings], level=0.9)
    assert told
    ends = [(each.estimate, each.low, each.high) for each in told.values()]
    wanted = {end for row in ends for end in row if end is not None}
    read = Reader(html)
    assert wanted <= read.numbers
    assert f"{best.family.name}, {best.family.law}" in read.text


def test_the_forecast_is_that_of_the_rows(log: Log, html: str) -> None:
    found = forecast(curve_of_log(log).series)
    estimates = (found.plateau, found.remaining, found.share_step)
    ends = [end for each in estimates for end in (each.middle, each.low, each.high)]
    wanted = {end for end in ends if end is not None} | {found.noise, found.probability}
    read = Reader(html)
    assert wanted <= read.numbers
    assert f"{found.verdict}: {found.why}" in read.text


@pytest.mark.parametrize(
    ("value", "shown"),
    [(3, "3"), (-0.25, "−0.25"), (12345.6, "12346"), (1e-7, "1e−07"), (2e9, "2e+09"), (0.0, "0")],
)
def test_a_number_is_rounded_for_people_and_exact_for_machines(value: float, shown: str) -> None:
    assert number(value) == f'<data value="{value!r}">{shown}</data>'


def test_an_infinite_end_is_no_number() -> None:
    assert number(-math.inf) == "−∞"


def test_the_same_log_gives_the_same_bytes(log: Log, html: str) -> None:
    assert log_page(log, diagnose(log)) == html


def test_every_row_and_every_column_is_accounted_for() -> None:
    run = make_run(reward=rise(6, 2), loss=np.zeros(6), meanings={"loss": "not <b>a</b> reward"})
    log = replace(
        make_log(run), rows={"reward": 6, "duplicate": 35, "refused": 1701},
        refused=tuple(f"line {k}: nonsense" for k in range(1, 20)),
        notes=("the last start counts",),
    )  # fmt: skip
    read = Reader(log_page(log, diagnose(log)))
    assert {6, 35, 1701, 1742} <= read.numbers
    for words in ("not <b>a</b> reward", "line 19: nonsense", "the last start counts"):
        assert words in read.text
    assert "6 rows are no curve" in read.text


def test_what_a_log_says_is_never_markup() -> None:
    spelt = dict(zip(("reward", "true_reward", "entropy", "dead_fraction"), HOSTILE, strict=True))
    run = faulty(name=HOSTILE[0])
    run = replace(
        run, columns=tuple(Column(spelt[c.name], c.quantity, HOSTILE[1]) for c in run.columns),
        values={spelt[name]: value for name, value in run.values.items()},
    )  # fmt: skip
    other = replace(faulty(name=HOSTILE[1], seed=2), step=np.arange(ROWS) * 2.0)
    log = replace(
        make_log(run, other), path=f"/logs/{HOSTILE[1]}.csv", format=HOSTILE[0],
        version=HOSTILE[1], refused=HOSTILE, notes=HOSTILE, rows={HOSTILE[1]: 3},
        configuration={HOSTILE[0]: HOSTILE[1]},
    )  # fmt: skip
    read = Reader(log_page(log, diagnose(log)))
    assert {"script", "img"}.isdisjoint(tag for tag, _ in read.tags)
    assert not any(name.startswith("on") for _, attrs in read.tags for name in attrs)
    for words in HOSTILE:
        assert words.replace("\x07", "\N{REPLACEMENT CHARACTER}") in read.text


def test_every_run_has_a_section_up_to_a_number_that_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page, "MOST_RUNS", 2)
    runs = [make_run(name=f"run {k}", reward=rise(6, 2 + k)) for k in range(3)]
    log = make_log(*runs, make_run(name="stub", reward=rise(2, 1)))
    read = Reader(log_page(log, diagnose(log)))
    ids = read.attributes("id")
    assert {"run-0", "run-1", "read"} <= set(ids)
    assert "run-2" not in ids
    assert "No section here for 1 of the runs" in read.text
    assert "too few reward rows to be judged: stub" in read.text.lower()


def test_the_lags_are_those_of_the_table() -> None:
    table = lag_table("trl", {"gradient_accumulation_steps": 2, "steps_per_generation": 6})
    log = make_log(make_run(reward=rise(6, 2)))
    found = diagnose(log, lag=(float(table.mean), float(table.max)))
    html = log_page(log, found, lag=table)
    cells = html.partition('<table class="lags">')[2].partition("</table>")[0]
    rows = [re.findall(r'data value="(\d+)"', row) for row in cells.split("<tr>")[2:]]
    told = as_json(table, None)
    assert [[int(lag) for lag in row] for row in rows] == told["lags"]
    read = Reader(html)
    assert {told["mean"], told["max"], told["updates_per_rollout"]} <= read.numbers
    for notice in told["warnings"]:
        assert notice["text"] in read.text


def test_a_course_ends_with_the_finding_and_holds_it_since_it_could_be_called(log: Log) -> None:
    (found,) = diagnose(log)
    (run,) = log.runs
    context = page.context_of(log, run, None, page.Context(), None, None)
    grown = courses(run, context, found.findings)
    for finding, course in zip(found.findings, grown, strict=True):
        if course:
            assert course[-1].finding is finding
            assert [said.step for said in course] == sorted({said.step for said in course})
        if finding.verdict == FAULT:
            assert finding.called_at is not None
            verdicts = {said.finding.verdict for said in course if said.step >= finding.called_at}
            assert verdicts == {FAULT}
            assert course[0].finding.verdict != FAULT


def test_an_open_interval_is_told_and_not_a_number(log: Log, html: str) -> None:
    values = [float(value) for value in re.findall(r'data value="([^"]*)"', html)]
    assert all(math.isfinite(value) for value in values)
