"""Watches a training through the rows it logs, and stops it only by the rules it was given."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numerics.inputs import InvalidInput, check_type, whole_number
from numerics.integrations.findings import Findings, look
from numerics.integrations.rows import log_of_rows
from numerics.integrations.rules import Rule
from numerics.integrations.together import decided_by_first
from numerics.integrations.told import configuration_of, lag_of, release_of_trl
from numerics.logs import Log
from numerics.publish import staged

__all__ = ["Monitor"]

#: What a row has that the trainer adds when it ends, and that tells no more of the run.
_SUMMARY = "train_runtime"


class Monitor:
    r"""Keeps forecast and diagnostics of a running training up to date.

    Its three methods take what transformers hands a callback: `args`, `state` and `control`, of
    which it reads ``state.log_history``, ``state.global_step``, ``state.is_world_process_zero``
    and ``args.output_dir``, and sets ``control.should_training_stop``. Any loop with such objects
    can call it; `trainer_callback` makes the callback of a transformers trainer.

    The first process alone works and speaks. It works in the thread that calls it, so training
    waits for the time it says. It draws no random numbers of the global generators.

    Parameters
    ----------
    every : int
        Logged rows (of any kind) from one look to the next. Rows of earlier parts of a resumed
        run count, so a resume changes nothing.
    stop : sequence of rules
        Such as `StopOnFault` and `StopWhenLittleIsLeft`, or any function from `Findings` to a
        reason or None. Without rules it only reports.
    after : int
        Steps before which no rule is asked; required with rules.
    file : str, optional
        Name of a JSON file in ``args.output_dir``, replaced whole at every look.
    group_size, prompts : int, optional
        Samples a prompt and prompts behind a logged row; taken from the arguments of trl's
        GRPO otherwise.
    lag : (mean, largest), optional
        Steps; worked out from the same arguments otherwise.
    evaluation_items : int, optional
        Held-out prompts behind one evaluation.
    say : callable
        Takes each line it has to say.

    Attributes
    ----------
    findings : Findings or None
        Of the last look.
    stopped : str or None
        Why it stopped the training.

    Raises
    ------
    InvalidInput
        A number out of range, rules without `after`, a file name that is a path.
    """

    def __init__(
        self,
        *,
        every: int = 50,
        stop: Sequence[Rule] = (),
        after: int | None = None,
        file: str | None = None,
        group_size: int | None = None,
        prompts: int | None = None,
        lag: tuple[float, float] | None = None,
        evaluation_items: int | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        self._every = whole_number("every", every, least=1)
        self._rules = _rules(stop)
        if self._rules and after is None:
            raise InvalidInput("stop rules need after: give the step before which none may stop")
        self._after = 0 if after is None else whole_number("after", after, least=0)
        if file is not None:
            check_type("file", file, str, "the name of a file")
            if file in ("", ".", "..") or Path(file).name != file:
                raise InvalidInput(f"file is {file!r}: give a name, not a path")
        self._file = file
        self._given = {
            name: whole_number(what, value, least=least)
            for name, what, value, least in (
                ("group_size", "group_size", group_size, 2),
                ("prompts_per_step", "prompts", prompts, 1),
            )
            if value is not None
        }
        if lag is not None and not 0 <= lag[0] <= lag[1]:
            raise InvalidInput(f"lag is {lag}: give the mean and the largest, 0 <= mean <= largest")
        self._lag = lag
        if evaluation_items is not None:
            whole_number("evaluation_items", evaluation_items, least=1)
        self._items = evaluation_items
        self._say = say
        self._begin(0)

    def _begin(self, rows: int) -> None:
        self.findings: Findings | None = None
        self.stopped: str | None = None
        self._rows = rows
        self._past: list[dict[str, Any]] = []
        self._seconds = 0.0
        self._started = time.perf_counter()
        self._said = ""

    def on_train_begin(self, args: Any, state: Any, control: Any) -> Any:
        """Start afresh; rows that a resumed state brings along count as seen."""
        rows = len(state.log_history)
        self._begin(rows)
        if rows and state.is_world_process_zero:
            following = (rows // self._every + 1) * self._every
            self._tell(
                state.global_step, f"resumed with {rows} logged rows; next look at row {following}"
            )
        return control

    def on_log(self, args: Any, state: Any, control: Any) -> Any:
        """Look when `every` rows more are there; ask the rules from step `after` on."""
        rows = len(state.log_history)
        due = rows // self._every > self._rows // self._every
        if not due:
            return control
        self._rows = rows
        if state.is_world_process_zero:
            self._look(args, state)
        if self._rules and state.global_step >= self._after and self._agreed(args, state):
            control.should_training_stop = True
            if _saves(args):
                control.should_save = True
        return control

    def on_train_end(self, args: Any, state: Any, control: Any) -> Any:
        """Look once more if rows came since, and say what the looks have cost."""
        if not state.is_world_process_zero:
            return control
        seen = 0 if self.findings is None else self.findings.rows
        if self.findings is None or any(_SUMMARY not in row for row in state.log_history[seen:]):
            self._look(args, state)
        took = time.perf_counter() - self._started
        self._tell(
            state.global_step,
            f"{len(self._past)} looks took {self._seconds:.1f} s of {took:.1f} s of training",
        )
        return control

    def _look(self, args: Any, state: Any) -> None:
        step, rows = int(state.global_step), len(state.log_history)
        found = look(
            partial(self._log, args, state), partial(self._lag_of, args),
            step=step, rows=rows, evaluation_items=self._items,
        )  # fmt: skip
        self.findings = found
        self._seconds += found.seconds
        self._past.append(found.brief())
        line = found.line
        if line != self._said:
            self._tell(step, f"{line} ({found.seconds:.1f} s)")
            self._said = line
        self._write(args)

    def _log(self, args: Any, state: Any) -> Log:
        known = configuration_of(args, state) | self._given
        return log_of_rows(state.log_history, known, release_of_trl())

    def _lag_of(self, args: Any) -> tuple[float, float] | None:
        return self._lag if self._lag is not None else lag_of(args)

    def _agreed(self, args: Any, state: Any) -> bool:
        """Ask the rules in the first process; every process learns what it decided."""
        if state.is_world_process_zero and self.findings is not None:
            started = time.perf_counter()
            reasons = [why for rule in self._rules if (why := rule(self.findings))]
            self._seconds += time.perf_counter() - started
            if reasons:
                self.stopped = "; ".join(reasons)
                self._tell(state.global_step, f"training stops: {self.stopped}")
                self._write(args)
        return decided_by_first(self.stopped is not None)

    def _write(self, args: Any) -> None:
        if self._file is None or self.findings is None:
            return
        told = {
            "schema": "grpo-dynamics/monitor/1",
            **self.findings.to_json(),
            "stopped": self.stopped,
            "every": self._every,
            "after": self._after,
            "looks": self._past,
            "seconds_of_all_looks": round(self._seconds, 4),
        }
        try:
            with staged(Path(args.output_dir), [self._file]) as scratch:
                text = json.dumps(told, indent=2, allow_nan=False) + "\n"
                (scratch / self._file).write_text(text, encoding="utf-8")
        except (OSError, ValueError) as error:  # a full disk is no reason to lose a training
            self._tell(self.findings.step, f"{self._file} is not written: {error}")

    def _tell(self, step: int, text: str) -> None:
        self._say(f"grpo-dynamics, step {step}: {text}")


def _rules(stop: Sequence[Rule]) -> tuple[Rule, ...]:
    """Return the rules; a single one in place of a sequence is a slip that is easily made."""
    if callable(stop):
        raise InvalidInput(f"stop is {stop!r}: give a list of rules, [{stop!r}]")
    for rule in stop:
        if not callable(rule):
            raise InvalidInput(f"a stop rule is {rule!r}: give a rule such as StopOnFault(...)")
    return tuple(stop)


def _saves(args: Any) -> bool:
    """Whether the trainer saves checkpoints at all, so that the last step deserves one."""
    strategy = getattr(args, "save_strategy", "no")
    return str(getattr(strategy, "value", strategy)) != "no"
