r"""The figures of `docs/explanation/`: the theory's story in pictures, drawn from runs."""

from __future__ import annotations

from numerics.explanation.drawn import FIGURES, figures

__all__ = ["FIGURES", "figures"]
