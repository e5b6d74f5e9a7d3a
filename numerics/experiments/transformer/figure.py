"""What the experiments' figures share."""

from __future__ import annotations

from numerics.plots import standing_alone

__all__ = ["standing_alone"]
