"""The rows that a trainer holds in memory, read as its `trainer_state.json` would be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from numerics.logs import Log
from numerics.logs.assemble import assemble
from numerics.logs.store import Reading, Store
from numerics.logs.vocabulary import trainer_of

__all__ = ["log_of_rows"]


def log_of_rows(
    rows: Iterable[Mapping[str, Any]],
    configuration: Mapping[str, object] | None = None,
    release: tuple[int, int] | None = None,
) -> Log:
    r"""Return the log that `numerics.logs.read_log` gives for a file with these rows.

    Parameters
    ----------
    rows : iterable of mappings
        A `log_history`: training, evaluation and summary rows as they come.
    configuration : mapping, optional
        What is known of the run beside its rows: logging_steps, group_size, prompts_per_step.
    release : (major, minor), optional
        Of trl, which settles what its `reward_std` means; a file can only tell by its keys.

    Raises
    ------
    InvalidInput
        No row, no reward, or a reward that is no curve.
    """
    store = Store()
    for row in rows:
        store.add(row)
    reading = Reading(
        "trl trainer_state.json", store, trainer=trainer_of(store.names) or "trl", restarts=False,
        keeps_because="the trainer goes on from its last checkpoint",
        configuration=dict(configuration or {}),
        version_hints=[] if release is None else [_hint(*release)],
    )  # fmt: skip
    return assemble(Path("log_history"), reading)


def _hint(major: int, minor: int) -> tuple[str, str, str]:
    return "trl", f"{major}.{minor}", f"{major}.{minor + 1}"
