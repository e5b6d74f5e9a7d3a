r"""cor-13 and eq-13: the single-exponential law is the overdamped limit.

.. math:: R(t) = R_\infty - (R_\infty - R_0)\, e^{-t/\tau}, \qquad \tau = C/K.

Source: arXiv:2606.30789, Corollary 13 and equation (13), worded as an identity; reconstructed here
as a limit. With rho = M*K/C**2 the exact slow rate is K/C*(1 + rho + O(rho**2)), and the whole
curve from rest stays within r_m/(r_p - r_m) = rho + O(rho**2) of the single exponential at every
time: the error is first order in 4*M*K/C**2.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import slow_start

__all__ = ["derive"]

_M, _C, _K, _t, _tau, _R_0, _R_inf = (
    quantity(name) for name in ("M", "C", "K", "t", "tau", "R_0", "R_inf")
)
_rho = sp.Symbol("rho", positive=True)  # M*K/C**2; critical damping is 1/4
_T = sp.Symbol("T", positive=True)  # time in units of tau


def _uniform_bound(work: Workings, rate: sp.Expr, weight: sp.Expr) -> None:
    """State that q stays within `weight` of exp(-T), for every T at once."""
    w = sp.Symbol("w", real=True)  # the square root, so that the solver meets polynomials
    single, slow, fast = sp.symbols("single slow fast", real=True)
    in_w = work.equal(
        "slow rate and fast weight by the square root", sp.Matrix([rate, weight]),
        sp.Matrix([2 / (1 + w), (1 - w) / (2 * w)]).subs(w, sp.sqrt(1 - 4 * _rho)),
        "with w = sqrt(1 - 4*rho), between 0 and 1",
    ).subs(sp.sqrt(1 - 4 * _rho), w)
    gap = (1 + in_w[1]) * slow - in_w[1] * fast - single
    work.implies(
        "the curves stay close at every time", [
            sp.Gt(w, 0), sp.Le(w, 1), sp.Ge(fast, 0), sp.Le(fast, slow), sp.Le(slow, single),
            sp.Le(single, 1), sp.Le(single - slow, in_w[0] - 1),
        ], sp.And(sp.Le(gap, in_w[1]), sp.Ge(gap, -in_w[1])),
        "the three exponentials are ordered as their rates are, and with slow rate a "
        "exp(-T) - exp(-a*T) <= (a - 1)*T*exp(-T) <= a - 1",
    )


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive the overdamped limit of the oscillator from rest, with its error order.

    Returns
    -------
    Derivation
        Results ``tau`` = C/K; ``slow_rate``, exact in M, C, K; ``slow_rate_leading``;
        ``slow_rate_error``, its leading relative error (exact over leading minus 1); ``reward``,
        the single exponential in R_0, R_inf, t and tau; ``error_bound``, the largest distance of
        the exact q from exp(-t/tau) at any time, and ``error_leading``, its first order.
        Provenance: reconstructed (the source has Corollary 13 in words); the bound is an extension.
    """
    work = Workings(
        "cor-13", "The single-exponential law is the overdamped limit", Provenance.RECONSTRUCTED,
        {"motion": "M*q'' + C*q' + K*q = 0 with q(0) = 1, q'(0) = 0", "regime": "C**2 > 4*M*K"},
        ("theorem-7", "prop-14"),
        use="Says when the saturation law may be fitted, and with what bias.",
    )
    slow, fast = (slow_start.derive()[name] for name in ("slow_rate", "fast_rate"))
    rate = sp.Symbol("r")
    work.solves("slow rate", _M * rate**2 - _C * rate + _K, rate, slow, "a mode exp(-r*t)")
    tau = work.let("tau", _C / _K, "damping over stiffness: what is left when mass is dropped")
    small = _M * _K / _C**2
    unit = {_M: _rho, _C: sp.S.One, _K: sp.S.One}
    q, v, force = sp.symbols("q q' q''")  # q and its derivatives by T = t/tau
    work.equal(
        "one dimensionless group", _M * force / tau**2 + _C * v / tau + _K * q,
        _K * (small * force + v + q),
        "with time in units of tau the motion is rho*q'' + q' + q = 0, rho = M*K/C**2",
    )
    a, b = slow.subs(unit), fast.subs(unit)
    first = work.expands(
        "slow rate in units of tau", a, 1 + _rho, _rho, 2, "so the leading rate is low by rho"
    )
    root = sp.sqrt(_C**2 - 4 * _M * _K)
    bound = slow * _M / root
    weight = work.equal(
        "weight of the fast mode", a / (b - a), bound.subs(unit),
        "r_m/(r_p - r_m), with r_p - r_m = sqrt(C**2 - 4*M*K)/M",
    )
    leading = work.expands(
        "weight of the fast mode, leading", weight, _rho, _rho, 2,
        "it is what the start from rest leaves",
    )
    single = sp.exp(-_T)
    work.expands(
        "the slow mode against the single exponential", (1 + weight) * sp.exp(-a * _T),
        single * (1 + _rho * (1 - _T)), _rho, 2,
        "first order in rho; the fast mode adds -rho*exp(-T/rho), which is gone at once",
    )
    _uniform_bound(work, a, weight)
    reward = work.let(
        "single exponential", _R_inf - (_R_inf - _R_0) * sp.exp(-_t / _tau),
        "equation (13): the reward is linear in q, and q is exp(-t/tau) up to that bound",
    )
    return work.close(
        tau=tau, slow_rate=slow, slow_rate_leading=1 / tau,
        slow_rate_error=(first - 1).subs(_rho, small), reward=reward, error_bound=bound,
        error_leading=leading.subs(_rho, small),
    )
