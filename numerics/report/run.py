r"""The main job: derive everything, judge the record and the theory, run the map beside it all.

The work is a list of independent jobs, done in processes of their own; the report is what they
return, in the order of the theory and not of completion.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from derivations.audit import Audited, judge_claim
from derivations.catalogue import CATALOGUE, PARTS, derivation
from derivations.claim import Claim
from derivations.evidence import Change, EvidenceRecord, changes, evidence_of, load_evidence
from derivations.record import JudgedEntry, load_record, load_statements
from derivations.render import html as derivation_html
from derivations.render import json as derivation_json
from numerics.plots import Figure
from numerics.report import borders, figures, motion
from numerics.report.crosscheck import Crosscheck
from numerics.report.double_check import DoubleCheck, double_check, rows
from numerics.report.witness import confirm, counterexamples
from numerics.workers import in_processes

__all__ = ["SCHEMA", "Report", "Shown", "make"]

SCHEMA = "grpo-dynamics/report/1"

_DISTRIBUTIONS = (
    "grpo-dynamics", "sympy", "z3-solver", "python-flint", "hypothesis", "numpy", "scipy",
    "matplotlib",
)  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """A derivation under the premises it is shown at, as data and as a piece of the page."""

    part: str
    id: str
    title: str
    provenance: str
    rung: str
    rungs: tuple[str, ...]
    data: Mapping[str, object]
    html: str


@dataclass(frozen=True)
class Report:
    """Everything the main job found.

    Attributes
    ----------
    record
        The published record, every reading judged.
    statements
        The theory's own statements, judged.
    derivations
        Every result of the catalogue.
    crosschecks
        Exact results against the discrete map, and strong verdicts looked at a second time.
    evidence
        What every verdict rests on.
    changes
        What of that is not as in the evidence record.
    accepted
        Whether a person accepts those changes.
    figures
        For the page.
    on_the_map
        Claim id to what the map does at the claim's counterexample.
    versions
        Distribution to version, for every program that took part.
    """

    record: tuple[JudgedEntry, ...]
    statements: tuple[Audited, ...]
    derivations: tuple[Shown, ...]
    crosschecks: tuple[Crosscheck, ...]
    figures: tuple[Figure, ...]
    evidence: EvidenceRecord
    changes: tuple[Change, ...]
    on_the_map: Mapping[str, str]
    versions: Mapping[str, str]
    accepted: bool = False

    @property
    def as_expected(self) -> bool:
        """Whether the report is sound, and no evidence slid that nobody accepted."""
        return self.sound and (self.accepted or not any(change.slid for change in self.changes))

    @property
    def sound(self) -> bool:
        """Whether every verdict is the expected one and every cross-check passed."""
        return (
            all(judged.as_expected for judged in self.record)
            and all(audited.as_expected for audited in self.statements)
            and all(row.passed for row in self.crosschecks)
        )

    def json(self) -> dict[str, object]:
        """Return the report as plain data, without the figures."""
        return {
            "schema": SCHEMA,
            "versions": dict(self.versions),
            "as_expected": self.as_expected,
            "record": [judged.json() for judged in self.record],
            "statements": [audited.json() for audited in self.statements],
            "on_the_map": dict(self.on_the_map),
            "crosschecks": [row.json() for row in self.crosschecks],
            "evidence": {
                "claims": len(self.evidence.claims),
                "changes": [change.json() for change in self.changes],
                "accepted": self.accepted,
            },
            "derivations": [dict(shown.data) for shown in self.derivations],
        }


_CHECKS: Mapping[str, Callable[[], Crosscheck]] = {
    "constant threshold": lambda: borders.thresholds("constant"),
    "sawtooth threshold": lambda: borders.thresholds("sawtooth"),
    "regained stability": borders.regained_stability,
    "radius": borders.radii,
    "onset": borders.onsets,
    "variance": motion.impulse_variances,
    "noise": motion.noisy_variances,
    "curve order": motion.curve_orders,
    "rate order": motion.rate_orders,
    "stiffness": motion.stiffnesses,
}


_Checked = tuple[Audited, DoubleCheck]


def _checked(claim: Claim) -> _Checked:
    audited = judge_claim(claim)
    return audited, double_check(audited)


def _entry(id: str) -> tuple[JudgedEntry, list[DoubleCheck]]:
    (entry,) = (entry for entry in load_record() if entry.id == id)
    readings = [(name, *_checked(claim)) for name, claim in entry.readings]
    judged = JudgedEntry(entry, tuple((name, audited) for name, audited, _ in readings))
    return judged, [check for _, _, check in readings]


def _statement(id: str) -> _Checked:
    (claim,) = (claim for claim in load_statements() if claim.id == id)
    return _checked(claim)


def _derivation(id: str) -> Shown:
    (part,) = (title for title, rows in PARTS.items() if CATALOGUE[id] in rows)
    made = derivation(id, **CATALOGUE[id].shown()[0])
    data, page = derivation_json(made), derivation_html(made)
    rungs = tuple(step.rung.word for step in made.steps)
    return Shown(part, id, made.title, made.provenance.value, made.evidence, rungs, data, page)


_KINDS: Mapping[str, Callable[[str], Any]] = {
    "record": _entry,
    "statement": _statement,
    "derivation": _derivation,
    "crosscheck": lambda name: _CHECKS[name](),
    "figure": lambda name: figures.FIGURES[name](),
}


def _do(job: tuple[str, str]) -> Any:
    kind, name = job
    return _KINDS[kind](name)


def make(
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda results, total: results,
    *,
    processes: int | None = None,
) -> Report:
    """Do the main job.

    Parameters
    ----------
    progress
        Wraps the iteration over the results, given their number, for a progress bar.
    processes
        How many processes share the work, as `numerics.workers.in_processes` takes it.
    """
    jobs = [
        *(("record", entry.id) for entry in load_record()),
        *(("statement", claim.id) for claim in load_statements()),
        *(("derivation", id) for id in CATALOGUE),
        *(("crosscheck", name) for name in _CHECKS),
        *(("figure", name) for name in figures.FIGURES),
    ]
    done: dict[str, list[Any]] = {kind: [] for kind in _KINDS}
    results = progress(in_processes(_do, jobs, processes=processes), len(jobs))
    for (kind, _), result in zip(jobs, results, strict=True):
        done[kind].append(result)
    record = tuple(judged for judged, _ in done["record"])
    statements = tuple(audited for audited, _ in done["statement"])
    checks = [check for _, found in done["record"] for check in found]
    checks += [check for _, check in done["statement"]]
    judged = [audited for entry in record for _, audited in entry.readings]
    judged += statements
    on_the_map = {audited.claim.id: confirm(audited) for audited in judged}
    evidence = evidence_of(judged)
    return Report(
        record=record,
        statements=statements,
        derivations=tuple(done["derivation"]),
        crosschecks=(*done["crosscheck"], counterexamples(judged), *rows(checks)),
        figures=tuple(done["figure"]),
        evidence=evidence,
        changes=changes(load_evidence(), evidence),
        on_the_map={id: words for id, words in on_the_map.items() if words},
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in _DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
