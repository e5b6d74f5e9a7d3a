"""A prediction as a table for people."""

from __future__ import annotations

import textwrap
from typing import Any

__all__ = ["render"]

_NOT_A_ROW = ("notes", "trajectory", "variance_per_noise")


def render(result: dict[str, Any]) -> str:
    """Return a prediction as a table for people."""
    rows = [(name, _text(name, value)) for name, value in result.items() if name not in _NOT_A_ROW]
    rows += [(f"q({point['t']:g})", _text("q", point["q"])) for point in result["trajectory"]]
    width = max(len(name) for name, _ in rows) + 2
    notes = [
        textwrap.fill(
            note, 78, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
        )
        for note in result["notes"]
    ]
    return "\n".join([*(f"{name:<{width}}{text}" for name, text in rows), "", *notes])


def _text(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if name == "stable_intervals":
        return ", ".join(f"({low:.6g}, {high:.6g})" for low, high in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_text(name, item) for item in value)
    return f"{value:.12g}" if isinstance(value, float) else str(value)
