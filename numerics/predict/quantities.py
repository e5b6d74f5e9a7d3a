r"""What a configuration will do: every quantity of the linear theory for one configuration and x.

The oscillator's coefficients and prop-9's rule come from the compiled derivations; stability,
onset, spectrum and noise come from the exact map and never from the oscillator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from numerics import exact
from numerics.exact import Configuration
from numerics.inputs import InvalidInput, exact_number
from numerics.predict import random_lag
from numerics.predict.oscillator import Law, coefficients, rule_threshold, truncated_onset
from numerics.predict.relaxation import stiffness_from_tau
from numerics.predict.room import largest_safe_delay
from numerics.predict.stiffness import Settings

__all__ = ["predict"]

_NOTES = (
    "mass, damping, stiffness, truncated_onset, inflection_time and trajectory are theorem-7's, "
    "rule_threshold is prop-9's, in steps (delta = 1); everything else is the exact map's",
    "variance is of q for unit-variance noise added to the right side of the recurrence",
)
_SAWTOOTH_NOTE = (
    "under the sawtooth theorem-7's coefficients use the phase average of z^-d over 0..N-1: a "
    "model, not the monodromy"
)
_SHARE_NOTE = (
    "stale_share 1 is the delayed gradient of equation (3); trainers that compute gradients at the "
    "current weights on old samples have another share"
)
_ADAM_NOTE = (
    "adam is ema with x = eta*K/(sqrt(v) + eps) while its second moment v stands still; beyond the "
    "threshold the real one bursts, and a burst may carry a bandit over the repelling fixed point. "
    "Weight decay is left out"
)
_ROOM_NOTE = "{name} is the longest looked at, and every one up to it is safe"


def predict(
    *,
    optimizer: str,
    lag_model: str,
    momentum: Fraction,
    x: Fraction | None = None,
    lag: int | None = None,
    refresh: int | None = None,
    lag_law: Sequence[Fraction] | None = None,
    stale_share: Fraction | None = None,
    times: Sequence[Fraction] = (),
    **settings: Any,
) -> dict[str, Any]:
    """Return every quantity of the linear theory for one configuration.

    Parameters
    ----------
    optimizer
        ``"heavy-ball"``, ``"ema"``, ``"nesterov"``, or ``"adam"`` with a frozen second moment.
    lag_model, lag, refresh, lag_law
        ``"constant"`` with `lag`, ``"sawtooth"`` with `refresh`, or ``"random"`` with `lag_law`,
        the probabilities of the lags 0, 1, ..., L, which sum to exactly 1.
    momentum, x, stale_share
        Exact numbers; decisions at a border are made on exactly these. `stale_share` None is 1.
    times
        Times in steps at which to give theorem-7's trajectory from rest.
    **settings
        Instead of `x`, the fields of `numerics.predict.Settings`: `tau`, or `eta` and what goes
        with it.

    Returns
    -------
    dict
        JSON-ready, with the conventions used. A quantity that does not exist (the variance of an
        unstable run, a rule whose denominator is not positive) or is beyond the range of floats is
        None.

    Raises
    ------
    ConfigurationError
        If a value is outside its domain, saying what is allowed.
    InvalidInput
        If x cannot be had from what is given, or a number, a time or a name is none.
    """
    recurrence = "ema" if optimizer == "adam" else optimizer
    times = _checked_times(times)
    given = Settings.given(x=x, stale_share=stale_share, **settings)
    law = random_lag.checked(lag_model, lag_law, lag, refresh)
    carrier = "constant" if law else lag_model
    delay = {"lag": max(law) if law else lag, "refresh": refresh}

    def configured(share: Fraction) -> Configuration:
        return Configuration(recurrence, carrier, momentum, share, **delay)

    def from_tau(share: Fraction, tau: Fraction) -> Fraction:
        c = configured(share)
        return random_lag.stiffness_from_tau(c, law, tau) if law else stiffness_from_tau(c, tau)

    configured(Fraction(1))  # its errors come before those of the settings
    source = given.source(optimizer, from_tau)
    stiffness, share = exact.exact_stiffness(source.x), source.stale_share
    c = configured(share)
    delays: dict[str, Any] = {_delay_name(c): c.delay}
    if lag_law is not None:
        delays = {"lag_law": [float(p) for p in lag_law]}
    linear = random_lag.of_map(c, law, stiffness) if law else _of_map(c, stiffness)
    border = linear.get("mean_square_threshold", linear["threshold"])  # whichever is lost first
    margin = Fraction(border) / stiffness
    eta = {} if given.eta is None else {"largest_safe_eta": given.eta * margin}
    room = {} if law else {f"largest_safe_{_delay_name(c)}": largest_safe_delay(c, stiffness)}
    rule = rule_threshold(c, law)
    return {
        "optimizer": optimizer,
        "lag_model": lag_model,
        **delays,
        "momentum": float(momentum),
        **source.conventions,
        "x": float(stiffness),
        "stale_share": float(share),
        **linear,
        "rule_threshold": None if rule is None else _finite(_rounded(rule)),
        "truncated_onset": truncated_onset(c, law),
        **{name: _finite(_rounded(value)) for name, value in {"margin": margin, **eta}.items()},
        **room,
        **_of_oscillator(c, law, stiffness, times),
        "notes": [
            *_NOTES,
            *source.notes,
            *([_SAWTOOTH_NOTE] if lag_model == "sawtooth" else []),
            *([random_lag.NOTE] if law else []),
            *([_SHARE_NOTE] if share == 1 else []),
            *([_ADAM_NOTE] if optimizer == "adam" else []),
            *(_ROOM_NOTE.format(name=n) for n, v in room.items() if v == exact.LONGEST_DELAY),
        ],
    }


def _checked_times(times: object) -> list[Fraction]:
    if isinstance(times, str) or not isinstance(times, Iterable):
        raise InvalidInput(f"times is {times!r}: give a sequence of times from 0, in steps")
    read = [exact_number("times", time) for time in times]
    if read and min(read) < 0:
        raise InvalidInput(f"times holds {float(min(read)):g}: the start from rest is at 0")
    return read


def _delay_name(c: Configuration) -> str:
    return "lag" if c.constant else "refresh"


def _of_map(c: Configuration, x: Fraction) -> dict[str, Any]:
    """Return what the exact map does at a constant or sawtooth lag."""
    border = exact.threshold(c)
    stable = exact.stable(c, x)
    variance = _finite(exact.stationary_variance(c, x)) if stable else None
    return {
        "threshold": border.value,
        "threshold_kind": border.kind,
        "stable_intervals": [[low, high] for low, high in border.stable_intervals],
        "stable": stable,
        "onset": exact.onset(c),
        "regime": exact.regime(c, x),
        "spectral_radius": _finite(exact.spectral_radius(c, x)),
        "relaxation_time": _finite(exact.relaxation_time(c, x)),
        "variance": variance,
        "variance_per_noise": variance,
    }


def _of_oscillator(
    c: Configuration, law: Law | None, x: Fraction, times: Sequence[Fraction]
) -> dict[str, Any]:
    """Return theorem-7's coefficients and its curve from rest."""
    mass, damping, stiffness = (_rounded(value) for value in coefficients(c, law, x))
    curve, inflection = np.full(len(times), np.nan), None
    if np.isfinite([mass, damping, stiffness]).all():
        curve = exact.trajectory(mass, damping, stiffness, np.array([float(t) for t in times]))
        inflection = exact.inflection_time(mass, damping, stiffness)
    return {
        "mass": _finite(mass),
        "damping": _finite(damping),
        "stiffness": _finite(stiffness),
        "inflection_time": inflection,
        "trajectory": [
            {"t": float(t), "q": _finite(float(q))} for t, q in zip(times, curve, strict=True)
        ],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
