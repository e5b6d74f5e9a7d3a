r"""The slow root: the relaxation time as a series in x, and x from a measured relaxation time.

The root z = exp(-rate) of chi that tends to 1 as x tends to 0 is the slowest mode of training. For
heavy ball and constant lag tau = 1/rate = (1 - mu)/x - s*d - (1 + mu)/(2*(1 - mu)) + O(x): lag
shortens the relaxation, and what prop-9 asks is a lag below the relaxation time without lag. The
other way is exact, since chi is linear in x. Source: the theory's point 3.12 and the dominant root;
extension.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.characteristic import characteristic, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import lag, momentum, oscillator
from derivations.taylor import mean_lag, taylor, zero_lag
from derivations.update import Update

__all__ = ["ORDER", "derive", "rate_series"]

_x, _tau, _delta = (quantity(name) for name in ("x", "tau", "delta"))

#: Terms of the series in x: the rate is derived up to and including x**ORDER.
ORDER = 2


@lru_cache(maxsize=256)
def rate_series(update: Update) -> tuple[sp.Expr, ...]:
    """Return r_1..r_ORDER of rate = r_1*x + r_2*x**2 + ..., order by order.

    Each order is linear in its own coefficient, since chi's first-order Taylor coefficient at x = 0
    is the optimizer's friction, which is not zero.
    """
    moments = taylor(update, ORDER)
    friction = moments[1].subs(_x, 0)
    series = sp.S.Zero
    for order in range(1, ORDER + 1):
        residual = sum((m * (-series) ** k for k, m in enumerate(moments)), sp.S.Zero)
        series += sp.factor(sp.expand(residual).coeff(_x, order) / friction) * _x**order
    return tuple(series.coeff(_x, order) for order in range(1, ORDER + 1))


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive rate, relaxation time and stiffness of the slow mode from one another.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic. Under a sawtooth
        the root is that of the phase-averaged chi.

    Returns
    -------
    Derivation
        Results ``rate`` (per step; -ln z up to x**2), ``slow_root`` (z up to x**2),
        ``relaxation_time`` (steps; 1/rate up to its constant term), ``x_from_tau`` (exact: the x
        at which exp(-1/tau) is a root, the slow one as long as x lies below the onset of
        oscillation), ``x_from_tau_leading``, ``lag_shift`` (what lag adds to the relaxation time at
        leading order) and ``lag_over_tau`` (the damping that lag undoes over the friction, at the x
        that relaxes in tau steps without lag; prop-9 asks that it stay below 1). Provenance:
        extension.
    """
    work = Workings(
        "slow-root", "The slow root and the relaxation time", Provenance.EXTENSION,
        update.conventions(), ("characteristic", "lemma-4", "lemma-5", "theorem-7"),
        use="Turns a measured relaxation time into x, and prop-9 into a rule in steps.",
    )
    coefficients = rate_series(update)
    rate = sum((r * _x**k for k, r in enumerate(coefficients, 1)), sp.S.Zero)
    oscillating = oscillator.derive(update)
    mass, damping, stiffness = (
        oscillating[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    work.expands(
        "rate of the slow mode", mass * rate**2 - damping * rate + stiffness, sp.S.Zero,
        _x, ORDER + 1, "lambda = -rate is of order x, and theorem-7 leaves out only lambda**3",
    )
    first, second = coefficients
    root = 1 - first * _x + sp.factor(first**2 / 2 - second) * _x**2
    work.expands("the root", sp.exp(-rate), root, _x, ORDER + 1, "z = exp(-rate)")
    fresh_constant = sp.factor(-rate_series(zero_lag(update))[1] / first**2)
    shift = work.equal(
        "what lag does to it", sp.cancel(-second / first**2) - fresh_constant,
        -update.stale_share * mean_lag(update), "an old sample arrives as late as it is old",
    )
    work.expands(
        "relaxation time", (first + second * _x) * (1 / first + (shift + fresh_constant) * _x),
        sp.S.One, _x, ORDER, "tau = 1/rate, in steps; both written over x",
    )
    law = characteristic(update)
    inverse = sp.Symbol("u", real=True)  # 1/tau; a quotient in an exponent would hide its sign
    moved, force = (
        e.subs(z, sp.exp(-inverse)) for e in (law["chi"] - law["force"], law["force"])
    )
    exact = (-moved / force.subs(_x, 1)).subs(inverse, 1 / _tau)
    work.solves(
        "x from the relaxation time", (moved + force).subs(inverse, 1 / _tau), _x, exact,
        "chi is linear in x, so no series is needed this way",
    )
    leading = sp.factor(1 / (first * _tau))
    over = work.equal(
        "prop-9 in steps",
        lag.derive(update)["damping_loss"].subs(_x, leading)
        / momentum.derive(update)["damping"].subs(_x, 0),
        update.stale_share * mean_lag(update) / _tau,
        "the stale share of the lag may not exceed the relaxation time there would be without lag",
    )
    return work.close(
        rate=rate, slow_root=root, relaxation_time=1 / (first * _x) + shift + fresh_constant,
        x_from_tau=exact, x_from_tau_leading=leading, lag_shift=shift, lag_over_tau=over,
    )
