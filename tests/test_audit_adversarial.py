"""Claims made to fool the judge: each once got, or could get, the wrong verdict."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derivations.audit import judge_claim
from derivations.claim import Claim, Relation, Rung
from derivations.claim_file import claim_from
from derivations.domain import Domain

CONSTANT = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1}
LEVIN = "2*sin(pi/(2*(2*d + 1)))"
NO_MOMENTUM = {"mu": [0, 0]}


def verdict(row: dict[str, object]) -> tuple[str, str]:
    found = judge_claim(claim_from({"id": "c", **row})).verdict
    return found.word.value, found.evidence.rung.word


def row(
    quantity: str, says: str, relation: str = "exact", model: object = None, **more: object
) -> dict[str, object]:
    return {
        "quantity": quantity,
        "says": says,
        "relation": relation,
        "model": CONSTANT if model is None else model,
        **more,
    }


def at(**model: object) -> dict[str, object]:
    return {**CONSTANT, **model}


@pytest.mark.parametrize(
    "claim",
    [
        row("threshold", f"x > {LEVIN}", domain=NO_MOMENTUM),
        row("threshold", f"x > {LEVIN}", "sufficient", domain=NO_MOMENTUM),
        row("threshold", f"x <= {LEVIN}", domain=NO_MOMENTUM),
        row("threshold", "x > 0", model=at(lag=3)),
        row("mass", "((1 + mu) + x*d**2)/2 + ((mu - 1)*(x - 2))**(d/2)"
            " - (mu - 1)**(d/2)*(x - 2)**(d/2)"),
        row("mass", "(1 + mu)/2 + abs(sqrt(x - 1)) - sqrt(x - 1)", model=at(lag=0)),
        row("damping", "1 - mu - d*x*min(s, 20)", domain={"s": ["-inf", "inf"]},
            model={"optimizer": "heavy-ball", "lag_model": "constant"}),
        row("onset", "1", "asymptotic", order=1, small="mu", model=at(lag=0)),
        row("variance", "1/(2*x*(1 - mu))*(1 + sqrt(x))", "asymptotic", order=1, model=at(lag=0)),
        row("variance", "(1 + mu)/((1 - mu)*x*(2*(1 + mu) - x))*(1 + abs(x))", "asymptotic",
            order=2, model=at(lag=0)),
        row("threshold", "x*d < 1.45*(1 - mu)", "necessary", domain={"d": [1, "inf"]}),
        row("drift_variance", "(1 - 2*p)**2/(4*G)", domain={"p": ["1/2", "1/2"]},
            model={"normaliser": "std", "ddof": 0}),
    ],
    ids=lambda claim: str(claim["says"])[:40],
)  # fmt: skip
def test_a_false_claim_never_holds(claim: dict[str, object]) -> None:
    assert verdict(claim)[0] != "holds"


@pytest.mark.parametrize(
    "claim",
    [
        row("mass", "((1 + mu) + x*d)/2", "lower"),  # d <= d**2 for whole d only
        row("rule_threshold", "0", "lower", domain={"d": [1, "inf"], "s": ["-inf", "inf"]},
            model={"optimizer": "heavy-ball", "lag_model": "constant"}),
        row("anchor", "0", "lower", model={"kl": "k3"}),
        row("inflection_time", "0", "lower"),
        row("damping", "(1 - mu) - x*(1 - mu)*d", model=at(optimizer="ema")),
        row("threshold", "x < 2*(1 + mu)", model=at(lag=5, stale_share=0)),
        row("threshold", "x_f - x_s < 2*(1 + mu) and x_s < 1 - mu",
            model={"optimizer": "heavy-ball", "lag_model": "constant", "lag": 1}),
    ],
    ids=lambda claim: str(claim["says"])[:40],
)  # fmt: skip
def test_a_true_claim_is_not_refuted(claim: dict[str, object]) -> None:
    assert verdict(claim)[0] == "holds"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (row("mass", "x > (1 + mu)/2", model=at(lag=0)), "as a formula"),
        (row("damping", "1 - mu", "upper", domain={"x_s": [0, 1]}), "has no domain"),
        (row("threshold", "x*N < 1 - mu"), "does not belong to the constant"),
        (row("threshold", "x < 1", domain={"d": [1, 1]}, model=at(lag=3)), "has no domain"),
        (row("relaxation_time", "1/x", "asymptotic", order=1, small="1/x"), "only 1/G"),
        (row("onset", "1", model=at(optimizer="nesterov", lag=2)), "no closed form"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_cannot_be_meant_is_refused(claim: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        verdict(claim)


@pytest.mark.parametrize(
    "claim",
    [
        row("relaxation_time", "(1 - mu)/x", "asymptotic", order=3),
        row("relaxation_time", "(1 - mu)/x"),
        row("threshold", "x < 0.2", "necessary", model=at(lag=10)),
        row("threshold", "x < 0.0015", "upper", domain={"x": ["0.001", "0.002"]}, model=at(lag=1)),
        row("drift", "1/2", domain={"p": ["1/2", "1/2"]}, model={"normaliser": "std", "ddof": 0}),
    ],
    ids=lambda claim: str(claim["says"])[:40],
)
def test_a_hard_claim_gets_some_verdict(claim: dict[str, object]) -> None:
    word, rung = verdict(claim)
    assert (word == "undecided") == (rung == "none")


def test_a_vacuous_condition_says_so() -> None:
    found = judge_claim(Claim("c", "threshold", "x < -1", Relation.SUFFICIENT, model=CONSTANT))
    assert any("vacuous" in note for note in found.verdict.notes)


def test_pinned_values_are_part_of_the_evidence() -> None:
    zero = Domain(low=Fraction(0), high=Fraction(0))
    found = judge_claim(Claim("c", "threshold", LEVIN, model=CONSTANT, domain={"mu": zero})).verdict
    assert found.evidence.rung is Rung.PROVED
    assert "mu = 0" in found.evidence.domain


def test_where_the_leading_term_vanishes_nothing_is_claimed() -> None:
    model = {"normaliser": "std", "ddof": 0}
    found = judge_claim(Claim(
        "c", "drift_variance", "(1 - 2*p)**2/(4*G)", Relation.ASYMPTOTIC, 1, "1/G", model=model
    )).verdict  # fmt: skip
    assert "is not 0" in found.evidence.domain
