"""Whatever the text, the parser returns a formula that can be written, or a `FormulaError`."""

from __future__ import annotations

import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from derivations.formula import FormulaError, parse_formula, render
from derivations.formula.language import FUNCTIONS

NAMES = ("mu", "x", "d", "N", "s", "delta")
SYMBOLS = {name: sp.Symbol(name, real=True) for name in NAMES}

PIECES = [
    *NAMES,
    *FUNCTIONS,
    *(f"{name}(" for name in FUNCTIONS),
    *("0", "1", "2", "9", "0.5", "1e-3", "64", "pi", "π", "μ", "e", ".", "√", "½", "xd"),
    *("and", "**", "<=", ">=", "==", *"+-*/^()()<>=,≤−·²³"),
    *("lambda", "__class__", "\\frac", *".';:[]{}\0\u202e\n"),
]


def check_total(text: str) -> None:
    """Parse `text`: a formula of the language that can be written, or a `FormulaError`."""
    try:
        formula = parse_formula(text, SYMBOLS)
    except FormulaError as error:
        refusal = error
    else:
        assert formula.symbols <= set(NAMES)
        assert render(formula.relations or formula.expression).isprintable()
        return
    assert str(refusal).isprintable()
    assert len(str(refusal)) < 500
    assert refusal.text == text


@settings(deadline=None)
@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    check_total(text)


@settings(deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25), st.sampled_from(["", " "]))
def test_any_sequence_of_tokens_is_read_or_refused(pieces: list[str], gap: str) -> None:
    check_total(gap.join(pieces))


LATEX = [
    *NAMES,
    *"{}$^_()[]|12.,½²٣+-*/<= ",
    "\\over",
    "\\frac",
    "\\sqrt",
    "\\cdot",
    "\\mu",
    "\\rm",
]


@settings(deadline=None)
@given(st.lists(st.sampled_from(LATEX), max_size=25))
def test_any_sequence_of_latex_is_read_or_refused(pieces: list[str]) -> None:
    check_total("".join(pieces))


operands = st.recursive(
    st.sampled_from([*NAMES, "0", "1", "2", "64", "0.3", "1e-30", "123456789", "pi", "(1/3)"]),
    lambda below: st.one_of(
        st.builds("({}{}{})".format, below, st.sampled_from("+-*/"), below),
        st.builds("({})**({})".format, below, below),
        st.builds("-{}".format, below),
        st.builds(
            "{}({})".format,
            st.sampled_from([name for name, f in FUNCTIONS.items() if f.least == 1]),
            below,
        ),
        st.builds("{}({},{})".format, st.sampled_from(["atan2", "min", "max"]), below, below),
    ),
    max_leaves=15,
)


@settings(deadline=None)
@given(operands)
def test_any_expression_is_read_or_refused(text: str) -> None:
    check_total(text)


@settings(deadline=None)
@given(operands, st.integers(0, 200), st.characters())
def test_any_mutated_expression_is_read_or_refused(text: str, where: int, what: str) -> None:
    check_total(text[:where] + what + text[where + 1 :])
