"""What the experiments' figures share."""

from __future__ import annotations

__all__ = ["standing_alone"]


def standing_alone(svg: str) -> str:
    """Give the SVG a ground: a page in dark mode would swallow the axes of a transparent one."""
    return svg.replace("<svg ", '<svg style="background:#fff" ', 1)
