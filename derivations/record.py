r"""The published record: claims of the literature, each with its readings, judged.

Words in a paper can be meant in several ways, and a verdict without its reading says nothing. So an
entry of the record has words, a place, and one judged claim per reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from typing import Any

from derivations.audit import Audited, judge_claim
from derivations.claim import Claim, Provenance, Source
from derivations.claim_file import claim_from, read_claims, read_tables

__all__ = ["Entry", "JudgedEntry", "judge_record", "load_record", "load_statements"]


@dataclass(frozen=True)
class Entry:
    """One entry of the record.

    Attributes
    ----------
    id, statement, source, provenance
        What is claimed, in the record's words, and where.
    meaning
        One sentence for someone who trains a model.
    left
        What no algebra decides, or an empty string.
    readings
        Name of each reading and the claim it makes.
    measured
        The command that measures what is left, or an empty string.
    """

    id: str
    statement: str
    source: Source
    provenance: Provenance
    meaning: str
    left: str
    readings: tuple[tuple[str, Claim], ...]
    measured: str = ""


@dataclass(frozen=True)
class JudgedEntry:
    """An entry with the verdict of each reading."""

    entry: Entry
    readings: tuple[tuple[str, Audited], ...]

    @property
    def as_expected(self) -> bool:
        """Whether every reading has the verdict the record expects."""
        return all(audited.as_expected for _, audited in self.readings)

    def json(self) -> dict[str, object]:
        """Return the entry as plain data."""
        entry = self.entry
        return {
            "id": entry.id, "statement": entry.statement, "source": str(entry.source),
            "provenance": entry.provenance.value, "meaning": entry.meaning, "left": entry.left,
            "measured": entry.measured,
            "readings": [{"name": name, **audited.json()} for name, audited in self.readings],
        }


def _path(name: str) -> str:
    return str(resources.files("derivations").joinpath(name))


def load_record() -> list[Entry]:
    """Return the record as data, nothing judged."""
    return [_entry(row) for row in read_tables(_path("record.toml"))["record"]]


def load_statements() -> list[Claim]:
    """Return the theory's own statements, as typed."""
    return read_claims(_path("statements.toml"))


def _entry(row: Mapping[str, Any]) -> Entry:
    source = Source(**row["source"])
    readings = []
    for number, reading in enumerate(row.get("reading", []), 1):
        fields = {key: value for key, value in reading.items() if key != "name"}
        claim = claim_from({"id": f"{row['id']}.{number}", **fields})
        claim = replace(claim, source=source, provenance=Provenance(row["provenance"]))
        readings.append((reading["name"], claim))
    return Entry(
        row["id"], row["statement"], source, Provenance(row["provenance"]), row["meaning"],
        row.get("left", ""), tuple(readings), row.get("measured", ""),
    )


def judge_record(
    progress: Callable[[Iterable[Entry]], Iterable[Entry]] = lambda entries: entries,
) -> list[JudgedEntry]:
    """Judge every reading of every entry.

    Parameters
    ----------
    progress
        Wraps the iteration, for a progress bar.
    """
    return [
        JudgedEntry(entry, tuple((name, judge_claim(claim)) for name, claim in entry.readings))
        for entry in progress(load_record())
    ]
