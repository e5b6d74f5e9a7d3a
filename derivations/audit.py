r"""A claim against the derivations: from text to verdict.

The walk is one way: read the conventions, build the derived quantity, parse the formula, put both
on the claim's domain, and hand them to the judge that the relation asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import sympy as sp

from derivations.claim import Claim, Relation, Verdict, VerdictWord
from derivations.claim_file import ClaimFileError, read_rows
from derivations.decide import as_printed, decide
from derivations.explain import Explanation, explain
from derivations.formula import Formula, FormulaError, parse_formula, render
from derivations.notation import QUANTITIES, quantity
from derivations.targets import TARGETS, Target, TargetError
from derivations.targets.base import Setting
from derivations.update import nearest
from derivations.vocabulary import in_x, vocabulary

__all__ = ["Audited", "audit_files", "judge_claim", "read_formula"]


@dataclass(frozen=True)
class Audited:
    """One audited claim: what was said, under which conventions, and the verdict."""

    claim: Claim
    verdict: Verdict
    conventions: Mapping[str, str]
    file: str = ""
    explanation: Explanation = field(default_factory=Explanation)

    @property
    def as_expected(self) -> bool:
        """Whether the verdict is the one the claim's author expects."""
        return self.verdict.word is self.claim.expect

    @property
    def differs(self) -> str:
        """Derived minus printed for a reader; empty where that is zero all over the domain.

        So it is of every equation that holds, whatever else the algebra makes of the difference.
        """
        verdict = self.verdict
        equal = self.claim.relation is Relation.EXACT and verdict.word is VerdictWord.HOLDS
        return "" if equal or verdict.difference == "0" else verdict.difference

    @property
    def in_vain(self) -> str:
        """What was tried and did not make a refuted claim true, in words; empty where some did."""
        near = self.explanation
        if near.readings or not near.tried:
            return ""
        return f"none of {near.tried} other conventions makes it true"

    @property
    def as_read(self) -> str:
        """The printed formula in the theory's symbols; names that are used otherwise are told."""
        formula = read_formula(self.claim)
        read = render(formula.relations or formula.expression)
        used = [
            f"{printed} for {meant}"
            for printed, meant in self.claim.symbols.items()
            if printed in QUANTITIES and printed != meant and meant in formula.symbols
        ]
        return f"{read}; the file prints {' and '.join(used)}" if used else read

    def json(self) -> dict[str, object]:
        """Return the row as plain data."""
        claim, verdict = self.claim, self.verdict
        return {
            "id": claim.id,
            "verdict": verdict.word.value,
            "evidence": verdict.evidence.json(),
            "derived": verdict.derived,
            "difference": verdict.difference,
            "counterexample": dict(verdict.counterexample) or None,
            "quantity": claim.quantity,
            "says": claim.says,
            "as_read": self.as_read,
            "relation": claim.relation.value,
            "model": dict(self.conventions),
            "expect": claim.expect.value,
            "as_expected": self.as_expected,
            "witness": verdict.witness,
            "notes": list(verdict.notes),
            **self.explanation.json(),
            "statement": claim.statement,
            "source": str(claim.source),
            "provenance": claim.provenance.value if claim.provenance is not None else None,
            "meaning": claim.meaning,
            "file": self.file,
        }


_Job = tuple[str, Claim, bool]
_Outcome = tuple[Audited | None, tuple[str, ...]]


def audit_files(
    paths: Iterable[str | Path],
    spread: Callable[[Callable[[_Job], _Outcome], Sequence[_Job]], Iterable[_Outcome]] = map,
    *,
    explained: bool = False,
) -> list[Audited]:
    """Judge every claim of every file.

    All files are read before anything is judged, so bad input costs nothing.

    Parameters
    ----------
    paths
        Claim files.
    spread
        Applies a function to every claim, as `map` does: in processes, with a progress bar.
    explained
        Whether to look for the reading or the slip of every refuted claim, which takes longer.

    Raises
    ------
    ClaimFileError
        Naming the file and every claim that cannot be judged as written, one line each.
    """
    claims, refusals = _read(paths)
    for path, claim in claims:
        refusals += _tried(path, claim, partial(_prepare, claim))[1]
    if refusals:
        raise ClaimFileError(*refusals)
    outcomes = list(spread(_job, [(path, claim, explained) for path, claim in claims]))
    refusals = [refusal for _, refused in outcomes for refusal in refused]
    if refusals:
        raise ClaimFileError(*refusals)
    return [audited for audited, _ in outcomes if audited is not None]


def _read(paths: Iterable[str | Path]) -> tuple[list[tuple[str, Claim]], list[str]]:
    """Read every file; return the claims that can be read, and what is refused of the others."""
    claims: list[tuple[str, Claim]] = []
    refusals: list[str] = []
    seen: dict[str, str] = {}
    for path in map(str, paths):
        try:
            read, refused = read_rows(path)
        except ClaimFileError as error:
            refusals += error.refusals
            continue
        refusals += refused
        for claim in read:
            if claim.id in seen:
                refusals.append(
                    f"{path}: claim {claim.id!r}: the id is used in {seen[claim.id]} too; "
                    "ids are permanent names"
                )
            else:
                seen[claim.id] = path
                claims.append((path, claim))
    return claims, refusals


def _job(job: _Job) -> _Outcome:
    """Judge one claim of a file; by name, so that another process can."""
    path, claim, explained = job
    audited, refused = _tried(path, claim, partial(judge_claim, claim, explained=explained))
    return replace(audited, file=path) if audited is not None else None, refused


_T = TypeVar("_T")


def _tried(path: str, claim: Claim, work: Callable[[], _T]) -> tuple[_T | None, tuple[str, ...]]:
    """Return the result of `work`, or what it refuses, with the file and the claim named."""
    try:
        return work(), ()
    except (TargetError, FormulaError, ClaimFileError) as error:
        return None, (f"{path}: claim {claim.id!r}: {error}",)


def judge_claim(claim: Claim, *, explained: bool = False) -> Audited:
    """Judge one claim, and if wanted look for the reading or the slip of a refuted one.

    Raises
    ------
    TargetError, FormulaError, ClaimFileError
        If the claim cannot be judged as written.
    """
    target, setting, formula = _prepare(claim)
    verdict = decide(claim, target, setting, formula)
    near = explain(claim, target, setting, formula, verdict) if explained else Explanation()
    return Audited(claim, verdict, setting.conventions(), explanation=near)


def read_formula(claim: Claim) -> Formula:
    """Return the printed formula of a claim in the theory's symbols.

    Raises
    ------
    FormulaError
        If it cannot be read, or has eta and K other than as eta*K.
    """
    known = TARGETS[claim.quantity].symbols
    return in_x(parse_formula(claim.says, vocabulary(known, claim.symbols, claim.model)), known)


def _prepare(claim: Claim) -> tuple[Target, Setting, Formula]:
    """Read the conventions and the formula, without deriving anything."""
    target = TARGETS[claim.quantity]
    formula = read_formula(claim)
    free = frozenset(s.name for s in as_printed(formula).free_symbols)
    setting = target.read(claim.model, free | frozenset(claim.domain))
    pinned = {
        quantity(name): domain.low
        for name, domain in claim.domain.items()
        if domain.low is not None and domain.low == domain.high
    }
    setting = replace(setting, pinned=pinned)
    for name in sorted({*claim.domain, *free}):
        if quantity(name) in setting.fixed and name in claim.domain:
            raise ClaimFileError(
                f"the model fixes {name}, so it has no domain; for x_f and x_s "
                "give domains of x and s"
            )
        if setting.update is not None and name in {"d", "N"} - {
            setting.update.lag_model.parameter.name
        }:
            raise ClaimFileError(
                f"{name} does not belong to the {setting.update.lag_model.name} "
                f"lag model, whose symbol is {setting.update.lag_model.parameter}"
            )
    for name in claim.domain:
        if name not in target.symbols:
            raise ClaimFileError(
                f"{claim.quantity} does not depend on {name}; "
                f"its symbols are {', '.join(target.symbols)}"
            )
    if claim.small.startswith("1/") and claim.small != "1/G":
        raise ClaimFileError(f"small = {claim.small!r}: only 1/G is a limit of large numbers here")
    if (
        claim.relation is Relation.ASYMPTOTIC
        and claim.small.removeprefix("1/") not in target.symbols
    ):
        known = dict.fromkeys(target.symbols)
        raise ClaimFileError(
            f"small = {claim.small!r} is no symbol of {claim.quantity}{nearest(claim.small, known)}"
        )
    _check_shape(claim, target, formula)
    return target, setting, formula


def _check_shape(claim: Claim, target: Target, formula: Formula) -> None:
    """Refuse a relation that does not fit the printed formula."""
    region = target.name == "threshold"
    if claim.relation in (Relation.SUFFICIENT, Relation.NECESSARY) and not region:
        raise ClaimFileError(
            f"{claim.relation.value} is for conditions on the threshold; "
            "for a value use upper or lower"
        )
    if claim.relation is Relation.ASYMPTOTIC and region:
        raise ClaimFileError("an asymptotic claim needs a quantity with a value, not a threshold")
    if any(isinstance(r, sp.Unequality) for r in formula.relations):
        raise ClaimFileError("a claim cannot be that two things differ")
    if len(formula.relations) > 1 and (
        not region or any(isinstance(r, sp.Equality) for r in formula.relations)
    ):
        raise ClaimFileError(
            f"a claim about {claim.quantity} is one formula, condition or equation"
        )
    if len(formula.relations) == 1 and (
        not region or isinstance(formula.relations[0], sp.Equality)
    ):
        relation = formula.relations[0]
        x = quantity("x")
        border = target.border and relation.lhs == x and x not in relation.rhs.free_symbols
        below = isinstance(relation, sp.Equality | sp.StrictLessThan | sp.LessThan)
        if not (border and below):
            raise ClaimFileError(f"write a claim about {claim.quantity} as a formula for it")
