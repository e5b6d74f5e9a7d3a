"""Advantage degeneracy: groups whose rewards all agree teach nothing."""

from __future__ import annotations

import numpy as np

from numerics.diagnose.context import Context, not_observable, reward_shape
from numerics.diagnose.finding import FAULT, HEALTHY, WARNING, Change, Estimate, Finding, Rival
from numerics.diagnose.trend import Floats, level
from numerics.inputs import InvalidInput, floats, whole_number
from numerics.logs import Run

__all__ = ["dead_groups", "degeneracy", "steps_until_live"]

NAME = "advantage degeneracy"
_RECENT = 0.2  # share of the rows that are "now"
_MISSING = (
    "the share of groups with zero spread: trl logs it as frac_reward_zero_std from 0.18 on; "
    "tinker as by_group/frac_mixed; verl does not log it",
)


def dead_groups(p: float, group_size: int) -> float:
    r"""Return p^G + (1-p)^G, the share of dead groups if every prompt succeeds with `p`.

    A lower bound when p differs between prompts, by convexity. (theory 3.9, extension)

    Raises
    ------
    InvalidInput
        p outside [0, 1], or a group size below 1.
    """
    size = whole_number("group_size", group_size, least=1)
    chance = float(floats(p=p)["p"])
    if not 0 <= chance <= 1:
        raise InvalidInput(f"p is {chance}: a probability lies in [0, 1]")
    return float(chance**size + (1 - chance) ** size)


def steps_until_live(dead: float, prompts: int) -> float:
    r"""Return 1/(1 - dead^prompts), the expected steps until one has a live group.

    Groups are taken to be independent; infinite when all are dead. (extension)

    Raises
    ------
    InvalidInput
        dead outside [0, 1], or no prompts.
    """
    number = whole_number("prompts", prompts, least=1)
    share = float(floats(dead=dead)["dead"])
    if not 0 <= share <= 1:
        raise InvalidInput(f"dead is {share}: a share lies in [0, 1]")
    live = 1 - share**number
    return 1 / live if live > 0 else float("inf")


def degeneracy(run: Run, context: Context) -> Finding:
    r"""Say how much of the batch still teaches.

    A fault is a dead share above `dead_fault` while the reward is not at its ceiling; a warning
    is most groups dead, no live group left at the ceiling, or a stretch of steps without any. A
    run that rose to its ceiling in this log has used its signal up, which is no fault.
    (extension)
    """
    found = _dead(run)
    if found is None:
        return _from_reward_std(run, context)
    step, dead, source = found
    limits = context.limits
    recent = dead[-max(5, int(np.ceil(_RECENT * len(dead)))) :]
    now = _interval(recent, _groups(dead, context))
    judged = reward_shape(run, context)
    ceiling = _at_ceiling(run, judged is not None and judged[2].at_ceiling)
    rose = judged is not None and judged[2].rose
    stretch = _stretch(step, dead, int(limits["dead_rows"]))
    at_end = stretch is not None and stretch[1] == step[-1]

    verdict, kind = HEALTHY, ""
    if len(dead) < limits["dead_rows"]:
        verdict, kind = (WARNING, "all dead") if dead.min() >= 1 else (HEALTHY, "")
    elif ceiling and now.value > limits["dead_ceiling"]:
        verdict, kind = WARNING, "no signal left"
    elif not ceiling and now.value > limits["dead_fault"]:
        verdict, kind = FAULT, "no signal"
    elif now.value > limits["dead_warning"] and not (ceiling and rose):
        verdict, kind = WARNING, "most groups dead"
    elif stretch is not None and not at_end and not (ceiling and stretch[0] > step[len(step) // 3]):
        verdict = WARNING
        kind = "dead at the start" if stretch[0] == step[0] else "dead for a while"

    evidence = [f"{100 * now.value:.0f} % of the groups are dead in the last {len(recent)} rows "
                f"({source})."]  # fmt: skip
    if stretch is not None:
        evidence.append(
            f"No group was live from step {stretch[0]:g} to {stretch[1]:g} ({stretch[2]} rows on "
            "end): the reward taught nothing there."
        )
    elif dead.min() >= 1:
        evidence.append("No row has a live group: the reward gives no gradient at all.")
    if verdict == HEALTHY and now.value > limits["dead_warning"]:
        evidence.append(
            "The reward rose to its ceiling in this log, so the groups agree because they succeed."
        )
    measures = {"live share": Estimate(1 - now.value, 1 - now.high, 1 - now.low, "")}
    evidence += _against_prediction(run, context, len(recent), now, measures)
    evidence += _waiting(run, dead, now, context, measures)
    onset = _onset(step, dead, stretch, kind, limits["dead_warning"])
    return Finding(
        NAME, verdict, tuple(evidence), kind=kind, value=now, value_name="dead share", onset=onset,
        rivals=_rivals(kind, ceiling), measures=measures,
    )  # fmt: skip


def _dead(run: Run) -> tuple[Floats, Floats, str] | None:
    """Return step, share of dead groups and where it was read."""
    if run.has("dead_fraction"):
        return (*run.series("dead_fraction"), run.column("dead_fraction").name)
    if run.has("live_fraction"):
        step, live = run.series("live_fraction")
        return step, 1 - live, f"1 - {run.column('live_fraction').name}"
    if run.has("all_good_fraction") and run.has("all_bad_fraction"):
        good, bad = (run.column(f"all_{kind}_fraction").name for kind in ("good", "bad"))
        total = run.values[good] + run.values[bad]
        known = np.isfinite(total)
        return run.step[known], total[known], f"{good} + {bad}"
    return None


def _groups(dead: Floats, context: Context) -> int:
    """Return how many groups a row counts: given, or the smallest number its shares fit."""
    if context.prompts is not None:
        return context.prompts
    for number in range(1, 257):
        if np.allclose(dead * number, np.round(dead * number), atol=1e-4):
            return number
    return 1


def _interval(dead: Floats, groups: int) -> Estimate:
    """Return the mean share; where all rows agree the interval is that of counting groups."""
    found = level(dead)
    total = len(dead) * groups
    edge = 1 - 0.05 ** (1 / total)
    low = found.value - edge if np.ptp(dead) == 0 or len(dead) < 3 else found.low
    high = found.value + edge if np.ptp(dead) == 0 or len(dead) < 3 else found.high
    return Estimate(found.value, max(0.0, low), min(1.0, high), "")


def _at_ceiling(run: Run, curve_says: bool) -> bool:
    if run.has("all_good_fraction"):
        good = run.series("all_good_fraction")[1]
        return bool(good[-max(3, len(good) // 10) :].mean() > 0.7)
    return curve_says


def _stretch(step: Floats, dead: Floats, least: int) -> tuple[float, float, int] | None:
    """Return first and last step and length of the longest stretch without a live group."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], (dead >= 1).astype(int), [0]])))
    runs = [(stop - start, start, stop) for start, stop in edges.reshape(-1, 2)]
    length, start, stop = max(runs, default=(0, 0, 0))
    if length < least:
        return None
    return float(step[start]), float(step[stop - 1]), int(length)


def _onset(
    step: Floats, dead: Floats, stretch: tuple[float, float, int] | None, kind: str, limit: float
) -> Change | None:
    if not kind:
        return None
    if stretch is not None and kind in ("dead at the start", "dead for a while"):
        at = stretch[0]
    else:  # since when the rows have mostly been above the limit
        below = np.flatnonzero(dead <= limit)
        late = np.cumsum((dead > limit)[::-1])[::-1] / np.arange(len(dead), 0, -1)
        good = np.flatnonzero((late > 0.8) & (dead > limit)) if len(below) else np.array([0])
        at = float(step[good[0]]) if len(good) else float(step[-1])
    before, after = dead[step < at], dead[step >= at]
    mean = float(before.mean()) if len(before) else float(after[0])
    return Change(at, at, at, mean, float(after.mean()))


def _success(run: Run) -> Floats | None:
    """Return the share of successes, if the log has a column that can be one."""
    for quantity in ("true_reward", "reward"):
        if run.has(quantity):
            value = run.series(quantity)[1]
            if value.min() >= 0 and value.max() <= 1:
                return value
    return None


def _against_prediction(
    run: Run, context: Context, rows: int, now: Estimate, measures: dict[str, Estimate]
) -> list[str]:
    success = _success(run)
    if context.group_size is None:
        return ["With --group-size the share that chance alone makes, p^G + (1-p)^G, is compared."]
    if success is None:
        return []
    p = float(success[-rows:].mean())
    expected = dead_groups(p, context.group_size)
    measures["dead share expected"] = Estimate(expected, expected, 1.0, "")
    mixed = " More than that means that prompts differ: some are too hard, some too easy."
    return [
        f"p^G + (1-p)^G at success {p:.3g} and G = {context.group_size} is "
        f"{100 * expected:.0f} %, the least there can be."
        + (mixed if now.low > expected + 0.02 else "")
    ]


def _waiting(
    run: Run, dead: Floats, now: Estimate, context: Context, measures: dict[str, Estimate]
) -> list[str]:
    prompts = context.prompts
    source = ""
    if prompts is None:
        prompts = _groups(dead, context)
        source = f", {prompts} groups a row as its shares show"
        if run.averaged or prompts == 1:
            return []
    wait, low, high = (steps_until_live(share, prompts) for share in (now.value, now.low, now.high))
    measures["steps until a live group"] = Estimate(wait, low, high, "steps")
    if not np.isfinite(wait):
        return [f"No live group is to be expected within {low:.0f} steps{source}."]
    return [f"A live group is to be expected every {wait:.3g} steps{source}."]


def _from_reward_std(run: Run, context: Context) -> Finding:
    """A row whose groups have std 0 on average has no live group: all that an old log tells."""
    evidence = ["The log does not hold the share of dead groups."]
    if run.has("reward_std"):
        step, spread = run.series("reward_std")
        column = run.column("reward_std")
        if "all rewards" in column.meaning and "up to" not in column.meaning:
            evidence.append(
                f"{column.name} is the std of all rewards of the batch from trl 0.27 on: it is "
                "above 0 with every group dead, and says nothing here."
            )
        elif (spread == 0).any():
            evidence.append(
                f"In {int((spread == 0).sum())} of {len(step)} rows {column.name} is 0: none of "
                "their groups was live, if it is the mean over groups (trl before 0.27)."
            )
    return not_observable(NAME, *evidence, missing=_MISSING)


def _rivals(kind: str, ceiling: bool) -> tuple[Rival, ...]:
    if not kind:
        return ()
    if ceiling:
        return (
            Rival("the task is solved", "evaluate on harder held-out prompts"),
            Rival("prompts differ in difficulty: some solved, some hopeless",
                  "dead share against p^G + (1-p)^G; success by prompt"),
        )  # fmt: skip
    return (
        Rival("the task is too hard for this policy, or the reward too sparse",
              "a larger group, easier prompts, or success at more samples (pass@k)"),
        Rival("the reward function fails: it cannot parse the answers",
              "read ten completions beside their rewards"),
    )  # fmt: skip
