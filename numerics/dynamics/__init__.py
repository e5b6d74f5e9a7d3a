r"""The exact linear dynamics over arrays, in floats: paths, spectra, borders, moments, groups.

The sibling of `numerics.exact`, which is scalar and right to the last digit; each is tested against
the other. Exactly one of `lag`, `refresh` and `lag_law` says how the lag goes.
"""

from __future__ import annotations

from numerics.dynamics._linear_map import NOISE_ENTERS
from numerics.dynamics._runs import WHEN_UNSTABLE
from numerics.dynamics.averaging import (
    LOGGED,
    LoggedOscillation,
    logged_autocovariance,
    logged_oscillation,
    window_gain,
)
from numerics.dynamics.borders import Border, onset, stable, threshold
from numerics.dynamics.enclosure import (
    Enclosure,
    RandomLag,
    certified_stable,
    enclose_spectral_radius,
    enclose_threshold,
)
from numerics.dynamics.groups import (
    BASELINES,
    LARGEST_GROUP,
    NORMALISERS,
    GroupMoments,
    beta_mixture,
    group_moments,
)
from numerics.dynamics.mean_square import (
    LONGEST_MEAN_SQUARE,
    mean_square_radius,
    mean_square_threshold,
)
from numerics.dynamics.model import LAG_MODELS, OPTIMIZERS, Model, model, stiffness
from numerics.dynamics.moments import (
    autocovariance,
    phase_autocovariance,
    stationary_covariance,
    stationary_variance,
)
from numerics.dynamics.no_kl import SuccessPath, no_kl_path
from numerics.dynamics.path import LATEST_STEP, LONGEST_LAG, State, path
from numerics.dynamics.random_moments import RandomLagVariance, random_lag_variance
from numerics.dynamics.spectrum import (
    LONGEST_SPECTRUM,
    Dominant,
    dominant,
    relaxation_time,
    roots,
    spectral_radius,
)
from numerics.dynamics.temperature import NoiseTemperature, noise_temperature, variance_growth

__all__ = [
    "BASELINES",
    "LAG_MODELS",
    "LARGEST_GROUP",
    "LATEST_STEP",
    "LOGGED",
    "LONGEST_LAG",
    "LONGEST_MEAN_SQUARE",
    "LONGEST_SPECTRUM",
    "NOISE_ENTERS",
    "NORMALISERS",
    "OPTIMIZERS",
    "WHEN_UNSTABLE",
    "Border",
    "Dominant",
    "Enclosure",
    "GroupMoments",
    "LoggedOscillation",
    "Model",
    "NoiseTemperature",
    "RandomLag",
    "RandomLagVariance",
    "State",
    "SuccessPath",
    "autocovariance",
    "beta_mixture",
    "certified_stable",
    "dominant",
    "enclose_spectral_radius",
    "enclose_threshold",
    "group_moments",
    "logged_autocovariance",
    "logged_oscillation",
    "mean_square_radius",
    "mean_square_threshold",
    "model",
    "no_kl_path",
    "noise_temperature",
    "onset",
    "path",
    "phase_autocovariance",
    "random_lag_variance",
    "relaxation_time",
    "roots",
    "spectral_radius",
    "stable",
    "stationary_covariance",
    "stationary_variance",
    "stiffness",
    "threshold",
    "variance_growth",
    "window_gain",
]
