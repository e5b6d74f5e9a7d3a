r"""Derivations: named steps, each checked when it is made.

A derivation is a function of its premises. It opens a :class:`Workings`, makes steps, and closes it
into a frozen :class:`Derivation`. A step that does not check raises at once, so in a derivation
that exists every step is a definition, checked, or marked as argued in words; the weakest rung of
a checked step is the derivation's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import sympy as sp

from derivations.algebra import is_zero
from derivations.claim import Provenance, Rung

__all__ = ["Derivation", "Step", "StepError", "Workings"]


class StepError(ArithmeticError):
    """A step of a derivation does not check."""


@dataclass(frozen=True)
class Step:
    """One step: what it states, why, and how it was checked."""

    name: str
    states: sp.Basic
    because: str
    checked: str
    rung: Rung = Rung.PROVED


@dataclass(frozen=True)
class Derivation:
    """A derived result.

    Attributes
    ----------
    id, title
        Permanent id (as the theory names it) and a title.
    provenance
        Whether the source states it, names it, or does not have it.
    premises
        What was assumed, name to expression or words.
    steps
        In order; all checked.
    results
        Name to derived expression.
    depends
        Ids of derivations it rests on.
    use
        What the result is used for, one sentence.
    """

    id: str
    title: str
    provenance: Provenance
    premises: Mapping[str, sp.Basic | str]
    steps: tuple[Step, ...]
    results: Mapping[str, sp.Basic]
    depends: tuple[str, ...] = ()
    use: str = ""

    @property
    def rung(self) -> Rung:
        """The weakest rung of any checked step."""
        return min((s.rung for s in self.steps if s.rung is not Rung.NONE), default=Rung.NONE)

    @property
    def evidence(self) -> str:
        """The rung in words, with the number of steps that no machine has checked."""
        left = sum(step.rung is Rung.NONE for step in self.steps)
        if not left:
            return self.rung.word
        steps = "1 step" if left == 1 else f"{left} steps"
        return f"{self.rung.word}, but for {steps} not machine-checked"

    def __getitem__(self, name: str) -> sp.Basic:
        return self.results[name]


@dataclass
class Workings:
    """The desk a derivation is made on."""

    id: str
    title: str
    provenance: Provenance
    premises: Mapping[str, sp.Basic | str]
    depends: tuple[str, ...] = ()
    use: str = ""
    _steps: list[Step] = field(default_factory=list)

    def let(self, name: str, states: sp.Basic, because: str) -> sp.Basic:
        """Record a definition or a premise written out; nothing to check."""
        self._steps.append(Step(name, states, because, "definition"))
        return states

    def argue(self, name: str, states: sp.Basic, because: str) -> sp.Basic:
        """Record an inference made in words, which no machine has checked, and say so."""
        checked = "argued in words, not machine-checked"
        self._steps.append(Step(name, states, because, checked, Rung.NONE))
        return states

    def equal(self, name: str, left: sp.Expr, right: sp.Expr, because: str) -> sp.Expr:
        """State left = right, checked by exact algebra; return `right`.

        Raises
        ------
        StepError
            If the difference is not identically zero.
        """
        entries = list(left - right) if isinstance(left, sp.MatrixBase) else [left - right]
        if not all(is_zero(entry) for entry in entries):
            raise StepError(f"{self.id}, step {name!r}: {left} = {right} does not check")
        self._record(name, left, right, because, "exact algebra: the difference is zero")
        return right

    def expands(
        self,
        name: str,
        left: sp.Expr,
        right: sp.Expr,
        variable: sp.Symbol,
        order: int,
        because: str,
    ) -> sp.Expr:
        """State left = right + O(variable**order), checked by derivatives at zero; return `right`.

        The check differentiates the difference `order` times, independent of any series routine.

        Raises
        ------
        StepError
            If some derivative below `order` does not vanish at zero.
        """
        rest = left - right
        for k in range(order):
            value = (
                sp.limit(rest, variable, 0)
                if k == 0 and rest.has(sp.log)
                else rest.subs(variable, 0)
            )
            if not is_zero(value):
                raise StepError(f"{self.id}, step {name!r}: order {k} of {rest} does not vanish")
            rest = sp.diff(rest, variable)
        self._record(
            name,
            left,
            right + sp.Order(variable**order),
            because,
            f"derivatives 0..{order - 1} of the difference vanish at {variable} = 0",
        )
        return right

    def solves(
        self, name: str, equation: sp.Expr, unknown: sp.Symbol, root: sp.Expr, because: str
    ) -> sp.Expr:
        """State that `root` solves equation = 0, checked by substitution; return `root`.

        Raises
        ------
        StepError
            If the substituted equation is not identically zero.
        """
        if not is_zero(equation.subs(unknown, root)):
            raise StepError(f"{self.id}, step {name!r}: {unknown} = {root} does not solve")
        self._record(name, unknown, root, because, "substituted back: the residual is zero")
        return root

    def implies(
        self, name: str, hypotheses: Sequence[sp.Basic], conclusion: sp.Basic, because: str
    ) -> sp.Basic:
        """State hypotheses => conclusion over the reals, checked by the SMT solver.

        Raises
        ------
        StepError
            If the solver finds a counterexample or cannot decide.
        """
        from derivations.judge import smt, trial

        outcome = smt.entails(hypotheses, [conclusion])
        rung = Rung.PROVED
        if outcome.answer is smt.Answer.MISSING:
            outcome = trial.entails(hypotheses, [conclusion])
            rung = Rung.NONE if outcome.answer is smt.Answer.UNKNOWN else Rung.TESTED
        if rung is not Rung.NONE and outcome.answer is not smt.Answer.YES:
            raise StepError(f"{self.id}, step {name!r}: {outcome.answer.value} {outcome.model}")
        states = sp.Implies(sp.And(*hypotheses, evaluate=False), conclusion, evaluate=False)
        self._steps.append(Step(name, states, because, outcome.method, rung))
        return conclusion

    def close(self, **results: sp.Basic) -> Derivation:
        """Finish; return the derivation with its named results."""
        return Derivation(
            self.id,
            self.title,
            self.provenance,
            MappingProxyType(dict(self.premises)),
            tuple(self._steps),
            MappingProxyType(results),
            self.depends,
            self.use,
        )

    def _record(self, name: str, left: sp.Expr, right: sp.Expr, because: str, checked: str) -> None:
        states = sp.Eq(left, right, evaluate=False)
        self._steps.append(Step(name, states, because, checked))
