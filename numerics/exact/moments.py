r"""How widely a stable run fluctuates around its fixed point.

The noise is white with variance 1 and is added to the right side of the recurrence of q at every
step; it is not filtered by the gain of EMA or Nesterov.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from numerics.exact.arithmetic import decimal, digits_for, working
from numerics.exact.configuration import Configuration, Number, UnstableError, exact_stiffness
from numerics.exact.polynomial import characteristic, reflections, rounded
from numerics.exact.spectrum import dominant

__all__ = ["stationary_variance"]

Symmetric = tuple[Decimal, Decimal, Decimal]  # entries 11, 12, 22


def stationary_variance(c: Configuration, x: Number) -> float:
    r"""Return the stationary variance of q per unit of noise variance.

    Under sawtooth lag it is periodic, and the average over the phases 0 to refresh - 1 is returned.

    Raises
    ------
    ConfigurationError
        If `x` is not a finite number above 0.
    UnstableError
        If the run is not stable, so that there is no stationary state.

    Notes
    -----
    Theory section 3.5 (extension). q is then an autoregression with the characteristic polynomial
    as its coefficients, and its variance is the product of ``1/(1 - k**2)`` over the reflection
    coefficients k of the Schur-Cohn recursion.
    """
    return _variance(c, exact_stiffness(x))


@lru_cache(maxsize=1024)
def _variance(c: Configuration, x: Fraction) -> float:
    rate = dominant(c, x).rate
    if rate >= 0:
        raise UnstableError(f"no stationary variance at x = {float(x):g}: the run is not stable")
    # Next to the border as many digits cancel as the rate has zeros.
    digits = digits_for(c, x) + 4 * max(0, -rate.adjusted() if rate.is_finite() else 0)
    with working(digits):
        return float(_autoregressive(c, x) if c.constant else _periodic(c, x))


def _autoregressive(c: Configuration, x: Fraction) -> Decimal:
    variance = Decimal(1)
    for k in reflections(rounded(characteristic(c, x))):
        variance /= (1 - k) * (1 + k)
    return variance


def _periodic(c: Configuration, x: Fraction) -> Decimal:
    r"""Average the variance of q over one refresh interval in its stationary state.

    The state is (q, h), h what the next displacement inherits: ``q' = q + g0 g + h + noise`` and
    ``h' = mu h + memory passed intake g + mu noise``. From the covariance C at a refresh, that at
    phase j is ``M_j C M_j^T + W_j``, W_j the noise gathered since; C is what phase N returns.
    """
    mu, intake, _, passed = map(decimal, c.recurrence)
    g0 = decimal(c.recurrence.gain[0])
    kept = mu * passed * intake
    fresh, stale = decimal((1 - c.share) * x), decimal(c.share * x)
    zero, one = Decimal(0), Decimal(1)
    a, b, p, r = one, zero, zero, one  # M_j = [[a, b], [p, r]]
    w: Symmetric = (zero, zero, zero)
    first_rows = []
    for _ in range(c.delay):
        first_rows.append((a, b, w[0]))
        q_q, h_q = 1 - g0 * fresh, -kept * fresh
        a, p = q_q * a + p - g0 * stale, h_q * a + mu * p - kept * stale
        b, r = q_q * b + r, h_q * b + mu * r
        w = (
            q_q * q_q * w[0] + 2 * q_q * w[1] + w[2] + 1,
            q_q * h_q * w[0] + (q_q * mu + h_q) * w[1] + mu * w[2] + mu,
            h_q * h_q * w[0] + 2 * h_q * mu * w[1] + mu * mu * w[2] + mu * mu,
        )
    start = _fixed_covariance(a, b, p, r, w)
    variances = (
        a * a * start[0] + 2 * a * b * start[1] + b * b * start[2] + own for a, b, own in first_rows
    )
    return sum(variances, zero) / c.delay


def _fixed_covariance(a: Decimal, b: Decimal, p: Decimal, r: Decimal, w: Symmetric) -> Symmetric:
    """Solve ``C = M C M^T + W`` for the 2 x 2 matrix M = [[a, b], [p, r]], by Cramer's rule."""
    rows = (
        (1 - a * a, -2 * a * b, -b * b),
        (-a * p, 1 - a * r - b * p, -b * r),
        (-p * p, -2 * p * r, 1 - r * r),
    )
    whole = _determinant(*rows)
    columns = []
    for place in range(3):
        replaced = [
            (*row[:place], right, *row[place + 1 :]) for row, right in zip(rows, w, strict=True)
        ]
        columns.append(_determinant(*replaced) / whole)
    return columns[0], columns[1], columns[2]


def _determinant(u: tuple[Decimal, ...], v: tuple[Decimal, ...], w: tuple[Decimal, ...]) -> Decimal:
    return (
        u[0] * (v[1] * w[2] - v[2] * w[1])
        - u[1] * (v[0] * w[2] - v[2] * w[0])
        + u[2] * (v[0] * w[1] - v[1] * w[0])
    )
