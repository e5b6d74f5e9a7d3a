r"""The exact theory once more, in 50-digit arithmetic and by the plainest road.

Written from chi(z) = (z-1)(1-mu/z) + G(z)(x_f + x_s z^-d) and from the recurrence itself, with
nothing taken from the code under test: roots by simultaneous iteration, variances by one linear
system, the sawtooth by running the recurrence.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import mpmath as mp

DIGITS = 50


class Run(NamedTuple):
    """A configuration as plain numbers: optimizer, lag model, mu, s and the lag or refresh."""

    optimizer: str
    lag_model: str
    mu: Any
    s: Any
    delay: int


def number(value: Any) -> Any:
    """Return an exact rational or a float as a 50-digit number, without rounding it first."""
    if isinstance(value, mp.mpf):
        return value
    value = Fraction(value)
    return mp.mpf(value.numerator) / value.denominator


def gain(run: Run) -> tuple[Any, Any]:
    """Return (g0, g1) of G(z) = g0 + g1/z."""
    mu = number(run.mu)
    return {
        "heavy-ball": (mp.mpf(1), mp.mpf(0)),
        "ema": (1 - mu, mp.mpf(0)),
        "nesterov": (1 + mu, -mu),
    }[run.optimizer]


def coefficients(run: Run, x: Any) -> list[Any]:
    """Return the coefficients of z^(d+1) chi(z), highest power first, roots at 0 divided out."""
    mu, s, x, d = number(run.mu), number(run.s), number(x), run.delay
    g0, g1 = gain(run)
    poly = [mp.mpf(0)] * (d + 3)
    poly[0] = mp.mpf(1)
    poly[1] += (1 - s) * x * g0 - (1 + mu)
    poly[2] += (1 - s) * x * g1 + mu
    poly[d + 1] += s * x * g0
    poly[d + 2] += s * x * g1
    while poly[-1] == 0:
        poly.pop()
    return poly


def roots(run: Run, x: Any) -> list[Any]:
    """Return all nonzero roots of chi."""
    with mp.workdps(2 * DIGITS):
        return list(mp.polyroots(coefficients(run, x), maxsteps=5000, extraprec=600))


def dominant_root(run: Run, x: Any) -> Any:
    """Return the root of largest modulus, of a pair the upper one; 0 if there is none."""
    found = roots(run, x)
    if not found:
        return mp.mpc(0)
    largest = max(found, key=abs)
    return mp.mpc(largest.real, abs(largest.imag))


def run_refresh(run: Run, x: Any, q: Any, v: Any) -> tuple[Any, Any]:
    """Run one refresh interval of the optimizer as its documentation words it."""
    mu, s, x = (run.mu, run.s, x) if isinstance(q, Fraction) else map(number, (run.mu, run.s, x))
    sample = q
    for _ in range(run.delay):
        g = -((1 - s) * x * q + s * x * sample)
        if run.optimizer == "heavy-ball":
            v = mu * v + g
            q = q + v
        elif run.optimizer == "ema":
            v = mu * v + (1 - mu) * g
            q = q + v
        elif run.optimizer == "nesterov":
            v = mu * v + g
            q = q + g + mu * v
        else:
            raise KeyError(run.optimizer)
    return q, v


def monodromy_eigenvalues(run: Run, x: Any) -> tuple[Any, Any]:
    """Return the eigenvalues of one refresh interval, largest modulus first."""
    one, zero = mp.mpf(1), mp.mpf(0)
    (a, c), (b, d) = run_refresh(run, x, one, zero), run_refresh(run, x, zero, one)
    half, spread = (a + d) / 2, mp.sqrt(mp.mpc((a - d) ** 2 / 4 + b * c))
    one_root, other = half + spread, half - spread
    return (one_root, other) if abs(one_root) >= abs(other) else (other, one_root)


def rate(run: Run, x: Any) -> Any:
    """Return the logarithm of the spectral radius per step."""
    if run.lag_model == "constant":
        return mp.log(abs(dominant_root(run, x)))
    with mp.workdps(4 * DIGITS):  # a run of many steps may cancel a little in each
        return mp.log(abs(monodromy_eigenvalues(run, x)[0])) / run.delay


def variance_by_yule_walker(run: Run, x: Any) -> Any:
    r"""Return the stationary variance under constant lag, and nothing but a linear system.

    The autocovariances c_k obey ``sum_j a_j c_|k-j| = 1`` for k = 0 and 0 for k = 1 .. n.
    """
    with mp.workdps(2 * DIGITS):
        a = coefficients(run, x)
        size = len(a)
        system = mp.matrix(size, size)
        for k in range(size):
            for j, value in enumerate(a):
                system[k, abs(k - j)] += value
        right = mp.matrix(size, 1)
        right[0] = 1
        return mp.lu_solve(system, right)[0]


def kicks(run: Run, x: float, steps: int) -> Iterator[list[float]]:
    r"""Yield, for a kick of 1 in each phase, the deviations that follow, in floats.

    From ``q_{k+1} = (1+mu) q_k - mu q_{k-1} - g0 f_k - g1 f_{k-1} + kick``,
    ``f_k = x_f q_k + x_s q_{k-lag}``. Constant lag has one phase.
    """
    mu, s = float(run.mu), float(run.s)
    g0, g1 = map(float, gain(run))
    phases = run.delay if run.lag_model == "sawtooth" else 1
    for phase in range(phases):
        # Nothing has happened before step `phase`; its kick makes q[phase + 1] equal to 1.
        q, force = [0.0] * (phase + 1), [0.0] * (phase + 1)
        q.append(1.0)
        for k in range(phase + 1, phase + steps):
            lag = k % run.delay if run.lag_model == "sawtooth" else run.delay
            sample = q[k - lag] if k >= lag else 0.0
            force.append((1 - s) * x * q[k] + s * x * sample)
            q.append((1 + mu) * q[k] - mu * q[k - 1] - g0 * force[k] - g1 * force[k - 1])
        yield q[phase + 1 :]


def variance_by_kicks(run: Run, x: float, steps: int) -> float:
    """Return the variance as the sum of squared responses, averaged over the phase of the kick."""
    sums = [sum(value * value for value in response) for response in kicks(run, x, steps)]
    return sum(sums) / len(sums)


def oscillator(mass: Any, damping: Any, stiffness: Any, t: Any) -> tuple[Any, Any]:
    """Return theorem 7's q(t) from rest and the size of its slowest exponential."""
    with mp.workdps(3 * DIGITS):
        m, c, k, t = map(number, (mass, damping, stiffness, t))
        root = mp.sqrt(mp.mpc(c * c - 4 * m * k))
        a, b = (c - root) / (2 * m), (c + root) / (2 * m)
        if root == 0:
            return mp.exp(-a * t).real * (1 + a * t).real, abs(mp.exp(-a * t))
        q = (b * mp.exp(-a * t) - a * mp.exp(-b * t)) / (b - a)
        return q.real, mp.exp(-min(a.real, b.real) * t)
