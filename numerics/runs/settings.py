"""What every run file has: its kind, its length, its seed, what is recorded of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from numerics.inputs import InvalidInput
from numerics.runs.fields import Field, RunFileError, named, read_table, whole
from numerics.runs.table import ROWS, Table

__all__ = ["Run", "Settings", "settings"]

_MOST_STEPS = 10**9
_MOST_CHAINS = 10**6
_MOST_RECORDS = 2 * 10**6  # steps recorded, times chains
_MOST_STATE = 10**8  # numbers kept at a time: parameters of all chains, as old as the lag
_MOST_WORK = 10**12  # parameters of all chains, times steps


@dataclass(frozen=True)
class Settings:
    r"""The keys above the first table of a run file.

    Attributes
    ----------
    where
        The file, for complaints.
    steps, chains, record_every
        Updates, independent runs, and the spacing of the recorded steps 0, record_every, ...
    rows
        ``"chain"``: a row for each chain; ``"mean"``: their mean.
    seed
        Of everything random; None if the file has none.
    """

    where: str
    steps: int
    chains: int
    record_every: int
    rows: str
    seed: int | None

    def check_size(self, *, longest_lag: int, numbers: int) -> None:
        """Refuse a run too large to hold; `numbers` are the parameters of one chain."""
        if longest_lag > self.steps:
            raise RunFileError(
                f"{self.where} [lag]: a lag of {longest_lag} is longer than the run of "
                f"{self.steps} steps"
            )
        held = self.chains * numbers
        for key, size, most, what in (
            ("record_every", (self.steps // self.record_every + 1) * self.chains, _MOST_RECORDS,
             "records"),
            ("chains", held * (longest_lag + 1), _MOST_STATE, "numbers to hold, lag included,"),
            ("steps", held * self.steps, _MOST_WORK, "updates of a number"),
        ):  # fmt: skip
            if size > most:
                raise RunFileError(f"{self.where} {key}: {size} {what}; {most} are the most")


@dataclass(frozen=True)
class Run:
    r"""A run file that has been read and checked.

    Attributes
    ----------
    kind
        ``"scalar"`` or ``"bandit"``.
    settings
        Its length, seed and rows.
    conventions
        Everything else that changes the answer, presets spelt out; JSON-ready.
    """

    kind: str
    settings: Settings
    conventions: Mapping[str, Any]
    simulate: Callable[[], Table]

    def execute(self) -> Table:
        """Run it and return its rows.

        Raises
        ------
        RunFileError
            If the simulation refuses what the file asks for, before any step is taken.
        """
        try:
            return self.simulate()
        except InvalidInput as error:
            raise RunFileError(f"{self.settings.where}: {error}") from error


def settings(
    content: Mapping[str, Any], where: str, *, kinds: Iterable[str], tables: Mapping[str, bool]
) -> tuple[Settings, dict[str, Any]]:
    r"""Return the settings of a run file, and its tables by name.

    `tables` says of each whether it is required; one that is not is None if left out.
    """
    fields = {
        "kind": Field(named("kind", tuple(kinds))),
        "steps": Field(whole(least=1, most=_MOST_STEPS)),
        "chains": Field(whole(least=1, most=_MOST_CHAINS), 1),
        "record_every": Field(whole(least=1, most=_MOST_STEPS), 1),
        "rows": Field(named("rows", ROWS), "chain"),
        "seed": Field(whole(least=0, most=2**128 - 1), None),
    }
    for name, required in tables.items():
        fields[name] = Field(lambda table: table) if required else Field(lambda table: table, None)
    values = read_table(content, fields, where)
    own = {name: values.pop(name) for name in tables}
    values.pop("kind")
    return Settings(where, **values), own
