r"""Arithmetic on SymPy objects that a hostile formula cannot make large.

SymPy evaluates as it builds: ``9**9**9`` is computed, ``exp(10**9*log(9))`` becomes a power,
``abs`` may expand its argument. Here every operation is looked at before SymPy sees it and every
result is measured after, so that what leaves this module is a real, finite expression of bounded
size, made of the language's own operations only.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

import sympy as sp

from derivations.formula.errors import quote
from derivations.formula.language import FUNCTIONS, MAX_ARGUMENTS, in_language

LITERAL_DIGITS = 40  # of a number as written, and of a number under a root
DECIMAL_EXPONENT = 300  # of a number as written
NUMBER_DIGITS = 1_000  # of a number that is computed
MAX_EXPONENT = 64
MAX_TERMS = 10_000  # of the expression multiplied out
SIGNED_EXPONENT = 8  # inside abs, min and max
SIGNED_TERMS = 100  # inside abs, min and max, multiplied out
EXP_OF_NUMBER = 1_000
# Of operations in one another; SymPy takes time exponential in them to evaluate a constant or to
# look for a sign.
OPERATION_DEPTH = 40
CONSTANT_DEPTH = 12
FUNCTION_DEPTH = 4
SECONDS = 1.0  # of computing, for what many bounded operations add up to

_BITS_PER_DIGIT = math.log2(10)
_NUMBER_BITS = int(NUMBER_DIGITS * _BITS_PER_DIGIT)
_WORK_BITS = 16 * _NUMBER_BITS  # on the way to such a number
_ORDER_BITS = 4_096  # of a number raised to the order of a root
_ROOT_BITS = math.ceil(LITERAL_DIGITS * _BITS_PER_DIGIT)
_TOO_LONG = f"a number of more than {NUMBER_DIGITS} digits"


class Refused(ValueError):
    """An operation outside the bounds; the parser adds where in the text it stands."""


class Measure(NamedTuple):
    """What is known of the size of an expression."""

    bits: int = 1  # of the longest numerator or denominator in it
    terms: int = 1  # after multiplying out
    tower: int = 0  # how many exponentials stand in one another's exponent
    order: int = 1  # common to its roots: what x**(p/q) has as q
    depth: int = 0  # of operations in one another
    functions: int = 0  # of functions and irrational powers in one another
    constant: bool = True  # free of symbols


class BoundedAlgebra:
    """The operations of the language; each raises `Refused` rather than grow without bound.

    One instance serves one formula: it remembers what it has measured, so that a formula costs
    time in proportion to its length times its depth.
    """

    def __init__(self) -> None:
        self._measures: dict[sp.Basic, Measure] = {}
        self._deadline = time.thread_time() + SECONDS

    def number(self, literal: str) -> sp.Expr:
        """Return the exact rational that a decimal literal denotes: 0.1 is 1/10."""
        mantissa, _, exponent = literal.lower().partition("e")
        if len(mantissa.replace(".", "")) > LITERAL_DIGITS:
            raise Refused(f"a number has at most {LITERAL_DIGITS} digits")
        size = exponent.lstrip("+-0")
        if len(size) > len(str(DECIMAL_EXPONENT)) or int(size or 0) > DECIMAL_EXPONENT:
            raise Refused(f"the exponent of a decimal is at most {DECIMAL_EXPONENT}")
        try:
            value = Fraction(literal)
        except ValueError:
            raise Refused(f"{quote(literal)} is not a number") from None
        return self._evaluate(sp.Rational, value.numerator, value.denominator)

    def sum(self, terms: Sequence[sp.Expr]) -> sp.Expr:
        """Return the sum of `terms`."""
        self._refuse_long(terms)
        return self._evaluate(sp.Add, *terms)

    def product(self, factors: Sequence[sp.Expr]) -> sp.Expr:
        """Return the product of `factors`; a number times a sum is multiplied out."""
        self._refuse_long(factors)
        sizes = [self._measure(factor) for factor in factors]
        _refuse_order(max(s.bits for s in sizes), math.lcm(*(s.order for s in sizes)))
        return self._evaluate(sp.Mul, *factors)

    def power(self, base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
        """Return ``base**exponent``."""
        if not exponent.is_Integer:
            self._check_depth([base, exponent])
        self._check_power(base, exponent)
        return self._evaluate(sp.Pow, base, exponent)

    def call(self, name: str, arguments: Sequence[sp.Expr]) -> sp.Expr:
        """Return the value of the function called `name`, a key of `FUNCTIONS`."""
        function = FUNCTIONS[name]
        if not function.least <= len(arguments) <= function.most:
            allowed = " to ".join(str(n) for n in sorted({function.least, function.most}))
            given = len(arguments)
            raise Refused(f"{name} takes {allowed} argument{'s' * (allowed != '1')}, not {given}")
        head = function.head
        if head is sp.sqrt:
            return self.power(arguments[0], sp.Rational(1, 2))
        self._check_depth(arguments)
        if head is sp.exp:
            self._check_exp(arguments[0])
        elif head in (sp.Abs, sp.Min, sp.Max):
            self._check_signed(arguments)
        return self._evaluate(head, *arguments)

    def _refuse_long(self, parts: Sequence[sp.Expr]) -> None:
        """Refuse numbers whose sum or product would take long to compute."""
        if sum(self._measure(part).bits for part in parts) > _WORK_BITS:
            raise Refused(_TOO_LONG)

    def _check_depth(self, arguments: Sequence[sp.Expr]) -> None:
        if max(self._measure(argument).functions for argument in arguments) >= FUNCTION_DEPTH:
            raise Refused(f"functions and roots stand in one another at most {FUNCTION_DEPTH} deep")

    def _check_power(self, base: sp.Expr, exponent: sp.Expr) -> None:
        if base == 0 and not exponent.is_nonnegative:
            negative = exponent.is_negative
            raise Refused("division by zero" if negative else "zero to a power of unknown sign")
        size = self._measure(base)
        if not exponent.is_Rational:
            self._check_exponent(exponent)
        largest = sum(abs(number) for number in exponent.atoms(sp.Rational))
        if exponent.is_Rational and largest > MAX_EXPONENT:
            raise Refused(f"an exponent is at most {MAX_EXPONENT}, not {_shown(exponent)}")
        if size.bits > 1 and size.bits * math.ceil(largest) > _NUMBER_BITS:
            raise Refused(_TOO_LONG)
        if exponent.is_Integer:
            return
        if exponent.is_Rational and size.bits > _ROOT_BITS:
            raise Refused(f"the root of a number of more than {LITERAL_DIGITS} digits")
        _refuse_order(size.bits, size.order * _order(exponent))

    def _check_exponent(self, exponent: sp.Expr) -> None:
        """Refuse an exponent that makes a value nobody can compute once its symbols are numbers."""
        if exponent.has(sp.log):
            raise Refused("a logarithm in an exponent; write a**b for exp(b*log(a))")
        if any(abs(number) > MAX_EXPONENT for number in exponent.atoms(sp.Rational)):
            raise Refused(f"a number in an exponent is at most {MAX_EXPONENT}")
        if self._measure(exponent).tower:
            raise Refused("a power in the exponent of a power")
        if any(abs(power.exp) > 2 for power in exponent.atoms(sp.Pow)):
            raise Refused("more than a square in an exponent")

    def _check_signed(self, arguments: Sequence[sp.Expr]) -> None:
        """Refuse arguments whose signs, or whose differences' signs, SymPy would work hard for."""
        for argument in arguments:
            powers = (power.exp for power in argument.atoms(sp.Pow) if power.exp.is_Rational)
            if any(abs(exponent) > SIGNED_EXPONENT for exponent in powers):
                raise Refused(f"a power above {SIGNED_EXPONENT} inside abs, min or max")
            if self._measure(argument).terms > SIGNED_TERMS:
                raise Refused(f"more than {SIGNED_TERMS} terms inside abs, min or max")
        for left, right in combinations(arguments, 2):
            self._measure(_ask_sympy(sp.factor_terms, left - right))

    def _check_exp(self, argument: sp.Expr) -> None:
        size = self._measure(argument)
        if argument.has(sp.log):
            raise Refused("a logarithm in an exponent; write a**b for exp(b*log(a))")
        if size.tower > 1:
            raise Refused("exp of exp of exp")
        if size.tower and size.bits > MAX_EXPONENT.bit_length():
            raise Refused(f"a number in exp of exp is at most {MAX_EXPONENT}")
        if size.constant and abs(_ask_sympy(argument.evalf, 5)) > EXP_OF_NUMBER:
            raise Refused(f"exp of a number is taken up to {EXP_OF_NUMBER}")

    def _evaluate(self, head: Callable[..., sp.Expr], *arguments: object) -> sp.Expr:
        """Let SymPy evaluate an operation that is within bounds, and measure what it answers."""
        if time.thread_time() > self._deadline:
            raise Refused(f"reading the formula takes more than {SECONDS:g} s; write it simpler")
        value = _ask_sympy(head, *arguments)
        if head is sp.tan:  # SymPy may answer with a cotangent, which the language lacks.
            value = value.replace(sp.cot, lambda angle: 1 / sp.tan(angle))
        self._measure(value)
        return value

    def _measure(self, node: sp.Expr) -> Measure:
        known = self._measures.get(node)
        if known is None:
            parts = [self._measure(argument) for argument in node.args]
            known = self._measures[node] = self._measured(node, parts)
        return known

    def _measured(self, node: sp.Expr, parts: Sequence[Measure]) -> Measure:
        """Return the measure of `node` from those of its arguments, or refuse it."""
        if not in_language(node):
            raise Refused(_outside(node))
        if node.is_Rational:
            bits = max(abs(node.p).bit_length(), node.q.bit_length())
            if bits > _NUMBER_BITS:
                raise Refused(_TOO_LONG)
            return Measure(bits=bits)
        if not parts:
            return Measure(constant=not node.is_Symbol)
        size = Measure(
            bits=max(part.bits for part in parts),
            tower=max(part.tower for part in parts),
            depth=1 + max(part.depth for part in parts),
            functions=max(part.functions for part in parts) + _is_function(node),
            constant=all(part.constant for part in parts),
        )
        if node.is_Add:
            size = size._replace(terms=sum(part.terms for part in parts))
        elif node.is_Mul:
            terms = math.prod(part.terms for part in parts)
            size = size._replace(terms=terms, order=math.lcm(*(part.order for part in parts)))
        elif node.is_Pow:
            size = self._measured_power(node, size)
        elif isinstance(node, sp.exp):
            self._check_exp(node.args[0])
            size = size._replace(tower=size.tower + 1)
        elif isinstance(node, (sp.Min, sp.Max)) and len(parts) > MAX_ARGUMENTS:
            raise Refused(f"min and max of more than {MAX_ARGUMENTS} values")
        if size.terms > MAX_TERMS:
            raise Refused(f"a formula of more than {MAX_TERMS} terms when multiplied out")
        deepest = CONSTANT_DEPTH if size.constant else OPERATION_DEPTH
        if size.depth > deepest:
            what = "operations on numbers" if size.constant else "operations"
            raise Refused(f"{what} stand in one another at most {deepest} deep")
        if size.constant:
            _refuse_doubtful(node)
        return size

    def _measured_power(self, node: sp.Expr, size: Measure) -> Measure:
        base, exponent = node.base, node.exp
        self._check_power(base, exponent)
        terms, order = self._measure(base).terms, self._measure(base).order * _order(exponent)
        if not exponent.is_Rational:
            return size._replace(terms=terms, order=order, tower=size.tower + 1)
        if base.is_Rational and base.is_negative and not exponent.is_Integer:
            raise Refused("the root of a negative number is not a real number")
        count = math.ceil(abs(exponent))
        return size._replace(
            bits=self._measure(base).bits,
            terms=math.comb(terms + count - 1, count),
            order=order,
        )


def _ask_sympy(question: Callable[..., sp.Expr], *arguments: object) -> sp.Expr:
    """Return SymPy's answer, or refuse the formula if it has none."""
    try:
        return question(*arguments)
    except Exception as failure:  # SymPy documents no exceptions, and its evaluation has many.
        raise Refused(f"SymPy cannot evaluate this: {quote(str(failure))}") from failure


def _order(exponent: sp.Expr) -> int:
    return math.lcm(*(number.q for number in exponent.atoms(sp.Rational)))


def _refuse_order(bits: int, order: int) -> None:
    """Refuse roots that SymPy would look for by raising the number under them to `order`."""
    if bits * order > _ORDER_BITS:
        raise Refused("a root of so high an order of so long a number")


def _is_function(node: sp.Expr) -> bool:
    """Return whether `node` is an operation that leads out of the rational functions."""
    return not (node.is_Add or node.is_Mul or (node.is_Pow and node.exp.is_Integer))


def _refuse_doubtful(node: sp.Expr) -> None:
    """Refuse a constant whose sign SymPy would have to prove.

    Such a proof computes a minimal polynomial, whose degree doubles with each square root.
    """
    value = _ask_sympy(node.evalf, 2)
    if value == 0 or (value.is_Float and value._prec == 1):
        raise Refused(f"{_shown(node)} cannot be told from zero")
    if not value.is_Float:
        raise Refused(f"{_shown(node)} is not a real number")


def _outside(node: sp.Basic) -> str:
    if node is sp.I:
        return "the value is not a real number"
    if node in (sp.zoo, sp.nan, sp.oo, -sp.oo):
        return "the value is infinite or undefined"
    return f"{_shown(node)} is not in the language of formulas"


def _shown(node: sp.Basic) -> str:
    return quote(str(node))
