r"""Theorem-7's oscillator for a lag of any kind: its coefficients, prop-9's rule, its onset.

The coefficients are linear in the lag and its square, so those of a random lag are the mean, over
its law, of the constant lag's (extension). All are linear in x.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numerics import exact
from numerics.exact import Configuration
from numerics.kernels import oscillator, refresh_rule

__all__ = ["Coefficients", "Law", "coefficients", "rule_threshold", "truncated_onset"]

#: Probabilities of the lags, for a random lag.
Law = dict[int, Fraction]

#: Mass, damping, stiffness.
Coefficients = tuple[Fraction, Fraction, Fraction]


def coefficients(c: Configuration, law: Law | None, x: Fraction) -> Coefficients:
    """Return mass, damping and stiffness, exactly: rational kernels of rational arguments."""
    kernel, named = _kernel(oscillator, c), {"mu": c.momentum, "s": c.share, "x": x}
    if not c.constant:
        found = kernel(N=c.delay, **named)
        return Fraction(found[0]), Fraction(found[1]), Fraction(found[2])
    mean = [Fraction(0)] * 3
    for lag, weight in (law or {c.delay: Fraction(1)}).items():
        terms = kernel(d=lag, **named)
        mean = [sum_ + weight * Fraction(term) for sum_, term in zip(mean, terms, strict=True)]
    return mean[0], mean[1], mean[2]


def rule_threshold(c: Configuration, law: Law | None) -> Fraction | None:
    """Return prop-9's rule, None where its denominator is not positive.

    Linear in the lag where it matters, so a random lag counts as its mean.
    """
    steps: Fraction | int = c.delay
    if law is not None:
        steps = sum((lag * weight for lag, weight in law.items()), Fraction(0))
    kernel = _kernel(refresh_rule, c)
    try:
        rule = kernel(mu=c.momentum, s=c.share, **{"d" if c.constant else "N": steps})
    except ZeroDivisionError:  # no lag, no rule
        return None
    return Fraction(rule) if rule > 0 else None


def truncated_onset(c: Configuration, law: Law | None) -> float | None:
    """Return theorem-7's onset; two values of x give each coefficient's line."""
    zero, one = (coefficients(c, law, Fraction(x)) for x in (0, 1))
    lines = [(low, high - low) for low, high in zip(zero, one, strict=True)]
    return exact.truncated_onset(*lines)


def _kernel(module: Any, c: Configuration) -> Any:
    return getattr(module, f"{c.optimizer}_{c.lag_model}".replace("-", "_"))
