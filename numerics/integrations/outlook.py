"""The forecast, as a running training needs it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from numerics.fit import curve_of_log, fit
from numerics.forecast import Forecast, forecast
from numerics.logs import Log

__all__ = ["forecast_json", "forecast_of", "gained", "most_to_come", "outlook"]

_ESTIMATES = ("now", "end", "plateau", "remaining", "share_step")
_PLAIN = (
    "verdict", "why", "level", "horizon", "noise", "probability", "probability_of_fall", "share",
)  # fmt: skip


def forecast_of(log: Log) -> Forecast:
    """Return the forecast of the log's reward."""
    return forecast(curve_of_log(log).series)


def outlook(found: Forecast) -> str:
    """Return the forecast in a few words."""
    if found.verdict == "too early to tell":
        return "too early to forecast"
    at, low, high = found.plateau.middle, found.plateau.low, found.plateau.high
    return f"forecast: {found.verdict}, plateau {at:.3g} [{low:.3g}, {high:.3g}]"


def forecast_json(found: Forecast) -> dict[str, Any]:
    """Return it JSON-ready."""
    told: dict[str, Any] = {name: getattr(found, name) for name in _PLAIN}
    told |= {name: asdict(getattr(found, name)) for name in _ESTIMATES}
    return told | {"models": dict(found.models)}


def gained(found: Forecast) -> float:
    """Return the gain from the start of a fitted exponential to the reward at the last row.

    The forecast does not tell the start: its model of a run that stays where it is has none.
    """
    start, _ = fit(found.series, "exponential").at(found.series.step[:1])
    assert found.now.middle is not None  # only the ends of a step can be open
    return found.now.middle - float(start[0])


def most_to_come(found: Forecast, probability: float) -> float:
    """Return the gain that what remains stays below with a probability above one half.

    The upper end of an interval of coverage L is the quantile (1 + L)/2.
    """
    level = 2 * probability - 1
    if level != found.level:
        found = forecast(found.series, share=found.share, horizon=found.horizon, level=level)
    assert found.remaining.high is not None
    return found.remaining.high
