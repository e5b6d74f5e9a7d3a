r"""The oscillator of theorem 7: ``M q'' + C q' + K q = 0`` from any position and velocity.

One discriminant, relative to its own scale and computed with twice the working precision, decides
the branch. The root larger in modulus is taken first and the other from the product, so a slow
root keeps its digits however strong the damping; nothing depends on the unit of time.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import atan2, isfinite, log, log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from numerics.exact.arithmetic import decimal, working
from numerics.exact.configuration import Number
from numerics.inputs import InvalidInput, common_shape

__all__ = ["inflection_time", "trajectory", "truncated_onset"]

Floats = npt.NDArray[np.float64]

_SPLITTER = 134217729.0  # 2**27 + 1 halves the digits of a float (Dekker)
_HUGE = float(np.finfo(np.float64).max)
_DIGITS = 100  # of the decimal arithmetic that solves for the truncated onset


def trajectory(
    mass: npt.ArrayLike,
    damping: npt.ArrayLike,
    stiffness: npt.ArrayLike,
    t: npt.ArrayLike,
    *,
    position: npt.ArrayLike = 1.0,
    velocity: npt.ArrayLike = 0.0,
) -> Any:
    r"""Return q(t) of ``mass q'' + damping q' + stiffness q = 0``, by default from rest at q = 1.

    Parameters
    ----------
    mass, damping, stiffness, t
        Finite numbers or arrays that broadcast against each other. Any signs: with mass below 0
        (the lag can make it so) it is still an equation of second order, with a growing solution
        if the stiffness is above 0. With mass 0 it is of first order and cannot start from rest:
        then ``position exp(-stiffness t / damping)`` is returned.
    position, velocity
        q(0) and q'(0), finite; they broadcast with the rest. Where the mass is 0 the velocity is
        not free and must be left 0.

    Returns
    -------
    float64 scalar or array of the broadcast shape. Where a growing solution, or the
    one from a unit start, exceeds the range of floats it is infinite.

    Raises
    ------
    InvalidInput
        If an argument is not finite, the shapes do not broadcast, mass and damping are both 0, or
        a velocity is given to a system without mass.

    Notes
    -----
    Proposition 14 (reconstructed; starts other than rest: extension). With real roots r, R,
    ``|r| <= |R|``, and q, v the position and velocity at 0, it is evaluated as
    ``q exp(-r t) + (v + r q) t exp(-min(r, R) t) phi(|R - r| t)``, ``phi(u) = (1 - exp(-u))/u``,
    which is smooth through critical damping; with roots g +- i w as
    ``exp(-g t) (q cos(w t) + (v + g q) t sin(w t)/(w t))``.
    """
    given = {
        "mass": mass,
        "damping": damping,
        "stiffness": stiffness,
        "t": t,
        "position": position,
        "velocity": velocity,
    }
    arrays = {name: _finite(name, value) for name, value in given.items()}
    shape = common_shape(**{name: array.shape for name, array in arrays.items()})
    m, c, k, time, q, v = arrays.values()
    if np.any((m == 0) & (c == 0)):
        raise InvalidInput("mass and damping are both 0, so nothing moves; give one of them")
    if np.any((m == 0) & (v != 0)):
        raise InvalidInput(
            "mass is 0, so the velocity is -stiffness*position/damping: leave velocity at 0"
        )
    sign = np.where(m < 0, -1.0, 1.0)
    m, c, k = sign * m, sign * c, sign * k  # the same equation with mass above 0
    root, wave = _roots_of_discriminant(m, c, k)
    m, c, k, root, wave, time, q, v = (
        np.broadcast_to(array, shape) for array in (m, c, k, root, wave, time, q, v)
    )
    result = np.empty(shape)
    first_order, oscillating = m == 0, (m > 0) & (wave > 0)
    with np.errstate(over="ignore", under="ignore"):  # a solution may leave the range of floats
        for chosen, solution, spread in (
            (first_order, _exponential, root),
            (oscillating, _oscillating, wave),
            (~first_order & ~oscillating, _aperiodic, root),
        ):
            size, rest = solution(*(array[chosen] for array in (m, c, k, spread, time, q, v)))
            result[chosen] = np.where(rest == 0, 0.0, size) * rest
    return result[()]


def inflection_time(mass: float, damping: float, stiffness: float) -> float | None:
    r"""Return the first t > 0 with q''(t) = 0 from rest, None if there is none.

    It is ``ln(R/r)/(R - r)`` for real roots R > r > 0 and ``atan2(w, g)/w`` for roots g +- i w.
    There is none if the motion grows without oscillating, or is of first order.

    Raises
    ------
    InvalidInput
        If an argument is not finite.

    Notes
    -----
    Proposition 14 (reconstructed; the oscillating form is an extension). In units of t.
    """
    m, c, k = (
        float(_finite(name, value))
        for name, value in (("mass", mass), ("damping", damping), ("stiffness", stiffness))
    )
    if m < 0:
        m, c, k = -m, -c, -k
    if m == 0 or k <= 0:
        return None
    root, wave = map(float, _roots_of_discriminant(*map(np.asarray, (m, c, k))))
    if wave > 0:
        return 2 * m * atan2(wave, c) / wave
    if c < 0:
        return None
    slow, gap = 2 * k / (c + root), root / m
    if gap == 0:
        return 1 / slow
    ratio = gap / slow
    return (log1p(ratio) if isfinite(ratio) else log(gap) - log(slow)) / gap


def truncated_onset(
    mass: tuple[Number, Number],
    damping: tuple[Number, Number],
    stiffness: tuple[Number, Number] = (0, 1),
) -> float | None:
    r"""Return the smallest x > 0 with ``damping**2 = 4 mass stiffness`` and damping > 0, or None.

    Each coefficient is linear in x and given as ``(value at 0, slope)``: for heavy ball at constant
    lag d and stale share s, mass ``((1 + mu)/2, s d**2/2)`` and damping ``(1 - mu, -s d)``.

    Notes
    -----
    Theory section 2, sec-3.5 (stated in words): theorem 7's oscillation onset.
    """
    m0, m1, c0, c1, k0, k1 = (Fraction(value) for value in (*mass, *damping, *stiffness))
    a = c1 * c1 - 4 * m1 * k1
    half_b = c0 * c1 - 2 * (m0 * k1 + m1 * k0)
    c = c0 * c0 - 4 * m0 * k0
    square = half_b * half_b - a * c
    if square < 0 or (a == 0 and half_b == 0):
        return None
    with working(_DIGITS):
        # The root larger in modulus first; the other from the product.
        larger = -(decimal(half_b) + decimal(square).sqrt().copy_sign(decimal(half_b)))
        roots = [decimal(c) / larger] if larger else [Decimal(0)]
        if a:
            roots.append(larger / decimal(a))
        onsets = [x for x in roots if x > 0 and decimal(c0) + decimal(c1) * x > 0]
    return float(min(onsets)) if onsets else None


def _finite(name: str, value: npt.ArrayLike) -> Floats:
    array = np.asarray(value, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise InvalidInput(f"{name} must be finite, but NaN or infinity was given")
    return array


# Each solution is returned as the size of its exponential and what that multiplies.


def _exponential(
    m: Floats, c: Floats, k: Floats, root: Floats, t: Floats, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    return np.exp(-(k / c) * t), q


def _oscillating(
    m: Floats, c: Floats, k: Floats, wave: Floats, t: Floats, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    decay, angle = c / (2 * m), wave / (2 * m) * t
    still = angle == 0
    mean_cosine = np.where(still, 1.0, np.sin(angle) / np.where(still, 1.0, angle))
    return np.exp(-decay * t), q * np.cos(angle) + (v + decay * q) * (t * mean_cosine)


def _aperiodic(
    m: Floats, c: Floats, k: Floats, root: Floats, t: Floats, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    signed = np.copysign(root, c)
    twice = c + signed  # 2 m times the root larger in modulus, 0 only if nothing acts
    fast = np.clip(twice / (2 * m), -_HUGE, _HUGE)
    slow = 2 * k / np.where(twice == 0, 1.0, twice)
    gap = np.clip(signed / m, -_HUGE, _HUGE)  # fast - slow, without subtracting
    push = v + slow * q  # 0 on the slow mode alone
    # The exponential that wins in the end is taken out, so that the rest stays finite.
    fast_wins = (fast < slow) & (push != 0)
    wins = np.where(fast_wins, fast, slow)
    span = np.abs(gap) * t
    still = span == 0
    phi = np.where(still, 1.0, -np.expm1(-span) / np.where(still, 1.0, span))
    rest = q * np.exp(np.where(fast_wins, -span, 0.0)) + push * (t * phi)
    return np.exp(-wins * t), rest


def _roots_of_discriminant(m: Floats, c: Floats, k: Floats) -> tuple[Floats, Floats]:
    r"""Return ``sqrt(max(D, 0))`` and ``sqrt(max(-D, 0))`` of ``D = c**2 - 4 m k``.

    Both products are formed without error, as sums of two floats, so the difference keeps its
    digits where they nearly agree (Kahan). Powers of 2 are taken out first against overflow.
    """
    (m_part, m_power), (c_part, c_power), (k_part, k_power) = (np.frexp(v) for v in (m, c, k))
    never = np.int64(-10000)
    size_c = np.where(c == 0, never, c_power)
    size_mk = np.where(m_part * k_part == 0, never, m_power.astype(np.int64) + k_power)
    unit = np.maximum(size_c, -(-size_mk // 2))
    c_scaled = np.ldexp(c_part, c_power - unit)
    p, p_error = exact_product(c_scaled, c_scaled)
    q, q_error = exact_product(4 * m_part, np.ldexp(k_part, size_mk - 2 * unit))
    scaled = (p - q) + (p_error - q_error)
    return (
        np.ldexp(np.sqrt(np.maximum(scaled, 0.0)), unit),
        np.ldexp(np.sqrt(np.maximum(-scaled, 0.0)), unit),
    )


def exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return the rounded product and its rounding error (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = halves(a), halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def halves(a: Floats) -> tuple[Floats, Floats]:
    """Return two floats of half the digits each, whose sum is `a`."""
    shifted = _SPLITTER * a
    high = shifted - (shifted - a)
    return high, a - high
