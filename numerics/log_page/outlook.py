"""Where the reward goes: the forecast beyond the rows, and what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.forecast import Estimate, Forecast
from numerics.log_page.parts import facts, to
from numerics.pages import number, text
from numerics.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ahead", "expected", "room"]

_POINTS = 60
_HEAVIEST = 4
_SPARE = 0.5  # of the range of the rows, for an interval that goes beyond it


def ahead(axes: Axes, found: Forecast) -> None:
    """Draw the expected reward beyond the last row, its interval, and the plateau's at the end."""
    last = float(found.series.step[-1])
    step = np.linspace(last, last + found.horizon, _POINTS)
    middle, low, high = found.at(step)
    colour = COLOURS["purple"]
    axes.axvline(last, color=COLOURS["faint"], linewidth=0.8)
    axes.fill_between(step, low, high, color=colour, alpha=0.22, linewidth=0)
    axes.plot(step, middle, color=colour, linestyle="--", label="forecast")
    end, plateau = step[-1] + 0.03 * float(step[-1] - found.series.step[0]), found.plateau
    if plateau.low is not None and plateau.high is not None:
        axes.vlines(end, plateau.low, plateau.high, color=colour, linewidth=1.6)
    if plateau.middle is not None:
        axes.plot(end, plateau.middle, "D", color=colour, markersize=4.5)
    reached = _drawn_share(found)
    if reached is not None:
        axes.axvline(reached, color=colour, linewidth=1.0, linestyle=":")


def room(found: Forecast, value: NDArray[np.float64]) -> list[float]:
    """Return what the axis must hold beside the rows: the plateau, and of its interval some."""
    low, high = float(value.min()), float(value.max())
    spare = _SPARE * (high - low)
    ends = (found.plateau.low, found.plateau.high)
    kept = [min(max(end, low - spare), high + spare) for end in ends if end is not None]
    return kept + [e.middle for e in (found.end, found.plateau) if e.middle is not None]


def expected(found: Forecast) -> str:
    """Return what the forecast says."""
    share = f"{100 * found.share:g} %"
    dotted = "" if _drawn_share(found) is None else f"; dotted, where {share} of the gain is had"
    heaviest = sorted(found.models.items(), key=lambda item: -item[1])[:_HEAVIEST]
    models = ", ".join(f"{text(name)} {number(weight, 2)}" for name, weight in heaviest)
    rows = [
        ("verdict", f"<b>{text(found.verdict)}</b>: {text(found.why)}"),
        ("plateau", _estimate(found.plateau)),
        ("gain to come", _estimate(found.remaining)),
        (f"{share} of it", _reached(found.share_step)),
        (
            "can be seen",
            f"a gain above the noise of {number(found.noise)} has probability "
            f"{number(found.probability, 2)}, a fall {number(found.probability_of_fall, 2)}",
        ),
        (
            "drawn",
            f"{number(found.horizon)} steps ahead, {number(100 * found.level, 3)} % intervals; "
            f"◆ plateau{dotted}",
        ),
        ("models", models),
    ]
    return facts(rows)


def _drawn_share(found: Forecast) -> float | None:
    """Return the step that has the share of the gain, if it is in the picture."""
    reached = found.share_step.middle
    last = float(found.series.step[-1]) + found.horizon
    return reached if reached is not None and reached <= last else None


def _estimate(found: Estimate) -> str:
    middle = "open" if found.middle is None else number(found.middle)
    return f"{middle} {to(found.low, found.high)}"


def _reached(found: Estimate) -> str:
    if found.middle is None and found.low is None:
        return "at no step that can be told"
    middle = "open" if found.middle is None else number(found.middle)
    return f"at step {middle} {to(found.low, found.high)}"
