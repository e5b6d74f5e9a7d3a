r"""The lowest rung: a claim attacked by hypothesis on points of its domain.

Used where no solver can speak. The search is derandomised, so a verdict does not change from run to
run, and what it finds is shrunk by hypothesis towards simple points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import sympy as sp

from derivations.domain import Domain
from derivations.judge.smt import Answer, Outcome
from derivations.notation import QUANTITIES

__all__ = ["EXAMPLES", "entails", "find"]

#: Examples a property must survive; printed with every verdict that rests on them.
EXAMPLES = 400


def find(
    domains: Mapping[sp.Symbol, Domain],
    broken: Callable[[Mapping[sp.Symbol, Fraction]], bool],
    *,
    examples: int = EXAMPLES,
) -> dict[sp.Symbol, Fraction] | None:
    """Search the box for a point at which `broken` is true; return it shrunk, or None.

    Parameters
    ----------
    domains
        Domain of each free symbol.
    broken
        Predicate of an exact rational point.
    examples
        How many points to try.
    """
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis import find as hypothesis_find
    from hypothesis import strategies as st
    from hypothesis.errors import NoSuchExample

    def member(domain: Domain) -> st.SearchStrategy[Fraction]:
        low = domain.low if domain.low is not None else Fraction(-64)
        high = domain.high if domain.high is not None else low + 128
        if domain.integer:
            whole: st.SearchStrategy[Fraction] = st.integers(int(low), int(high)).map(Fraction)
            return whole.filter(lambda v: v in domain)
        dense: st.SearchStrategy[Fraction] = st.fractions(low, high, max_denominator=1000)
        return dense.filter(lambda v: v in domain)

    names = list(domains)
    try:
        return hypothesis_find(
            st.fixed_dictionaries({name: member(domains[name]) for name in names}),
            broken,
            settings=settings(
                max_examples=examples,
                derandomize=True,
                database=None,
                deadline=None,
                verbosity=Verbosity.quiet,
                suppress_health_check=list(HealthCheck),
                phases=(Phase.generate, Phase.shrink),
            ),
        )
    except NoSuchExample:
        return None


def _true_at(relation: sp.Basic, point: Mapping[sp.Symbol, Fraction]) -> bool:
    value = relation.subs({k: sp.Rational(v) for k, v in point.items()})
    return bool(value) if value in (sp.true, sp.false) else bool(sp.N(value, 30))


def entails(hypotheses: Sequence[sp.Basic], conclusions: Sequence[sp.Basic]) -> Outcome:
    """Ask the question of :func:`smt.entails` at drawn points only.

    Returns
    -------
    Outcome
        ``YES`` means that no example that met the hypotheses broke a conclusion; ``UNKNOWN`` that
        no example met them, so that nothing was tested.
    """
    symbols = sorted(set().union(*(r.free_symbols for r in (*hypotheses, *conclusions))), key=str)
    domains = {s: QUANTITIES[s.name].domain if s.name in QUANTITIES else Domain() for s in symbols}

    met = 0

    def broken(point: Mapping[sp.Symbol, Fraction]) -> bool:
        nonlocal met
        if not all(_true_at(h, point) for h in hypotheses):
            return False
        met += 1
        return not all(_true_at(c, point) for c in conclusions)

    model = find(domains, broken)
    if model is not None:
        return Outcome(Answer.NO, "hypothesis found a counterexample", model)
    missing = "z3 is not installed"
    if not met:
        return Outcome(
            Answer.UNKNOWN, f"{missing}, and none of {EXAMPLES} examples met the hypotheses"
        )
    return Outcome(Answer.YES, f"{missing}; tested by hypothesis on {met} examples")
