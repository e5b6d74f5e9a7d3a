r"""verl's fully asynchronous recipe: a sampler that runs ahead of the trainer, but not too far.

Between two synchronizations of the weights the trainer uses ``B = M*require_batches*trigger``
prompts (M the mini-batch) and makes U optimizer steps. The sampler stops when it has
``floor((1 + staleness_threshold) B)`` prompts that were not used when the current weights came; so
it is at most S = that - B ahead. Where it always is, the prompt used as number p of an interval
was begun ``ceil((S - p)/B)`` intervals before, and at optimizer step u its lag is
``u + U ceil((S - p)/B)``. (Extension: the rule is read from release 0.9.1; that samples are used in
the order they were begun is a model.)
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from numerics.inputs import InvalidInput
from numerics.trainers import verl_notices
from numerics.trainers.settings import Values
from numerics.trainers.table import Effect, LagTable, Notice, Optimizer, check_period

__all__ = ["SETTINGS", "table"]

#: Any of these makes a run fully asynchronous; with the recipe's defaults.
_DEFAULTS = {
    "staleness_threshold": Fraction(1, 10),
    "require_batches": Fraction(1),
    "trigger_parameter_sync_step": 4,
    "partial_rollout": True,
}
SETTINGS = frozenset(_DEFAULTS)

_LISTED = ("ppo_mini_batch_size", "ppo_epochs", "rollout_n", *_DEFAULTS)


def table(given: Values, optimizer: Optimizer | None, of_optimizer: list[Notice]) -> LagTable:
    """Return the lags of a fully asynchronous run whose sampler is as far ahead as it may be.

    Raises
    ------
    InvalidInput
        A `require_batches` that asks for no prompt, or a period too long to be listed.
    """
    filled = {n: v if given[n] is None else given[n] for n, v in _DEFAULTS.items()}
    given = Values({**given.values, **filled}, given.given)
    mini, epochs = given["ppo_mini_batch_size"], given["ppo_epochs"]
    trigger, threshold = given["trigger_parameter_sync_step"], given["staleness_threshold"]
    fetched = ceil(mini * given["require_batches"])
    if mini * given["require_batches"] * trigger < 1:
        raise InvalidInput(
            f"require_batches {float(given['require_batches']):g} of {mini} prompts is less than "
            "one prompt: raise it"
        )
    batch = fetched * trigger
    max_samples = max(batch, floor(mini * given["require_batches"] * (threshold + 1) * trigger))
    ahead = max_samples - batch
    in_a_fetch = -(-fetched // mini)
    steps = in_a_fetch * epochs * trigger
    check_period(2 * steps, "require_batches, trigger_parameter_sync_step and ppo_epochs")

    lags, weights = [], []
    for fetch in range(trigger):
        for epoch in range(epochs):
            for part in range(in_a_fetch):
                step = (fetch * epochs + epoch) * in_a_fetch + part
                low = fetch * fetched + part * mini
                ages = _ages(low, min(low + mini, (fetch + 1) * fetched), batch, ahead)
                lags.append(tuple(step + steps * age for age, _ in ages))
                weights.append(tuple(share for _, share in ages))
    delayed = any(map(any, lags))
    fastest = "lag 0" if steps == 1 else f"lags 0 to {steps - 1}"
    settings = {name: _plain(given[name]) for name in _LISTED}
    return LagTable(
        trainer="verl",
        settings=settings,
        defaults=tuple(name for name in settings if name not in given.given),
        lags=tuple(lags),
        weights=tuple(weights),
        drawn=False,
        importance_ratio=delayed,
        updates_per_rollout=Fraction(steps),
        uses=epochs,
        reward_rows=(1,),
        effects=_effects(epochs, steps, ahead),
        notices=(
            *verl_notices.of_async(given, ahead=ahead, batch=batch, steps=steps, fastest=fastest),
            *verl_notices.of_settings(given, steps, delayed=delayed),
            *of_optimizer,
        ),
        optimizer=optimizer,
        max_samples=max_samples,
    )


def _ages(low: int, high: int, batch: int, ahead: int) -> list[tuple[int, Fraction]]:
    """Return how many intervals old the prompts from `low` up to `high` are, with their shares."""
    whole, rest = divmod(ahead, batch)
    cuts = [low, min(max(low, rest), high), high]
    spans = zip((whole + 1, whole), pairwise(cuts), strict=True)
    return [(age, Fraction(end - begin, high - low)) for age, (begin, end) in spans if end > begin]


def _effects(epochs: int, steps: int, ahead: int) -> tuple[Effect, ...]:
    return (
        Effect(
            "trigger_parameter_sync_step",
            "delays" if steps > epochs else "neither",
            f"the sampler's weights stand still for {steps} optimizer steps",
        ),
        Effect(
            "staleness_threshold",
            "delays" if ahead else "neither",
            f"{ahead} prompts may be drawn with the weights before the last ones"
            if ahead
            else "the sampler waits for every synchronization",
        ),
        Effect(
            "ppo_epochs",
            "re-uses" if epochs > 1 else "neither",
            f"every completion enters {epochs} gradients"
            if epochs > 1
            else "every completion is used once",
        ),
    )


def _plain(value: object) -> object:
    return float(value) if isinstance(value, Fraction) else value
