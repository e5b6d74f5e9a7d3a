"""Policy concentration: entropy that collapses, or that grows while the reward falls."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from numerics.diagnose.changes import ramp
from numerics.diagnose.context import Context, not_observable, reward_shape
from numerics.diagnose.finding import FAULT, HEALTHY, WARNING, Change, Estimate, Finding, Rival
from numerics.diagnose.shape import Shape, contrast
from numerics.diagnose.trend import MOST_ROWS, Floats, blocks, noise, smooth
from numerics.logs import Run

__all__ = ["concentration"]

NAME = "policy concentration"
_FEWEST_ROWS = 6
_LEAST = 1e-6  # nats; an entropy below it has no meaningful ratio
_MISSING = (
    "entropy: trl logs it as entropy from 0.20 on, verl as actor/entropy, tinker as optim/entropy",
)
_SEVERITY = {HEALTHY: 0, WARNING: 1, FAULT: 2}
_SAID = tuple[str, str, list[str], Change | None]


def concentration(run: Run, context: Context) -> Finding:
    r"""Say whether the policy collapses or spreads.

    Entropy now is compared with its highest and its lowest smoothed level; truncated completions
    with their lowest. Divergence is entropy grown by `entropy_growth` while the reward falls;
    collapse is a fall by `entropy_fall_fault` while the reward is not at its ceiling; a share of
    truncated completions that rose to most of them is a fault of its own.  (extension)
    """
    judged = reward_shape(run, context)
    curve = judged[2] if judged else None
    said: list[_SAID] = []
    ratio = None
    if run.has("entropy"):
        step, entropy = blocks(*run.series("entropy"), MOST_ROWS)
        if len(step) >= _FEWEST_ROWS:
            ratio, entropy_says = _entropy(step, entropy, judged, _solved(run, curve), context)
            said.append(entropy_says)
    if run.has("truncated_fraction"):
        truncated = _truncated(run, context.limits)
        if truncated is not None:
            said.append(truncated)
    if ratio is None and not any(verdict != HEALTHY for verdict, *_ in said):
        few = run.has("entropy")
        told = f"Fewer than {_FEWEST_ROWS} rows hold an entropy." if few else "No entropy is held."
        also = [sentence for _, _, evidence, _ in said for sentence in evidence]
        return not_observable(NAME, told, *also, missing=() if few else _MISSING)
    said.sort(key=lambda one: -_SEVERITY[one[0]])
    verdict, kind, _, onset = said[0]
    return Finding(
        NAME,
        verdict,
        tuple(sentence for _, _, evidence, _ in said for sentence in evidence),
        kind=kind,
        value=ratio,
        value_name="entropy now over entropy at its highest" if kind != "divergence"
        else "entropy now over entropy at its lowest",
        onset=onset,
        missing=() if ratio is not None else _MISSING,
        rivals=_RIVALS.get(kind, ()),
    )  # fmt: skip


def _solved(run: Run, curve: Shape | None) -> bool:
    if run.has("all_good_fraction"):
        good = run.series("all_good_fraction")[1]
        return bool(good[-max(3, len(good) // 10) :].mean() > 0.7)
    return curve is not None and curve.at_ceiling


def _entropy(
    step: Floats, entropy: Floats, judged: tuple[Floats, Floats, Shape] | None, solved: bool,
    context: Context,
) -> tuple[Estimate, _SAID]:  # fmt: skip
    limits = context.limits
    n = len(entropy)
    width = max(3, n // 20)
    logs = np.log(np.maximum(entropy, _LEAST))
    curve = smooth(logs, width)
    now, start = logs[-width:], logs[:width]
    # Back from an excursion is no fall: the reference lasts a quarter of the log, or begins it.
    lasting = max(3, n // 4)
    top = int(np.argmax(smooth(logs, lasting)))
    high = logs[max(0, top - lasting // 2) : top + lasting // 2 + 1]
    if np.median(start) >= np.median(high):
        top, high = 0, start
    bottom = int(np.argmin(curve))
    low = logs[max(0, bottom - width // 2) : bottom + width // 2 + 1]
    fall = float(np.exp(np.median(high) - np.median(now)))
    growth = float(np.exp(np.median(now) - np.median(low)))
    fell = contrast(high, now, logs) < -limits["sure_z"] or _apart(
        now, high, float(np.log(limits["entropy_fall_warning"]))
    )
    grew = contrast(low, now, logs) > limits["sure_z"] or _apart(
        low, now, float(np.log(limits["entropy_growth"]))
    )
    falling = judged is not None and _reward_falls(judged, float(step[bottom]), limits)

    levels = f"{np.exp(np.median(now)):.3g} nats now"
    fall_text = (
        f"Entropy fell from {np.exp(np.median(high)):.3g} (step {step[top]:g}) to {levels}, "
        f"a factor {fall:.3g}"
    )
    growth_text = (
        f"Entropy grew from {np.exp(np.median(low)):.3g} (step {step[bottom]:g}) to {levels}, "
        f"a factor {growth:.3g}"
    )
    if grew and falling and growth >= limits["entropy_growth"]:
        after = step >= step[bottom]
        onset = _onset(step[after], logs[after])
        evidence = [f"{growth_text}, while the reward fell: the policy diverges."]
        evidence += _earlier(step, entropy, onset)
        return _ratio(now, low), (FAULT, "divergence", evidence, onset)
    if fell and fall >= limits["entropy_fall_warning"]:
        if solved:
            text = f"{fall_text}, as the reward reached its ceiling: the task is solved."
            return _ratio(now, high), (HEALTHY, "", [text], None)
        verdict = FAULT if fall >= limits["entropy_fall_fault"] else WARNING
        rising = judged is not None and judged[2].rose
        hidden = "; the reward rises all the same and hides it." if rising else "."
        after = step >= step[top]
        return _ratio(now, high), (
            verdict, "collapse", [fall_text + hidden], _onset(step[after], logs[after])
        )  # fmt: skip
    if grew and growth >= limits["entropy_growth_alone"] and not (judged and judged[2].rose):
        text = f"{growth_text}; the reward does not fall."
        return _ratio(now, low), (WARNING, "growth", [text], _onset(step, logs))
    text = f"Entropy is {levels}, between {np.exp(curve.min()):.3g} and {np.exp(curve.max()):.3g}."
    return _ratio(now, high), (HEALTHY, "", [text], None)


def _reward_falls(
    judged: tuple[Floats, Floats, Shape], since: float, limits: Mapping[str, float]
) -> bool:
    """Whether the reward now is surely below what it was when the entropy was lowest, or best."""
    step, value, curve = judged
    if curve.name == "falling":
        return True
    step, value = blocks(step, value, MOST_ROWS)
    width = max(3, len(value) // 10)
    near = np.argsort(np.abs(step - since), kind="stable")[:width]
    drop = float(value[near].mean() - value[-width:].mean())
    least = limits["reward_drop"] * float(np.ptp(smooth(value, width)))
    deviation = float(np.sqrt(noise(value)[0]))
    return drop > least and (
        contrast(value[near], value[-width:], value) < -limits["sure_z"]
        or _apart(value[-width:], value[near], max(least, 2 * deviation))
    )


def _apart(lower: Floats, upper: Floats, distance: float) -> bool:
    """Whether the rows themselves are that far apart, but for a quarter on either side.

    A steep move in few rows leaves no quiet stretch from which to know the noise.
    """
    return bool(np.quantile(upper, 0.25) - np.quantile(lower, 0.75) >= distance)


def _ratio(now: Floats, then: Floats) -> Estimate:
    difference = float(np.median(now) - np.median(then))
    spread = 1.96 * float(np.sqrt(sum(np.var(x, ddof=1) / len(x) for x in (now, then))))
    ends = np.exp([difference, difference - spread, difference + spread])
    return Estimate(float(ends[0]), float(ends[1]), float(ends[2]), "")


def _onset(step: Floats, logs: Floats) -> Change | None:
    """Return where the entropy began to move, in nats."""
    if len(step) < 4:
        return None
    found = ramp(step, logs)
    return Change(
        found.step, found.low, found.high, float(np.exp(found.before)), float(np.exp(found.after))
    )


def _earlier(step: Floats, entropy: Floats, onset: Change | None) -> list[str]:
    """Tell of an earlier growth that went back by itself."""
    if onset is None:
        return []
    before = step < onset.low
    if before.sum() < _FEWEST_ROWS:
        return []
    usual = float(np.median(entropy[before]))
    high = before & (entropy > 3 * usual)
    if not high.any():
        return []
    first, last = step[high][0], step[high][-1]
    return [f"It had grown before, from step {first:g} to {last:g}, and had come back."]


def _truncated(run: Run, limits: Mapping[str, float]) -> _SAID | None:
    step, share = blocks(*run.series("truncated_fraction"), MOST_ROWS)
    if len(step) < _FEWEST_ROWS:
        return None
    if run.has("length") and run.series("length")[1].max() <= limits["one_token"]:
        text = "Every completion is cut at one token, by design: truncation says nothing."
        return HEALTHY, "", [text], None
    width = max(3, len(step) // 20)
    now = float(share[-width:].mean())
    lowest = int(np.argmin(smooth(share, width)))
    then = share[max(0, lowest - width // 2) : lowest + width // 2 + 1]
    start = share[: max(3, width // 4)]  # it may rise at once
    if start.mean() <= then.mean():
        lowest, then = 0, start
    rise = now - float(then.mean())
    recent = share[-width:]
    sure = contrast(then, recent, share) > limits["sure_z"] or _apart(
        then, recent, limits["truncated_rise"]
    )
    text = f"{100 * now:.0f} % of the completions are cut at the length limit"
    if sure and rise >= limits["truncated_rise"]:
        verdict = FAULT if now >= limits["truncated_fault"] else WARNING
        after = step >= step[lowest]
        text += f", {100 * float(then.mean()):.0f} % at step {step[lowest]:g}."
        return verdict, "truncation", [text], ramp(step[after], share[after])
    if now >= limits["truncated_warning"]:
        return WARNING, "truncation", [f"{text}: the limit is too short."], None
    return HEALTHY, "", [f"{text}."] if now > 0 else [], None


_RIVALS = {
    "divergence": (
        Rival("the learning rate is too high, or one bad batch moved the policy far",
              "gradient norm and KL at the onset; a lower rate from a checkpoint before it"),
        Rival("an entropy bonus is too strong", "its coefficient; the same run without it"),
        Rival("sampler and trainer disagree",
              "the log-probability difference between sampler and trainer at the onset"),
    ),
    "collapse": (
        Rival("the task is nearly solved and needs no more choice",
              "success on held-out prompts; distinct answers in a group"),
        Rival("the sampling temperature was lowered", "the configuration at the onset"),
    ),
    "growth": (
        Rival("the policy explores a new kind of answer", "length and reward parts at the onset"),
    ),
    "truncation": (
        Rival("answers grow because longer ones are rewarded",
              "reward of cut against finished completions"),
        Rival("the policy no longer ends its answers (repetition)", "read ten cut completions"),
    ),
}  # fmt: skip
