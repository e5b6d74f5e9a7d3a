r"""A printed formula beside the derived one, both as expressions in the same symbols."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from derivations.algebra import too_large
from derivations.judge import balls, search
from derivations.judge.region import Region, printed_edge
from derivations.notation import QUANTITIES, quantity
from derivations.targets import Target, TargetError
from derivations.targets.base import Setting

__all__ = ["Twin", "twin"]

_POINTS = 4
_BITS = 96
_TINY = 1e-18


@dataclass(frozen=True)
class Twin:
    """What is printed and what is derived, where both are formulas for one number.

    Attributes
    ----------
    printed, derived
        The two expressions; for a condition on x, its edge in x.
    whole
        The printed formula as printed: the expression itself, or the condition.
    """

    printed: sp.Expr
    derived: sp.Expr
    whole: sp.Basic

    @property
    def symbols(self) -> list[sp.Symbol]:
        """The free symbols of both, by name."""
        return sorted(self.printed.free_symbols | self.derived.free_symbols, key=str)

    def factor(self) -> sp.Rational | None:
        """Return derived over printed where it is one number other than 1."""
        if self.printed == 0 or too_large(self.derived / self.printed):
            return None
        found = sp.cancel(self.derived / self.printed)
        return found if found.is_Rational and found != 1 else None

    def may_agree(self, printed: sp.Expr | None = None) -> bool:
        """Whether the two, or another formula and the derived one, agree at a few drawn points.

        A screen: agreement is left to the judge, disagreement is final.
        """
        other = self.printed if printed is None else printed
        domains = {s: QUANTITIES[s.name].domain for s in self.symbols if s.name in QUANTITIES}
        for point in search.drawn(domains, _POINTS, seed=11):
            try:
                ours = balls.evaluate(self.derived, point, _BITS)
                gap = balls.evaluate(other - self.derived, point, _BITS)
            except balls.Undefined:
                continue
            if balls.magnitude(gap) > _TINY * max(balls.magnitude(ours), 1e-30):
                return False
        return True


def twin(target: Target, setting: Setting, printed: sp.Basic) -> Twin | None:
    """Return printed and derived as expressions, None where either is not one formula."""
    if setting.update is not None and setting.update.steps is None and target.by_lag(setting):
        return None
    try:
        derived = target.build(setting)
    except (TargetError, ValueError):
        return None
    if isinstance(derived, Region):
        edge = printed_edge(printed, derived.variable) if isinstance(
            printed, sp.core.relational.Relational
        ) else printed if isinstance(printed, sp.Expr) else None  # fmt: skip
        found = derived.edge
    else:
        edge = printed.rhs if isinstance(printed, sp.core.relational.Relational) else printed
        found = derived.expression
    if edge is None or found is None or not isinstance(edge, sp.Expr):
        return None
    fixed = {**setting.fixed, **{s: sp.Rational(v) for s, v in setting.pinned.items()}}
    if quantity("delta") not in printed.free_symbols:
        fixed[quantity("delta")] = sp.S.One
    return Twin(edge.subs(fixed, simultaneous=True), found.subs(fixed, simultaneous=True), printed)
