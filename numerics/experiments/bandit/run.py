"""The experiment as a whole: pieces of work done in processes of their own, and what they found."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from numerics.experiments.bandit.plan import Plan, delay, lag_model, load
from numerics.experiments.bandit.prediction import Borders
from numerics.experiments.bandit.systems import Many, measured
from numerics.experiments.bandit.two_arm import Case, cases
from numerics.experiments.bandit.verdicts import CLAIMS, Verdict, judge
from numerics.simulation import STALENESS
from numerics.workers import in_processes

__all__ = ["SCHEMA", "Experiment", "case_row", "make", "system_row"]

SCHEMA = "grpo-dynamics/experiment-bandit/1"


@dataclass(frozen=True)
class Experiment:
    """What was run, found and judged."""

    plan: Plan
    quick: bool
    cases: tuple[Case, ...]
    systems: tuple[Many, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def as_expected(self) -> bool:
        """Whether every verdict is the expected one."""
        return all(verdict.as_expected for verdict in self.verdicts)

    def json(self) -> dict[str, object]:
        """Return everything as plain data; a border that is not there is null."""
        search = self.plan.search
        return {
            "schema": SCHEMA,
            "quick": self.quick,
            "as_expected": self.as_expected,
            "claims": dict(CLAIMS),
            "resolution": {
                "searched": [search.lowest, search.highest],
                "step": search.step,
                "width": search.width,
            },
            "verdicts": [verdict.json() for verdict in self.verdicts],
            "cases": [
                case_row(case)
                | {
                    "beyond": [
                        {"factor": fate.factor, "kind": fate.kind, "p": [fate.lowest, fate.highest]}
                        for fate in case.beyond
                    ]
                }
                for case in self.cases
            ],
            "systems": [system_row(row) for row in self.systems],
        }


def case_row(case: Case) -> dict[str, float | int | str | None]:
    """Return a case of the two-arm bandit as one row of a table; borders in x = eta K."""
    return {
        "staleness": case.staleness,
        "lag_model": lag_model(case.schedule),
        "delay": delay(case.schedule),
        "mu": case.mu,
        "beta": case.beta,
        "p_ref": case.p_ref,
        "p_star": case.p_star,
        "K_f": case.fresh,
        "K_s": case.stale,
        "K": case.stiffness,
        "stale_share": case.stale_share,
        **_columns("run", case.run),
        **_columns("tangent", case.tangent),
        **{
            name: x
            for theory, borders in case.predicted.items()
            for name, x in _columns(theory, borders).items()
        },
        **_sight(case.sight),
        **{f"beyond_{fate.factor:g}": fate.kind for fate in case.beyond},
    }


def system_row(row: Many) -> dict[str, object]:
    """Return a bandit of several parameters as one row; x = eta times the scalar stiffness."""
    return {
        "system": row.system,
        "staleness": row.staleness,
        "lag_model": lag_model(row.schedule),
        "delay": delay(row.schedule),
        "mu": row.mu,
        "rates": list(row.rates),
        "shares": list(row.shares),
        "commutator": row.commutator,
        "K": row.stiffness,
        "stale_share": row.stale_share,
        **_columns("run", row.run),
        **_columns("tangent", row.tangent),
        **_columns("scalar", row.scalar),
        "threshold_by_mode": row.by_mode,
        **_sight(row.sight),
        "relaxation": row.relaxation,
        "relaxation_scalar": row.scalar_relaxation,
    }


def _sight(sight: tuple[float, float]) -> dict[str, float | None]:
    """Return how early and late a run may find the onset; None where there is no bound."""
    return {
        name: value if math.isfinite(value) else None
        for name, value in zip(("onset_early", "onset_late"), sight, strict=True)
    }


def _columns(theory: str, borders: Borders) -> dict[str, float | None]:
    return {f"threshold_{theory}": borders.threshold, f"onset_{theory}": borders.onset}


def _do(job: tuple[bool, str, int, str]) -> list[Case] | list[Many]:
    quick, kind, number, staleness = job
    plan = load(quick=quick)
    if kind == "case":
        return cases(plan, plan.schedules[number], staleness)
    return measured(plan, plan.systems[number], staleness)


def make(
    *,
    quick: bool,
    progress: Callable[[Iterable[Any], int], Iterable[Any]] = lambda results, total: results,
    processes: int | None = None,
) -> Experiment:
    """Do the experiment.

    Parameters
    ----------
    quick
        Fewer lags, to a coarser resolution.
    progress
        Wraps the iteration over the results, given their number, for a progress bar.
    processes
        How many processes share the work, as `numerics.workers.in_processes` takes it.
    """
    plan = load(quick=quick)
    jobs = [
        (quick, kind, number, staleness)
        for kind, things in (("system", plan.systems), ("case", plan.schedules))
        for number in range(len(things))
        for staleness in STALENESS
    ]
    results = in_processes(_do, jobs, processes=processes)
    rows = [row for found in progress(results, len(jobs)) for row in found]
    found = tuple(row for row in rows if isinstance(row, Case))
    systems = tuple(row for row in rows if isinstance(row, Many))
    return Experiment(plan, quick, found, systems, tuple(judge(plan, found, systems)))
