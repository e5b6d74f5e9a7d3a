"""Every number a verdict turns on, with the reason for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from numerics.inputs import InvalidInput, floats, known_name

__all__ = ["THRESHOLDS", "Threshold", "thresholds"]


@dataclass(frozen=True)
class Threshold:
    """A number that a verdict turns on."""

    value: float
    reason: str


#: Name -> number and reason. `diagnose` takes other values by these names.
THRESHOLDS: Mapping[str, Threshold] = MappingProxyType({
    "trend_z": Threshold(
        3.0, "a slope this many standard errors from 0 is a trend; on white noise of 30 rows or "
        "more that happens in less than 1 % of the logs (measured), the errors being those of an "
        "AR(1) noise whose correlation is estimated"),
    "sure_z": Threshold(
        4.0, "two levels chosen as the most different of a curve differ when they are this many "
        "standard errors apart: the choice alone makes about 3 of noise"),
    "coupling_ratio": Threshold(
        0.1, "less than a tenth of the training progress reaching the target is decoupling, "
        "where the target is also less than a tenth as high as the reward"),
    "dead_warning": Threshold(
        0.7, "at this share of dead groups fewer than one in three teaches anything: the batch is "
        "a third of what is paid for"),
    "dead_fault": Threshold(
        0.95, "at this share the gradient is made of the KL term and of single lucky groups"),
    "dead_ceiling": Threshold(
        0.98, "at the ceiling dead groups are success; with fewer than one live group in fifty "
        "nothing more can be learnt from these prompts"),
    "dead_rows": Threshold(
        5, "so many rows on end without one live group are a stretch without learning"),
    "entropy_fall_warning": Threshold(
        3.0, "runs that learn without trouble lose entropy by a factor of 1 to 2.5"),
    "entropy_fall_fault": Threshold(
        5.0, "a fall by this factor while the reward is not at its ceiling leaves the groups "
        "nearly identical samples"),
    "entropy_growth": Threshold(
        2.0, "entropy doubled while the reward falls: the policy spreads over wrong answers"),
    "entropy_growth_alone": Threshold(
        4.0, "without a falling reward growth is usual (a factor 2 in a healthy run), more is "
        "worth a look"),
    "reward_drop": Threshold(
        0.25, "the reward falls when it loses this share of its range"),
    "truncated_rise": Threshold(
        0.3, "the share of completions cut at the length limit rose by this much"),
    "truncated_fault": Threshold(
        0.5, "most completions are cut, so what is rewarded is not a finished answer"),
    "truncated_warning": Threshold(
        0.5, "most completions are cut, though it was so from the start"),
    "one_token": Threshold(
        1.5, "completions of this many tokens or fewer are cut by design: the limit is the task"),
    "ceiling_margin": Threshold(
        0.15, "the reward is at its ceiling within this share of the range"),
    "oscillation_gain": Threshold(
        12.0, "log-likelihood that a spectral peak must gain over a smooth spectrum; together with "
        "oscillation_share this calls less than 1 % of pure noise an oscillation (measured, white "
        "and AR(1) noise up to correlation 0.9, with and without monotone trends)"),
    "oscillation_share": Threshold(
        0.74, "a sine that explains this share of the swing is an oscillation without knowing the "
        "spectrum of the noise, which few cycles do not tell; a sine three times the noise's "
        "standard deviation explains 0.82"),
    "oscillation_sine_gain": Threshold(
        20.0, "log-likelihood that such a sine must also gain over AR(1) noise: red noise wanders "
        "far, but the next row then follows from the last"),
    "oscillation_cycles": Threshold(
        3.0, "fewer cycles than this in the whole log cannot be told from a trend that wanders"),
    "oscillation_rows": Threshold(
        40, "four periods of ten rows; in fewer rows red noise passes for a sine too often"),
    "oscillation_amplitude": Threshold(
        1.0, "an amplitude above the noise's standard deviation is a fault, a smaller one a "
        "warning"),
    "variance_growth": Threshold(
        3.0, "noise variance grown by this factor, at a level reward, is an early warning: "
        "fluctuations diverge as a stability border is approached"),
    "excess_noise": Threshold(
        1.5, "swing over the largest that sampling the prompts and the groups can make"),
    "lag_margin": Threshold(
        2.0, "the published rule allows a lag up to the relaxation time the run would have "
        "without it; below twice the lag there is little room"),
})  # fmt: skip


def thresholds(changed: Mapping[str, float] | None = None) -> dict[str, float]:
    """Return all thresholds by name, `changed` ones replaced.

    Raises
    ------
    InvalidInput
        A name that is no threshold, or a number that is not finite and positive.
    """
    values = {name: threshold.value for name, threshold in THRESHOLDS.items()}
    for name, value in (changed or {}).items():
        known_name("threshold", name, THRESHOLDS)
        number = floats(**{name: value})[name]
        if number.ndim or number <= 0:
            raise InvalidInput(f"threshold {name} is {value!r}: give a positive number")
        values[name] = float(number)
    return values
