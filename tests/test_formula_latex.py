"""Formulas in LaTeX read like their plain spelling, or are refused with the readings they have."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from derivations.formula import FormulaError, parse_formula
from derivations.notation import QUANTITIES

SYMBOLS = {name: quantity.symbol for name, quantity in QUANTITIES.items()}


def read(text: str) -> object:
    formula = parse_formula(text, SYMBOLS)
    return formula.expression if formula.expression is not None else formula.relations


@pytest.mark.parametrize(
    ("latex", "plain"),
    [
        (r"\frac{1+\mu}{2}\delta^2", "(1 + mu)/2*delta**2"),
        (r"$1-\mu-\eta K d$", "1 - mu - eta*K*d"),
        (r"\[ \left(\frac{1-\mu}{2}\right)^{2} \]", "((1 - mu)/2)**2"),
        (r"2\sin\left(\frac{\pi}{2(2d+1)}\right)", "2*sin(pi/(2*(2*d + 1)))"),
        (r"\frac12 x", "x/2"),
        (r"\frac1\mu", "1/mu"),
        (r"$x^{23}$", "x**23"),
        (r"\sqrt{p(1-p)}", "sqrt(p*(1 - p))"),
        (r"\sqrt p", "sqrt(p)"),
        (r"p^* + p_\star + p^{\star} + p_{*}", "4*p_star"),
        (r"p_{\mathrm{ref}} p_{ref}", "p_ref**2"),
        (r"e^{-t/\tau}", "exp(-t/tau)"),
        (r"\exp(-t/\tau)", "exp(-t/tau)"),
        (r"\ln p - \ln(1-p)", "ln(p) - ln(1 - p)"),
        (r"x_s^2", "x_s**2"),
        (r"R_\infty - (R_\infty - R_0) e^{-r_- t}", "R_inf - (R_inf - R_0)*exp(-r_m*t)"),
        (r"K \eta d \leq 1 - \mu", "K*eta*d <= 1 - mu"),
        (r"0 < x < 2(1+\mu)", "0 < x and x < 2*(1 + mu)"),
        (r"x d < 1-\mu \text{and} x > 0", "x*d < 1 - mu and x > 0"),
        (r"\min(x, 1)", "min(x, 1)"),
        (r"\lvert x \rvert + \left|s\right|", "abs(x) + abs(s)"),
        (r"\operatorname{atan2}(x, d)", "atan2(x, d)"),
        (r"\frac{\eta S}{2K\left((1-\mu)-x_s d\right)}", "eta*S/(2*K*((1 - mu) - x_s*d))"),
        (r"\dfrac{d^{d}}{(d+1)^{d+1}}", "d**d/(d + 1)**(d + 1)"),
        (r"1-\mu-xd.", "1 - mu - x*d"),
        (r"\frac{1-\mu}{d},", "(1 - mu)/d"),
        (r"$1-\mu$.", "1 - mu"),
        (r"\[ 1-\mu . \]", "1 - mu"),
        (r"1-\mu\,", "1 - mu"),
        (r"\bigl(1-\mu\bigr)\Bigl[x\Bigr]\big(d\big)", "(1 - mu)*x*d"),
        (r"p_{\rm ref} - p_{\rm{ref}}", "0"),
        (r"{1-\mu \over d}", "(1 - mu)/d"),
        (r"1-\mu \over d", "(1 - mu)/d"),
        (r"\left({1 \over 2x}\right)^2", "(1/(2*x))**2"),
        (r"2\sqrt[3]{x+d}\mu", "2*(x + d)**(1/3)*mu"),
        (r"\sqrt[3]x", "x**(1/3)"),
        (r"½\mu²", "mu**2/2"),
        (r"a", None),
        ("ηK", "eta*K"),
        ("2η(1−μ)", "2*eta*(1 - mu)"),
    ],
)
def test_latex_means_its_plain_spelling(latex: str, plain: str | None) -> None:
    if plain is None:
        with pytest.raises(FormulaError, match="unknown name 'a'"):
            read(latex)
    else:
        assert read(latex) == read(plain)


@pytest.mark.parametrize(
    ("text", "readings"),
    [
        (r"1/2\mu", ("(1/2)*", "1/(2*")),
        (r"x/(1-\mu) d", ("(x/(...))*d", "x/((...)*d)")),
        ("1/2η", ("(1/2)*eta", "1/(2*eta)")),
        (r"\ln p (1-p)", ("ln(p)*(...)", "ln(p*(...))")),
        (r"\sin x d", ("sin(x)*d", "sin(x*d)")),
        ("$x^23$", ("x^{23}", "x^2*3")),
        (r"\ln(p)^2", ("(...))^n", "((...)^n)")),
    ],
)
def test_two_readings_are_both_printed(text: str, readings: tuple[str, str]) -> None:
    with pytest.raises(FormulaError, match="two readings") as refused:
        read(text)
    for reading in readings:
        assert reading in str(refused.value)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"\input{x}", "the LaTeX command"),
        (r"\def\a{\a}\a", "the LaTeX command"),
        (r"\fract{1}{2}", r"did you mean \\frac"),
        (r"\frac{1}", "an argument in braces"),
        (r"\left(x", "not closed"),
        (r"\left(x\right]", r"\\right\) is missing"),
        ("{x", "not closed"),
        ("x}", "unexpected"),
        ("$x^2^3$", "two superscripts"),
        (r"$x^2_s$", "a subscript belongs"),
        (r"\sin^2 x", "no script stands on a function"),
        (r"{1 \over 2 \over 3}", "stands once"),
        (r"{\over 2}", "stands once"),
        (r"\sqrt[3", "not closed"),
        ("$2½$", "two numbers side by side"),
        (r"\mathrm{}", "a name in braces"),
        ("{" * 100 + "x" + "}" * 100, "nested"),
        (r"\frac" * 3000, "."),
        ("$$", "empty"),
        ("\\", "."),
    ],
)
def test_refusals_say_why(text: str, reason: str | None) -> None:
    with pytest.raises(FormulaError, match=reason):
        read(text)


PIECES = st.sampled_from(
    [
        *"\\{}$^_()[]|xd12.½²+-*/<=, ",
        r"\frac",
        r"\left",
        r"\right",
        r"\mu",
        r"\over",
        r"\sqrt",
        r"\rm",
        r"\bigl",
    ]
)


@given(st.lists(PIECES).map("".join))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        said = str(read(text))
    except FormulaError as refusal:
        said = str(refusal)
    assert said
    assert "\n" not in said
