r"""GRPO on softmax bandits, step by step: equations (1) to (3) and nothing derived from them."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from numerics.inputs import (
    InvalidInput,
    Values,
    check_momentum,
    check_positive,
    check_type,
    floats,
    known_name,
    whole_number,
)
from numerics.simulation.bandit.batch import check_types, check_weight
from numerics.simulation.bandit.conventions import Conventions
from numerics.simulation.bandit.loop import Loop
from numerics.simulation.bandit.optimizer import Adam, check_optimizer
from numerics.simulation.bandit.policy import Bandit
from numerics.simulation.bandit.record import KEEP, BanditRun, joined
from numerics.simulation.noise import Seed, chain_range, seed_sequence
from numerics.simulation.schedule import RandomLag, Schedule, check_schedule

#: Numbers in an array of the loop, about: more chains than that are run one part after the other.
_IN_CACHE = 1 << 16


@np.errstate(all="ignore")  # leaving the range is looked for, and reported
def simulate_bandit(
    bandit: Bandit,
    conventions: Conventions,
    optimizer: str | Adam,
    schedule: Schedule | RandomLag,
    *,
    eta: Values,
    mu: Values,
    beta: Values,
    group_size: int | None,
    initial: Values,
    steps: int,
    chains: int | range,
    seed: Seed,
    record_every: int,
    keep: Collection[str] = (),
) -> BanditRun:
    r"""Run GRPO on a bandit, many independent chains at once.

    Parameters
    ----------
    bandit, conventions
        What is played, and how its objective is made.
    optimizer
        ``"heavy-ball"`` (equation 3), ``"ema"``, ``"nesterov"`` or an `Adam`.
    schedule
        How old the sampled policy is: `ConstantLag`, `Sawtooth`, anything with their members, or a
        `RandomLag`, from which every chain draws a lag of its own at every step.
    eta, mu, beta
        Step size > 0, momentum in [0, 1) and KL weight >= 0: numbers, or one for each chain.
    group_size
        Samples per prompt and step, or None for exact expectations (G to infinity).
    initial
        Parameters at step 0 and at every step before it, ``bandit.parameter_shape`` or
        ``(chains, *bandit.parameter_shape)``.
    steps
        Number of updates, at least the longest lag.
    chains
        Number of independent runs, or the range of their numbers: what chain i draws depends on the
        seed and on i only, so a range of chains is a part of a larger run, bit for bit.
    seed
        Whole number >= 0 or a `numpy.random.SeedSequence`.
    record_every
        Record steps 0, record_every, 2 record_every, ... Nothing else grows with `steps`.
    keep
        What to record besides, of `KEEP`.

    Returns
    -------
    BanditRun

    Raises
    ------
    InvalidInput
        An argument outside its domain or shapes that do not fit; before any step is taken.
    """
    check_types(bandit, conventions)
    optimizer = check_optimizer(optimizer)
    if not isinstance(schedule, RandomLag):
        check_schedule(schedule)
    numbers, root = chain_range(chains), seed_sequence(seed)
    steps = whole_number("steps", steps, least=1)
    if schedule.longest > steps:
        raise InvalidInput(f"a lag of {schedule.longest} is longer than the run of {steps} steps")
    record_every = whole_number("record_every", record_every, least=1)
    check_type("keep", keep, Collection, f"names of {', '.join(KEEP)}, or ()")
    keep = [known_name("keep", name, KEEP) for name in keep]
    conventions.check_group(group_size, prompts=bandit.prompts)
    values = floats(eta=eta, mu=mu, beta=beta, initial=initial)
    check_positive("eta", values["eta"])
    check_momentum(values["mu"])
    check_weight(values["beta"])
    shapes = {"eta": (), "mu": (), "beta": (), "initial": bandit.parameter_shape}
    for name, own in shapes.items():
        if values[name].shape not in (own, (len(numbers), *own)):
            raise InvalidInput(
                f"{name} has shape {values[name].shape}: "
                f"give {own}, or {(len(numbers), *own)}, one for each chain"
            )
    loop = Loop(
        bandit=bandit,
        conventions=conventions,
        optimizer=optimizer,
        schedule=schedule,
        group_size=group_size,
        steps=steps,
        record_every=record_every,
        keep=keep,
        seed=root,
    )
    width = max(1, _IN_CACHE // (bandit.prompts * max(bandit.arms, group_size or 1)))
    runs = []
    for start in range(0, len(numbers), width):
        part = slice(start, start + width)
        own_values = {
            name: value if value.shape == shapes[name] else value[part]
            for name, value in values.items()
        }
        runs.append(loop.run(numbers[part], **own_values))
    return joined(runs)
