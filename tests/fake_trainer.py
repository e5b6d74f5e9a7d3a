"""A training loop with the objects that transformers hands its callbacks, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from numerics.integrations import Monitor

Row = dict[str, Any]


def rising(count: int, *, narrows_at: int | None = None, seed: int = 1) -> list[Row]:
    """Rows as trl logs them, of a run that learns; its entropy collapses if asked."""
    random = np.random.default_rng(seed)
    step = np.arange(count)
    reward = 0.8 - 0.6 * np.exp(-step / 40) + 0.04 * random.standard_normal(count)
    late = np.zeros(count) if narrows_at is None else np.maximum(0, step - narrows_at)
    entropy = 0.5 * np.exp(-late / 15 + 0.05 * random.standard_normal(count))
    dead = random.binomial(8, 0.2, count) / 8
    return [
        {
            "loss": 0.0,
            "reward": float(reward[k]),
            "reward_std": 0.3,
            "frac_reward_zero_std": float(dead[k]),
            "entropy": float(entropy[k]),
            "step": int(k) + 1,
        }
        for k in range(count)
    ]


class Loop:
    """Logs rows until they end or the monitor stops it, in the order of events of transformers."""

    def __init__(
        self, monitor: Monitor, directory: Path | str = "", *, first: bool = True, **args: Any
    ) -> None:
        self.monitor = monitor
        self.args = SimpleNamespace(output_dir=str(directory), **args)
        self.state = SimpleNamespace(
            log_history=[], global_step=0, logging_steps=1, is_world_process_zero=first
        )
        self.control = SimpleNamespace(should_training_stop=False, should_save=False)

    def train(self, rows: Iterable[Row], resumed: Sequence[Row] = ()) -> int:
        """Return the step at which it ended."""
        self.state.log_history = list(resumed)
        self.state.global_step = resumed[-1]["step"] if resumed else 0
        self.monitor.on_train_begin(self.args, self.state, self.control)
        for row in rows:
            self.state.global_step = row["step"]
            self.state.log_history.append(row)
            self.monitor.on_log(self.args, self.state, self.control)
            if self.control.should_training_stop:
                break
        self.state.log_history.append({"train_runtime": 9.0, "step": self.state.global_step})
        self.monitor.on_train_end(self.args, self.state, self.control)
        return int(self.state.global_step)
