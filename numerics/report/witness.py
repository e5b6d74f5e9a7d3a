r"""What the discrete map does at the point where a printed formula fails.

The audit refutes a claim by exact algebra. The map is run at the same point, knowing nothing of
that, and says whether it decays there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from numerics.report.crosscheck import Crosscheck, Schedule, case
from numerics.simulation import ConstantLag, Sawtooth, growth_rate

if TYPE_CHECKING:
    import sympy as sp

    from derivations.audit import Audited
    from derivations.claim import Claim

__all__ = [
    "NEUTRAL",
    "Run",
    "agrees",
    "confirm",
    "counterexamples",
    "numbers_of",
    "printed_conditions",
    "run_at",
    "schedule_of",
]

#: Growth factors this close to 1 count as 1: two roots that meet there are known to half of a
#: float's digits.
NEUTRAL = 1e-7


@dataclass(frozen=True)
class Run:
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

    def at(self, x: Fraction) -> Run:
        """Return the run with another stiffness."""
        return replace(self, x=x)

    @property
    def lag_model(self) -> str:
        """The name of the lag model."""
        return "constant" if isinstance(self.schedule, ConstantLag) else "sawtooth"

    @property
    def lag(self) -> int:
        """The lag of a constant schedule, the refresh of a sawtooth."""
        return self.schedule.lag if isinstance(self.schedule, ConstantLag) else self.schedule.period

    def values(self) -> dict[sp.Symbol, Fraction]:
        """Return the value of every symbol that a formula about the linear map can have."""
        from derivations.notation import quantity

        values = {
            "mu": self.mu, "x": self.x, "s": self.stale_share,
            "d": Fraction(self.lag), "N": Fraction(self.lag), "delta": Fraction(1),
            "x_f": (1 - self.stale_share) * self.x, "x_s": self.stale_share * self.x,
        }  # fmt: skip
        return {quantity(name): value for name, value in values.items()}

    def __str__(self) -> str:
        at = case(self.optimizer, self.schedule, self.mu, self.stale_share)
        exact = str(self.x)
        return f"{at}, x = {exact if len(exact) <= 12 else repr(float(self.x))}"


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
    if abs(growth - 1) <= NEUTRAL:
        return "the map neither grows nor decays there"
    what = "decays" if growth < 1 else "grows"
    return f"the map {what} there, by a factor of {growth:.6g} a step"


def run_at(audited: Audited) -> Run | None:
    """Return the run that a counterexample describes, None where it does not say which."""
    given = numbers_of(audited)
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
    return Run(
        audited.conventions["optimizer"],
        schedule_of(lag_model, int(lag)),
        Fraction(at["mu"]),
        Fraction(at["x"]),
        Fraction(share),
    )


def schedule_of(lag_model: str, steps: int) -> Schedule:
    """Return the schedule of a lag model with a lag, or a refresh, of so many steps."""
    return ConstantLag(steps) if lag_model == "constant" else Sawtooth(steps)


def numbers_of(audited: Audited) -> Mapping[str, str]:
    """Return the conventions that are numbers; one that is a symbol is left to the domain."""
    return {name: value for name, value in audited.conventions.items() if _is_number(value)}


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


def _contradicts(audited: Audited, run: Run) -> bool:
    """Whether what the map does at the point is not what the printed condition says of it."""
    from derivations.judge import balls

    conditions = printed_conditions(audited.claim)
    said = all(balls.truth(relation, run.values()) for relation in conditions)
    return not agrees(audited.claim, said, run.growth() < 1 - NEUTRAL)


def agrees(claim: Claim, said: bool, true: bool) -> bool:
    """Whether a condition that says so much at a point, where so much is true, is as claimed."""
    relation = claim.relation.value
    if relation in ("sufficient", "lower"):
        return true or not said
    if relation in ("necessary", "upper"):
        return said or not true
    return said == true


def printed_conditions(claim: Claim) -> tuple[sp.Basic, ...]:
    """Return the relations a claim prints; of a printed border f, or x = f, the relation x < f."""
    import sympy as sp

    from derivations.audit import read_formula
    from derivations.notation import quantity

    formula = read_formula(claim)
    if formula.expression is not None:
        return (sp.StrictLessThan(quantity("x"), formula.expression, evaluate=False),)
    return tuple(
        sp.StrictLessThan(r.lhs, r.rhs, evaluate=False) if isinstance(r, sp.Equality) else r
        for r in formula.relations
    )
