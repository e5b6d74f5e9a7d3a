r"""Which figures the explanation has, and how each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from numerics.explanation import group_size, story, truncation, where_lag_acts
from numerics.plots import panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FIGURES", "figures"]

#: Name of each figure -> what draws it; the file is that name with ``.svg``.
FIGURES: Mapping[str, Callable[[Axes], None]] = MappingProxyType(
    {
        "explain_inertia": story.inertia,
        "explain_temperature": story.temperature,
        "explain_slow_start": story.slow_start,
        "explain_threshold_factor": truncation.threshold_factor,
        "explain_onset_factor": truncation.onset_factor,
        "explain_swing_and_loss": truncation.swing_and_loss,
        "explain_stale_slope": where_lag_acts.stale_slope,
        "explain_lag_both_ways": where_lag_acts.both_ways,
        "explain_group_drift": group_size.drift,
        "explain_group_curve": group_size.curve,
        "explain_group_noise": group_size.noise,
    }
)


def figures() -> dict[str, str]:
    """Return file name -> SVG of every figure."""
    return {f"{name}.svg": panel(name, draw) for name, draw in FIGURES.items()}
