r"""A lag drawn afresh at every step: what `numerics.dynamics` says of it, in floats.

The mean path obeys chi with ``z**-d`` replaced by its mean over the law; the fluctuations have a
border of their own, where the second moment of q starts to grow (theory section 3.3, extension).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from numerics import dynamics
from numerics.exact import Configuration, ConfigurationError
from numerics.inputs import exact_number
from numerics.predict.oscillator import Law
from numerics.predict.relaxation import stiffness_at_root, too_short

__all__ = ["LONGEST_LAW", "NOTE", "checked", "of_map", "stiffness_from_tau"]

LONGEST_LAW = 128  # the work grows with the cube: a few seconds at this bound

NOTE = (
    "the lag is drawn afresh at every step; threshold, stable, onset, regime, spectral_radius and "
    "relaxation_time are the mean path's, in floats; mean_square_threshold, margin and variance "
    "are of the fluctuations, which are lost first"
)


def checked(
    lag_model: str, lag_law: Sequence[Fraction] | None, lag: int | None, refresh: int | None
) -> Law | None:
    r"""Return the law as lag -> probability; None if the lag is not random.

    Raises
    ------
    ConfigurationError, InvalidInput
        If what is given does not fit the lag model, or is no law.
    """
    if lag_model != "random":
        if lag_law is not None:
            raise ConfigurationError(f"lag_law is of the random lag model, not {lag_model}")
        return None
    if lag is not None or refresh is not None:
        raise ConfigurationError("the random lag model takes lag_law, not lag or refresh")
    if isinstance(lag_law, str) or not isinstance(lag_law, Iterable):
        lag_law = []
    lag_law = [exact_number("lag_law", p) for p in lag_law]
    if not lag_law:
        raise ConfigurationError("the random lag model needs lag_law: probabilities of 0, 1, ...")
    if min(lag_law) < 0 or sum(lag_law) != 1:
        raise ConfigurationError(
            f"lag_law sums to {float(sum(lag_law)):.12g} with {float(min(lag_law)):.12g} its "
            "smallest; probabilities are from 0 and must sum to exactly 1"
        )
    law = {lag: Fraction(p) for lag, p in enumerate(lag_law) if p}
    if max(law) > LONGEST_LAW:
        raise ConfigurationError(f"lag_law reaches to lag {max(law)}; {LONGEST_LAW} is the longest")
    return law


def stiffness_from_tau(c: Configuration, law: Law, tau: Fraction) -> Fraction:
    r"""Return the smallest x at which the mean path relaxes as ``exp(-t/tau)``.

    Raises
    ------
    InvalidInput
        As `numerics.predict.stiffness_from_tau`.
    """

    def relaxation(x: float) -> float:
        return float(dynamics.relaxation_time(x=x, **_family(c, law)))

    x = stiffness_at_root(c, law, tau)
    if x is not None and math.isclose(relaxation(float(x)), float(tau), rel_tol=1e-9):
        return x
    family = _family(c, law)
    end = float(dynamics.onset(**family))
    end = float(dynamics.threshold(**family).value) if math.isnan(end) else end
    raise too_short(tau, relaxation(end), end)


def of_map(c: Configuration, law: Law, x: Fraction) -> dict[str, Any]:
    """Return what the map does on the mean, and how its fluctuations fare."""
    family = _family(c, law)
    at = {**family, "x": float(x)}
    border, onset = dynamics.threshold(**family), float(dynamics.onset(**family))
    mode = dynamics.dominant(**at)
    stable, rate = bool(mode.rate < 0), float(mode.rate)
    swings = not (mode.root.imag == 0 and mode.root.real > 0)
    found = dynamics.random_lag_variance(**at, noise_enters="recurrence", unstable="nan")
    variance = float(found.variance)
    calm = None if math.isnan(variance) else variance
    return {
        "threshold": float(border.value),
        "threshold_kind": str(border.kind),
        "mean_square_threshold": float(dynamics.mean_square_threshold(**family)),
        "stable": stable,
        "mean_square_stable": calm is not None,
        "onset": None if math.isnan(onset) else onset,
        "regime": "unstable" if not stable else "oscillatory" if swings else "overdamped",
        "spectral_radius": float(mode.modulus),
        "relaxation_time": -1 / rate if stable else None,
        "variance": calm,
        "variance_per_noise": calm,
    }


def _family(c: Configuration, law: Law) -> dict[str, Any]:
    """Return the run as `numerics.dynamics` takes it, the optimizer included."""
    return {
        "optimizer": c.optimizer,
        "mu": float(c.momentum),
        "stale_share": float(c.share),
        "lag_law": [float(law.get(lag, 0)) for lag in range(max(law) + 1)],
    }
