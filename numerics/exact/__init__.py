r"""The linear map solved exactly: stability, spectrum, onset, variance; and theorem 7's oscillator.

Everything is a function of a `Configuration` and the stiffness per step x = eta*K. Numbers given as
`fractions.Fraction` or as floats are taken as exactly what they are, and results are right to the
last digit or two over the whole domain.
"""

from __future__ import annotations

from numerics.exact.configuration import (
    LAG_MODELS,
    LONGEST_DELAY,
    OPTIMIZERS,
    Configuration,
    ConfigurationError,
    Number,
    UnstableError,
    exact_stiffness,
)
from numerics.exact.moments import stationary_variance
from numerics.exact.oscillator import inflection_time, trajectory, truncated_onset
from numerics.exact.polynomial import characteristic_polynomial
from numerics.exact.refresh import exact_monodromy, monodromy
from numerics.exact.spectrum import dominant_root, relaxation_time, spectral_radius, stable
from numerics.exact.stability import Threshold, threshold
from numerics.exact.transition import onset, regime

__all__ = [
    "LAG_MODELS",
    "LONGEST_DELAY",
    "OPTIMIZERS",
    "Configuration",
    "ConfigurationError",
    "Number",
    "Threshold",
    "UnstableError",
    "characteristic_polynomial",
    "dominant_root",
    "exact_monodromy",
    "exact_stiffness",
    "inflection_time",
    "monodromy",
    "onset",
    "regime",
    "relaxation_time",
    "spectral_radius",
    "stable",
    "stationary_variance",
    "threshold",
    "trajectory",
    "truncated_onset",
]
