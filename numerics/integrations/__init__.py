"""The forecast and the diagnostics inside a training loop."""

from __future__ import annotations

from typing import Any

from numerics.inputs import InvalidInput
from numerics.integrations.findings import Findings
from numerics.integrations.monitor import Monitor
from numerics.integrations.rows import log_of_rows
from numerics.integrations.rules import DIAGNOSTIC_NAMES, Rule, StopOnFault, StopWhenLittleIsLeft

__all__ = [
    "DIAGNOSTIC_NAMES",
    "Findings",
    "Monitor",
    "Rule",
    "StopOnFault",
    "StopWhenLittleIsLeft",
    "log_of_rows",
    "trainer_callback",
]


def trainer_callback(monitor: Monitor) -> Any:
    r"""Return the `transformers.TrainerCallback` through which a trainer feeds `monitor`.

    For ``callbacks=[...]`` of transformers' `Trainer`, trl's `GRPOTrainer` and their like.

    Raises
    ------
    InvalidInput
        transformers cannot be imported: the optional extra is not installed.
    """
    try:
        from numerics.integrations.callback import MonitorCallback
    except ImportError as error:
        raise InvalidInput(
            f"a callback for transformers' trainers needs the optional extra ({error}): "
            "pip install 'grpo-dynamics[transformers]'"
        ) from None
    return MonitorCallback(monitor)
