r"""What the theories say of a case: the exact linear map, and theorem 7 in two readings."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.exact import Configuration, onset, threshold, truncated_onset
from numerics.experiments.bandit.plan import Schedule, delay, lag_model
from numerics.kernels import oscillator, refresh_rule

__all__ = ["THEORIES", "Borders", "predicted"]


#: What a case is held against: `predicted` says what each is.
THEORIES = ("exact", "seen", "theorem-7", "share-1")


@dataclass(frozen=True)
class Borders:
    r"""Where stability is lost and where oscillation begins, in x = eta K; None if nowhere."""

    threshold: float | None
    onset: float | None


def predicted(
    schedule: Schedule, *, mu: float, stale_share: float, grid: NDArray[np.float64]
) -> dict[str, Borders]:
    r"""Return what each theory predicts for heavy ball.

    Parameters
    ----------
    schedule, mu, stale_share
        The case; `stale_share` as measured.
    grid
        The x a search climbs along.

    Returns
    -------
    dict
        ``exact``: the linear map solved, at the measured share. ``seen``: the same, but where a
        search that climbs along `grid` would see it, which may step over a narrow window of
        instability. ``theorem-7``: prop-9's rule and damping^2 = 4 mass stiffness, at the
        measured share. ``share-1``: the same with the whole force stale, as the source has it
        whatever the staleness.
    """
    run = _configuration(schedule, mu, stale_share)
    whole = _configuration(schedule, mu, 1.0)
    exact = Borders(threshold(run).value, onset(run))
    found = (
        exact,
        Borders(_seen(threshold(run).stable_intervals, grid), exact.onset),
        *(Borders(_rule(c), _truncated_onset(c)) for c in (run, whole)),
    )
    return dict(zip(THEORIES, found, strict=True))


def _configuration(schedule: Schedule, mu: float, share: float) -> Configuration:
    model = lag_model(schedule)
    steps = {"lag" if model == "constant" else "refresh": delay(schedule)}
    return Configuration("heavy-ball", model, mu, share, **steps)


def _seen(
    stable_intervals: tuple[tuple[float, float], ...], grid: NDArray[np.float64]
) -> float | None:
    """Return the first border in the step of the climb that ends outside all stable intervals."""
    low, high = (np.array(ends) for ends in zip(*stable_intervals, strict=True))
    stable = np.any((grid[:, None] > low) & (grid[:, None] < high), axis=-1)
    if stable.all():
        return None
    before = grid[stable.argmin() - 1]
    return float(high[high > before][0])


def _kernel(module: Any, c: Configuration) -> Any:
    return getattr(module, f"heavy_ball_{c.lag_model}")


def _named(c: Configuration) -> dict[str, Fraction | int]:
    return {"mu": c.momentum, "s": c.share, ("d" if c.constant else "N"): c.delay}


def _rule(c: Configuration) -> float | None:
    """Return prop-9's rule, under a sawtooth with N for d; None if it names no x > 0."""
    value = float(_kernel(refresh_rule, c)(**_named(c)))
    return value if 0 < value < np.inf else None


def _truncated_onset(c: Configuration) -> float | None:
    """Return theorem 7's onset; its coefficients are linear in x, so two values give each line."""
    zero, one = (_kernel(oscillator, c)(x=Fraction(x), **_named(c)) for x in (0, 1))
    lines = [
        (Fraction(low), Fraction(high) - Fraction(low))
        for low, high in zip(zero, one, strict=True)
    ]
    return truncated_onset(*lines)
