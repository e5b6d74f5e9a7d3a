r"""Forecasts: where the reward of a run goes, how surely, and when it is too early to tell.

From rows to a decision::

    given = curve_of_log(read_log(path)).series            # numerics.fit, numerics.logs
    found = forecast(given, share=0.9)                     # a Forecast
    found.verdict, found.why                               # "too early to tell", ...
    found.plateau.low, found.plateau.high                  # 90 % interval
    found.remaining, found.noise, found.probability        # gain to come; can it be seen
    found.share_step.middle                                # the step that has 90 % of it
    mean, low, high = found.at(steps)                      # the expected reward, past or future
    found.window(steps)                                    # the mean of rows, their noise included
"""

from __future__ import annotations

from numerics.forecast.mixture import LEVEL, MODELS
from numerics.forecast.outcome import FEWEST_ROWS, Estimate, Forecast, forecast

__all__ = ["FEWEST_ROWS", "LEVEL", "MODELS", "Estimate", "Forecast", "forecast"]
