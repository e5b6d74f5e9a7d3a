"""Predictions with the usual arguments filled in."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numerics.predict import predict


def predicted(**flags: Any) -> dict[str, Any]:
    """Predict heavy ball at mu 0.9 and a constant lag, but for what is given; texts are exact."""
    names = ("optimizer", "lag_model", "staleness", "parameters")
    usual = {"optimizer": "heavy-ball", "lag_model": "constant", "momentum": "0.9", "lag": 3}
    read = {
        name: Fraction(value) if isinstance(value, str) and name not in names else value
        for name, value in {**usual, **flags}.items()
        if value is not None
    }
    return predict(**read)
