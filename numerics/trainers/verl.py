r"""verl: every rollout is split into mini-batches, each an optimizer step, over and over.

Train batch T and mini-batch M, both in prompts: ``ceil(T/M)`` mini-batches a pass, `ppo_epochs`
passes, so N optimizer steps with the lags 0, 1, ..., N-1. (Extension: read from release 0.9.1,
which refuses a T that is no multiple of M; earlier ones make a smaller last mini-batch.) The fully
asynchronous recipe is `numerics.trainers.verl_async`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from numerics.inputs import InvalidInput
from numerics.trainers import verl_async, verl_notices
from numerics.trainers.optimizers import named
from numerics.trainers.settings import Setting, Values, count, number, numbers, text, truth
from numerics.trainers.table import Effect, LagTable, Notice, check_period

__all__ = ["MARKS", "NEIGHBOURS", "SETTINGS", "table"]

_ACTOR = "actor_rollout_ref.actor"

SETTINGS = (
    Setting("train_batch_size", count(0), 1024, "data.train_batch_size"),
    Setting("ppo_mini_batch_size", count(1), 256, f"{_ACTOR}.ppo_mini_batch_size"),
    Setting("ppo_epochs", count(1), 1, f"{_ACTOR}.ppo_epochs"),
    Setting("rollout_n", count(1), 1, "actor_rollout_ref.rollout.n"),
    Setting("staleness_threshold", number(), None, "async_training.staleness_threshold"),
    Setting("require_batches", number(above=True), None, "async_training.require_batches"),
    Setting(
        "trigger_parameter_sync_step", count(1), None, "async_training.trigger_parameter_sync_step"
    ),
    Setting("partial_rollout", truth, None, "async_training.partial_rollout"),
    Setting("use_kl_loss", truth, False, f"{_ACTOR}.use_kl_loss"),
    Setting("use_kl_in_reward", truth, False, "algorithm.use_kl_in_reward"),
    Setting("norm_adv_by_std_in_grpo", truth, True, "algorithm.norm_adv_by_std_in_grpo"),
    Setting("bypass_mode", truth, False, "algorithm.rollout_correction.bypass_mode"),
    Setting("optimizer", text, "AdamW", f"{_ACTOR}.optim.optimizer"),
    Setting("betas", numbers, (Fraction(9, 10),), f"{_ACTOR}.optim.betas"),
)

#: Parts of keys that only a configuration of verl has.
MARKS = ("actor_rollout_ref", "async_training")

#: Real keys of verl that resemble those above.
NEIGHBOURS = ("ppo_micro_batch_size", "ppo_micro_batch_size_per_gpu", "val_batch_size", "optim")

_LISTED = ("train_batch_size", "ppo_mini_batch_size", "ppo_epochs", "rollout_n")


def table(given: Values) -> LagTable:
    """Return the lags of a verl configuration.

    Raises
    ------
    InvalidInput
        A mini-batch larger than the train batch, or a period too long to be listed.
    """
    betas: Sequence[Fraction] = given["betas"]
    if not betas or betas[0] >= 1:
        raise InvalidInput("actor.optim.betas: give Adam's two, such as [0.9, 0.999], below 1")
    source = "configuration" if given.given & {"optimizer", "betas"} else "verl's default"
    optimizer, of_optimizer = named(given["optimizer"], betas[0], source)
    if verl_async.SETTINGS & given.given:
        return verl_async.table(given, optimizer, of_optimizer)

    train, mini, epochs = (given[name] for name in _LISTED[:3])
    if train < 1:
        raise InvalidInput("data.train_batch_size is 0: it must be from 1, but in fully async runs")
    if mini > train:
        raise InvalidInput(
            f"ppo_mini_batch_size {mini} is larger than train_batch_size {train}, both in prompts; "
            "verl refuses that: make it at most as large"
        )
    in_a_pass = -(-train // mini)
    updates = in_a_pass * epochs
    check_period(updates, "train_batch_size, ppo_mini_batch_size and ppo_epochs")
    settings = {name: given[name] for name in _LISTED}
    return LagTable(
        trainer="verl",
        settings=settings,
        defaults=tuple(name for name in settings if name not in given.given),
        lags=tuple((step,) for step in range(updates)),
        weights=None,
        drawn=False,
        importance_ratio=updates > 1,
        updates_per_rollout=Fraction(updates),
        uses=epochs,
        reward_rows=(1,),
        effects=_effects(in_a_pass, epochs),
        notices=(
            *_of_schedule(given, updates),
            *verl_notices.of_settings(given, updates, delayed=updates > 1),
            *of_optimizer,
        ),
        optimizer=optimizer,
    )


def _effects(in_a_pass: int, epochs: int) -> tuple[Effect, ...]:
    return (
        Effect(
            "ppo_mini_batch_size",
            "delays" if in_a_pass > 1 else "neither",
            f"splits a rollout into {in_a_pass} optimizer steps"
            if in_a_pass > 1
            else "the whole rollout is one optimizer step",
        ),
        Effect(
            "ppo_epochs",
            "re-uses" if epochs > 1 else "neither",
            f"every completion enters {epochs} gradients"
            if epochs > 1
            else "every completion is used once",
        ),
    )


def _of_schedule(given: Values, updates: int) -> list[Notice]:
    train, mini = given["train_batch_size"], given["ppo_mini_batch_size"]
    if not train % mini:
        return []
    text = (
        f"{train} prompts are no multiple of {mini}: release 0.9.1 refuses it; earlier ones make "
        f"{updates // given['ppo_epochs']} mini-batches, the last of {train % mini} prompts, and "
        "divide its gradient as if it were whole"
    )
    return [Notice("mini-batch-does-not-divide", "ppo_mini_batch_size", text)]
