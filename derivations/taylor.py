r"""Taylor coefficients of chi(e**h) at h = 0, read off as moments.

A Laurent polynomial :math:`\sum_p c_p z^p` at :math:`z = e^h` is :math:`\sum_p c_p e^{p h}`, so its
coefficient of h**k is the moment :math:`\sum_p c_p p^k / k!` of its exponents, among which the lag
may stay a symbol. Under a sawtooth the age is spread evenly over 0, ..., N-1, so every power of the
lag gives way to its mean over those phases: a polynomial in N, without the removable singularity
that the summed geometric series has at z = 1.

The derivations check what they take from here against derivatives of chi itself, for which
:func:`chi_at` clears that singularity.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.characteristic import characteristic, z
from derivations.notation import quantity
from derivations.update import LAG_MODELS, Update

__all__ = ["by_power_of_x", "chi_at", "mean_age_power", "mean_lag", "taylor", "zero_lag"]

_d, _N, _x = (quantity(name) for name in ("d", "N", "x"))


def zero_lag(update: Update) -> Update:
    """Return the same update with every sample fresh: constant lag 0."""
    return Update(update.optimizer, LAG_MODELS["constant"], update.stale_share, sp.S.Zero)


@lru_cache(maxsize=16)
def mean_age_power(power: int) -> sp.Expr:
    """Return the mean of j**power over the phases j = 0..N-1 of a sawtooth, for symbolic N."""
    j = sp.Symbol("j", integer=True)
    return sp.factor(sp.summation(j**power, (j, 0, _N - 1)) / _N)


def _moments(laurent: sp.Expr, order: int) -> list[sp.Expr]:
    """Return the moments 0..order of the exponents of z, each over k factorial."""
    moments: list[sp.Expr] = [sp.S.Zero] * (order + 1)
    for term in sp.Add.make_args(sp.expand(laurent)):
        weight, power = term.as_independent(z, as_Add=False)
        exponent = sum((f.as_base_exp()[1] for f in sp.Mul.make_args(power) if f != 1), sp.S.Zero)
        for k in range(order + 1):
            moments[k] += weight * exponent**k / sp.factorial(k)
    return moments


def _aged(moment: sp.Expr, update: Update) -> sp.Expr:
    """Put the update's lag, or the mean over its phases, for the powers of d in a moment."""
    if update.lag_model.name == "constant":
        return moment.subs(_d, update.lag)
    powers = sp.Poly(moment, _d).terms()
    averaged = sum((c * mean_age_power(k) for (k,), c in powers), sp.S.Zero)
    return averaged.subs(_N, update.lag)


def by_power_of_x(expression: sp.Expr) -> sp.Expr:
    """Return a polynomial in x with every coefficient factored: how readers meet it."""
    return sp.collect(sp.expand(expression), _x, sp.factor)


def mean_lag(update: Update) -> sp.Expr:
    """Return the lag, or under a sawtooth the mean age (N - 1)/2 over its phases."""
    return _aged(_d, update)


@lru_cache(maxsize=256)
def taylor(update: Update, order: int = 3) -> tuple[sp.Expr, ...]:
    """Return the coefficients of h**0..h**order of chi(e**h), each linear in x.

    Parameters
    ----------
    update
        Any update, its lag or refresh fixed or symbolic.
    order
        Highest power of h.
    """
    constant = Update(update.optimizer, LAG_MODELS["constant"], update.stale_share, _d)
    moments = _moments(characteristic(constant)["chi"], order)
    return tuple(by_power_of_x(_aged(sp.expand(moment), update)) for moment in moments)


def chi_at(update: Update, h: sp.Expr) -> tuple[sp.Expr, sp.Expr, int]:
    r"""Return chi(e**h) in a form that may be differentiated at h = 0.

    Returns
    -------
    cleared : sympy.Expr
        chi(e**h) times `weight`.
    weight : sympy.Expr
        1, or ``1 - exp(-h)`` where the phase average over a symbolic N divides by it.
    extra : int
        Order at which `weight` vanishes at h = 0: 0 or 1.
    """
    chi = characteristic(update)["chi"]
    if update.lag_model.name == "constant" or update.steps is not None:
        return sp.expand(chi).subs(z, sp.exp(h)), sp.S.One, 0
    weight = 1 - 1 / z
    cleared = sp.expand(sp.cancel(sp.together(chi * weight)))
    return cleared.subs(z, sp.exp(h)), weight.subs(z, sp.exp(h)), 1
