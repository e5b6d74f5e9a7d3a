"""What is known of mutants that survived once: `known.toml`, one table a mutant."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

LEDGER = Path(__file__).with_name("known.toml")


@dataclass(frozen=True)
class Known:
    """A mutant that survived when it was drawn: the line `was` of `within` as it `becomes`.

    One of three: it is equivalent for a `reason`; a `test` was added that kills it,
    "file::function"; or it is still `open`, with what is known of it.
    """

    module: str
    within: str
    was: str
    becomes: str
    reason: str = ""
    test: str = ""
    open: str = ""

    def __post_init__(self) -> None:
        if sum(map(bool, (self.reason, self.test, self.open))) != 1:
            raise ValueError(f"{self.module}: {self.was}: give one of reason, test and open")

    @property
    def key(self) -> str:
        """The `key` of the mutant."""
        return "\n".join((self.module, self.within, self.was, self.becomes))


def load() -> Sequence[Known]:
    """Return the ledger, in its order."""
    entries = tomllib.loads(LEDGER.read_text(encoding="utf-8"))["mutant"]
    return [Known(**entry) for entry in entries]


def by_key(ledger: Sequence[Known]) -> Mapping[str, Known]:
    """Return the ledger by mutant; one mutant is entered once."""
    found = {known.key: known for known in ledger}
    if len(found) != len(ledger):
        raise ValueError("a mutant is in the ledger twice")
    return found
