r"""Claims about every lag: a theorem where there is one, otherwise lag by lag.

A refutation at one lag refutes the whole claim. Holding at finitely many lags proves nothing about
the rest, so without a theorem a large family reaches the rung ``tested`` at most, and says
how far it went.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import islice

import sympy as sp

from derivations.claim import Evidence, Rung, Verdict, VerdictWord
from derivations.domain import Domain
from derivations.formula import render
from derivations.judge import smt

__all__ = ["FAR", "judge_family"]

#: A family of up to this many lags is judged at every one of them.
WHOLE = 16
#: Lags judged one by one when the family is larger, and some beyond in case it fails late.
FAR = 6
FAR_LAGS = (8, 16)

Theorem = tuple[int, sp.Basic]


def judge_family(
    lag: sp.Symbol,
    lags: Domain,
    judge: Callable[[int], Verdict],
    *,
    printed: sp.Basic,
    domains: Mapping[sp.Symbol, Domain],
    theorems: Sequence[Theorem] = (),
    beyond: Sequence[int] = FAR_LAGS,
) -> Verdict:
    """Judge a claim for every lag of a domain.

    Parameters
    ----------
    lag
        The symbolic lag or refresh.
    lags
        Its domain.
    judge
        Judges the claim at one fixed lag.
    printed, domains
        The printed condition and the domain of its symbols, for the theorem route.
    theorems
        Derived (first lag, relation) pairs: the relation suffices for every lag from the first on.
    beyond
        Lags looked at after the first ones, where the claim can be judged at them.
    """
    listed = list(islice(lags.integers(), WHOLE + 1))
    complete = lags.finite and len(listed) <= WHOLE
    theorem = None
    if not complete:
        listed = listed[:FAR]
        theorem = _implied(lag, listed, printed, domains, theorems)
    if theorem is not None:  # only the lags that the theorem leaves out are left to judge
        listed, beyond = [n for n in listed if n < theorem[0]] or listed[:1], ()
    verdicts: list[tuple[int, Verdict]] = []
    far = [value for value in beyond if Fraction(value) in lags and value > listed[-1]]
    for value in listed if complete else [*listed, *far]:
        verdict = judge(value)
        if verdict.word is not VerdictWord.HOLDS:
            method = f"{verdict.evidence.method} at {lag.name} = {value}"
            evidence = replace(verdict.evidence, method=method)
            return _labelled(replace(verdict, evidence=evidence), lag, value)
        verdicts.append((value, verdict))
    first = verdicts[0][1]
    weakest = min((v for _, v in verdicts), key=lambda v: v.evidence.rung)
    covered = f"{lag.name} = {listed[0]}..{listed[-1]}"
    if complete:
        evidence = replace(weakest.evidence, domain=_spread(weakest, covered))
        return _labelled(replace(weakest, evidence=evidence), lag, listed[0])
    if theorem is not None:
        start, relation, method = theorem
        method = (
            f"{method}: the printed condition implies the theorem for every "
            f"{lag.name} >= {start}; smaller ones one by one"
        )
        evidence = Evidence(
            min(Rung.PROVED, weakest.evidence.rung),
            method,
            _spread(weakest, f"every {lag.name} in {lags}"),
        )
        return replace(first, evidence=evidence, derived=render(relation), difference="")
    rung = min(Rung.TESTED, weakest.evidence.rung)
    covered += "".join(f", {value}" for value in far)
    evidence = Evidence(
        rung,
        f"{weakest.evidence.method}; {lag.name} one by one",
        _spread(weakest, f"{covered} of {lags}"),
    )
    note = f"judged at {covered} only; no theorem covers the others"
    return _labelled(replace(first, evidence=evidence, notes=(*first.notes, note)), lag, listed[0])


def _implied(
    lag: sp.Symbol,
    listed: Sequence[int],
    printed: sp.Basic,
    domains: Mapping[sp.Symbol, Domain],
    theorems: Sequence[Theorem],
) -> tuple[int, sp.Basic, str] | None:
    """Return the first theorem that the printed condition implies, and by which method."""
    for start, relation in theorems:
        if start - 1 > listed[-1]:
            continue
        box = [r for s, d in domains.items() if s != lag for r in smt.box(s, d)]
        box.append(sp.GreaterThan(lag, max(start, listed[0]), evaluate=False))
        outcome = smt.entails([*box, printed], [relation])
        if outcome.answer is smt.Answer.YES:
            return start, relation, outcome.method
    return None


def _labelled(verdict: Verdict, lag: sp.Symbol, value: int) -> Verdict:
    """Say at which lag the formulas of a verdict are."""
    label = f"{lag.name} = {value}: "
    return replace(
        verdict,
        derived=label + verdict.derived,
        difference=label + verdict.difference if verdict.difference else "",
    )


def _spread(verdict: Verdict, lags: str) -> str:
    kept = [part for part in verdict.evidence.domain.split("; ") if part]
    return "; ".join([*kept, lags])
