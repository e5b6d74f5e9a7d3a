r"""What every comparison of a printed formula with a derived one shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import sympy as sp

from derivations.claim import Evidence, Rung, Verdict, VerdictWord
from derivations.domain import Domain
from derivations.formula import render
from derivations.judge import balls

__all__ = ["POINTS", "Comparison"]

#: Points a certificate is made of.
POINTS = 60


@dataclass(frozen=True)
class Comparison:
    """One comparison in progress: where it is made, and the texts its verdict will carry."""

    domains: Mapping[sp.Symbol, Domain]
    where: tuple[sp.Basic, ...] = ()
    derived: str = ""
    difference: str = ""
    notes: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    def region(self) -> str:
        """Return the region covered, in words."""
        parts = [
            f"{s.name} = {d.low}" if d.low is not None and d.low == d.high else f"{s.name} in {d}"
            for s, d in sorted(self.domains.items(), key=lambda item: item[0].name)
        ]
        return "; ".join([*parts, *(f"where {render(r)}" for r in self.where), *self.beside])

    def besides(self, text: str) -> Comparison:
        """Return the comparison with a further restriction of its region, in words."""
        return replace(self, beside=(*self.beside, text)) if text else self

    def note(self, *texts: str) -> Comparison:
        """Return the comparison with further notes."""
        return replace(self, notes=(*self.notes, *(t for t in texts if t)))

    def proved(self, method: str) -> Verdict:
        """The claim holds over the whole region."""
        return self._verdict(VerdictWord.HOLDS, Rung.PROVED, method)

    def survived(self, points: int, what: str) -> Verdict:
        """The claim held at every drawn rational point, enclosed or exactly decided."""
        return self._verdict(VerdictWord.HOLDS, _pointwise(), f"{what} at {points} rational points")

    def tested(self, method: str) -> Verdict:
        """The claim passed a numerical test."""
        return self._verdict(VerdictWord.HOLDS, Rung.TESTED, method)

    def undecided(self, why: str) -> Verdict:
        """Nothing spoke for or against the claim."""
        return self._verdict(VerdictWord.UNDECIDED, Rung.NONE, why)

    def refuted(
        self,
        method: str,
        point: Mapping[sp.Symbol, Fraction],
        witness: str = "",
        *,
        rung: Rung | None = None,
    ) -> Verdict:
        """The claim fails, at a point decided exactly unless a lower rung is given."""
        if rung is None:
            rung = Rung.PROVED if balls.available() else Rung.TESTED
        return self._verdict(VerdictWord.REFUTED, rung, method, point, witness)

    def _verdict(
        self,
        word: VerdictWord,
        rung: Rung,
        method: str,
        point: Mapping[sp.Symbol, Fraction] | None = None,
        witness: str = "",
    ) -> Verdict:
        notes = self.notes
        if not balls.available():
            notes = (*notes, "python-flint is not installed, so nothing is certified")
        return Verdict(
            word,
            Evidence(rung, method, self.region()),
            self.derived,
            self.difference,
            {s.name: str(v) for s, v in (point or {}).items()},
            witness,
            notes,
        )


def _pointwise() -> Rung:
    return Rung.CERTIFIED if balls.available() else Rung.TESTED
