r"""What a reviewer wants to know of a refuted claim, gathered.

Nothing here changes a verdict. Every reading and every correction that is named has itself been
judged, and held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import sympy as sp

from derivations.algebra import too_large
from derivations.claim import Claim, Relation, Verdict, VerdictWord
from derivations.decide import as_printed, decide
from derivations.explain.agreement import agreement, ratio
from derivations.explain.conventions import Reading, alternatives
from derivations.explain.screen import constant_factor, ruled_out
from derivations.explain.slips import corrections
from derivations.explain.twin import Twin, twin
from derivations.formula import Formula, render
from derivations.judge import smt
from derivations.targets import Target, TargetError
from derivations.targets.base import Setting

__all__ = ["Explanation", "explain"]

#: A claim is read under at most so many other conventions, and corrected in at most so many ways.
MOST_READINGS = 3
MOST_CORRECTIONS = 3
#: Milliseconds the solver may take for one query about them; points decide what it leaves open.
PATIENCE = 200


@dataclass(frozen=True)
class Explanation:
    """What is near a refuted claim.

    Attributes
    ----------
    ratio
        Printed over derived in lowest terms, where both are formulas.
    agrees
        Where printed and derived agree nevertheless: in a limit with its order, at single values.
    readings
        Conventions, not those of the claim, under which the printed formula holds.
    corrections
        Single changes of the printed formula after which it holds.
    tried
        How many other conventions were tried.
    """

    ratio: str = ""
    agrees: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    tried: int = 0

    def json(self) -> dict[str, object]:
        """Return the explanation as plain data."""
        return {
            "ratio": self.ratio or None,
            "agrees": list(self.agrees),
            "readings": list(self.readings),
            "corrections": list(self.corrections),
            "readings_tried": self.tried,
        }


def explain(
    claim: Claim, target: Target, setting: Setting, formula: Formula, verdict: Verdict
) -> Explanation:
    """Look for what would make a refuted claim hold; an empty explanation for any other."""
    if verdict.word is not VerdictWord.REFUTED:
        return Explanation()
    printed = as_printed(formula)
    readings: list[str] = []
    tried = 0
    for reading in _readings(claim, target, setting, printed):
        if reading.pair and (readings or claim.relation is not Relation.EXACT):
            break  # one changed convention is enough; a bound or an order survives many pairs
        tried += 1
        if len(readings) < MOST_READINGS and _holds(
            claim, target, reading.setting, reading.printed, formula
        ):
            readings.append(reading.words)
    pair = twin(target, setting, printed)
    corrected = _corrected(claim, target, setting, formula, pair)
    return Explanation(
        ratio(pair) if pair is not None else "",
        agreement(pair) if pair is not None else (),
        tuple(readings),
        corrected,
        tried,
    )


def _readings(
    claim: Claim, target: Target, setting: Setting, printed: sp.Basic
) -> Iterator[Reading]:
    """The readings to try: none where each would take seconds to judge."""
    if claim.relation is Relation.EXACT or not too_large(printed):
        yield from alternatives(target, setting, printed)


def _corrected(
    claim: Claim, target: Target, setting: Setting, formula: Formula, pair: Twin | None
) -> tuple[str, ...]:
    printed = pair.printed if pair is not None else as_printed(formula)
    if not isinstance(printed, sp.Expr):
        return ()
    here = _within(claim, setting)

    def agrees(changed: sp.Expr) -> bool:
        return not ruled_out(here, target, setting, changed)

    if pair is None and (target.sketch is None or claim.small.startswith("1/")):
        return ()  # nothing rules a change out, and to judge every one takes seconds
    found: list[str] = []
    factor = constant_factor(here, target, setting, printed)
    if factor is None and pair is not None:
        factor = pair.factor()
    for change, correction in corrections(
        printed, agrees if pair is None else pair.may_agree, pair, factor
    ):
        if len(found) == MOST_CORRECTIONS:
            break
        if _holds(claim, target, setting, correction, formula):
            found.append(f"{change}: {render(correction)}")
    return tuple(found)


def _within(claim: Claim, setting: Setting) -> Claim:
    """Return the claim, on the domain of what its conventions leave free."""
    return replace(claim, domain={k: v for k, v in claim.domain.items() if _free(k, setting)})


def _holds(
    claim: Claim, target: Target, setting: Setting, printed: sp.Basic, formula: Formula
) -> bool:
    """Whether the claim, so read or so corrected, is judged to hold."""
    here = _within(claim, setting)
    if ruled_out(here, target, setting, printed):
        return False
    pair = twin(target, setting, printed)
    if pair is not None and claim.relation is Relation.EXACT and not pair.may_agree():
        return False
    is_relation = isinstance(printed, sp.core.relational.Relational)
    read = Formula(
        formula.text,
        None if is_relation or isinstance(printed, sp.And) else printed,
        printed.args if isinstance(printed, sp.And) else (printed,) if is_relation else (),
    )
    try:
        with smt.patience(PATIENCE):
            return decide(here, target, setting, read).word is VerdictWord.HOLDS
    except (TargetError, ValueError):
        # Other conventions may leave the quantity without meaning; then the claim does not hold.
        return False


def _free(name: str, setting: Setting) -> bool:
    return all(symbol.name != name for symbol in setting.fixed)
