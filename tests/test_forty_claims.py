"""Forty claims get the right verdict on the right rung.

What is right is decided here from `forty_truths` alone, by comparing transcript and plain value;
only then is the claim audited.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mpmath as mp
import pytest
import reference
from forty_truths import TRUTHS, Truth

from derivations.audit import judge_claim
from derivations.claim import Claim, Relation, VerdictWord
from derivations.claim_file import read_claims

FILE = Path(__file__).resolve().parent / "claims" / "forty.toml"
CLAIMS = {claim.id: claim for claim in read_claims(FILE)}
#: Two values of the same number agree to this, relative to the plain one.
SAME = mp.mpf(10) ** -25
SLACK = 0.1


def compared(truth: Truth) -> Iterator[tuple[Any, Any]]:
    """Yield the printed and the plain value wherever there is one."""
    for point in truth.points:
        theirs = truth.value(**point)
        if theirs is not None:
            yield truth.printed(**point), theirs


def is_true(claim: Claim, truth: Truth) -> bool:
    """Decide a claim from plain values alone."""
    if claim.relation is Relation.ASYMPTOTIC:
        assert claim.order is not None
        return all(order > claim.order - SLACK for order in orders(claim, truth))
    pairs = list(compared(truth))
    assert len(pairs) >= 3
    if claim.quantity == "threshold":
        assert {stable for _, stable in pairs} == {True, False}
        allowed = {(True, True), (False, False)}
        if claim.relation is Relation.SUFFICIENT:
            allowed.add((False, True))
        return {(bool(said), there) for said, there in pairs} <= allowed
    return all(stands(claim.relation, said, there) for said, there in pairs)


def stands(relation: Relation, said: Any, there: Any) -> bool:
    if abs(mp.im(said)) > 0:
        return False
    close = abs(said - there) <= SAME * abs(there)
    if relation is Relation.UPPER:
        return bool(close or said > there)
    if relation is Relation.LOWER:
        return bool(close or said < there)
    return bool(close)


def orders(claim: Claim, truth: Truth) -> Iterator[float]:
    """Yield how fast the relative error falls when the small parameter is halved."""
    if claim.small == "1/G":
        name, halved = "G", (256, 512)
    else:
        name, halved = claim.small, (mp.mpf(2) ** -30, mp.mpf(2) ** -31)
    for point in truth.points:
        errors = [
            abs(truth.printed(**at) / truth.value(**at) - 1)
            for at in ({**point, name: value} for value in halved)
        ]
        yield float(mp.log(errors[0] / errors[1], 2))


@pytest.fixture(autouse=True)
def fifty_digits() -> Iterator[None]:
    with mp.workdps(reference.DIGITS):
        yield


def test_there_are_forty_half_of_them_true_and_half_in_latex() -> None:
    assert list(CLAIMS) == list(TRUTHS)
    kinds = [(claim.expect is VerdictWord.HOLDS, "\\" in claim.says) for claim in CLAIMS.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == dict.fromkeys(
        [(True, True), (True, False), (False, True), (False, False)], 10
    )


@pytest.mark.parametrize("id", list(CLAIMS))
def test_a_claim_gets_the_right_verdict_on_the_right_rung(id: str) -> None:
    claim, truth = CLAIMS[id], TRUTHS[id]
    true = is_true(claim, truth)
    assert claim.expect.value == ("holds" if true else "refuted")
    verdict = judge_claim(claim).verdict
    assert (verdict.word is VerdictWord.HOLDS) == true
    assert verdict.word is not VerdictWord.UNDECIDED
    assert verdict.evidence.rung.word == truth.rung
