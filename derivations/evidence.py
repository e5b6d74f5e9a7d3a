r"""The evidence record: what every verdict rested on when it was last accepted.

A verdict can stay the same while what it rests on becomes less: a solver that no longer answers, a
domain that was narrowed, a claim that nobody judges any more. So what is judged now is held against
`evidence.toml`, claim by claim, and any step down is a failure until a person accepts it.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from importlib import metadata
from pathlib import Path

from derivations.audit import Audited
from derivations.claim import Rung, VerdictWord
from derivations.claim_file import ClaimFileError, read_tables

__all__ = [
    "PATH",
    "TOOLS",
    "Change",
    "EvidenceRecord",
    "Standing",
    "changes",
    "evidence_of",
    "load_evidence",
    "missing_tools",
    "written",
]

PATH = Path(__file__).with_name("evidence.toml")

#: What decides a claim: distribution to the module that is imported.
TOOLS: Mapping[str, str] = {"sympy": "sympy", "z3-solver": "z3", "python-flint": "flint"}

_HEAD = """\
# What every verdict rested on when it was last accepted: one table a claim, never edited by hand.
# `grpo-dynamics report` fails on any step down from here; with `--accept` it writes this file.
"""


@dataclass(frozen=True)
class Standing:
    """What one claim says, how it was judged, and what that rests on; all as text.

    Attributes
    ----------
    claim
        Quantity, relation, printed formula, the claim's own ranges and conventions.
    verdict, rung
        As :class:`~derivations.claim.VerdictWord` and :class:`~derivations.claim.Rung` print them.
    method
        Without the versions of the tools.
    domain
        The region covered, in words.
    """

    claim: str
    verdict: str
    rung: str
    method: str
    domain: str

    @classmethod
    def of(cls, audited: Audited) -> Standing:
        """Return the standing of a claim as just judged."""
        claim, evidence = audited.claim, audited.verdict.evidence
        order = "" if claim.order is None else f" {claim.order} in {claim.small}"
        said = f"{claim.quantity}, {claim.relation.value}{order}: {claim.says}"
        ranges = (f"{name} in {domain}" for name, domain in claim.domain.items())
        conventions = (f"{name} {value}" for name, value in audited.conventions.items())
        return cls(
            "; ".join((said, *ranges, *conventions)),
            audited.verdict.word.value,
            evidence.rung.word,
            re.sub(r" \(z3 [\w.]+\)", "", evidence.method),
            evidence.domain,
        )


@dataclass(frozen=True)
class EvidenceRecord:
    """Standings by claim id, and the versions of the tools that they were reached with."""

    versions: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, Standing] = field(default_factory=dict)


@dataclass(frozen=True)
class Change:
    """What is no longer as recorded of one claim, in a line; and whether it slid."""

    id: str
    words: str
    slid: bool

    def __str__(self) -> str:
        return f"{self.id}: {self.words}"

    def json(self) -> dict[str, object]:
        """Return the change as plain data."""
        return asdict(self)


def missing_tools() -> list[str]:
    """Return the deciding tools that cannot be imported, by distribution."""

    def missing(module: str) -> bool:
        try:
            importlib.import_module(module)
        except ImportError:
            return True
        return False

    return [name for name, module in TOOLS.items() if missing(module)]


def evidence_of(rows: Iterable[Audited]) -> EvidenceRecord:
    """Return the evidence of claims as just judged, with the tools as installed."""
    missing = missing_tools()
    versions = {name: metadata.version(name) for name in TOOLS if name not in missing}
    return EvidenceRecord(versions, {row.claim.id: Standing.of(row) for row in rows})


def changes(before: EvidenceRecord, now: EvidenceRecord) -> tuple[Change, ...]:
    """Return what changed between two evidence records, at most one change a claim.

    A claim slid if it is judged no longer or without being recorded; if it says something else or
    got another verdict; if its rung is lower or its domain another. Anything else that changed, a
    higher rung or another method, is worth recording and no failure.
    """
    missing = [name for name in TOOLS if name not in now.versions]
    lacking = f" ({' and '.join(missing)} not installed)" if missing else ""
    # How a restriction is written depends on the version of SymPy; how many there are does not.
    same_words = before.versions.get("sympy") == now.versions.get("sympy")

    def difference(old: Standing, new: Standing) -> tuple[str, bool] | None:
        if new.claim != old.claim:
            return f"another claim, [{new.claim}], was [{old.claim}]", True
        if new.verdict != old.verdict:
            return f"{new.verdict}, was {old.verdict}{lacking}", True
        if _rung(new.rung) < _rung(old.rung):
            return f"{new.rung}, was {old.rung}{lacking}", True
        if _rung(new.rung) > _rung(old.rung):
            return f"{new.rung} over [{new.domain}], was {old.rung} over [{old.domain}]", False
        if new.domain != old.domain:
            covered = same_words or _without_restrictions(new) != _without_restrictions(old)
            return f"over [{new.domain}], was over [{old.domain}]", covered
        if new.method != old.method:
            return f"by [{new.method}], was by [{old.method}]", False
        return None

    found = []
    for id in dict.fromkeys((*now.claims, *before.claims)):
        if id not in before.claims:
            found.append(Change(id, "judged, and not in the evidence record", True))
        elif id not in now.claims:
            found.append(Change(id, "in the evidence record, and judged no longer", True))
        elif change := difference(before.claims[id], now.claims[id]):
            found.append(Change(id, *change))
    return tuple(found)


def _rung(word: str) -> Rung:
    return Rung[word.upper()]


def _without_restrictions(standing: Standing) -> list[str]:
    """The parts of a domain, of each restriction only that it is there."""
    return ["where" if p.startswith("where ") else p for p in standing.domain.split("; ")]


def load_evidence(path: Path = PATH) -> EvidenceRecord:
    """Return the evidence record; an empty one where there is no file.

    Raises
    ------
    ClaimFileError
        Naming the file and what in it is not as :func:`written` writes it.
    """
    if not path.is_file():
        return EvidenceRecord()
    tables = read_tables(path)
    versions, claims = tables.get("versions", {}), tables.get("claim", {})
    if not (_is_text(versions) and isinstance(claims, dict)):
        raise _spoilt(path, "versions or claim")
    for id, row in claims.items():
        if not (
            _is_text(row)
            and row.keys() == {field.name for field in fields(Standing)}
            and row["verdict"] in [word.value for word in VerdictWord]
            and row["rung"] in [rung.word for rung in Rung]
        ):
            raise _spoilt(path, f"claim {id!r}")
    return EvidenceRecord(versions, {id: Standing(**row) for id, row in claims.items()})


def _is_text(table: object) -> bool:
    return isinstance(table, dict) and all(isinstance(value, str) for value in table.values())


def _spoilt(path: Path, what: str) -> ClaimFileError:
    return ClaimFileError(
        f"{path}: {what}: not as it was written; restore the file from version control, or delete "
        "it and run grpo-dynamics report --accept"
    )


def written(record: EvidenceRecord) -> str:
    """Return the text of an evidence record, as TOML."""
    return "\n".join(_lines(record)) + "\n"


def _lines(record: EvidenceRecord) -> Iterator[str]:
    yield f"{_HEAD}\n[versions]"
    for name, version in record.versions.items():
        yield f"{name} = {_quoted(version)}"
    for id, standing in record.claims.items():
        yield f"\n[claim.{_quoted(id)}]"
        for name, value in asdict(standing).items():
            yield f"{name} = {_quoted(value)}"


def _quoted(text: str) -> str:
    """Return a TOML basic string; JSON's is one, but that it may hold a bare DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
