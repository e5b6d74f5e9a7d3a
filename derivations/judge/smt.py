r"""Proof over a whole region by an SMT solver (z3's nonlinear real arithmetic).

Only polynomial facts reach the solver: quotients are cleared with their sign, square roots become
fresh unknowns with their defining equation, and a root whose radicand is not shown non-negative
is refused, since its equation would make every implication vacuously true. Exponentials become
positive unknowns: what holds for every positive value holds for theirs, and a model found that way
is no counterexample.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import sympy as sp

from derivations.algebra import TOO_LARGE, too_large
from derivations.domain import Domain

__all__ = ["Answer", "Outcome", "box", "entails", "patience"]

#: Milliseconds one query may take; the catalogue's queries take tens.
TIMEOUT = 20_000


_patience: ContextVar[int] = ContextVar("patience", default=TIMEOUT)


@contextmanager
def patience(milliseconds: int) -> Iterator[None]:
    """Give the solver less time for every query of the enclosed block."""
    before = _patience.set(milliseconds)
    try:
        yield
    finally:
        _patience.reset(before)


class Answer(Enum):
    """What the solver says of an implication."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"
    MISSING = "missing"


@dataclass(frozen=True)
class Outcome:
    """An answer, the method in words, and a model of the negation when the answer is no."""

    answer: Answer
    method: str
    model: Mapping[sp.Symbol, Fraction] = field(default_factory=dict)


class _NotPolynomial(ValueError):
    """The formula has a piece the solver cannot be given."""


def box(symbol: sp.Symbol, domain: Domain) -> list[sp.Basic]:
    """Return the relations that put `symbol` into `domain`, integrality dropped."""
    relations: list[sp.Basic] = []
    if domain.low is not None:
        low = sp.Rational(domain.low)
        relations.append(
            sp.StrictGreaterThan(symbol, low, evaluate=False)
            if domain.low_open
            else sp.GreaterThan(symbol, low, evaluate=False)
        )
    if domain.high is not None:
        high = sp.Rational(domain.high)
        relations.append(
            sp.StrictLessThan(symbol, high, evaluate=False)
            if domain.high_open
            else sp.LessThan(symbol, high, evaluate=False)
        )
    return relations


class _Translator:
    """Turns SymPy relations into z3 terms, collecting the side conditions of roots."""

    def __init__(self, z3: Any) -> None:
        self.z3 = z3
        self.names: dict[sp.Symbol, Any] = {}
        self.roots: dict[sp.Expr, Any] = {}
        self.radicands: list[sp.Expr] = []
        self.side: list[Any] = []
        self.abstracted: dict[sp.Expr, Any] = {}

    def name(self, symbol: sp.Symbol) -> Any:
        if symbol not in self.names:
            self.names[symbol] = self.z3.Real(f"{symbol.name}_{len(self.names)}")
        return self.names[symbol]

    def term(self, e: sp.Expr) -> Any:
        z3 = self.z3
        if e.is_Rational:
            return z3.RealVal(f"{e.p}/{e.q}")
        if e.is_Symbol:
            return self.name(e)
        if e.is_Add:
            return z3.Sum([self.term(a) for a in e.args])
        if e.is_Mul:
            return z3.Product([self.term(a) for a in e.args])
        if e.is_Pow and e.exp.is_Integer and 0 < e.exp <= 200:
            base = self.term(e.base)
            return z3.Product([base] * int(e.exp))
        if e.is_Pow and e.exp.is_Rational and e.exp.q == 2 and e.exp.p > 0:
            root = self.root(e.base)
            return z3.Product([root] * int(e.exp.p))
        if isinstance(e, sp.exp):
            return self.positive(e)
        if isinstance(e, sp.Abs):
            a = self.term(e.args[0])
            return z3.If(a >= 0, a, -a)
        if isinstance(e, sp.Max | sp.Min):
            out = self.term(e.args[0])
            for arg in e.args[1:]:
                b = self.term(arg)
                out = z3.If(out >= b, out, b) if isinstance(e, sp.Max) else z3.If(out <= b, out, b)
            return out
        raise _NotPolynomial(str(e))

    def root(self, radicand: sp.Expr) -> Any:
        if radicand not in self.roots:
            unknown = self.z3.Real(f"root_{len(self.roots)}")
            self.roots[radicand] = unknown
            self.radicands.append(radicand)
            over, under = sp.fraction(sp.together(radicand))
            self.side += [unknown >= 0, unknown * unknown * self.term(under) == self.term(over)]
        return self.roots[radicand]

    def positive(self, e: sp.Expr) -> Any:
        """Stand in for an exponential: of its value only the sign is told."""
        if e not in self.abstracted:
            self.abstracted[e] = self.z3.Real(f"exp_{len(self.abstracted)}")
            self.side.append(self.abstracted[e] > 0)
        return self.abstracted[e]

    def relation(self, r: sp.Basic) -> Any:
        z3 = self.z3
        if r in (sp.true, sp.false):
            return z3.BoolVal(r == sp.true)
        if isinstance(r, sp.And):
            return z3.And(*(self.relation(a) for a in r.args))
        if isinstance(r, sp.Or):
            return z3.Or(*(self.relation(a) for a in r.args))
        if isinstance(r, sp.Not):
            return z3.Not(self.relation(r.args[0]))
        if not isinstance(r, sp.core.relational.Relational):
            raise _NotPolynomial(str(r))
        if too_large(r.lhs - r.rhs):
            raise _NotPolynomial(TOO_LARGE)
        over, under = sp.fraction(sp.together(r.lhs - r.rhs))
        left = self.term(sp.expand(over))
        defined = z3.BoolVal(True)
        if not under.is_Rational:
            below = self.term(sp.expand(under))
            left, defined = left * below, below != 0
        elif under < 0:
            left = -left
        compare = {
            sp.StrictLessThan: left < 0,
            sp.LessThan: left <= 0,
            sp.StrictGreaterThan: left > 0,
            sp.GreaterThan: left >= 0,
            sp.Equality: left == 0,
            sp.Unequality: left != 0,
        }
        return z3.And(defined, compare[type(r)])


def _rational(value: Any) -> Fraction:
    """Return a model's value as a rational, close to it when it is algebraic."""
    if hasattr(value, "as_fraction"):
        return Fraction(value.as_fraction())
    return Fraction(value.approx(20).as_fraction())


def entails(
    hypotheses: Sequence[sp.Basic], conclusions: Sequence[sp.Basic], *, timeout: int | None = None
) -> Outcome:
    """Ask whether the hypotheses imply every conclusion, over all real values of the symbols.

    Parameters
    ----------
    hypotheses, conclusions
        SymPy relations (or And, Or, Not of them), polynomial, rational or with square roots.
    timeout
        Milliseconds the solver may take; :data:`TIMEOUT` unless `patience` says less.

    Returns
    -------
    Outcome
        ``NO`` comes with a model of hypotheses and not conclusions; a value that the solver has
        only as an algebraic number is rounded, so a caller must confirm the model exactly.
    """
    try:
        import z3
    except ImportError:
        return Outcome(Answer.MISSING, "z3 is not installed, so nothing is proved over the region")
    translator = _Translator(z3)
    try:
        assumed = [translator.relation(h) for h in hypotheses]
        wanted = [translator.relation(c) for c in conclusions]
    except _NotPolynomial as piece:
        return Outcome(Answer.UNKNOWN, f"not polynomial: {piece}")
    for radicand in translator.radicands:
        if radicand.is_Rational and radicand >= 0:
            continue
        rootless = [
            h
            for h in hypotheses
            if not any(a.is_Pow and not a.exp.is_Integer for a in sp.preorder_traversal(h))
        ]
        if (
            entails(rootless, [sp.GreaterThan(radicand, 0, evaluate=False)]).answer
            is not Answer.YES
        ):
            return Outcome(Answer.UNKNOWN, f"sqrt({radicand}) is not shown real on the region")
    version = f"SMT (z3 {z3.get_version_string()})"
    for conclusion in wanted:  # one by one: a disjunction of negations is far harder
        solver = z3.SolverFor("QF_NRA")
        solver.set("timeout", timeout if timeout is not None else _patience.get())
        solver.add(*assumed, *translator.side, z3.Not(conclusion))
        answer = solver.check()
        if answer == z3.sat and translator.abstracted:
            return Outcome(Answer.UNKNOWN, f"{version}: exponentials are known by their sign only")
        if answer == z3.sat:
            model = solver.model()
            values = {
                symbol: _rational(model.eval(term, model_completion=True))
                for symbol, term in translator.names.items()
            }
            return Outcome(Answer.NO, f"{version}: the negation has a model", values)
        if answer != z3.unsat:
            return Outcome(Answer.UNKNOWN, f"{version}: {solver.reason_unknown()}")
    return Outcome(Answer.YES, f"{version}: the negation is unsatisfiable")
