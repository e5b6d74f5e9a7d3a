"""All diagnostics of a log, and one line that sums them up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from numerics.diagnose.concentration import concentration
from numerics.diagnose.context import Context, Diagnostic, first_call, reward_shape
from numerics.diagnose.coupling import best_checkpoint, coupling
from numerics.diagnose.degeneracy import degeneracy
from numerics.diagnose.finding import FAULT, HEALTHY, NOT_OBSERVABLE, WARNING, Finding
from numerics.diagnose.instability import instability
from numerics.diagnose.shape import Shape, staged
from numerics.diagnose.thresholds import thresholds
from numerics.fit import check_scale
from numerics.inputs import InvalidInput, whole_number
from numerics.logs import Log, Run

__all__ = ["DIAGNOSTICS", "Diagnosis", "context_of", "diagnose"]

#: The four diagnostics of theory section 6, in its order.
DIAGNOSTICS: tuple[Diagnostic, ...] = (coupling, degeneracy, concentration, instability)

_FEWEST_ROWS = 4
_ITEMS = ("n_problems", "num_examples", "n_items")


@dataclass(frozen=True)
class Diagnosis:
    """What is to be said of one run."""

    run: str
    rows: int
    verdict: str
    summary: str
    shape: Shape
    findings: tuple[Finding, ...]
    best_step: float
    best_by: str

    def finding(self, name: str) -> Finding:
        """Return the finding of the diagnostic with this name (or the start of it)."""
        for finding in self.findings:
            if finding.name.startswith(name):
                return finding
        names = ", ".join(finding.name for finding in self.findings)
        raise InvalidInput(f"no diagnostic is named {name!r}: use one of {names}")

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        curve = self.shape
        return {
            "run": self.run,
            "rows": self.rows,
            "verdict": self.verdict,
            "summary": self.summary,
            "shape": {
                "name": curve.name,
                "early": curve.early.to_json(),
                "late": curve.late.to_json(),
                "slope": curve.whole.estimate("per step").to_json(),
                "noisy": curve.noisy,
                "at_ceiling": curve.at_ceiling,
                "changes": [change.to_json() for change in curve.changes],
                "plateau": None if curve.stages is None
                else [curve.stages.plateau_from, curve.stages.plateau_to],
            },
            "best_step": self.best_step,
            "best_by": self.best_by,
            "findings": [finding.to_json() for finding in self.findings],
        }  # fmt: skip


def diagnose(
    log: Log,
    *,
    evaluation: Log | None = None,
    group_size: int | None = None,
    prompts: int | None = None,
    evaluation_items: int | None = None,
    lag: tuple[float, float] | None = None,
    limits: Mapping[str, float] | None = None,
) -> tuple[Diagnosis, ...]:
    r"""Put all four diagnostics to every run of a log.

    Parameters
    ----------
    log : Log
        As `numerics.logs.read_log` gives it.
    evaluation : Log, optional
        Another log of the same run whose reward is the evaluation.
    group_size, prompts : int, optional
        Samples a prompt and prompts a step; what the log's configuration tells is used otherwise.
    evaluation_items : int, optional
        Held-out prompts behind one evaluation, for its sampling error.
    lag : (mean, largest), optional
        Steps; `numerics.trainers.lag_table` tells both.
    limits : mapping, optional
        Other values of some of `THRESHOLDS`.

    Raises
    ------
    InvalidInput
        A number out of range; a log whose runs are all too short, or constant without any other
        column to judge; numbers too large or too close to calculate with; an evaluation of
        several runs of which none has the name of the run to judge.
    """
    for name, least, value in (
        ("group_size", 2, group_size), ("prompts", 1, prompts),
        ("evaluation_items", 1, evaluation_items),
    ):  # fmt: skip
        if value is not None:
            whole_number(name, value, least=least)
    if lag is not None and not 0 <= lag[0] <= lag[1] < np.inf:
        raise InvalidInput(f"lag is {lag}: give the mean and the largest, 0 <= mean <= largest")
    common = Context(
        lag=lag, limits=thresholds(limits), evaluation_items=evaluation_items,
    )  # fmt: skip
    long_enough = [run for run in log.runs if _rows(run) >= _FEWEST_ROWS]
    if not long_enough:
        most = max((_rows(run) for run in log.runs), default=0)
        raise InvalidInput(
            f"{log.path}: {most} reward rows are too few to say anything; "
            f"give a log with {_FEWEST_ROWS} or more"
        )
    for run in (*long_enough, *_held_out(log, evaluation)):
        for column in run.columns:
            known = run.values[column.name][np.isfinite(run.values[column.name])]
            if len(known) and column.quantity != "other":
                check_scale(f"numbers of {column.name}", known)
    return tuple(
        _diagnosis(run, context_of(log, run, evaluation, common, group_size, prompts))
        for run in long_enough
    )


def _rows(run: Run) -> int:
    return len(run.series("reward")[0]) if run.has("reward") else 0


def context_of(
    log: Log, run: Run, evaluation: Log | None, common: Context,
    group_size: int | None, prompts: int | None,
) -> Context:  # fmt: skip
    """Fill in what the log tells: the flags go first, then the run's configuration, the log's."""
    settings = dict(log.configuration)
    runs = settings.get("runs")
    if isinstance(runs, Mapping) and isinstance(runs.get(run.name), Mapping):
        settings |= dict(runs[run.name])
    source = _held_out(log, evaluation)
    same = [one for one in source if one.name == run.name]
    if not same and evaluation is not None:
        names = list(dict.fromkeys(one.name for one in source))
        if len(names) > 1:
            raise InvalidInput(
                f"{evaluation.path} holds {len(names)} runs ({', '.join(names[:8])}), and none has "
                "the name of the run to judge: give the evaluation of one run"
            )
        same = list(source)
    held_out = same[0] if same else None
    items = common.evaluation_items
    if items is None and held_out is not None:
        items = _items(held_out)
    return replace(
        common,
        group_size=group_size if group_size is not None else _whole(settings.get("group_size"), 2),
        prompts=prompts if prompts is not None else _whole(settings.get("prompts_per_step"), 1),
        evaluation=held_out,
        evaluation_items=items,
    )


def _held_out(log: Log, evaluation: Log | None) -> tuple[Run, ...]:
    return log.evaluations if evaluation is None else evaluation.evaluations + evaluation.runs


def _whole(value: object, least: int) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        return None
    return value


def _items(run: Run) -> int | None:
    """Return the number of held-out prompts, where a column of the log holds it."""
    for column in run.columns:
        if column.name.endswith(_ITEMS):
            known = run.values[column.name][np.isfinite(run.values[column.name])]
            if len(known) and known.min() >= 1:
                return int(known.min())
    return None


def _diagnosis(run: Run, context: Context) -> Diagnosis:
    judged = reward_shape(run, context)
    assert judged is not None  # only runs with reward rows come here
    step, value, curve = judged
    others = ("dead_fraction", "live_fraction", "entropy", "truncated_fraction")
    if np.ptp(value) == 0 and not any(run.has(quantity) for quantity in others):
        raise InvalidInput(
            f"every reward of the {len(value)} rows is {value[0]:g}, and the log holds neither "
            "dead groups nor entropy: there is nothing to judge"
        )
    curve = staged(step, value, curve)
    findings = []
    for diagnostic in DIAGNOSTICS:
        found = diagnostic(run, context)
        findings.append(replace(found, called_at=first_call(diagnostic, run, context, found)))
    worst = {finding.verdict for finding in findings}
    fallen = curve.name == "falling"
    seen = HEALTHY if HEALTHY in worst else NOT_OBSERVABLE
    verdict = FAULT if FAULT in worst else WARNING if WARNING in worst or fallen else seen
    best_step, best_by = _best(run, context)
    return Diagnosis(
        run.name, len(value), verdict, _summary(verdict, findings, curve), curve, tuple(findings),
        best_step, best_by,
    )  # fmt: skip


def _best(run: Run, context: Context) -> tuple[float, str]:
    for source, quantities in (
        (context.evaluation, ("eval_reward", "true_reward", "reward")),
        (run, ("eval_reward", "true_reward", "reward")),
    ):
        for quantity in quantities:
            if source is not None and source.has(quantity):
                return best_checkpoint(*source.series(quantity)), source.column(quantity).name
    raise AssertionError("a run without a reward is not diagnosed")


def _summary(verdict: str, findings: list[Finding], curve: Shape) -> str:
    flagged = [finding for finding in findings if finding.verdict in (FAULT, WARNING)]
    flagged.sort(key=lambda found: (found.verdict != FAULT, found.called_at or 0.0))
    said = [
        f"{finding.verdict}: {finding.name} ({finding.kind}"
        + (f" from step {finding.onset.step:g}" if finding.onset else "") + ")"
        for finding in flagged
    ]  # fmt: skip
    if verdict == HEALTHY:
        return f"{HEALTHY}, {_words(curve)}"
    if verdict == NOT_OBSERVABLE:
        said = ["no fault is observable"]
    if verdict == WARNING and not flagged:
        said = ["warning: no diagnostic explains it"]
    return "; ".join([*said, _words(curve)])


def _words(curve: Shape) -> str:
    """Return the curve in a few words."""
    near = curve.at_ceiling and curve.name != "saturated"
    words = {
        "too few rows": "too few rows to see a trend",
        "flat": "no trend distinguishable from noise",
        "rising": "still rising" if curve.tail.z > 2 else "rising, not seen to saturate",
        "saturated": "saturated",
        "two-stage": "two-stage, the plateau "
        + (f"from step {curve.stages.plateau_from:.0f} to {curve.stages.plateau_to:.0f}"
           if curve.stages else ""),
        "falling": "reward falls"
        + (f" from step {_fall(curve):g}" if _fall(curve) is not None else ""),
    }[curve.name]  # fmt: skip
    return words + (", near its ceiling" if near else "") + (", noisy" if curve.noisy else "")


def _fall(curve: Shape) -> float | None:
    falls = [change for change in curve.changes if change.after < change.before]
    return falls[0].step if falls else None
