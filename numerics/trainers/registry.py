"""The trainers, and the one function from a configuration to a table of lags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType

from numerics.inputs import InvalidInput, known_name
from numerics.trainers import queue, trl, verl
from numerics.trainers.settings import Layer, find, misspelt, read
from numerics.trainers.table import LagTable

__all__ = ["TRAINERS", "lag_table", "trainer_of"]

#: The trainers by name, each a module with SETTINGS, MARKS, NEIGHBOURS and `table`.
TRAINERS: dict[str, ModuleType] = {"trl": trl, "verl": verl, "queue": queue}

_SHOWN = 4


def lag_table(trainer: str | None, *layers: Layer) -> LagTable:
    r"""Return the lag of every micro-batch under a trainer's configuration.

    Parameters
    ----------
    trainer
        ``"trl"``, ``"verl"`` or ``"queue"``; None: found out from the keys.
    *layers
        Settings by the trainer's own keys, dotted or the last part alone, a later mapping going
        before an earlier one. What is not given has the trainer's default.

    Returns
    -------
    LagTable

    Raises
    ------
    UnknownName
        A trainer that is not known here.
    InvalidInput
        Settings of another trainer or of none, or values that the trainer itself refuses.

    Examples
    --------
    >>> lag_table("trl", {"gradient_accumulation_steps": 4, "steps_per_generation": 3}).lags
    ((0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 0))
    """
    name = trainer_of(trainer, layers)
    module = TRAINERS[name]
    found = module.table(read(module.SETTINGS, layers))
    notices = misspelt(module.SETTINGS, layers, module.NEIGHBOURS)
    table: LagTable = replace(found, notices=(*notices, *found.notices))
    return table


def trainer_of(asked: str | None, layers: Sequence[Layer]) -> str:
    """Return whose configuration it is; an `asked` trainer must be able to read something of it.

    Raises
    ------
    UnknownName, InvalidInput
        As `lag_table`.
    """
    written = next((layer["trainer"] for layer in reversed(layers) if "trainer" in layer), None)
    name = asked if asked is not None else written
    if name is not None:
        known_name("trainer", name, TRAINERS)
    marked = [each for each, module in TRAINERS.items() if _marks(module, layers)]
    if name is None:
        name = _only(marked, layers)
    assert isinstance(name, str)  # it is known
    if marked and name not in marked:
        raise InvalidInput(f"the configuration is {marked[0]}'s, not {name}'s")
    settings = TRAINERS[name].SETTINGS
    found = _keys(layers)
    if found and not any(find(setting, layers)[1] is not None for setting in settings):
        raise InvalidInput(f"no setting of {name} is among the keys: found {found}")
    return name


def _only(marked: Sequence[str], layers: Sequence[Layer]) -> str:
    """Return the one trainer whose keys were found."""
    if len(marked) == 1:
        return marked[0]
    choices, found = ", ".join(TRAINERS), _keys(layers)
    if not found:
        raise InvalidInput(f"no trainer is given: give one of {choices}")
    reason = f"it has keys of {' and '.join(marked)}" if marked else "no key tells"
    raise InvalidInput(
        f"whose configuration is this? {reason} (found {found}): name the trainer, one of {choices}"
    )


def _keys(layers: Sequence[Layer]) -> str:
    """Return the first keys there are, but for the name of the trainer."""
    keys = [key for layer in layers for key in layer if key != "trainer"]
    return ", ".join(keys[:_SHOWN]) + (", ..." if len(keys) > _SHOWN else "")


def _marks(module: ModuleType, layers: Sequence[Layer]) -> bool:
    marks = set(module.MARKS)
    return any(marks & set(key.split(".")) for layer in layers for key in layer)
