r"""What the discrete map does at the point where a printed formula fails.

The audit refutes a claim by exact algebra. The map is run at the same point, knowing nothing of
that, and says whether it decays there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from numerics.report.crosscheck import Crosscheck, Schedule
from numerics.simulation import ConstantLag, Sawtooth, growth_rate

if TYPE_CHECKING:
    from derivations.audit import Audited

__all__ = ["confirm", "counterexamples", "run_at"]

#: Growth factors this close to 1 count as 1: two roots that meet there are known to half of a
#: float's digits.
_NEUTRAL = 1e-7


@dataclass(frozen=True)
class _Run:
    """A run of the linear map, complete but for where it starts."""

    optimizer: str
    schedule: Schedule
    mu: Fraction
    x: Fraction
    stale_share: Fraction

    def growth(self) -> float:
        """Return the growth factor per step."""
        return float(
            growth_rate(
                self.optimizer,
                self.schedule,
                mu=float(self.mu),
                x=float(self.x),
                stale_share=float(self.stale_share),
            )
        )


def confirm(audited: Audited) -> str:
    """Say what the map does at the counterexample of a refuted claim.

    Parameters
    ----------
    audited
        Any audited claim.

    Returns
    -------
    str
        "the map decays there ..." or "the map grows there ..." with the factor per step, or "the
        map neither grows nor decays there"; empty where the counterexample does not say which run
        is meant: no counterexample, or a claim about something other than the linear map.
    """
    run = run_at(audited)
    if run is None:
        return ""
    growth = run.growth()
    if abs(growth - 1) <= _NEUTRAL:
        return "the map neither grows nor decays there"
    what = "decays" if growth < 1 else "grows"
    return f"the map {what} there, by a factor of {growth:.6g} a step"


def run_at(audited: Audited) -> _Run | None:
    """Return the run that a counterexample describes, None where it does not say which."""
    given: Mapping[str, str] = {
        name: value for name, value in audited.conventions.items() if _is_number(value)
    }
    at = audited.verdict.counterexample
    if not at or "optimizer" not in audited.conventions:
        return None
    lag_model = audited.conventions["lag_model"]
    lag = at.get("d" if lag_model == "constant" else "N") or given.get(
        "lag" if lag_model == "constant" else "refresh"
    )
    share = at.get("s") or given.get("stale_share")
    if lag is None or share is None or "mu" not in at or "x" not in at:
        return None
    schedule: Schedule = ConstantLag(int(lag)) if lag_model == "constant" else Sawtooth(int(lag))
    return _Run(
        audited.conventions["optimizer"],
        schedule,
        Fraction(at["mu"]),
        Fraction(at["x"]),
        Fraction(share),
    )


def _is_number(text: str) -> bool:
    try:
        Fraction(text)
    except ValueError:
        return False
    return True


def counterexamples(rows: Iterable[Audited]) -> Crosscheck:
    """Run the map at the counterexample of every refuted condition for stability."""
    agreed = {}
    for audited in rows:
        if audited.claim.quantity != "threshold" or audited.verdict.word.value != "refuted":
            continue
        run = run_at(audited)
        agreed[audited.claim.id] = run is not None and _contradicts(audited, run)
    return Crosscheck.decided(
        "counterexamples on the map",
        "whether the map contradicts the printed condition there",
        agreed,
        "decaying or not is a yes or a no",
    )


def _contradicts(audited: Audited, run: _Run) -> bool:
    """Whether what the map does at the point is not what the printed condition says of it."""
    decays = run.growth() < 1 - _NEUTRAL
    said = _said(audited, run)
    relation = audited.claim.relation.value
    if relation in ("sufficient", "lower"):
        return said and not decays
    if relation in ("necessary", "upper"):
        return decays and not said
    return said != decays


def _said(audited: Audited, run: _Run) -> bool:
    """Whether the printed condition calls the run stable."""
    import sympy as sp

    from derivations.audit import read_formula
    from derivations.judge import balls
    from derivations.notation import quantity

    formula = read_formula(audited.claim)
    relations = formula.relations or (
        sp.StrictLessThan(quantity("x"), formula.expression, evaluate=False),
    )
    lag = run.schedule.lag if isinstance(run.schedule, ConstantLag) else run.schedule.refresh
    values = {
        "mu": run.mu, "x": run.x, "s": run.stale_share, "d": Fraction(lag), "N": Fraction(lag),
        "x_f": (1 - run.stale_share) * run.x, "x_s": run.stale_share * run.x, "delta": Fraction(1),
    }  # fmt: skip
    point = {quantity(name): value for name, value in values.items()}
    return all(balls.truth(relation, point) for relation in relations)
