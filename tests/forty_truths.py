"""What decides each of the forty claims without the audit: a transcript and a plain value.

Each printed formula is transcribed by hand beside a plain value of the quantity: the map is
written out (`plain_map`), groups are counted, or the value is computed in 50 digits
(`plain_values`, `reference`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import mpmath as mp
import plain_values as plain
import reference
from plain_map import Plain
from reference import Run

__all__ = ["TRUTHS", "Truth"]

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Truth:
    """What decides a claim without the audit, and the rung its verdict must reach.

    Attributes
    ----------
    rung
        ``proved`` where algebra or the solver covers the region, ``certified`` where only
        enclosures exist.
    printed
        The formula, or the condition, as printed.
    value
        The quantity, None where it does not exist; for a condition, whether the map is stable.
    points
        Where the two are compared; for an asymptotic claim, the other parameters.
    """

    rung: str
    printed: Callable[..., Any]
    value: Callable[..., Any]
    points: tuple[Point, ...]


def grid(**axes: Any) -> tuple[Point, ...]:
    """Return every combination of the values of each parameter, read as exact decimals."""
    rows = product(*axes.values())
    return tuple(dict(zip(axes, map(exact, row), strict=True)) for row in rows)


def exact(value: Any) -> Any:
    with mp.workdps(reference.DIGITS):
        return value if isinstance(value, int) else reference.number(Fraction(value))


# --- plain values in the parameters of the claims -----------------------------------------------


def runs(optimizer: str = "heavy-ball", lag_model: str = "constant", lag: int | None = None) -> Any:
    """Return mu, d or N to the run that a claim's model describes, stale share 1."""

    def run(mu: Any = 0, d: int = 0, N: int = 1, **_: Any) -> Run:
        steps = lag if lag is not None else d if lag_model == "constant" else N
        return Run(optimizer, lag_model, mu, 1, steps)

    return run


def of(run: Any, measure: Callable[..., Any]) -> Callable[..., Any]:
    """Return a measure of a run as a function of the claim's parameters."""
    return lambda x, **rest: measure(run(**rest), x)


def stable(run: Any) -> Callable[..., bool]:
    """Return whether every mode of the map, written out as a matrix in floats, decays."""

    def forgets(x: Any, **rest: Any) -> bool:
        here = run(**rest)
        plain_map = Plain(here.optimizer, here.lag_model, float(here.mu), 1.0, here.delay)
        factor = abs(plain_map.decay(float(x)))
        assert abs(factor - 1) > 1e-6, "too close to the border to be told by a run"
        return bool(factor < 1)

    return forgets


def nth(index: int, found: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args: found(*args)[index]


def one_success(ddof: int) -> Callable[..., Any]:
    return lambda G: plain.advantages(
        [mp.mpf(1)] + [mp.mpf(0)] * (G - 1), "std", ddof, "group-mean"
    )[0]


def alone(c: int, G: int) -> Any:
    """Return the advantage of a success against the mean of the others."""
    if not 0 < c < G:
        return None
    rewards = [mp.mpf(1)] * c + [mp.mpf(0)] * (G - c)
    return plain.advantages(rewards, "mean", 0, "leave-one-out")[0]


def drift(normaliser: str, ddof: int, moment: int = 0) -> Callable[..., Any]:
    return lambda p, G: plain.drift_moments(p, G, normaliser, ddof)[moment]


def k3_root(p_ref: Any, beta: Any) -> Any:
    root = mp.sqrt(1 + 4 * beta**2 * p_ref * (1 - p_ref))
    return (1 + 2 * beta**2 * p_ref + root) / (2 * (1 + beta**2))


def autocovariance(run: Any, shift: int = 0) -> Callable[..., Any]:
    """Return it at a fixed shift, or at the point's own `k`."""
    return lambda x, k=shift, **rest: plain.autocovariance(run(**rest), x, k)


def rule(run: Any) -> Callable[..., Any]:
    """Return the x at which the oscillator's damping, falling from x = 0, vanishes."""

    def found(**rest: Any) -> Any:
        return mp.findroot(lambda x: plain.oscillator(run(**rest), x)[1], (0.001, 0.002))

    return found


HEAVY, LAG = runs(), partial(runs, "heavy-ball", "constant")
EMA = runs("ema")
MU = ("0", "1/3", "9/10")
NEAR = ("1/200", "1/20", "2/7")
P = ("1/20", "2/5", "1/2", "7/8")

TRUTHS: dict[str, Truth] = {
    # --- true, LaTeX
    "true-mass-ema": Truth(
        "proved",
        lambda mu, x, d: (1 + mu) / 2 + (1 - mu) * x * d**2 / 2,
        of(EMA, nth(2, plain.oscillator)),
        grid(mu=MU, x=NEAR, d=(0, 1, 4)),
    ),
    "true-damping-sawtooth": Truth(
        "proved",
        lambda mu, x, N: 1 - mu - x * (N - 1) / 2,
        of(runs(lag_model="sawtooth"), nth(1, plain.oscillator)),
        grid(mu=MU, x=NEAR, N=(1, 2, 6)),
    ),
    "true-rule-safe-ema": Truth(
        "proved",
        lambda mu, x, d: x * d < 1,
        stable(EMA),
        grid(mu=MU, x=("1/100", "1/9", "49/100", "99/100", "2"), d=(1, 2, 3, 8, 21)),
    ),
    "true-threshold-sawtooth": Truth(
        "proved",
        lambda x: x < mp.mpf(2) / 3,
        stable(runs("heavy-ball", "sawtooth", 3)),
        grid(x=("1/10", "66/100", "67/100", "1", "3")),
    ),
    "true-variance-ema": Truth(
        "proved",
        lambda mu, x: (1 + mu) / ((1 - mu) ** 2 * x * (2 * (1 + mu) - (1 - mu) * x)),
        of(EMA, reference.variance_by_yule_walker),
        grid(mu=MU, x=NEAR),
    ),
    "true-autocovariance": Truth(
        "proved",
        lambda mu, x: (1 + mu) / ((1 - mu - x) * x * (2 * (1 + mu) + x)),
        autocovariance(LAG(1), 1),
        grid(mu=MU, x=("1/200", "1/20")),
    ),
    "true-period-oscillator": Truth(
        "proved",
        lambda mu, x: 2 * mp.pi * (1 + mu) / mp.sqrt(2 * x * (1 + mu) - (1 - mu) ** 2),
        of(HEAVY, plain.oscillation_period),
        grid(mu=MU, x=("1/100", "3/5", "2")),
    ),
    "true-fixed-point-k3": Truth(
        "proved",
        k3_root,
        partial(plain.attracting, "k3"),
        grid(p_ref=P, beta=("1/3", "2")),
    ),
    "true-advantage-one-success": Truth(
        "proved", lambda G: (G - 1) / mp.sqrt(G), one_success(1), grid(G=(2, 3, 8, 64))
    ),
    "true-drift-mean-only": Truth(
        "proved",
        lambda p, G: (1 - mp.mpf(1) / G) * p * (1 - p),
        drift("mean", 1),
        grid(p=P, G=(2, 5, 16)),
    ),
    # --- true, plain
    "true-threshold-lag-2": Truth(
        "proved",
        lambda mu, x: x**2 + (1 + mu) * x < 1 - mu,
        stable(LAG(2)),
        grid(mu=MU, x=("1/100", "51/1000", "53/1000", "61/100", "63/100", "2")),
    ),
    "true-variance-order-1": Truth(
        "proved",
        lambda mu, x: 1 / (2 * x * (1 - mu - 3 * x)),
        of(LAG(3), reference.variance_by_yule_walker),
        grid(mu=MU),
    ),
    "true-autocovariance-nesterov": Truth(
        "proved",
        lambda mu, x: (
            (1 + mu) * (1 - x) / (x * (1 - mu + mu * x) * (2 * (1 + mu) - (1 + 2 * mu) * x))
        ),
        autocovariance(runs("nesterov"), 1),
        grid(mu=MU, x=NEAR),
    ),
    "true-period-map": Truth(
        "certified",
        lambda mu, x: 2 * mp.pi / mp.acos((1 + mu - x) / (2 * mp.sqrt(mu))),
        of(HEAVY, plain.period_of_the_map),
        grid(mu=("1/3", "9/10"), x=("1/100", "1/2", "2")),
    ),
    "true-fixed-point-below": Truth(
        "certified",
        lambda p_ref, beta: (1 + beta / mp.sqrt(1 + beta**2)) / 2,
        partial(plain.attracting, "reverse"),
        grid(p_ref=P, beta=("1/3", "8/5", "4")),
    ),
    "true-advantage-leave-one-out": Truth(
        "proved",
        lambda c, G: mp.mpf(G - c) / (G - 1),
        alone,
        grid(c=(1, 3, 7), G=(2, 5, 16)),
    ),
    "true-drift-below-limit": Truth(
        "certified",
        lambda p, G: mp.sqrt(p * (1 - p)),
        drift("std", 0),
        grid(p=P, G=(2, 5, 40)),
    ),
    "true-noise-strength": Truth(
        "proved",
        lambda p, G: (1 - 2 * p) ** 2 / (4 * G),
        drift("std", 0, moment=1),
        grid(p=("2/5", "7/10")),
    ),
    "true-kl-force-k3": Truth(
        "proved",
        lambda p, p_ref: p - p_ref,
        partial(plain.kl_force, "k3"),
        grid(p=P, p_ref=("1/7", "1/2")),
    ),
    "true-radius-above-root": Truth(
        "certified",
        lambda mu, x: mp.sqrt(mu),
        of(HEAVY, lambda run, x: mp.exp(reference.rate(run, x))),
        grid(mu=("1/3", "9/10"), x=("1/1000", "1/2", "4")),
    ),
    # --- false, LaTeX
    "false-damping-nesterov": Truth(
        "proved",
        lambda mu, x, d: 1 - mu - x * d,
        of(runs("nesterov"), nth(1, plain.oscillator)),
        grid(mu=MU, x=NEAR, d=(0, 1, 4)),
    ),
    "false-rule-ema": Truth("proved", lambda mu, d: (1 - mu) / d, rule(EMA), grid(mu=MU, d=(1, 4))),
    "false-threshold-lag-3": Truth(
        "proved",
        lambda mu, x: x < (1 - mu) / 3,
        stable(LAG(3)),
        grid(mu=MU, x=("3/100", "4/100", "32/100", "2/5", "2")),
    ),
    "false-variance-order-2": Truth(
        "proved",
        lambda mu, x: 1 / (2 * x * (1 - mu - 2 * x)),
        of(LAG(2), reference.variance_by_yule_walker),
        grid(mu=MU),
    ),
    "false-autocovariance-lag-1": Truth(
        "proved",
        lambda x, k: (1 - x) ** k / (x * (2 - x)),
        autocovariance(LAG(1)),
        grid(x=NEAR, k=(0, 1, 5)),
    ),
    "false-period-map": Truth(
        "proved",
        lambda mu, x: 2 * mp.pi / mp.sqrt(x),
        of(LAG(1), plain.period_of_the_map),
        grid(mu=MU, x=("1/2", "3/4")),
    ),
    "false-fixed-point-reverse": Truth(
        "proved",
        k3_root,
        partial(plain.attracting, "reverse"),
        grid(p_ref=P, beta=("8/5", "4")),
    ),
    "false-drift-order-2": Truth(
        "proved",
        lambda p, G: mp.sqrt(p * (1 - p)) * (1 - 1 / (4 * G * p * (1 - p))),
        drift("std", 0),
        grid(p=("2/5", "1/2")),
    ),
    "false-dead-groups": Truth(
        "proved", lambda p, G: (1 - p) ** G, plain.dead, grid(p=P, G=(2, 8))
    ),
    "false-relaxation-order-2": Truth(
        "proved",
        lambda mu, x, d: (1 - mu) / x - d,
        of(HEAVY, plain.relaxation_time),
        grid(mu=MU, d=(0, 3)),
    ),
    # --- false, plain
    "false-sawtooth-safe": Truth(
        "proved",
        lambda mu, x, N: x * N < 4 * (1 - mu),
        stable(runs(lag_model="sawtooth")),
        grid(mu=MU, x=("1/10", "9/10", "3"), N=(1, 2, 5)),
    ),
    "false-threshold-nesterov": Truth(
        "proved",
        lambda mu, x: x < 2 * (1 + mu),
        stable(runs("nesterov")),
        grid(mu=MU, x=("1/10", "3/2", "3")),
    ),
    "false-variance-lag-1": Truth(
        "proved",
        lambda mu, x: (1 + mu + x) / ((1 - mu - x) * x * (2 * (1 + mu) - x)),
        of(LAG(1), reference.variance_by_yule_walker),
        grid(mu=MU, x=("1/200", "1/20")),
    ),
    "false-autocovariance-lag-0": Truth(
        "proved",
        lambda mu, x: (1 + mu) / ((1 - mu) * x * (2 * (1 + mu) - x)),
        autocovariance(HEAVY, 1),
        grid(mu=MU, x=NEAR),
    ),
    "false-period-oscillator": Truth(
        "proved",
        lambda mu, x: mp.pi * (1 + mu) / mp.sqrt(2 * x * (1 + mu) - (1 - mu) ** 2),
        of(HEAVY, plain.oscillation_period),
        grid(mu=MU, x=("1/100", "3/5", "2")),
    ),
    "false-fixed-point-above-half": Truth(
        "proved",
        lambda p_ref, beta: mp.mpf(1) / 2,
        partial(plain.attracting, "reverse"),
        grid(p_ref=P, beta=("2", "4")),
    ),
    "false-advantage-ddof": Truth(
        "proved", lambda G: (G - 1) / mp.sqrt(G), one_success(0), grid(G=(2, 3, 8, 64))
    ),
    "false-kl-force-reverse": Truth(
        "proved",
        lambda p, p_ref: p - p_ref,
        partial(plain.kl_force, "reverse"),
        grid(p=P, p_ref=("1/7", "1/2")),
    ),
    "false-stale-slope-ratio": Truth(
        "proved",
        lambda p_star: (p_star - mp.mpf(1) / 2) * mp.sqrt(p_star * (1 - p_star)),
        lambda p_star: plain.stale_slope(p_star),
        grid(p_star=P),
    ),
    "false-onset-lag-0": Truth(
        "proved",
        lambda mu: (1 - mu) ** 2 / (2 * (1 + mu)),
        lambda mu: plain.real_until(HEAVY(mu)),
        grid(mu=MU),
    ),
}
