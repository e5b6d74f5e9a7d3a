"""What one look at a running training finds."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from numerics.diagnose import Diagnosis, diagnose
from numerics.forecast import Forecast
from numerics.inputs import InvalidInput
from numerics.integrations.outlook import forecast_json, forecast_of, outlook
from numerics.logs import Log

__all__ = ["Findings", "look"]

Result = TypeVar("Result")
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True)
class Findings:
    r"""What the rows logged so far come to.

    Attributes
    ----------
    step : int
        The trainer's step at which it was looked.
    rows : int
        Rows logged by then, of any kind.
    diagnosis : Diagnosis or None
    forecast : Forecast or None
    problems : tuple of str
        Why there is no diagnosis or no forecast, such as a log that is too short.
    seconds : float
        Wall time of the look.
    """

    step: int
    rows: int
    diagnosis: Diagnosis | None = None
    forecast: Forecast | None = None
    problems: tuple[str, ...] = ()
    seconds: float = field(default=0.0, compare=False)

    @property
    def line(self) -> str:
        """The findings in one line, without when and how long."""
        said = [] if self.diagnosis is None else [self.diagnosis.summary]
        if self.forecast is not None:
            said.append(outlook(self.forecast))
        return "; ".join([*said, *self.problems])

    def brief(self) -> dict[str, Any]:
        """Return what a list of all looks needs, JSON-ready."""
        return {
            "step": self.step,
            "rows": self.rows,
            "verdict": None if self.diagnosis is None else self.diagnosis.verdict,
            "line": self.line,
            "seconds": round(self.seconds, 4),
        }

    def to_json(self) -> dict[str, Any]:
        """Return it JSON-ready."""
        return {
            "step": self.step,
            "rows": self.rows,
            "seconds": round(self.seconds, 4),
            "problems": list(self.problems),
            "diagnosis": None if self.diagnosis is None else self.diagnosis.to_json(),
            "forecast": None if self.forecast is None else forecast_json(self.forecast),
        }


def look(
    read: Callable[[], Log],
    lag: Callable[[], tuple[float, float] | None],
    *,
    step: int,
    rows: int,
    evaluation_items: int | None = None,
) -> Findings:
    r"""Diagnose and forecast a log; what cannot be done is a problem told, not an error raised.

    Parameters
    ----------
    read, lag : callables
        Return the log as it stands, and mean and largest lag in steps where they are known.
    step, rows : int
        As in `Findings`.
    evaluation_items : int, optional
        As `numerics.diagnose.diagnose` takes it.
    """
    started = time.perf_counter()
    problems: list[str] = []

    def tried(work: Callable[[], Result]) -> Result | None:
        try:
            return work()
        except InvalidInput as refused:
            problems.append(str(refused).removeprefix("log_history: "))
        except Exception as error:
            # Days of training must not end because their observer has a fault: it is told whole.
            _LOGGER.exception("the analysis failed at step %d; training goes on", step)
            problems.append(f"the analysis failed: {type(error).__name__}: {error}")
        return None

    diagnosis = forecast = None
    log, known_lag = tried(read), tried(lag)
    if log is not None:
        diagnosis = tried(
            lambda: diagnose(log, lag=known_lag, evaluation_items=evaluation_items)[-1]
        )
        forecast = tried(lambda: forecast_of(log))
    seconds = time.perf_counter() - started
    return Findings(step, rows, diagnosis, forecast, tuple(dict.fromkeys(problems)), seconds)
