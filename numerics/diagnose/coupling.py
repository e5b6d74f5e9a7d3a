"""Train-eval coupling: does progress in training reach what it stands for?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from numerics.diagnose.changes import changes
from numerics.diagnose.context import Context, not_observable
from numerics.diagnose.finding import FAULT, HEALTHY, WARNING, Change, Estimate, Finding, Rival
from numerics.diagnose.trend import MOST_ROWS, Floats, Slope, blocks, noise, slope, smooth
from numerics.inputs import InvalidInput, floats
from numerics.logs import Run

__all__ = ["best_checkpoint", "coupling"]

NAME = "train-eval coupling"
_FEWEST_POINTS = 4
_PARTS = (0.0, 0.5, 2 / 3)  # progress is compared over the whole log, its last half, last third
_MISSING = (
    "evaluation rows: trl logs eval_reward with eval_strategy, verl val-core/* with test_freq, "
    "tinker eval/*; or give another log with --eval",
    "or a true reward beside the one trained on, such as correctness",
)


@dataclass(frozen=True)
class _Pair:
    """Training reward and a target, each with its own steps."""

    what: str
    train_step: Floats
    train: Floats
    step: Floats
    target: Floats
    error: Floats | None  # known standard errors of the target
    proxy: bool  # the target is logged beside the reward, on the same samples

    @property
    def moved(self) -> bool:
        """Whether the training reward has changed its level for sure."""
        return bool(changes(self.train_step, self.train))


@dataclass(frozen=True)
class _Window:
    since: float
    train: Slope
    target: Slope
    ratio: Estimate

    @property
    def opposite(self) -> bool:
        return self.train.per_step * self.target.per_step < 0


def best_checkpoint(step: Floats, value: Floats) -> float:
    """Return the step at which the (smoothed, from 9 points on) value is highest.

    Raises
    ------
    InvalidInput
        No point, or series of different lengths.
    """
    given = floats(step=step, value=value)
    step, value = given["step"], given["value"]
    if step.ndim != 1 or step.shape != value.shape or not len(step):
        raise InvalidInput(f"step and value have shapes {step.shape} and {value.shape}: give (n,)")
    step, value = blocks(step, value, MOST_ROWS)
    curve = smooth(value, max(3, len(value) // 10)) if len(value) >= 9 else value
    return float(step[int(np.argmax(curve))])


def coupling(run: Run, context: Context) -> Finding:
    r"""Compare progress of the target with progress of the training reward.

    The target is an evaluation, or a true reward logged beside a proxy. Slopes of opposite sign,
    each beyond noise, are a fault; so is a true reward that gets less than `coupling_ratio` of
    the proxy's progress and is as far below it.  (extension)
    """
    pairs = _pairs(run, context)
    if not pairs:
        return not_observable(
            NAME,
            "The log holds no evaluations, and no true reward that differs from the training one.",
            missing=_MISSING,
        )  # fmt: skip
    judged = [_judge(pair, context.limits) for pair in pairs]
    known = [finding for finding in judged if finding is not None]
    if not known:
        points = max(len(pair.step) for pair in pairs)
        return not_observable(
            NAME,
            f"There are {points} evaluations, too few to know their noise; {_FEWEST_POINTS} are "
            "needed, or --eval-items, the number of held-out prompts.",
            *_best(pairs),
        )
    rank = {HEALTHY: 0, WARNING: 1, FAULT: 2}
    return max(known, key=lambda finding: rank[finding.verdict])


def _pairs(run: Run, context: Context) -> list[_Pair]:
    if not run.has("reward"):
        return []
    train_step, train = blocks(*run.series("reward"), MOST_ROWS)
    pairs = []
    for source in (run, context.evaluation):
        for quantity in ("eval_reward", "reward", "true_reward"):
            if source is None or not source.has(quantity) or (source is run and quantity[0] != "e"):
                continue
            step, target = blocks(*source.series(quantity), MOST_ROWS)
            name = source.column(quantity).name
            error = _sampling_error(target, context.evaluation_items)
            pairs.append(
                _Pair(f"evaluation {name}", train_step, train, step, target, error, False)
            )
            break
    if run.has("true_reward"):
        step, target = blocks(*run.series("true_reward"), MOST_ROWS)
        same = len(step) == len(train_step) and np.ptp(train) > 0 and np.ptp(target) > 0
        if not same or abs(np.corrcoef(_scaled(train), _scaled(target))[0, 1]) < 0.995:
            name = run.column("true_reward").name
            pairs.append(_Pair(f"true reward {name}", train_step, train, step, target, None, True))
    return [pair for pair in pairs if len(pair.step) >= 2 and len(pair.train_step) >= 2]


def _scaled(value: Floats) -> Floats:
    return np.asarray((value - value.mean()) / np.ptp(value))


def _sampling_error(target: Floats, items: int | None) -> Floats | None:
    """Return binomial standard errors, if the values are shares and their number is known."""
    if items is None or target.min() < 0 or target.max() > 1:
        return None
    return np.asarray(np.sqrt(np.maximum(target * (1 - target), 0.25 / items) / items))


def _judge(pair: _Pair, limits: Mapping[str, float]) -> Finding | None:
    windows = [window for part in _PARTS if (window := _window(pair, part)) is not None]
    if not windows:
        return None
    whole = windows[0]
    sure = limits["trend_z"]
    apart = [
        window for window in windows
        if window.opposite and abs(window.train.z) > sure and abs(window.target.z) > sure
    ]  # fmt: skip
    if apart:
        return _apart(pair, apart[0], whole)
    gain = _gain(pair.train)
    decoupled = (
        pair.proxy
        and (whole.train.z > sure or pair.moved)
        and whole.ratio.high < limits["coupling_ratio"]
        and gain > 0
    )
    if decoupled:
        late_target, late_train = (float(np.mean(x[-max(3, len(x) // 10) :]))
                                   for x in (pair.target, pair.train))  # fmt: skip
        poor = late_target < limits["coupling_ratio"] * late_train
        return _decoupled(pair, whole, FAULT if poor else WARNING)
    return _together(pair, whole, sure)


def _window(pair: _Pair, part: float) -> _Window | None:
    since = pair.train_step[0] + part * (pair.train_step[-1] - pair.train_step[0])
    mine = pair.step >= since
    least = 2 if pair.error is not None else _FEWEST_POINTS + (3 if part else 0)
    if mine.sum() < least:
        return None
    step, target = pair.step[mine], pair.target[mine]
    near = (pair.train_step >= since) & (pair.train_step <= max(step[-1], pair.train_step[-1]))
    if near.sum() < 2 or np.ptp(step) == 0 or np.ptp(pair.train_step[near]) == 0:
        return None
    error = None if pair.error is None else pair.error[mine]
    if near.sum() < _FEWEST_POINTS:  # two points have no noise to know: only the evaluation's
        train = Slope(float(np.polyfit(pair.train_step[near], pair.train[near], 1)[0]), 0.0, 0.0)
    else:
        train = _progress(pair.train_step[near], pair.train[near])
    known = error is not None
    mine_slope = slope(step, target, error=error) if known else _progress(step, target)
    return _Window(float(since), train, mine_slope, _ratio(train, mine_slope))


def _progress(step: Floats, value: Floats) -> Slope:
    """Return the slope, or the step from the first to the last fifth, whichever is surer.

    A curved rise is badly described by a line, whose error then is too large.
    """
    line = slope(step, value)
    fifth = len(step) // 5
    if fifth < 4:
        return line
    variance, phi = noise(value)
    span = float(step[-fifth:].mean() - step[:fifth].mean())
    gain = float(value[-fifth:].mean() - value[:fifth].mean())
    error = float(np.sqrt(2 / fifth * variance * (1 + phi) / (1 - phi)))
    ends = Slope(gain / span, error / span, phi)
    return ends if abs(ends.z) > abs(line.z) else line


def _ratio(train: Slope, target: Slope) -> Estimate:
    """Return target over training slope with Fieller's interval, infinite if training may stand."""
    z = 1.96
    a = train.per_step**2 - (z * train.error) ** 2
    b = train.per_step * target.per_step
    c = target.per_step**2 - (z * target.error) ** 2
    value = target.per_step / train.per_step if train.per_step else float("nan")
    if a <= 0:
        return Estimate(value, -np.inf, np.inf, "")
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return Estimate(value, (b - root) / a, (b + root) / a, "")


def _gain(value: Floats) -> float:
    width = max(1, len(value) // 10)
    return float(value[-width:].mean() - value[:width].mean())


def _told(pair: _Pair, window: _Window) -> str:
    def ends(value: Floats) -> str:
        width = max(1, len(value) // 10)
        return f"{value[:width].mean():.3g} to {value[-width:].mean():.3g}"

    since = pair.train_step >= window.since, pair.step >= window.since
    return (
        f"The training reward goes from {ends(pair.train[since[0]])} "
        f"({_z(window.train)}), {pair.what} from {ends(pair.target[since[1]])} "
        f"({_z(window.target)})"
    )


def _z(line: Slope) -> str:
    if not np.isfinite(line.z):
        return "no noise"
    return f"{line.z:+.1f} standard errors"


def _apart(pair: _Pair, window: _Window, whole: _Window) -> Finding:
    turn = [c for c in changes(pair.step, pair.target) if c.after < c.before]
    since = "" if window is whole else f" since step {window.since:g}"
    return Finding(
        NAME, FAULT,
        (f"{_told(pair, window)}: they move apart{since}.", *_best([pair])),
        kind="opposite slopes", value=window.ratio, value_name="target over training progress",
        onset=turn[0] if turn else None, rivals=_RIVALS,
    )  # fmt: skip


def _decoupled(pair: _Pair, window: _Window, verdict: str) -> Finding:
    rises = [c for c in changes(pair.train_step, pair.train) if c.after > c.before]
    onset = rises[0] if rises else Change(
        float(pair.train_step[0]), float(pair.train_step[0]), float(pair.train_step[-1]),
        float(pair.train[0]), float(pair.train[-1]),
    )  # fmt: skip
    return Finding(
        NAME, verdict,
        (f"{_told(pair, window)}: a share of {window.ratio} of the progress reaches it.",
         "What is rewarded is not what is meant: the proxy is being gamed."
         if verdict == FAULT else "The progress is made in the other parts of the reward."),
        kind="decoupled", value=window.ratio, value_name="target over training progress",
        onset=onset, rivals=_RIVALS,
    )  # fmt: skip


def _together(pair: _Pair, whole: _Window, sure: float) -> Finding:
    told = _told(pair, whole)
    known = np.isfinite(whole.ratio.low) and np.isfinite(whole.ratio.high)
    verdict, kind = HEALTHY, ""
    if abs(whole.train.z) <= sure and not pair.moved:
        said = "no training progress to be passed on, and no sign that they move apart"
    elif whole.opposite and abs(whole.target.z) > 1:
        verdict, kind = WARNING, "perhaps opposite"
        needed = (sure / abs(whole.target.z)) ** 2
        said = (
            f"opposite signs, but inside the noise; about {needed:.1f} times as many held-out "
            "prompts (or evaluations) would tell"
        )
    else:
        said = "no sign that they move apart"
    return Finding(
        NAME, verdict, (f"{told}: {said}.", *_best([pair])), kind=kind,
        value=whole.ratio if known else None,
        value_name="target over training progress" if known else "",
        rivals=_RIVALS if kind else (),
    )  # fmt: skip


def _best(pairs: list[_Pair]) -> tuple[str, ...]:
    return tuple(
        f"Best checkpoint by {pair.what}: step {best_checkpoint(pair.step, pair.target):g}."
        for pair in pairs if not pair.proxy
    )[:1]  # fmt: skip


_RIVALS = (
    Rival("reward hacking: the policy earns the reward without doing the task",
          "read completions with a high reward; score them with a second, independent reward"),
    Rival("data mismatch: the held-out prompts are of another kind",
          "evaluate on held-out prompts drawn from the training set's source"),
    Rival("the target is too hard for this policy to show any progress",
          "success at more samples (pass@k) on the target"),
)  # fmt: skip
