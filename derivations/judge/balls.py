r"""Certification: expressions evaluated in ball arithmetic (python-flint) at rational points.

A ball contains the true value, so a ball that does not touch zero certifies a sign. SymPy
expressions are walked directly; exact rationals stay exact until the ball is formed, which a
detour through floats or ``lambdify`` would lose.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from math import prod
from typing import Any

import sympy as sp

__all__ = [
    "NotReal",
    "Undefined",
    "available",
    "evaluate",
    "log2",
    "magnitude",
    "precision",
    "rational_value",
    "sign",
    "truth",
]

#: Digits used where python-flint is missing and nothing can be certified.
DIGITS = 60


class Undefined(ArithmeticError):
    """The expression has no finite value at the point, or none the balls can enclose."""


class NotReal(Undefined):
    """The expression has a value, but not a real one."""


def available() -> bool:
    """Return whether python-flint can be imported."""
    try:
        importlib.import_module("flint")
    except ImportError:
        return False
    return True


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Set the working precision of balls for the enclosed block."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def _functions() -> dict[type, Callable[..., Any]]:
    from flint import acb

    def atan2(y: Any, x: Any) -> Any:
        return acb(_real(x), _real(y)).arg()

    return {
        sp.exp: lambda a: a.exp(),
        sp.log: lambda a: a.log(),
        sp.sin: lambda a: a.sin(),
        sp.cos: lambda a: a.cos(),
        sp.tan: lambda a: a.tan(),
        sp.asin: lambda a: a.asin(),
        sp.acos: lambda a: a.acos(),
        sp.atan: lambda a: a.atan(),
        sp.sinh: lambda a: a.sinh(),
        sp.cosh: lambda a: a.cosh(),
        sp.tanh: lambda a: a.tanh(),
        sp.atan2: atan2,
        sp.Abs: lambda a: acb(abs(a)),
        sp.Max: lambda *a: acb(_extreme(a, "max")),
        sp.Min: lambda *a: acb(_extreme(a, "min")),
    }


def _extreme(values: tuple[Any, ...], which: str) -> Any:
    out = _real(values[0])
    for value in values[1:]:
        out = getattr(out, which)(_real(value))
    return out


def _real(value: Any) -> Any:
    if not value.imag.contains(0):
        raise NotReal("an argument of min, max or atan2 is not real")
    return value.real


def evaluate(expression: sp.Expr, point: Mapping[sp.Symbol, Fraction], bits: int = 128) -> Any:
    """Return a ball (``flint.arb``) containing the value of `expression` at `point`.

    Without python-flint the value comes as a number of :data:`DIGITS` digits instead, which
    certifies nothing; callers lower their rung by :func:`available`.

    Raises
    ------
    Undefined
        If the value is not finite, not real, or uses a function balls are not taught.
    """
    if not available():
        return _rounded(expression, point)
    from flint import acb, arb, fmpq

    functions = _functions()

    def walk(e: sp.Expr) -> Any:
        if e.is_Rational:
            return acb(arb(fmpq(int(e.p), int(e.q))))
        if e.is_Symbol:
            if e not in point:
                raise Undefined(f"{e} has no value")
            value = point[e]
            return acb(arb(fmpq(value.numerator, value.denominator)))
        if e is sp.pi:
            return acb.pi()
        if e is sp.E:
            return acb(1).exp()
        if e is sp.I:
            return acb(0, 1)
        if e.is_Add:
            return sum((walk(a) for a in e.args), acb(0))
        if e.is_Mul:
            out = acb(1)
            for a in e.args:
                out *= walk(a)
            return out
        if e.is_Pow:
            base = walk(e.base)
            if e.exp.is_Integer:
                return base ** int(e.exp)
            if e.exp == sp.Rational(1, 2):
                return base.sqrt()
            if e.exp == sp.Rational(-1, 2):
                return 1 / base.sqrt()
            exponent = walk(e.exp)
            whole = e.exp.subs({k: sp.Rational(v) for k, v in point.items()})
            return base ** int(whole) if whole.is_Integer else base**exponent
        function = functions.get(type(e))
        if function is not None:
            return function(*(walk(a) for a in e.args))
        raise Undefined(f"balls cannot evaluate {type(e).__name__}")

    with precision(bits):
        value = walk(sp.sympify(expression, strict=True))
        if not value.is_finite():
            raise Undefined(f"{expression} has no finite value at the point")
        if not value.imag.contains(0):
            raise NotReal(f"{expression} is not real at the point")
        return value.real


def _rounded(expression: sp.Expr, point: Mapping[sp.Symbol, Fraction]) -> sp.Float:
    value = sp.N(expression.subs({k: sp.Rational(v) for k, v in point.items()}), DIGITS)
    if not (value.is_real and value.is_finite):
        raise Undefined(f"{expression} has no finite real value at the point")
    return value


def magnitude(ball: Any) -> float:
    """Return an upper bound of the absolute value of a ball."""
    return float(abs(ball).upper()) if hasattr(ball, "upper") else float(abs(ball))


def log2(ball: Any) -> float:
    """Return the binary logarithm of the absolute value of a ball; -inf for an exact zero.

    Works far below the smallest float, where the orders of asymptotic claims are observed.

    Raises
    ------
    Undefined
        If the ball does not tell its value from zero.
    """
    if not hasattr(ball, "log"):
        return float(sp.log(abs(ball), 2)) if ball != 0 else -math.inf
    if ball == 0:
        return -math.inf
    if ball.contains(0):
        raise Undefined("the enclosure does not tell the error from zero")
    return float((abs(ball).log() / ball.const_log2()).mid())


def rational_value(expression: sp.Expr, point: Mapping[sp.Symbol, Fraction]) -> Fraction | None:
    """Return the exact value at a rational point, or None where it is not rational.

    Raises
    ------
    Undefined
        On a division by zero anywhere in the formula, also where a limit exists.
    """
    e = expression
    if e.is_Rational:
        return Fraction(int(e.p), int(e.q))
    if e.is_Symbol:
        return point.get(e)
    if e.is_Add or e.is_Mul:
        parts = [rational_value(a, point) for a in e.args]
        if any(part is None for part in parts):
            return None
        values = [part for part in parts if part is not None]
        return sum(values, Fraction(0)) if e.is_Add else prod(values, start=Fraction(1))
    if e.is_Pow:
        base, exponent = (rational_value(a, point) for a in e.args)
        if base is None or exponent is None or exponent.denominator != 1 or abs(exponent) > 10_000:
            return None
        if base == 0 and exponent < 0:
            raise Undefined(f"{expression} divides by zero at the point")
        return base ** int(exponent)
    return None


def sign(
    expression: sp.Expr,
    point: Mapping[sp.Symbol, Fraction],
    bits: int = 128,
    *,
    zero: bool = True,
) -> int | None:
    """Return the sign of `expression` at `point`: -1, 1, 0 (exactly), or None if not certified.

    Rational values are decided exactly; others by balls of up to 2048 bits. Without `zero` an
    irrational expression that may vanish is not asked whether it does, which takes longest.

    Raises
    ------
    Undefined
        As :func:`evaluate`.
    """
    exact = rational_value(expression, point)
    if exact is not None:
        return (exact > 0) - (exact < 0)
    while bits <= 2048:
        ball = evaluate(expression, point, bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        bits *= 4
    if not zero:
        return None
    # No ball tells 0 from almost 0; SymPy knows some values exactly, such as sin(pi/6).
    exact = expression.subs({k: sp.Rational(v) for k, v in point.items()})
    return int(sp.sign(exact)) if exact.is_Rational else None


def truth(relation: sp.Basic, point: Mapping[sp.Symbol, Fraction]) -> bool:
    """Decide a relation (or And, Or of them) at a rational point.

    Undefined and undecidable count as false, so a claim is never helped by them.
    """
    if relation in (sp.true, sp.false):
        return bool(relation)
    if isinstance(relation, sp.And):
        return all(truth(a, point) for a in relation.args)
    if isinstance(relation, sp.Or):
        return any(truth(a, point) for a in relation.args)
    try:
        found = sign(relation.lhs - relation.rhs, point)
    except Undefined:
        return False
    allowed = {
        sp.StrictLessThan: {-1},
        sp.LessThan: {-1, 0},
        sp.StrictGreaterThan: {1},
        sp.GreaterThan: {0, 1},
        sp.Equality: {0},
        sp.Unequality: {-1, 1},
    }[type(relation)]
    return found in allowed
