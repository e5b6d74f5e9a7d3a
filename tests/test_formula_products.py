"""A product sign that plain text leaves out: read where it has one reading, refused where two."""

from __future__ import annotations

import pytest
import sympy as sp

from derivations.formula import FormulaError, parse_formula

NAMES = ("mu", "x", "d", "N", "s", "z", "t")
SYMBOLS = {name: sp.Symbol(name, real=True) for name in NAMES}


def read(text: str) -> sp.Expr:
    return parse_formula(text, SYMBOLS).expression


@pytest.mark.parametrize(
    ("text", "signed"),
    [
        ("2(1 + mu)", "2*(1 + mu)"),
        ("2x", "2*x"),
        ("x d", "x*d"),
        ("(1−μ)(1−x*d)", "(1 - mu)*(1 - x*d)"),
        ("(1 - mu)x", "(1 - mu)*x"),
        ("x(1-x)", "x*(1 - x)"),
        ("x²(1 - mu)", "x**2*(1 - mu)"),
        ("x^(2)(1 - mu)", "x**2*(1 - mu)"),
        ("-x(1 - mu)", "-x*(1 - mu)"),
        ("2sqrt(x)d", "2*sqrt(x)*d"),
        ("x log(d)", "x*log(d)"),
        ("log(d)log(x)", "log(d)*log(x)"),
        ("μxd", "mu*x*d"),
        ("xmu", "x*mu"),
        ("dxN²", "d*x*N**2"),
        ("pis", "pi*s"),
        ("√(x(1-x))", "sqrt(x*(1 - x))"),
        ("2√x", "2*sqrt(x)"),
        ("½(1+μ)", "(1 + mu)/2"),
        ("¾x", "3*x/4"),
        ("½²", "1/4"),
        ("1 - mu - x*d.", "1 - mu - x*d"),
        ("1 - mu - 2.,", "-1 - mu"),
        ("2.", "2"),
        ("1/2 , ", "1/2"),
    ],
)
def test_a_sign_left_out_is_read_where_it_has_one_reading(text: str, signed: str) -> None:
    assert read(text) == read(signed)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        ("1/xd", ("(1/x)*d", "1/(x*d)")),
        ("1/2(1 + mu)", ("(1/2)*(...)", "1/(2*(...))")),
        ("x^2d", ("x**2*d", "x**(2*d)")),
        ("x^2(1 + mu)", ("x**2*(...)", "x**(2*(...))")),
        ("x^-2η", ("x**-2*eta", "x**(-2*eta)")),
        ("mu^sin(x)d", ("mu**sin(...)*d", "mu**(sin(...)*d)")),
        ("1/x^-2d", ("(1/x**-2)*d", "1/(x**-2*d)")),
        ("x(d)", ("x*d", "the value of x at d")),
        ("x(0)", ("x*0", "the value of x at 0")),
        ("√2x", ("root over 2 reaches", "sqrt(...)")),
        ("√x²", ("root over x reaches", "sqrt(...)")),
    ],
)
def test_a_sign_left_out_with_two_readings_is_refused(text: str, readings: tuple[str, str]) -> None:
    with pytest.raises(FormulaError, match="two readings") as refused:
        parse_formula(text, {**SYMBOLS, "eta": sp.Symbol("eta")})
    for reading in readings:
        assert reading in str(refused.value)


def test_letters_that_spell_two_products_are_refused() -> None:
    names = {name: sp.Symbol(name) for name in ("a", "b", "ab", "c", "bc", "l", "n", "p")}
    with pytest.raises(FormulaError, match=r"a\*bc or ab\*c|ab\*c or a\*bc|a\*b\*c"):
        parse_formula("abc", names)
    with pytest.raises(FormulaError, match=r"ln\*p"):  # ln p, or l n p
        parse_formula("lnp", names)
    assert parse_formula("pa", names).expression == names["p"] * names["a"]


def test_a_subscript_ends_a_product_without_signs() -> None:
    names = {name: sp.Symbol(name) for name in ("eta", "K", "K_ref", "x", "x_s", "d")}
    eta, curvature, lag = (names[name] for name in ("eta", "K", "K_ref"))
    assert parse_formula("ηKK_ref", names).expression == eta * curvature * lag
    with pytest.raises(FormulaError, match="unknown name 'x_sd'"):
        parse_formula("x_sd", names)
    with pytest.raises(FormulaError, match="unknown name 'K_refd'"):
        parse_formula("K_refd", names)
