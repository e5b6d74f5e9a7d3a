"""Printed names, symbol tables, and eta*K brought to x."""

from __future__ import annotations

from pathlib import Path

import pytest

from derivations.audit import Audited, audit_files
from derivations.claim_file import ClaimFileError

HEAD = '[[claim]]\nid = "c"\nrelation = "exact"\n'
CONSTANT = 'model = { optimizer = "heavy-ball", lag_model = "constant" }\n'
SAWTOOTH = 'model = { optimizer = "heavy-ball", lag_model = "sawtooth", refresh = 2 }\n'


def audited(folder: Path, claim: str, symbols: str = "") -> Audited:
    path = folder / "claims.toml"
    path.write_text(f"{symbols}\n{HEAD}{claim}", encoding="utf-8")
    (row,) = audit_files([path])
    return row


@pytest.mark.parametrize(
    ("quantity", "says", "symbols"),
    [
        ("damping", r"1-\mu-\eta K d", ""),
        ("damping", r"1-\mu-\eta\lambda K_{\mathrm{ref}}", '[symbols]\nlambda = "K"'),
        ("damping", "1−μ−ηK·K_ref", ""),
        ("damping", r"1-\beta_1-\alpha K \ell", '[symbols]\nl = "d"'),
        ("mass", r"\frac{1+\mu}{2}\delta^2 + \frac{\eta K d^2}{2}\delta^2", ""),
        ("stiffness", r"\frac{\eta^2 K^2}{\eta K}", ""),
        ("damping", "1 − μ − ηKd.", ""),
        ("damping", "1-mu-lr K lag", ""),
        ("damping", r"1-\mu-\eta K\,K_{\rm ref},", ""),
        ("mass", r"{(1+\mu) + \eta K d^2 \over 2}\delta^2.", ""),
        ("mass", "½(1+μ+ηKd²)δ²", ""),
    ],
)
def test_a_formula_as_people_have_it(
    tmp_path: Path, quantity: str, says: str, symbols: str
) -> None:
    row = audited(tmp_path, f"quantity = '{quantity}'\nsays = '{says}'\n{CONSTANT}", symbols)
    assert (row.verdict.word.value, row.verdict.evidence.rung.word) == ("holds", "proved")


def test_the_lag_model_says_what_k_ref_is(tmp_path: Path) -> None:
    claim = "quantity = 'rule_threshold'\nsays = '2*(1 - mu)/(K_ref - 1)'\n"
    assert audited(tmp_path, claim + SAWTOOTH).verdict.word.value == "refuted"
    claim = "quantity = 'rule_threshold'\nsays = '(1 - mu)/K_ref'\n"
    assert audited(tmp_path, claim + SAWTOOTH).verdict.word.value == "holds"
    assert audited(tmp_path, claim + CONSTANT).verdict.word.value == "holds"


def test_a_printed_name_works_in_a_domain_too(tmp_path: Path) -> None:
    row = audited(
        tmp_path,
        "quantity = 'damping'\nsays = '1 - m - x'\nsymbols = { m = 'mu', L = 'd' }\n"
        f"domain = {{ L = [1, 1] }}\n{CONSTANT}",
    )
    assert row.verdict.word.value == "holds"


@pytest.mark.parametrize(
    ("claim", "reason"),
    [
        ("says = '1 - mu - eta*d'", "only as the product x = eta"),
        ("says = '1 - mu - K'", "only as the product x = eta"),
        ("says = 'x'\nsymbols = { y = 'q' }", "y = 'q' is no quantity"),
        ("says = 'x'\nsymbols = { 'a b' = 'x' }", "is no name"),
        ("says = 'x'\nsymbols = { y = 3 }", "y = 3 is no quantity"),
        ("says = 'pi'\nsymbols = { pi = 'x' }", "pi is a word of every formula"),
        ("says = 'sqrt(2)'\nsymbols = { sqrt = 'x' }", "sqrt is a word of every formula"),
        ("says = 'x'\nsymbols = { and = 'x' }", "and is a word of every formula"),
        ("says = 'K(p)'\nsymbols = { p = 'x' }", "K\\*p or the value of K at p"),
        ("says = 'x'\nsymbols = 'y = x'", "must be a table"),
    ],
)
def test_what_cannot_be_brought_to_the_theory_is_refused(
    tmp_path: Path, claim: str, reason: str
) -> None:
    with pytest.raises(ClaimFileError, match=reason):
        audited(tmp_path, f"quantity = 'damping'\n{claim}\n{CONSTANT}")


def test_the_table_of_a_file_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ClaimFileError, match="is no quantity"):
        audited(tmp_path, f"quantity = 'mass'\nsays = 'x'\n{CONSTANT}", "[symbols]\nlam = 'Z'")


def test_a_name_with_another_meaning_is_told(tmp_path: Path) -> None:
    row = audited(
        tmp_path,
        f"quantity = 'damping'\nsays = '1 - x - mu*d'\n{CONSTANT}",
        "[symbols]\nmu = 'x'\nx = 'mu'",
    )
    assert row.verdict.word.value == "holds"
    assert row.as_read == "1 - mu - d*x; the file prints mu for x and x for mu"
