"""Tests that a mutant of `derivations/` asked for: see docs/reliability.md."""

from __future__ import annotations

from fractions import Fraction
from itertools import count, pairwise
from pathlib import Path

import pytest
import sympy as sp

from derivations import book
from derivations.algebra import is_zero
from derivations.audit import judge_claim
from derivations.catalogue import entry
from derivations.characteristic import characteristic
from derivations.claim import Claim, Relation
from derivations.claim_file import ClaimFileError, read_claims
from derivations.domain import Domain, DomainError
from derivations.judge.search import simplest_between
from derivations.notation import quantity
from derivations.record import load_record
from derivations.update import Update

mu, x, d, N = map(quantity, ("mu", "x", "d", "N"))


@pytest.mark.parametrize("exponent", [d, 2 * d - 1, d * N])
def test_a_whole_power_of_a_fraction_is_that_of_its_parts(exponent: sp.Expr) -> None:
    parts = (1 - mu) ** exponent / (1 + x) ** exponent
    assert is_zero(((1 - mu) / (1 + x)) ** exponent - parts)


@pytest.mark.parametrize("exponent", [d / 2, 1 / d, mu])
def test_a_power_that_may_be_a_root_is_not_taken_apart(exponent: sp.Expr) -> None:
    """The root of a product of two numbers below 0 is not the product of their roots."""
    parts = (1 - mu) ** exponent / (1 - x) ** exponent
    assert not is_zero(((1 - mu) / (1 - x)) ** exponent - parts)


@pytest.mark.parametrize("says", ["mu < 1", "x < mu", "x = mu"])
def test_a_condition_is_no_claim_about_a_value(says: str) -> None:
    model = {"optimizer": "heavy-ball", "lag_model": "constant", "stale_share": 1}
    with pytest.raises(ClaimFileError, match="write a claim about mass as a formula for it"):
        judge_claim(Claim("c", "mass", says, Relation.EXACT, model=model))


def test_the_verdicts_of_the_book_may_be_named() -> None:
    with pytest.raises(ValueError, match="prop-99"):
        book.pages(verdicts={"prop-99": ""})


def test_the_lags_a_threshold_is_shown_at() -> None:
    lags = [premises.get("lag") for premises in entry("constant-lag-threshold").shown()]
    assert list(dict.fromkeys(lags)) == [None, 1, 2]


@pytest.mark.parametrize("refresh", [1, 2, 5])
def test_the_phase_average_at_a_symbol_is_that_at_each_number(refresh: int) -> None:
    at_symbol, at_number = (
        characteristic(Update.named("heavy-ball", "sawtooth", lag=lag)).results["chi"]
        for lag in (None, refresh)
    )
    assert is_zero(at_symbol.subs(N, refresh) - at_number)


def test_a_file_that_ends_too_early_is_told_its_last_line(tmp_path: Path) -> None:
    path = tmp_path / "claims.toml"
    path.write_text('[symbols]\nK = "x"\nL = "', encoding="utf-8")
    with pytest.raises(ClaimFileError, match="at line 3, the end of the document"):
        read_claims(path)


@pytest.mark.parametrize("text", ["", "claim = []", "claim = 3", "[claim]\nid = 'a'"])
def test_a_file_without_claims_is_told_what_to_write(tmp_path: Path, text: str) -> None:
    path = tmp_path / "claims.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ClaimFileError, match=r"no claims; write one or more \[\[claim\]\] tables"):
        read_claims(path)


@pytest.mark.parametrize("value", ["high", None, float("nan")])
def test_what_is_no_number_is_refused_by_name(value: object) -> None:
    with pytest.raises(DomainError, match=r"^mu: "):
        Domain().validate("mu", value)


def test_an_entry_of_the_record_has_words_a_paper_and_claims() -> None:
    record = load_record()
    assert len({one.id for one in record}) == len(record) > 0
    for one in record:
        assert all((one.statement, one.meaning, one.source.paper))
        assert all(name and claim.says for name, claim in one.readings)


def test_the_simplest_number_between_two_has_the_least_denominator() -> None:
    numbers = sorted({Fraction(p, q) for q in range(1, 12) for p in range(1, 3 * q)})
    for low, high in (*pairwise(numbers), *zip(numbers, numbers[7:], strict=False)):
        found = simplest_between(low, high)
        assert low < found < high
        # p/q is in between for some p if and only if the next multiple of 1/q above low is.
        least = next(q for q in count(1) if Fraction(low * q // 1 + 1, q) < high)
        assert found.denominator == least
