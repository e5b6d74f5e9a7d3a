r"""trl's `GRPOTrainer`: completions are generated every `steps_per_generation * num_iterations`.

A micro-step s is a forward and backward pass on one micro-batch; an optimizer step ends every
`gradient_accumulation_steps` (GAS) of them. Completions are generated at the micro-steps that are
multiples of ``every = steps_per_generation * num_iterations`` and used until the next, so the lag
of micro-step s is ``floor(s/GAS) - floor((s - s mod every)/GAS)``, which repeats after
lcm(GAS, every). (Extension: read from the releases 0.14 to 1.16.)
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

from numerics.inputs import InvalidInput
from numerics.trainers import trl_notices
from numerics.trainers.optimizers import named
from numerics.trainers.settings import Setting, Values, count, number, text, truth
from numerics.trainers.table import Effect, LagTable, Notice, check_period
from numerics.trainers.trl_notices import Version, version

__all__ = ["MARKS", "NEIGHBOURS", "SETTINGS", "table"]

SETTINGS = (
    Setting("gradient_accumulation_steps", count(1), 1),
    Setting("steps_per_generation", count(1)),
    Setting("generation_batch_size", count(1)),
    Setting("num_iterations", count(1), 1),
    Setting("num_generations", count(1), 8),
    Setting("per_device_train_batch_size", count(1), 8),
    Setting("num_processes", count(1), 1),
    Setting("trainer_version", version),
    Setting("logging_steps", number(above=True)),
    Setting("beta", number()),
    Setting("scale_rewards", text),
    Setting("use_bias_correction_kl", truth),
    Setting("use_vllm", truth, False),
    Setting("optim", text, "adamw_torch"),
    Setting("optim_args", text, ""),
    Setting("adam_beta1", number(below=1), Fraction(9, 10)),
)

#: Keys that only a GRPO configuration of trl has.
MARKS = (
    "steps_per_generation",
    "generation_batch_size",
    "num_iterations",
    "num_generations",
    "scale_rewards",
)

#: Real keys of trl that resemble those above.
NEIGHBOURS = ("num_generations_eval", "per_device_eval_batch_size", "optim_target_modules")

_LISTED = (
    "gradient_accumulation_steps",
    "steps_per_generation",
    "num_iterations",
    "num_generations",
    "per_device_train_batch_size",
    "num_processes",
)
_HAS_STEPS_PER_GENERATION = (0, 18)
_HAS_ITERATIONS = (0, 16)
_ALIGNS = (0, 20)


def table(given: Values) -> LagTable:
    """Return the lags of a trl configuration.

    Raises
    ------
    InvalidInput
        A group of one or a generation batch that trl itself refuses, or a period too long to be
        listed.
    """
    if given["num_generations"] < 2:
        raise InvalidInput("num_generations is 1: trl refuses it, a group needs 2 completions")
    release: Version | None = given["trainer_version"]
    accumulated, iterations = given["gradient_accumulation_steps"], given["num_iterations"]
    per_generation, notices = _steps_per_generation(given, release)
    if release is not None and release < _HAS_ITERATIONS:
        per_generation = iterations = 1
    every = per_generation * iterations
    check_period(
        lcm(accumulated, every),
        f"gradient_accumulation_steps {accumulated}, steps_per_generation {per_generation} and "
        f"num_iterations {iterations}",
    )
    lags = _lags(accumulated, every)
    optimizer, of_optimizer = named(
        given["optim"],
        given["adam_beta1"],
        "configuration" if given.given & {"optim", "adam_beta1"} else "trl's default",
        given["optim_args"],
    )
    shape = trl_notices.Shape(accumulated, per_generation, iterations)
    ratio = _ratio(shape, release)
    settings = {name: given[name] for name in _LISTED} | {
        "steps_per_generation": per_generation, "num_iterations": iterations
    }  # fmt: skip
    rows = [step + 1 for step in range(len(lags)) if shape.generates_in(step)]
    delayed = any(map(any, lags))
    return LagTable(
        trainer="trl",
        settings=settings,
        defaults=tuple(name for name in settings if name not in given.given),
        lags=lags,
        weights=None,
        drawn=False,
        importance_ratio=ratio,
        updates_per_rollout=Fraction(every, accumulated),
        uses=iterations,
        reward_rows=tuple(rows),
        effects=_effects(shape),
        notices=(
            *notices,
            *trl_notices.of_schedule(shape, rows=rows, ratio=ratio, delayed=delayed),
            *trl_notices.of_settings(given, shape, release),
            *of_optimizer,
        ),
        optimizer=optimizer,
    )


def _lags(accumulated: int, every: int) -> tuple[tuple[int, ...], ...]:
    steps = lcm(accumulated, every) // accumulated
    return tuple(
        tuple(
            step - (micro - micro % every) // accumulated
            for micro in range(step * accumulated, (step + 1) * accumulated)
        )
        for step in range(steps)
    )


def _steps_per_generation(given: Values, release: Version | None) -> tuple[int, list[Notice]]:
    accumulated: int = given["gradient_accumulation_steps"]
    asked: int | None = given["steps_per_generation"]
    batch: int | None = given["generation_batch_size"]
    if release is not None and release < _HAS_STEPS_PER_GENERATION:
        return accumulated, trl_notices.of_missing_setting(given, release)
    if asked is not None and batch is not None:
        raise InvalidInput(
            "steps_per_generation and generation_batch_size are both given; trl refuses that: "
            "leave one of them out"
        )
    if batch is None:
        return asked or accumulated, []
    at_once = given["per_device_train_batch_size"] * given["num_processes"]
    if batch % at_once:
        raise InvalidInput(
            f"generation_batch_size is {batch}, no multiple of per_device_train_batch_size * "
            f"num_processes = {at_once}; trl refuses that"
        )
    return batch // at_once, []


def _ratio(shape: trl_notices.Shape, release: Version | None) -> bool:
    """Return whether the loss holds a ratio to stored log-probabilities, or 1 as it stands."""
    if release is not None and release < _ALIGNS:
        return shape.iterations > 1 or shape.per_generation > shape.accumulated
    return shape.accumulated % shape.every != 0


def _effects(shape: trl_notices.Shape) -> tuple[Effect, ...]:
    late = shape.per_generation // gcd(shape.per_generation, shape.accumulated)
    delays = late > 1
    of_generation = (
        f"one generation lasts {Fraction(shape.per_generation, shape.accumulated)} optimizer steps"
        if delays
        else "one pass over a generation fits into one optimizer step"
    )
    found = [
        Effect(
            "gradient_accumulation_steps",
            "neither",
            f"averages {shape.accumulated} micro-batches into one optimizer step",
        ),
        Effect("steps_per_generation", "delays" if delays else "neither", of_generation),
    ]
    if shape.iterations == 1:
        found.append(Effect("num_iterations", "neither", "every completion is used once"))
    elif shape.aligned:
        text = f"every completion enters the same gradient {shape.iterations} times: no new update"
        found.append(Effect("num_iterations", "neither", text))
    else:
        text = f"every completion enters {shape.iterations} gradients"
        found.append(Effect("num_iterations", "re-uses", text))
    return tuple(found)
