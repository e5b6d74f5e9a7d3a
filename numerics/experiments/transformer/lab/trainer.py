r"""The real GRPO trainer of trl on a tiny policy, with every kind of staleness.

The trainer itself offers one: stale samples with the importance ratio, when one sampling serves
several steps (``steps_per_generation``); each of them trains on fresh samples of the old policy.
The other two take the few lines of `LabTrainer`.
"""

from __future__ import annotations

import copy
import importlib
import math
import os
import tempfile
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from datasets import Dataset
from numpy.typing import NDArray
from transformers import PrinterCallback, TrainerCallback
from transformers.utils import logging as transformers_logging
from trl import GRPOConfig, GRPOTrainer
from trl.trainer.utils import add_fused_lm_head

from numerics.experiments.transformer.lab.policy import (
    Policy,
    gram,
    move,
    policy,
    success_logit,
    tokenizer,
    trained,
)
from numerics.experiments.transformer.setting import Run, Setting
from numerics.experiments.transformer.tasks import Task, task

__all__ = ["LabTrainer", "Weights", "optimizer", "prepare", "quiet", "train", "trainer"]

Weights = dict[str, Any]

_NO_CLIP = 1e6  # a clip range that no ratio reaches


class LabTrainer(GRPOTrainer):  # type: ignore[misc]  # trl is untyped
    """trl's trainer, and what its gradient is computed with when the samples are stale."""

    staleness = "stale-samples-ratio"
    _old: Weights

    def _compute_loss(self, model: Any, inputs: Any) -> Any:
        if self.staleness == "stale-samples":
            # Without the sampler's log-probabilities the trainer takes the ratio to be 1.
            inputs = {key: item for key, item in inputs.items() if key != "old_per_token_logps"}
        return super()._compute_loss(model, inputs)

    def training_step(self, model: Any, inputs: Any, num_items_in_batch: Any) -> Any:
        """Make one gradient; a delayed one with the weights that sampled."""
        if self.staleness != "delayed-gradient":
            return super().training_step(model, inputs, num_items_in_batch)
        now = _copy(model)
        if self._step % (self.args.steps_per_generation * self.num_iterations) == 0:
            self._old = now
        model.load_state_dict(self._old)
        loss = super().training_step(model, inputs, num_items_in_batch)
        model.load_state_dict(now)
        return loss


def _copy(model: Any) -> Weights:
    return {key: value.clone() for key, value in model.state_dict().items()}


def prepare(setting: Setting) -> tuple[Task, Policy, Policy]:
    """Return the task, the first policy and the reference policy of a run."""
    work = task(setting.task, answers=setting.answers, prompts=setting.prompts)
    first = policy(work, seed=setting.policy_seed)
    if setting.p_ref is not None:
        move(first, work, _logit(setting.p_ref))
    reference = copy.deepcopy(first)
    if setting.p_start is not None:
        move(first, work, _logit(setting.p_start))
    return work, first, reference


def _logit(p: float | tuple[float, ...]) -> NDArray[np.float64]:
    share = np.asarray(p, dtype=np.float64)
    return np.log(share) - np.log1p(-share)


def optimizer(setting: Setting, weights: list[Any], eta: float) -> Any:
    """Return the optimizer of a run: torch's own, started from rest."""
    if setting.optimizer == "adam":
        return torch.optim.Adam(weights, lr=eta, betas=(setting.mu, 0.999))
    made = torch.optim.SGD(
        weights,
        lr=eta,
        momentum=setting.mu,
        dampening=setting.mu if setting.optimizer == "ema" else 0.0,
        nesterov=setting.optimizer == "nesterov",
    )
    if setting.optimizer == "ema":
        # The first step of torch's SGD is not dampened unless there is a buffer already.
        for weight in weights:
            made.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
    return made


def trainer(
    setting: Setting,
    work: Task,
    first: Policy,
    reference: Policy,
    callbacks: list[Any],
    directory: str,
    *,
    eta: float,
) -> LabTrainer:
    """Return the trainer of a run; nothing is logged or saved."""
    rows = setting.group_size * setting.prompts
    samplings = math.ceil(setting.steps / setting.refresh)

    def reward(prompts: list[str], completions: list[str], **rest: Any) -> list[float]:
        return [work.reward(*pair) for pair in zip(prompts, completions, strict=True)]

    made = LabTrainer(
        model=first,
        reward_funcs=reward,
        args=GRPOConfig(**{
            "output_dir": directory, "report_to": [], "save_strategy": "no",
            "logging_strategy": "no", "disable_tqdm": True, "use_cpu": True, "bf16": False,
            "gradient_checkpointing": False, "lr_scheduler_type": "constant",
            "learning_rate": eta, "max_grad_norm": 0.0, "seed": setting.seed,
            "shuffle_dataset": False, "max_steps": setting.steps, "beta": 0.0,
            "per_device_train_batch_size": rows, "num_generations": setting.group_size,
            "steps_per_generation": setting.refresh, "max_completion_length": work.length,
            "epsilon": setting.clip if math.isfinite(setting.clip) else _NO_CLIP,
            "loss_type": "grpo",
            "scale_rewards": "group" if setting.normaliser == "group-std" else "none",
            "use_bias_correction_kl": setting.kl == "reverse", **dict(setting.trl),
        }),
        train_dataset=Dataset.from_list(
            [{"prompt": prompt} for prompt in work.prompts] * (setting.refresh * samplings)
        ),
        processing_class=tokenizer(work),
        callbacks=callbacks,
        optimizers=(optimizer(setting, trained(first), eta), None),
    )  # fmt: skip
    made.remove_callback(PrinterCallback)
    made.staleness = setting.staleness
    if setting.beta:
        # The trainer would load its reference by name; this one has none.
        made.beta = setting.beta
        made.ref_model = reference.eval().requires_grad_(False)
        add_fused_lm_head(made.ref_model)
    return made


class _Recorder(TrainerCallback):  # type: ignore[misc]  # untyped
    """Keeps the exact logits after every step, and the trainer's own numbers."""

    def __init__(self, work: Task, first: Policy, until: float) -> None:
        self.work, self.policy = work, first
        self.logits = [self._look()]
        self.until = until
        self.trainer: Any = None

    def _look(self) -> NDArray[np.float64]:
        with torch.no_grad():
            return np.asarray(success_logit(self.policy, self.work).numpy())

    def on_step_end(self, args: Any, state: Any, control: Any, **options: Any) -> None:
        """Look at the policy."""
        self.logits.append(self._look())
        if self.until < 1 and self.logits[-1].min() > _logit(self.until):
            control.should_training_stop = True
        metrics = self.trainer._metrics["train"]
        self.reward, self.dead = list(metrics["reward"]), list(metrics["frac_reward_zero_std"])


def train(setting: Setting) -> Run:
    """Do a run."""
    quiet()
    work, first, reference = prepare(setting)
    gain = float(np.mean(np.diag(gram(first, work))))
    eta = setting.pace if setting.optimizer == "adam" else setting.pace / gain
    facts: dict[str, Any] = {"gain": gain, "eta": eta}
    for name in setting.measures:
        # A module of its own, because it measures with this one's trainer.
        measure = importlib.import_module("numerics.experiments.transformer.lab.measures").MEASURES
        facts |= measure[name](setting, work, first, reference, eta)
    recorder = _Recorder(work, first, setting.until)
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, about sizes and devices
        made = trainer(setting, work, first, reference, [recorder], directory, eta=eta)
        recorder.trainer = made
        made.train()
    return Run(
        setting,
        np.array(recorder.logits),
        np.array(recorder.reward),
        np.array(recorder.dead),
        facts,
        {name: version(name) for name in ("torch", "trl", "transformers", "numpy")},
    )


def quiet() -> None:
    """One thread a run, as runs share the processors, and no advice from the libraries."""
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    transformers_logging.set_verbosity_error()
