r"""The exact linear dynamics over arrays, in floats."""

from __future__ import annotations

from numerics.dynamics.model import LAG_MODELS, OPTIMIZERS, Model, model, stiffness

__all__ = ["LAG_MODELS", "OPTIMIZERS", "Model", "model", "stiffness"]
