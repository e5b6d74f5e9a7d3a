"""The vocabulary of claims: what is said, by whom, how it is meant, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from types import MappingProxyType

from derivations.domain import Domain

__all__ = [
    "Claim",
    "Evidence",
    "Provenance",
    "Relation",
    "Rung",
    "Source",
    "Verdict",
    "VerdictWord",
]


class Relation(StrEnum):
    """How a printed formula is meant to stand to the derived one."""

    EXACT = "exact"
    UPPER = "upper"
    LOWER = "lower"
    SUFFICIENT = "sufficient"
    NECESSARY = "necessary"
    ASYMPTOTIC = "asymptotic"


class Provenance(StrEnum):
    """Where a statement comes from."""

    STATED = "stated"
    RECONSTRUCTED = "reconstructed"
    EXTENSION = "extension"


class Rung(IntEnum):
    """The ladder of evidence. Only the first two rungs may be worded as facts."""

    NONE = 0
    TESTED = 1
    CERTIFIED = 2
    PROVED = 3

    @property
    def word(self) -> str:
        """The rung as files and pages print it."""
        return self.name.lower()


class VerdictWord(StrEnum):
    """What became of a claim. ``undecided`` is never green."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Source:
    """Where a claim is printed."""

    paper: str = ""
    version: str = ""
    place: str = ""

    def __str__(self) -> str:
        return ", ".join(part for part in (self.paper, self.version, self.place) if part)


@dataclass(frozen=True)
class Claim:
    """A claim as data.

    Attributes
    ----------
    id
        Permanent name.
    quantity
        The quantity of which something is said; a key of ``derivations.targets.TARGETS``.
    says
        The formula as printed.
    relation
        How it is meant.
    order
        For ``asymptotic``: the relative error is O(small**order).
    small
        For ``asymptotic``: the name of the parameter that tends to zero, or ``1/NAME`` for one that
        tends to infinity.
    model
        Conventions the quantity depends on, by name.
    domain
        Ranges narrower than the quantities' own, by symbol name.
    symbols
        Printed names to the theory's, where they differ.
    statement
        The claim in words.
    source, provenance, depends
        Where it is from, and what it rests on.
    expect
        The verdict that does not alarm.
    meaning
        One sentence for someone who trains a model.
    """

    id: str
    quantity: str
    says: str
    relation: Relation = Relation.EXACT
    order: int | None = None
    small: str = "x"
    model: Mapping[str, object] = field(default_factory=dict)
    domain: Mapping[str, Domain] = field(default_factory=dict)
    symbols: Mapping[str, str] = field(default_factory=dict)
    statement: str = ""
    source: Source = Source()
    provenance: Provenance | None = None
    depends: tuple[str, ...] = ()
    expect: VerdictWord = VerdictWord.HOLDS
    meaning: str = ""


@dataclass(frozen=True)
class Evidence:
    """What a verdict rests on: the rung reached, by which method, over which domain."""

    rung: Rung = Rung.NONE
    method: str = ""
    domain: str = ""

    def json(self) -> dict[str, str]:
        """Return the evidence as plain data."""
        return {"rung": self.rung.word, "method": self.method, "domain": self.domain}


@dataclass(frozen=True)
class Verdict:
    """The outcome of judging one claim.

    Attributes
    ----------
    word
        ``holds``, ``refuted`` or ``undecided``.
    evidence
        What it rests on; rung ``none`` exactly when undecided.
    derived, difference
        The derived formula, and derived minus printed, as text.
    counterexample
        Symbol name to exact rational as text, where one was found.
    witness
        What happens at the counterexample, in words.
    notes
        Anything a reader must know: a missing solver, a reading, what is left to data.
    """

    word: VerdictWord
    evidence: Evidence
    derived: str = ""
    difference: str = ""
    counterexample: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    witness: str = ""
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        undecided = self.word is VerdictWord.UNDECIDED
        if undecided != (self.evidence.rung is Rung.NONE):
            raise ValueError(f"verdict {self.word.value} cannot rest on {self.evidence.rung.word}")
