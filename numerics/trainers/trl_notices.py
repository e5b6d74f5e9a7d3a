"""What trl's settings do not mean, with the releases in which that changed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd

from numerics.inputs import InvalidInput
from numerics.trainers.settings import Values
from numerics.trainers.table import Notice

__all__ = ["Shape", "Version", "of_missing_setting", "of_schedule", "of_settings", "version"]

Version = tuple[int, int]

_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})(?:\.\w{1,12})*")
_OLDEST = (0, 14)
_BETA_BECAME_0 = (0, 19)
_BIAS_CORRECTION = (1, 16)
_LOGS_EVERY_TENTH = (0, 19)


@dataclass(frozen=True)
class Shape:
    """The three counts that fix the lags."""

    accumulated: int
    per_generation: int
    iterations: int

    @property
    def every(self) -> int:
        """Micro-steps from one generation to the next."""
        return self.per_generation * self.iterations

    @property
    def aligned(self) -> bool:
        """Whether every generation is used up within one optimizer step."""
        return self.accumulated % self.every == 0

    def generates_in(self, step: int) -> bool:
        """Whether a generation falls into this optimizer step, counted from 0."""
        first = step * self.accumulated
        return -first % self.every < self.accumulated


def version(value: object) -> Version:
    """Read a release such as ``0.19.1`` as its first two numbers.

    Raises
    ------
    InvalidInput
        Not a release, or older than 0.14, the first with GRPO.
    """
    found = _VERSION.fullmatch(str(value).strip())
    if found is None:
        raise InvalidInput(f"is {str(value)[:40]!r}: give a release such as 0.19.1 or 1.16")
    release = (int(found[1]), int(found[2]))
    if release < _OLDEST:
        raise InvalidInput(f"is {value}: trl has had GRPO since 0.14")
    return release


def of_missing_setting(given: Values, release: Version) -> list[Notice]:
    """Return notices for settings that this release does not have yet."""
    since = {"steps_per_generation": (0, 18), "generation_batch_size": (0, 18)}
    since["num_iterations"] = (0, 16)
    return [
        Notice("no-such-setting", name, f"trl has it since {_spelt(first)}; left out here")
        for name, first in since.items()
        if name in given.given and release < first
    ]


def of_schedule(shape: Shape, *, rows: Sequence[int], ratio: bool, delayed: bool) -> list[Notice]:
    """Return what the schedule itself does not mean."""
    found = []
    gas, iterations = shape.accumulated, shape.iterations
    if iterations > 1 and shape.aligned:
        found.append(Notice(
            "iterations-without-effect", "num_iterations",
            f"no lag and no further update: the {iterations} passes over the same completions fall "
            f"into one optimizer step of {gas} micro-batches, which then sees only "
            f"{gas // iterations} different ones",
        ))  # fmt: skip
    if gas % shape.every and shape.every % gas:
        found.append(Notice(
            "fractional-lag", "steps_per_generation",
            f"micro-batches of one optimizer step have different lags, because "
            f"gradient_accumulation_steps {gas} and steps_per_generation * num_iterations "
            f"{shape.every} are no multiples of each other; and each epoch starts anew, "
            "so that its last optimizer step may be short",
        ))  # fmt: skip
    if delayed and not ratio:
        found.append(Notice(
            "ratio-left-out", "steps_per_generation",
            "releases 0.18 and 0.19 leave the importance ratio out here although the completions "
            "are stale; from 0.20 on it is there",
        ))  # fmt: skip
    if not delayed:
        found.append(Notice(
            "clip-never-fires", "epsilon",
            "the importance ratio is 1 at every step: epsilon and epsilon_high do nothing, the "
            "logged clip ratio is 0, and the loss is near 0 while the gradient is not",
        ))  # fmt: skip
    if delayed and iterations == 1 and ratio:
        found.append(Notice(
            "on-policy-it-is-not", "num_iterations",
            "1 is not on-policy here: no completion is used twice, but those generated together "
            "are used over several optimizer steps",
        ))  # fmt: skip
    steps = shape.every // gas
    if shape.every > gas and shape.every % gas == 0:
        listed = ", ".join(str(1 + steps * k) for k in range(3))
        found.append(Notice(
            "sparse-reward-rows", "logging_steps",
            f"at logging_steps 1 `reward` is on rows {listed}, ... and `loss` on all: rewards are "
            "logged where completions are generated, and missing is not zero",
        ))  # fmt: skip
    elif shape.every > gas:
        period = shape.every // gcd(shape.every, gas)
        found.append(Notice(
            "sparse-reward-rows", "logging_steps",
            f"at logging_steps 1 `reward` is on {len(rows)} of {period} rows: "
            "rewards are logged where completions are generated, and missing is not zero",
        ))  # fmt: skip
    return found


def of_settings(given: Values, shape: Shape, release: Version | None) -> list[Notice]:
    """Return what single settings do not mean, or no longer mean."""
    return [
        *_of_groups(given, shape),
        *_of_logging(given, release),
        *_of_kl(given, release),
        *_of_scaling(given),
        *_of_sampler(given),
    ]


def _of_groups(given: Values, shape: Shape) -> list[Notice]:
    if not given.given & {
        "num_generations", "per_device_train_batch_size", "num_processes", "generation_batch_size"
    }:  # fmt: skip
        return []
    group, devices = given["num_generations"], given["num_processes"]
    at_once = given["per_device_train_batch_size"] * devices
    batch = at_once * shape.per_generation
    found = []
    if "num_processes" not in given.given:
        found.append(Notice(
            "processes-unknown", "num_processes", "not in trl's configuration; counted as 1 here"
        ))  # fmt: skip
    if batch % group:
        found.append(Notice(
            "group-does-not-divide", "num_generations",
            f"trl refuses it: {batch} completions a generation (per_device_train_batch_size * "
            f"num_processes * steps_per_generation) are no multiple of {group}",
        ))  # fmt: skip
    used = at_once * shape.accumulated
    # Further passes within one optimizer step show it no further completion.
    different = Fraction(used, shape.iterations if shape.aligned else 1)
    found.append(Notice(
        "batch-counts-completions", "per_device_train_batch_size",
        f"counts completions, not prompts: an optimizer step uses {used}; different prompts among "
        f"them: about {float(different / group):.4g}",
    ))  # fmt: skip
    return found


def _of_logging(given: Values, release: Version | None) -> list[Notice]:
    every = given["logging_steps"]
    if every is None:
        averaged = release is not None and release >= _LOGS_EVERY_TENTH
        text = (
            "10 where it is not set: a row is the mean of 10 steps, and swings shorter than 20 "
            "steps cannot be seen"
        )
        return [Notice("rows-are-averages", "logging_steps", text)] if averaged else []
    if every == 1:
        return []
    text = f"a row is the mean over {every} steps: swings shorter than {2 * every} are not seen"
    if every < 1:
        text = f"{every} is a share of all steps: a row is a mean over them, and hides every swing"
    return [Notice("rows-are-averages", "logging_steps", text)]


def _of_kl(given: Values, release: Version | None) -> list[Notice]:
    beta, found = given["beta"], []
    if beta is None:
        value = "0.04 up to 0.18 and 0 from 0.19 on"
        if release is not None:
            value = f"{'0' if release >= _BETA_BECAME_0 else '0.04'} in {_spelt(release)}"
        text = f"not set, and its default depends on the release: {value}"
        found.append(Notice("beta-default", "beta", text))
    if beta == 0 or (beta is None and release is not None and release >= _BETA_BECAME_0):
        text = "0: no force holds the policy, so no fixed point and no stiffness but the task's own"
        found.append(Notice("no-kl", "beta", text))
        return found
    if beta is None:
        return found
    corrected = given["use_bias_correction_kl"]
    if corrected is None and release is not None:
        corrected = release >= _BIAS_CORRECTION
    forces = {
        None: "k3's or reverse KL's, by use_bias_correction_kl: its default is False up to 1.9 and "
        "True in 1.16",
        False: "k3's, which is that of KL(reference, policy): twice reverse KL's at p = 0.9",
        True: "reverse KL's, because k3 is multiplied by the ratio (use_bias_correction_kl)",
    }
    found.append(Notice("kl-force", "beta", f"the force on the policy is {forces[corrected]}"))
    return found


def _of_scaling(given: Values) -> list[Notice]:
    scale = given["scale_rewards"]
    meanings = {
        "false": "advantages are only centred: the drift is p(1-p), not its square root",
        "none": "advantages are only centred: the drift is p(1-p), not its square root",
        "batch": "one std for the whole batch: groups keep their own spread",
    }
    if scale not in meanings:
        return []
    return [Notice("scale-rewards", "scale_rewards", f"{scale}: {meanings[scale]}")]


def _of_sampler(given: Values) -> list[Notice]:
    if not given["use_vllm"]:
        return []
    text = (
        "the sampler's probabilities differ a little from the trainer's: its correction is a "
        "second ratio, capped on its own, and not what epsilon clips"
    )
    return [Notice("sampler-mismatch", "use_vllm", text)]


def _spelt(release: Version) -> str:
    return f"{release[0]}.{release[1]}"
