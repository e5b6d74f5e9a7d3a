r"""What a configuration will do: every quantity of the linear theory for one configuration and x.

The oscillator's coefficients and prop-9's rule come from the compiled derivations; stability,
onset, spectrum and noise come from the exact map and never from the oscillator.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from numerics import exact
from numerics.exact import Configuration
from numerics.kernels import oscillator, refresh_rule

__all__ = ["predict", "render"]

_NOTES = (
    "mass, damping, stiffness, rule_threshold, truncated_onset, inflection_time and trajectory are "
    "theorem-7's, in steps (delta = 1); everything else is the exact map's",
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


def predict(
    *,
    momentum: Fraction,
    x: Fraction,
    optimizer: str,
    lag_model: str,
    lag: int | None = None,
    refresh: int | None = None,
    stale_share: Fraction = Fraction(1),
    times: Sequence[Fraction] = (),
) -> dict[str, Any]:
    """Return every quantity of the linear theory for one configuration.

    Parameters
    ----------
    momentum, x, stale_share
        Exact numbers; decisions at a border are made on exactly these.
    optimizer, lag_model, lag, refresh
        The conventions, echoed in the result.
    times
        Times in steps at which to give theorem-7's trajectory from rest.

    Returns
    -------
    dict
        JSON-ready. A quantity that does not exist (the variance of an unstable run, a rule whose
        denominator is not positive) or is beyond the range of floats is None.

    Raises
    ------
    ConfigurationError
        If a value is outside its domain, saying what is allowed.
    """
    c = Configuration(optimizer, lag_model, momentum, stale_share, lag=lag, refresh=refresh)
    stiffness_per_step = exact.configuration.exact_stiffness(x)
    border = exact.threshold(c)
    stable = exact.stable(c, stiffness_per_step)
    mass, damping, stiffness = (_rounded(value) for value in _coefficients(c, stiffness_per_step))
    variance = _finite(exact.stationary_variance(c, stiffness_per_step)) if stable else None
    curve, inflection = np.full(len(times), np.nan), None
    if np.isfinite([mass, damping, stiffness]).all():
        curve = exact.trajectory(mass, damping, stiffness, np.array([float(t) for t in times]))
        inflection = exact.inflection_time(mass, damping, stiffness)
    conventions = {
        "optimizer": optimizer,
        "lag_model": lag_model,
        ("lag" if c.constant else "refresh"): c.delay,
        "momentum": float(momentum),
        "x": float(x),
        "stale_share": float(stale_share),
    }
    return {
        **conventions,
        "mass": _finite(mass),
        "damping": _finite(damping),
        "stiffness": _finite(stiffness),
        "threshold": border.value,
        "threshold_kind": border.kind,
        "stable_intervals": [[low, high] for low, high in border.stable_intervals],
        "stable": stable,
        "onset": exact.onset(c),
        "regime": exact.regime(c, stiffness_per_step),
        "spectral_radius": _finite(exact.spectral_radius(c, stiffness_per_step)),
        "relaxation_time": _finite(exact.relaxation_time(c, stiffness_per_step)),
        "rule_threshold": _rule(c),
        "truncated_onset": _truncated_onset(c),
        "variance": variance,
        "variance_per_noise": variance,
        "inflection_time": inflection,
        "trajectory": [
            {"t": float(t), "q": _finite(float(q))} for t, q in zip(times, curve, strict=True)
        ],
        "notes": [
            *_NOTES,
            *([] if c.constant else [_SAWTOOTH_NOTE]),
            *([_SHARE_NOTE] if stale_share == 1 else []),
        ],
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None


def _kernel(module: Any, c: Configuration) -> Any:
    return getattr(module, f"{c.optimizer}_{c.lag_model}".replace("-", "_"))


def _named(c: Configuration) -> dict[str, Any]:
    return {"mu": c.momentum, "s": c.share, ("d" if c.constant else "N"): c.delay}


def _coefficients(c: Configuration, x: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return theorem-7's coefficients, exactly: rational kernels of rational arguments."""
    mass, damping, stiffness = _kernel(oscillator, c)(x=x, **_named(c))
    return Fraction(mass), Fraction(damping), Fraction(stiffness)


def _rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _rule(c: Configuration) -> float | None:
    """Return prop-9's rule, None where its denominator is not positive."""
    try:
        value = Fraction(_kernel(refresh_rule, c)(**_named(c)))
    except ZeroDivisionError:  # no lag, no rule
        return None
    return _finite(_rounded(value)) if value > 0 else None


def _truncated_onset(c: Configuration) -> float | None:
    """Return theorem-7's onset; its coefficients are linear in x, so two values give each line."""
    zero, one = _coefficients(c, Fraction(0)), _coefficients(c, Fraction(1))
    lines = [(low, high - low) for low, high in zip(zero, one, strict=True)]
    return exact.truncated_onset(*lines)


def render(result: dict[str, Any]) -> str:
    """Return a prediction as a table for people."""
    rows = []
    for name, value in result.items():
        if name in ("notes", "trajectory", "variance_per_noise"):
            continue
        if name == "stable_intervals":
            value = ", ".join(
                f"({low:.6g}, {'inf' if high is None else f'{high:.6g}'})" for low, high in value
            )
        rows.append(f"{name:<18}{_text(value)}")
    rows += [f"q({point['t']:g})".ljust(18) + _text(point["q"]) for point in result["trajectory"]]
    notes = [
        textwrap.fill(note, 78, initial_indent="- ", subsequent_indent="  ")
        for note in result["notes"]
    ]
    return "\n".join([*rows, "", *notes])


def _text(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.12g}" if isinstance(value, float) else str(value)
