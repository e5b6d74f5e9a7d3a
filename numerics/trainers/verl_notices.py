"""What verl's settings do not mean."""

from __future__ import annotations

from numerics.trainers.settings import Values
from numerics.trainers.table import Notice

__all__ = ["of_async", "of_settings"]


def of_settings(given: Values, updates: int, *, delayed: bool) -> list[Notice]:
    """Return what the settings of any verl run do not mean; `updates` are those of one row."""
    mini, group = given["ppo_mini_batch_size"], given["rollout_n"]
    found = [Notice(
        "batches-count-prompts", "ppo_mini_batch_size",
        f"counts prompts, over all devices: {mini} prompts are {mini * group} completions an "
        f"optimizer step at rollout.n {group}; the micro-batch sizes count completions and change "
        "no lag",
    )]  # fmt: skip
    if updates > 1:
        found.append(Notice(
            "rows-are-not-steps", "trainer",
            f"a logged row is a whole rollout, {updates} optimizer steps here: a time read off "
            f"the log in rows is {updates} times as long in the steps that lags are counted in",
        ))  # fmt: skip
    if not delayed:
        found.append(Notice(
            "clip-never-fires", "clip_ratio",
            "the importance ratio is 1 at every step: clip_ratio and clip_ratio_c do nothing",
        ))  # fmt: skip
    if given["bypass_mode"]:
        found.append(Notice(
            "sampler-mismatch", "bypass_mode",
            "the ratio is taken to the sampler's probabilities, which differ a little from the "
            "trainer's even at lag 0",
        ))  # fmt: skip
    if group == 1:
        found.append(Notice(
            "group-of-one", "rollout.n",
            "1, verl's default: a group of one has mean 0 and std 1 here, so the advantage is the "
            "raw reward and there is no baseline; GRPO needs 2 or more",
        ))  # fmt: skip
    if not given["norm_adv_by_std_in_grpo"]:
        found.append(Notice(
            "scale-rewards", "norm_adv_by_std_in_grpo",
            "false: advantages are only centred; the drift is p(1-p), not its square root",
        ))  # fmt: skip
    if not given["use_kl_loss"] and not given["use_kl_in_reward"]:
        found.append(Notice(
            "no-kl", "use_kl_loss",
            "false, verl's default: kl_loss_coef does nothing, no force holds the policy, and "
            "there is no fixed point and no stiffness but the task's own",
        ))  # fmt: skip
    return found


def of_async(given: Values, *, ahead: int, batch: int, steps: int, fastest: str) -> list[Notice]:
    """Return what the settings of the fully asynchronous recipe do not mean.

    `batch` prompts are used between two synchronizations, in `steps` optimizer steps; the sampler
    may be `ahead` prompts ahead; `fastest` says what the lag is where it is always on time.
    """
    threshold = float(given["staleness_threshold"])
    found = [Notice(
        "staleness-is-a-fraction", "staleness_threshold",
        f"{threshold:g} is neither steps nor versions: it is the share of one synchronization "
        f"interval, {batch} prompts in {steps} optimizer steps, by which the sampler may be ahead: "
        f"{ahead} prompts",
    ), Notice(
        "slower-sampler", "staleness_threshold",
        "the table is for a sampler that is always as far ahead as it may be, the longest lags; "
        f"one that is never ahead gives {fastest}; the truth is between",
    )]  # fmt: skip
    if given["train_batch_size"] and "train_batch_size" in given.given:
        found.append(Notice(
            "not-used", "train_batch_size", "does nothing in fully async runs, which want 0"
        ))  # fmt: skip
    if given["partial_rollout"] and ahead:
        found.append(Notice(
            "partial-rollout", "partial_rollout",
            "a completion that a synchronization interrupts goes on with the new weights: its "
            "tokens have two lags; it is counted here by when it was begun",
        ))  # fmt: skip
    return found
