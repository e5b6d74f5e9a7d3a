"""Dynamical instability: is the swing more than noise, and does it keep a period?"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from numerics.diagnose.context import Context, not_observable, reward_shape
from numerics.diagnose.finding import FAULT, HEALTHY, WARNING, Change, Estimate, Finding, Rival
from numerics.diagnose.relaxation import relaxation_time
from numerics.diagnose.shape import Shape
from numerics.diagnose.sine import Sine, sine
from numerics.diagnose.spectrum import Oscillation, autoregression, oscillation
from numerics.diagnose.trend import Floats, Slope, blocks, noise, slope, without_trend
from numerics.logs import Run

__all__ = ["instability"]

NAME = "dynamical instability"
_MOST_ROWS = 800
_SHRUNK = 0.5  # noise that drives a resonance keeps it at its size; a start that rings fades


def instability(run: Run, context: Context) -> Finding:
    r"""Say whether the reward oscillates, or its noise grows.

    Refused on averaged logs (a mean over rows hides and folds periods), on irregular ones and on
    fewer than `oscillation_rows` rows. An oscillation is called when a sine explains
    `oscillation_share` of what a monotone trend leaves and gains `oscillation_sine_gain` over red
    noise, or when a spectral peak gains `oscillation_gain` over every smooth spectrum.
    (extension)
    """
    judged = reward_shape(run, context)
    if judged is None:
        return not_observable(NAME, "The log holds no reward.", missing=("reward",))
    step, value, curve = judged
    measures, margin = _margin(step, value, context)
    refusal = _refusal(run, step, context)
    if refusal:
        return not_observable(NAME, *refusal, *margin, missing=_wanted(run))
    if np.ptp(value) == 0:
        return not_observable(NAME, "The reward is constant.", *margin)
    limits = context.limits
    looks = [(step[-_MOST_ROWS:], value[-_MOST_ROWS:])]
    if len(step) > _MOST_ROWS:  # means of blocks show slow oscillations, but fold fast ones
        size = -(-len(step) // _MOST_ROWS)
        even = len(step) // size * size
        looks.append(blocks(step[-even:], value[-even:], _MOST_ROWS))
    peak = _oscillation(*looks[0], context)
    for look in looks[1:]:
        if isinstance(peak, Oscillation):
            slow = _oscillation(*look, context)
            peak = slow if isinstance(slow, Finding) else peak
    if isinstance(peak, Finding):
        return _with(peak, margin, measures)
    step, value = looks[0]
    spacing = float(step[1] - step[0])
    rest = without_trend(value)
    modulus, period = autoregression(rest - rest.mean())
    measures |= {"modulus": modulus, "period": _in_steps(period, spacing)}
    swing, swing_text = _swing(value, curve, context)
    growth, growth_text = _growth(step, value, run, curve)
    if growth is not None:
        measures["noise variance, end over start"] = growth
    grows = growth is not None and growth.low > 1 and growth.value > limits["variance_growth"]
    loud = swing is not None and swing.low > limits["excess_noise"]
    amplitude = _visible(float(np.sqrt(noise(value)[0])), len(value), limits["oscillation_gain"])
    root = (
        f"Leading root of a fitted AR(2): modulus {modulus.value:.2f} "
        f"[{modulus.low:.2f}, {modulus.high:.2f}], {_spelt(period, spacing)}."
    )
    evidence = [
        f"No oscillation is distinguishable from noise: the best peak gains {peak.gain:.1f} of the "
        f"{limits['oscillation_gain']:g} needed; an amplitude of about {amplitude:.2g} would show.",
        *swing_text, root, *growth_text,
        f"A period below {2 * spacing:g} steps is not observable in a log with a row every "
        f"{spacing:g} steps." if spacing > 1 else "Periods from 2 steps on are observable.",
        *margin,
    ]  # fmt: skip
    tight = [s for s in margin if "little room" in s]
    verdict = WARNING if grows or loud or tight else HEALTHY
    kind = "growing noise" if grows else "excess noise" if loud else "lag margin" if tight else ""
    if grows or loud:
        evidence.insert(0, (growth_text if grows else swing_text)[0])
    return Finding(
        NAME, verdict, tuple(dict.fromkeys(evidence)), kind=kind,
        value=swing or modulus,
        value_name="swing over sampling noise" if swing else "modulus of the leading root",
        rivals=_RIVALS[kind] if kind else (), measures=measures,
    )  # fmt: skip


def _oscillation(step: Floats, value: Floats, context: Context) -> Finding | Oscillation:
    """Return what is to be said of an oscillation, or the best peak if there is none."""
    limits = context.limits
    wave = sine(value, least_cycles=limits["oscillation_cycles"])
    peak = oscillation(
        value, least_cycles=limits["oscillation_cycles"], clean=wave.values + wave.rest
    )
    coherent = (
        wave.share >= limits["oscillation_share"] and wave.gain >= limits["oscillation_sine_gain"]
    )
    if not coherent and peak.gain < limits["oscillation_gain"]:
        return peak
    return _oscillates(step, wave, peak, coherent, float(step[1] - step[0]), context)


def _refusal(run: Run, step: Floats, context: Context) -> list[str]:
    reasons = []
    gaps = np.diff(step)
    if len(step) < context.limits["oscillation_rows"]:
        reasons.append(
            f"{len(step)} reward rows are too few for dynamics: "
            f"{context.limits['oscillation_rows']:g} are needed."
        )
    if run.averaged:
        reasons.append(
            f"Each row is a mean over the steps since the last one (every {_spacing(gaps)} "
            "steps): an oscillation is damped and folded to a longer period, and of a period "
            "that divides the spacing nothing is left."
        )
    elif run.averaged is None and (run.step_source == "counted" or (gaps > 1).any()):
        reasons.append("It is not known whether a row is one step or a mean over several.")
    if len(gaps) and not np.allclose(gaps, gaps[0], rtol=1e-6):
        reasons.append(
            f"The rows are not evenly spaced ({gaps.min():g} to {gaps.max():g} steps apart): an "
            "oscillation verdict needs every row."
        )
    return reasons


def _spacing(gaps: Floats) -> str:
    return f"{np.median(gaps):g}" if len(gaps) else "several"


def _wanted(run: Run) -> tuple[str, ...]:
    one = "reward of every step: logging_steps=1 in trl, one row a step in an export"
    return (one,) if run.averaged is not False else ()


def _oscillates(
    step: Floats, wave: Sine, peak: Oscillation, coherent: bool, spacing: float, context: Context
) -> Finding:
    n = len(step)
    rows = n / wave.cycles
    if coherent and abs(n / peak.period.value - wave.cycles) > 1:
        half = 0.25 * rows / wave.cycles
        period = Estimate(rows * spacing, (rows - half) * spacing, (rows + half) * spacing, "steps")
    else:
        period = _in_steps(peak.period, spacing)
    quiet = float(np.sqrt(np.mean(wave.rest**2))) if coherent else peak.noise
    amplitude = peak.amplitude
    if coherent:
        size = float(np.sqrt(2 * np.mean(wave.values**2)))
        half = 1.96 * quiet * float(np.sqrt(2 / n))
        amplitude = Estimate(size, max(0.0, size - half), size + half, "")
    strong = amplitude.value > context.limits["oscillation_amplitude"] * quiet
    grown = peak.modulus.low > 1
    damped = peak.modulus.high < 1
    decays = damped and _shrinks(wave.values + wave.rest)
    verdict = FAULT if grown or (strong and not decays) else WARNING
    keeps = (
        "grows" if grown else "decays" if decays
        else "would decay if nothing drove it" if damped else "neither grows nor decays"
    )  # fmt: skip
    evidence = (
        f"The reward oscillates with period {period}, amplitude {amplitude.value:.3g}, "
        f"{amplitude.value / max(quiet, 1e-300):.2g} times the noise ({quiet:.3g}).",
        f"Modulus of the root {peak.modulus.value:.4f} [{peak.modulus.low:.4f}, "
        f"{peak.modulus.high:.4f}] per row: the swing {keeps}.",
        f"A spectral peak gains {peak.gain:.1f}; a sine under a monotone trend explains "
        f"{100 * wave.share:.0f} % of the swing and gains {wave.gain:.1f}.",
    )
    # It could be called once the cycles that a verdict needs had been seen.
    first = float(step[0])
    return Finding(
        NAME, verdict, evidence, kind="decaying oscillation" if decays else "oscillation",
        value=period, value_name="period",
        onset=Change(first, first, first + period.value, 0.0, amplitude.value),
        rivals=_RIVALS["oscillation"],
        measures={"modulus": peak.modulus, "period": period, "amplitude": amplitude},
    )  # fmt: skip


def _shrinks(rest: Floats) -> bool:
    """Whether the swing of the last third is less than `_SHRUNK` of the first third's."""
    third = len(rest) // 3
    return float(np.std(rest[-third:])) < _SHRUNK * float(np.std(rest[:third]))


def _with(found: Finding, margin: list[str], measures: dict[str, Estimate]) -> Finding:
    return replace(
        found, evidence=(*found.evidence, *margin), measures={**found.measures, **measures}
    )


def _swing(value: Floats, curve: Shape, context: Context) -> tuple[Estimate | None, list[str]]:
    """Compare the noise with what sampling G answers to each of the prompts makes."""
    if value.min() < 0 or value.max() > 1:
        return None, []
    tail = value[-max(20, len(value) // 3) :]
    line = np.polynomial.Polynomial.fit(np.arange(len(tail)), tail, 1)(np.arange(len(tail)))
    variance = float(np.sum((tail - line) ** 2)) / (len(tail) - 2)
    p = float(np.clip(tail.mean(), 0, 1))
    if context.group_size is None or context.prompts is None:
        return None, ["With --group-size and --prompts the swing is compared with sampling noise."]
    if p * (1 - p) == 0:
        return None, []
    single = p * (1 - p) / context.prompts
    least, most = single / context.group_size, single
    spread = 1.96 * float(np.sqrt(2 / len(tail)))
    ratio = float(np.sqrt(variance / most))
    whole = Estimate(ratio, ratio * (1 - spread / 2), ratio * (1 + spread / 2), "")
    return whole, [
        f"The swing is {np.sqrt(variance / least):.2g} times the noise of G = {context.group_size} "
        f"answers to {context.prompts} equally hard prompts, {ratio:.2g} times the most that "
        "prompts of unequal difficulty can make."
    ]


def _growth(
    step: Floats, value: Floats, run: Run, curve: Shape
) -> tuple[Estimate | None, list[str]]:
    """Return how much the noise grew since the reward became level."""
    if curve.changes:
        level = step >= curve.changes[-1].high
    elif curve.name == "flat":
        level = np.ones(len(step), dtype=bool)
    else:
        return None, []
    if level.sum() < 60:
        return None, []
    quiet = np.diff(value[level]) ** 2
    if run.has("reward_std"):  # the groups' own spread makes noise, and is no dynamics
        at, spread = run.series("reward_std")
        own = np.interp(step[level][1:], at, spread) ** 2
        quiet = quiet / np.maximum(own, 0.05 * own.mean()) if own.mean() > 0 else quiet
    floor = 0.05 * float(quiet.mean())
    if floor == 0:
        return None, []
    line: Slope = slope(step[level][1:], np.log(np.maximum(quiet, floor)))
    span = float(np.ptp(step[level]))
    ends = np.exp(np.clip(span * (line.per_step + np.array([0, -3, 3]) * line.error), -50, 50))
    found = Estimate(float(ends[0]), float(ends[1]), float(ends[2]), "")
    return found, [f"Since the reward is level its noise variance changed by a factor {found}."]


def _visible(deviation: float, rows: int, gain: float) -> float:
    """Return the amplitude whose peak, n A^2/(4 v) of white noise, gains what is needed."""
    return 2 * deviation * float(np.sqrt((gain + 4) / (0.8 * rows)))


def _margin(
    step: Floats, value: Floats, context: Context
) -> tuple[dict[str, Estimate], list[str]]:
    """Set the configured lag against the relaxation time of the curve (theory 3.12)."""
    if context.lag is None:
        return {}, []
    mean, largest = context.lag
    tau = relaxation_time(step, value)
    if tau is None:
        return {}, [f"The lag is {mean:g} steps on average, {largest:g} at most; the relaxation "
                    "time it would be set against is not determined by this log."]  # fmt: skip
    measures = {"relaxation time": tau}
    if largest == 0:
        return measures, [f"The lag is 0: no rule limits it (relaxation time {tau})."]
    # The curve was drawn with the lag: without it the time would be longer by about the lag.
    ratio, low, high = ((end + mean) / mean for end in (tau.value, tau.low, tau.high))
    measures["relaxation time without lag, over lag"] = Estimate(ratio, low, high, "")
    room = "little room" if high < context.limits["lag_margin"] else "room"
    return measures, [
        f"The relaxation time is {tau} at a mean lag of {mean:g} (at most {largest:g}), so the "
        f"published rule allows about {tau.value:.3g} steps of lag more: {room}. It is about "
        "gradients delayed as a whole; trainers compute them at the current weights on old samples."
    ]


def _in_steps(rows: Estimate, spacing: float) -> Estimate:
    return Estimate(rows.value * spacing, rows.low * spacing, rows.high * spacing, "steps")


def _spelt(period: Estimate, spacing: float) -> str:
    if not np.isfinite(period.value):
        return "real, so without a period"
    return f"period {_in_steps(period, spacing)}"


_RIVALS = {
    "oscillation": (
        Rival("the prompts come round: a pass through the data, or a curriculum, has this period",
              "steps in an epoch against the period; shuffle"),
        Rival("the learning rate is scheduled in cycles", "the learning rate column"),
        Rival("the lag is near its threshold",
              "the same run with the lag halved: the period shortens with it"),
    ),
    "growing noise": (
        Rival("a stability border is approached", "halve the learning rate from a checkpoint"),
        Rival("the prompts became harder or fewer", "reward_std, and prompts a step, over time"),
    ),
    "excess noise": (
        Rival("batches differ: prompts come in blocks of one difficulty", "shuffle the prompts"),
        Rival("the policy itself swings", "evaluate neighbouring checkpoints on fixed prompts"),
    ),
    "lag margin": (
        Rival("the ratio and the clip take most of the lag out of the mean force",
              "the same run on-policy"),
    ),
}  # fmt: skip
