"""What the formula language refuses: always a `FormulaError`, in one line, and at once."""

from __future__ import annotations

import inspect
import pickle
import sys
import time

import pytest
import sympy as sp

from derivations.formula import Formula, FormulaError, parse_formula
from derivations.formula.bounded import BoundedAlgebra, Refused

NAMES = ("mu", "x", "d", "N", "s", "delta")
REAL = {name: sp.Symbol(name, real=True) for name in NAMES}
POSITIVE = {name: sp.Symbol(name, positive=True) for name in NAMES}


def refusal(text: object, symbols: dict[str, sp.Symbol] = REAL) -> FormulaError:
    with pytest.raises(FormulaError) as caught:
        parse_formula(text, symbols)  # type: ignore[arg-type]  # what is not text is refused too
    return caught.value


def outcome(text: str, symbols: dict[str, sp.Symbol] = REAL) -> Formula | FormulaError:
    try:
        return parse_formula(text, symbols)
    except FormulaError as error:
        return error


def is_one_printable_line(message: str) -> bool:
    return message.isprintable() and 0 < len(message) < 500


# ---- what the message says ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "said", "position"),
    [
        (
            "x*d < 1 - muu",
            "unknown name 'muu': the nearest is 'mu'; allowed are N, d, delta, mu",
            10,
        ),
        ("dleta*x", "the nearest is 'delta'", 0),
        ("sqr(x)", "the nearest is 'sqrt'", 0),
        ("e**x", "write exp(1)", 0),
        ("x < 1 or x > 2", "only 'and' joins comparisons", 6),
        ("not x < 1", "only 'and' joins comparisons", 0),
        ("x 2", "a product needs its sign; write x*2", 2),
        ("(1 + mu)2", "write (...)*2", 8),
        ("2½", "unexpected '1/2'", 1),
        (".", "the formula is empty", None),
        ("1..5", "unexpected '.5'", 2),
        (r"\mu \cdot .", "ends where a value is expected", 11),
        (r"\frac{.}{2}", "unexpected '.'", 6),
        (r"\mu..", "unexpected '.'", 3),
        (r"\mu\frac.5x", "write a decimal here in braces", 8),
        (r"\mu٣", "unexpected", 3),
        ("f(x)", "unknown name 'f'", 0),
        ("f(1 - x)", "unknown name 'f'", 0),
        ("xsqrt(d)", "unknown name 'xsqrt'", 0),
        ("1.2.3", "unexpected '.3'", 3),
        ("sqrt x", "sqrt is a function; write sqrt(...)", 0),
        ("sqrt(x, d)", "sqrt takes 1 argument, not 2", 0),
        ("atan2(x)", "atan2 takes 2 arguments, not 1", 0),
        ("min()", "min takes 1 to 4 arguments, not 0", 0),
        ("((x)", "this parenthesis is not closed", 0),
        ("x)", "unexpected ')'", 1),
        ("x +", "the formula ends where a value is expected", 3),
        ("x < = 1", "unexpected '=='", 4),
        ("x, d", "join comparisons by 'and'", 1),
        ("x < 1, d < 1", "join comparisons by 'and'", 5),
        ("x and d", "'and' joins comparisons, not values", 2),
        ("(x < 1) + 1", "a comparison cannot be part of a value", 8),
        ("sqrt(x < 1)", "a comparison cannot be part of a value", None),
        ("x != 1", "unexpected character '!'", 2),
        ("1/0", "division by zero", 1),
        ("x/(d - d)", "division by zero", 1),
        ("0**-1", "division by zero", 1),
        ("0**x", "zero to a power of unknown sign", 1),
        ("log(0)", "infinite or undefined", 0),
        ("tan(pi/2)", "infinite or undefined", 0),
        ("atan2(0, 0)", "infinite or undefined", 0),
        ("sqrt(-1)", "not a real number", 0),
        ("(-8)**(1/3)", "not a real number", 4),
        ("asin(2)", "not a real number", 0),
        ("log(-2)", "not a real number", 0),
        ("sin(1)**2 + cos(1)**2 - 1", "cannot be told from zero", None),
        ("1" * 41, "a number has at most 40 digits", 0),
        ("1e301", "the exponent of a decimal is at most 300", 0),
        ("x**65", "an exponent is at most 64, not '65'", 1),
        ("x**60*x**60", "an exponent is at most 64, not '120'", 5),
        ("9**9**9", "an exponent is at most 64, not '387420489'", 1),
        ("((9**64)**64)**64", "a number of more than 1000 digits", 8),
        ("(2*x)**64*(3**64*x + 1)**64", "a number of more than 1000 digits", None),
        ("exp(10**9*log(9))", "write a**b for exp(b*log(a))", 0),
        ("2**(log(9)/log(2))", "a logarithm in an exponent", 1),
        ("mu**(1000000*N)", "a number in an exponent is at most 64", 2),
        ("2**2**N", "a power in the exponent of a power", 1),
        ("2**(N**3)", "more than a square in an exponent", 1),
        ("exp(exp(exp(x)))", "exp of exp of exp", 0),
        ("exp(exp(999*x))", "a number in exp of exp is at most 64", 0),
        ("exp(exp(20))", "exp of a number is taken up to 1000", 0),
        ("(x + mu + d + N)**64", "more than 10000 terms when multiplied out", 16),
        ("abs((x + log(d))**9)", "a power above 8 inside abs, min or max", 0),
        ("max(x, d, N, s, mu)", "max takes 1 to 4 arguments, not 5", 0),
        ("max(x, min(d, max(mu, 1)), max(N, s, delta))", "more than 4 values", 0),
        ("sin(" * 5 + "x" + ")" * 5, "at most 4 deep", 0),
        ("", "the formula is empty", None),
        (" \n\t", "the formula is empty", None),
        (None, "a formula is text, not NoneType", None),
        (0.5, "a formula is text, not float", None),
        (b"x", "a formula is text, not bytes", None),
        (sp.Symbol("x"), "a formula is text, not Symbol", None),
    ],
)
def test_refusal_says_what_and_where(text: str, said: str, position: int | None) -> None:
    error = refusal(text)
    assert said in str(error)
    assert is_one_printable_line(str(error))
    if position is not None:
        assert error.position == position
        assert f"(character {position + 1} of " in str(error)


@pytest.mark.parametrize("literal", [".", "", "1.2.3", "²", "e5", "x"])
def test_what_is_no_number_is_refused_by_the_algebra_too(literal: str) -> None:
    with pytest.raises(Refused, match="is not a number"):
        BoundedAlgebra().number(literal)


def test_error_keeps_the_text_and_survives_pickling() -> None:
    error = refusal("1 + y")
    assert (error.text, error.position) == ("1 + y", 4)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.text, again.position) == (str(error), error.text, error.position)
    assert isinstance(error, ValueError)


def test_long_text_is_shown_around_the_fault() -> None:
    message = str(refusal("x + " * 100 + "oops + " + "d + " * 100 + "d"))
    assert "oops" in message.partition("(character 401 of ")[2]
    assert len(message) < 350


# ---- what must never run, hang or grow ----------------------------------------------------------

CODE = [
    "__import__('os').system('x')",
    "__import__",
    'eval("1")',
    "().__class__.__bases__",
    "x.real",
    "x.__class__",
    "x.5.real",
    "lambda: x",
    "lambda x: x",
    "[x for x in (1, 2)]",
    "(x for x in d)",
    "{x: d}",
    "x[0]",
    "x if d else mu",
    "(x := 1)",
    "x = 1; d = 2",
    "import os",
    "f'{x}'",
    "'x'",
    '"x"',
    "`x`",
    "b'x'",
    "x@d",
    "x//d",
    "x%d",
    "x<<d",
    "~x",
    "x|d",
    "x&d",
    "not x",
    "x is d",
    "x in d",
    "*x",
    "**x",
    "f(*x)",
    "max(x, key=d)",
    "print(x)",
    "Symbol(x)",
    "S(x)",
    "None",
    "True",
    "...",
    "1_000",
    "0x10",
    "1j",
    "x\\\nd",
    "x # d",
    "\\input{/etc/passwd}",
    "\\def\\a{\\a}\\a",
    "{x",
    "x}",
    "$x",
    "\\write18{ls}",
    "\\newcommand{\\a}{\\a}\\a",
    "\\catcode`x=0",
    "\\csname x\\endcsname",
    "\\frac{.}{2}",
    "\\mu \\cdot .",
    "x..d",
    "\\sqrt[x",
    "\\over",
    "{x \\over d \\over 2}",
    "√",
    "√√x",
    "½½",
]
CHARACTERS = [
    "x\0",
    "\0",
    "x\u202e*d",
    "\u200fx",
    "x\u200b*d",
    "x\u2028d",
    "x\x1b[31m",
    "\ud800",
    "x\x85d",
    "x\x0cd",
    "\N{ARABIC-INDIC DIGIT THREE}",
    "\N{FULLWIDTH DIGIT ONE}",
    "\N{CYRILLIC SMALL LETTER HA}",
    "x\N{COMBINING ACUTE ACCENT}",
    "\N{PILE OF POO}",
    "²",
    "x⁻",
    "x⁹⁹⁹⁹⁹⁹⁹⁹⁹",
    "x" + "⁹" * 9000,
]
ROOTS = "(sqrt(2) + sqrt(3) + sqrt(5) + sqrt(7) + sqrt(11) + sqrt(13))"


def near_roots() -> str:
    """The value of `ROOTS` to 250 digits, as a sum of short decimals."""
    value = sum(sp.sqrt(sp.prime(k)) for k in range(1, 7)).evalf(320)
    digits = str(sp.floor(value * sp.Integer(10) ** 249))
    parts = (f"{digits[k : k + 25]}e-{k + 24 - (len(digits) - 250)}" for k in range(0, 250, 25))
    return f"({' + '.join(parts)})"


SIZE = [
    "9**9**9",
    "9**9**9**9**9",
    "9" * 5000,
    "1e999999999",
    "1e" + "9" * 5000,
    "0." + "0" * 5000 + "1",
    "((9**64)**64)**64",
    "(" * 10 + "9" + "**64)" * 10,
    "*".join(["9**64"] * 300),
    "+".join(f"x/((9**64)**15 + {k})" for k in range(120)),
    "exp(1e9)",
    "exp(1e9*log(9))",
    "exp(x*(1000000000*log(9) + log(d)))",
    "x**(1000000000*log(9)/log(x))",
    "exp(exp(exp(exp(10))))",
    "exp(exp(1e10))",
    "x**x**x**x",
    "mu**(N**64)",
    "(x + mu + d + N + s)**64",
    "abs((log(x) + log(d) + log(N) + s)**40)",
    "((((x + 1)**60 + mu)**60 + d)**60 + s)**60",
    f"{ROOTS} - {near_roots()}",
    f"abs({ROOTS} - {near_roots()})",
    f"max(x*{ROOTS}, x*{near_roots()})",
    f"max({ROOTS}*x + 1, {near_roots()}*x + 1)",
    "max(x**32 + 7*x**31 - 5, x**30 - 9*x**29 - 1, x**28 - 3, x**27 - x - 3)",
    "pi*(" * 30 + "sqrt(2)" + " + sqrt(3))" * 30,
    "sqrt(2 + " * 30 + "1" + ")" * 30,
    "sqrt(1/(x + " * 20 + "mu" + "))" * 20,
    "sqrt(1/sin(" * 10 + "mu" + "))" * 10,
    "1/(x + " * 30 + "mu" + ")" * 30,
    "(10**39 + 8)**(398/399)",
    "(10**20 - 8)**(1e-30)",
    "24**(1/1000)*24**(998/999)",
    "(24**(998/999))**(998/999)",
    "24**(x/999)*24**(998/999 - x/997)",
    "x**" * 600 + "x",
    "(" * 10_000 + "x" + ")" * 10_000,
    "(" * 4_000 + "x" + ")" * 4_000,
    "(" * 900 + "x" + ")" * 900,
    "-" * 1900 + "x",
    "sin(" * 400 + "x" + ")" * 400,
    "x < " * 3_000 + "x",
    "x + " * 2_400 + "x",
    "x" * 10_001,
    "xd" * 5_000,
    "$" + "x" * 9_990 + "$",
    "{" + "x" * 1_000 + "}" * 6,
    ("{" + "x" * 1_600 + "}") * 6,
    "η" * 10_000,
    "xd " * 1_500,
    "√(" * 900 + "x" + ")" * 900,
    "{x \\over " * 900 + "d" + "}" * 900,
    "x" * 1_000_000,
    "(" * 1_000_000,
    "9" * 1_000_000,
    " " * 1_000_000,
    "\0" * 1_000_000,
]


@pytest.mark.parametrize("text", CODE + CHARACTERS + SIZE, ids=lambda text: ascii(text)[:50])
@pytest.mark.parametrize("symbols", [REAL, POSITIVE], ids=["real", "positive"])
def test_hostile_text_is_refused_at_once(text: str, symbols: dict[str, sp.Symbol]) -> None:
    start = time.process_time()
    error = refusal(text, symbols)
    assert time.process_time() - start < 2
    assert is_one_printable_line(str(error))
    assert error.text == text


# Large, within the bounds, and no more than that: read, and read quickly.
HEAVY = [
    "(" * 99 + "x" + ")" * 99,
    "-" * 99 + "x",
    "x + " * 999 + "x",
    "x < " * 999 + "x",
    " and ".join(f"x < {k}" for k in range(400)),
    " + ".join(f"sin(x + {k})" for k in range(280)),
    " * ".join(f"sin(x + {k})" for k in range(280)),
    " + ".join(f"1/(x + {k})" for k in range(240)),
    " + ".join(f"sqrt({k})" for k in range(2, 390)),
    " + ".join(f"sin({k})" for k in range(1, 390)),
    " + ".join(f"sqrt({10**39 + 17 * k})" for k in range(1, 190)),
    "x*(" * 15 + "1" + " + mu)" * 15,
    "(9**64)**16",
    "(1 + mu)**64*(1 - x)**64",
]


@pytest.mark.parametrize("text", HEAVY, ids=lambda text: text[:50])
def test_large_but_honest_text_is_read_quickly(text: str) -> None:
    start = time.process_time()
    parse_formula(text, REAL)
    assert time.process_time() - start < 2


# Many operations that are each within bounds: read or refused, but soon.
ADDED_UP = [
    " + ".join(f"max(x**8 - {k}*x**7 + 1, x**5 - {k}*x**6 - 3)" for k in range(60)),
    " + ".join(f"abs(x**8 - {k}*x**7 + 1)" for k in range(100)),
    " + ".join(f"sqrt(1/sin(sqrt(1/sin(mu + {k}))))" for k in range(100)),
    "max(x, 1 - " * 30 + "mu" + ")" * 30,
    "abs(1/(x + " * 15 + "mu" + "))" * 15,
]


@pytest.mark.parametrize("text", ADDED_UP, ids=lambda text: text[:50])
@pytest.mark.parametrize("symbols", [REAL, POSITIVE], ids=["real", "positive"])
def test_many_costly_operations_end_soon(text: str, symbols: dict[str, sp.Symbol]) -> None:
    start = time.process_time()
    result = outcome(text, symbols)
    if isinstance(result, FormulaError):
        assert "takes more than 1 s" in str(result) or "deep" in str(result)
    assert time.process_time() - start < 2


def test_deep_caller_gets_a_formula_error() -> None:
    """The parser's own recursion may meet the interpreter's limit; that is a refusal too."""

    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        else:
            parse_formula("(" * 90 + "x" + ")" * 90, REAL)

    frames = len(inspect.stack(0))
    with pytest.raises(FormulaError, match="nested too deeply"):
        deeper(sys.getrecursionlimit() - frames - 60)
