"""What a trainer's arguments and state tell of a run beside its rows."""

from __future__ import annotations

import re
import sys
from typing import Any

from numerics.trainers import lag_table

__all__ = ["configuration_of", "lag_of", "release_of_trl"]

_STATE = ("logging_steps", "max_steps", "eval_steps", "save_steps", "global_step")
#: Arguments of trl that its schedule follows from. `generation_batch_size` is left out: trl
#: fills it in from `steps_per_generation` and refuses both together.
_SCHEDULE = (
    "gradient_accumulation_steps",
    "steps_per_generation",
    "num_iterations",
    "num_generations",
    "per_device_train_batch_size",
)


def configuration_of(args: Any, state: Any) -> dict[str, object]:
    """Return what a log would tell as its configuration; only what is a whole number."""
    found: dict[str, object] = {
        name: value for name in _STATE if (value := _whole(state, name)) is not None
    }
    group = _whole(args, "num_generations")
    batch = _whole(args, "per_device_train_batch_size")
    if group is not None and batch is not None:
        found["group_size"] = group
        # A reward row averages what was generated for its step: one generation at least, and
        # several where a step spans more micro-batches than a generation has.
        micro_batches = max(
            _whole(args, "gradient_accumulation_steps") or 1,
            _whole(args, "steps_per_generation") or 1,
        )
        samples = batch * (_whole(args, "world_size") or 1) * micro_batches
        if samples % group == 0:
            found["prompts_per_step"] = samples // group
    return found


def lag_of(args: Any) -> tuple[float, float] | None:
    """Return mean and largest lag in steps; None where the arguments are not those of trl's GRPO.

    Raises
    ------
    InvalidInput
        Arguments of GRPO that trl itself would refuse.
    """
    layer: dict[str, object] = {
        name: value for name in _SCHEDULE if (value := _whole(args, name)) is not None
    }
    if "num_generations" not in layer:
        return None
    layer["num_processes"] = _whole(args, "world_size") or 1
    release = release_of_trl()
    if release is not None:
        layer["trainer_version"] = "{}.{}".format(*release)
    table = lag_table("trl", layer)
    return float(table.mean), float(table.max)


def release_of_trl() -> tuple[int, int] | None:
    """Return major and minor release of the trl in use; None where none has been imported."""
    found = re.match(r"(\d+)\.(\d+)", str(getattr(sys.modules.get("trl"), "__version__", "")))
    return None if found is None else (int(found[1]), int(found[2]))


def _whole(source: Any, name: str) -> int | None:
    value = getattr(source, name, None)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
