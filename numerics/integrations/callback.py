"""A `Monitor` as a callback of transformers' trainers; importing this needs transformers."""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from numerics.integrations.monitor import Monitor

__all__ = ["MonitorCallback"]


class MonitorCallback(TrainerCallback):  # type: ignore[misc]  # Any where it is not installed
    """Hands the events that the monitor wants to it."""

    def __init__(self, monitor: Monitor) -> None:
        self.monitor = monitor

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        return self.monitor.on_train_begin(args, state, control)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        return self.monitor.on_log(args, state, control)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        return self.monitor.on_train_end(args, state, control)
