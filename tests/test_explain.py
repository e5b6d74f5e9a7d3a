"""A refuted claim is told what is near it: the reading under which it holds, the slip it may be.

The formulas are typed under the conventions on the right, and audited under those on the left.
"""

from __future__ import annotations

from typing import Any

import pytest

from derivations.audit import judge_claim
from derivations.claim_file import claim_from


def explained(**row: Any) -> Any:
    audited = judge_claim(claim_from({"id": "c", "relation": "exact", **row}), explained=True)
    return audited.verdict.word.value, audited.explanation


def linear(optimizer: str = "heavy-ball", lag_model: str = "constant", **rest: Any) -> Any:
    return {"optimizer": optimizer, "lag_model": lag_model, **rest}


@pytest.mark.parametrize(
    ("quantity", "says", "model", "reading"),
    [
        ("rule_threshold", "1/d", linear(), "for EMA momentum (Adam's beta1)"),
        ("rule_threshold", "(1 - mu)/d", linear("ema"), "for heavy-ball momentum"),
        ("damping", "1 - mu + x*(mu - d)", linear(), "for Nesterov momentum"),
        (
            "damping",
            "1 - mu - x*(d - 1)/2",
            linear(),
            "for a sawtooth of N with d = N",
        ),
        ("damping", "1 - mu - x*d/2", linear(), "for a sawtooth of N with d = N - 1"),
        ("damping", "1 - mu - x*(d + 1)", linear(), "if the printed d is one less than the lag"),
        ("mass", "(1 + mu + x*d**2/2)/2", linear(), "for stale_share = 1/2"),
        ("threshold", "x < 1 - mu", linear(lag=2), "for a lag of 1"),
        ("threshold", "x < 2*(1 + mu)/(1 - mu)", linear(lag=0), "for EMA momentum (Adam's beta1)"),
        ("variance", "(1+mu+x)/((1-mu-x)*x*(2*(1+mu)+x))", linear(lag=0), "for a lag of 1"),
        (
            "autocovariance",
            "(1 + mu)/((1 - mu - x)*x*(2*(1 + mu) + x))",
            linear(lag=0, shift=1),
            "for a lag of 1",
        ),
        ("kl_force", "p - p_ref", {"kl": "reverse"}, "for kl = k3"),
        ("drift", "p*(1 - p)*(G - 1)/G", {"normaliser": "std", "ddof": 0}, "for normaliser = mean"),
    ],
)
def test_the_reading_under_which_it_holds_is_named(
    quantity: str, says: str, model: Any, reading: str
) -> None:
    word, near = explained(quantity=quantity, says=says, model=model)
    assert word == "refuted"
    assert near.readings[0] == reading


@pytest.mark.parametrize(
    ("quantity", "says", "slip"),
    [
        ("damping", "1 - mu + x*d", "the sign of d*x"),
        ("damping", "1 - mu - 3*x*d", "the factor 1/3 is missing in -3*d*x"),
        ("damping", "1 - mu", "the term -d*x is missing"),
        ("damping", "1 - mu - x*d - mu*x", "the term -mu*x is too much"),
        ("mass", "(1 + mu + x*d)/2", "the factor d is missing in d*x/2"),
        ("mass", "1 + mu + x*d**2", "the factor 1/2 is missing"),
    ],
)
def test_the_slip_is_found(quantity: str, says: str, slip: str) -> None:
    word, near = explained(quantity=quantity, says=says, model=linear())
    assert word == "refuted"
    assert any(slip in correction for correction in near.corrections)


def test_where_they_agree_and_the_ratio_are_told() -> None:
    _, near = explained(quantity="damping", says="1 - mu - x*d**2/2", model=linear())
    assert near.agrees == ("in the limit x -> 0, to order 1", "at d = 0", "at d = 2")
    assert near.ratio == "(2 - 2*mu - d**2*x)/(2*(1 - mu - d*x))"
    assert near.readings == ()
    assert near.tried > 30


def test_a_claim_that_holds_needs_no_explanation() -> None:
    word, near = explained(quantity="damping", says="1 - mu - x*d", model=linear())
    assert word == "holds"
    assert near.tried == 0
    assert near.readings == near.corrections == near.agrees == ()
