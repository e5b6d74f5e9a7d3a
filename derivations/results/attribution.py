r"""Slow-start attribution: how long inertia can hold a curve back (the theory's point 3.11).

Far from the start the curve from rest is the slow exponential delayed by about M/C, which for heavy
ball at zero lag is (1 + mu)/(2*(1 - mu)) steps; its inflection comes later, at about
(M/C)*ln(C**2/(M*K)). A slow start much longer than that is not inertia. Provenance: extension.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import momentum, slow_start
from derivations.taylor import zero_lag
from derivations.update import Update

__all__ = ["derive"]

_M, _C, _K, _delta = (quantity(name) for name in ("M", "C", "K", "delta"))
_rho = sp.Symbol("rho", positive=True)  # M*K/C**2; critical damping is 1/4
_L = sp.Symbol("L", real=True)  # ln(1/rho)
#: r_p - r_m in units of C/M, as prop-14 has it.
_GAP = sp.sqrt(1 - 4 * _rho)


def _coefficients(expression: sp.Expr, order: int) -> list[sp.Expr]:
    """Return the Taylor coefficients in rho up to `order`."""
    return [
        sp.expand(sp.diff(expression, _rho, k).subs(_rho, 0)) / sp.factorial(k)
        for k in range(order + 1)
    ]


def _delay(work: Workings, slow: sp.Expr, fast: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Derive the delay of the slow mode in units of M/C: leading value and relative slip by rho."""
    late = fast / _GAP
    work.let(
        "delay of the slow mode",
        sp.Eq(sp.Symbol("t_delay"), sp.log(late) / slow, evaluate=False),
        "late on q = r_p/(r_p - r_m)*exp(-r_m*t) = exp(-r_m*(t - t_delay)), time in units of M/C",
    )
    (_, f1, f2), (_, s1, s2) = _coefficients(sp.log(late), 2), _coefficients(slow, 2)
    leading, slip = f1 / s1, f2 / f1 - s2 / s1
    work.expands(
        "delay at leading order", sp.log(late), slow * leading * (1 + slip * _rho), _rho, 3,
        "r_m*t_delay on both sides, since the quotient itself is 0/0 at rho = 0",
    )
    return leading, slip


def _inflection(work: Workings, slow: sp.Expr, fast: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Derive the inflection in units of M/C: leading value and relative slip by rho, in L."""
    grown = work.equal(
        "ratio of the rates", fast / slow, ((1 + _GAP) / 2) ** 2 / _rho,
        "the inflection is at ln(r_p/r_m)/(r_p - r_m), and ln(1/rho) carries all its growth",
    )
    exact = (_L + sp.log(grown * _rho)) / _GAP
    leading, following = _coefficients(exact, 1)
    slip = sp.cancel(following / leading)
    work.expands(
        "inflection at leading order", exact, leading * (1 + slip * _rho), _rho, 2,
        "with L = ln(1/rho): the relative error is of first order in rho",
    )
    return leading, slip


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the inertial delay and the inflection of the curve without lag.

    Parameters
    ----------
    update
        Only its optimizer matters: the lag is set to zero.

    Returns
    -------
    Derivation
        Results ``delay`` = M/C and ``inflection_leading`` = (M/C)*ln(C**2/(M*K)) at zero lag, in
        steps; ``delay_error`` and ``inflection_error``, their leading relative errors (exact over
        leading minus 1), of first order in M*K/C**2. Provenance: extension.
    """
    fresh = momentum.derive(zero_lag(update))
    work = Workings(
        "slow-start-attribution", "How long inertia can delay a reward curve", Provenance.EXTENSION,
        fresh.premises, ("lemma-4", "prop-14"),
        use="Tells whether a slow start can be momentum's, or must be the drift's own.",
    )
    mass, damping, stiffness = (
        fresh[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    # In units of M/C, the time damping takes to use up momentum, only rho = M*K/C**2 is left.
    unit = {_M: sp.S.One, _C: sp.S.One, _K: _rho}
    slow, fast = (slow_start.derive()[name].subs(unit) for name in ("slow_rate", "fast_rate"))
    delay, delay_slip = _delay(work, slow, fast)
    inflection, inflection_slip = _inflection(work, slow, fast)
    time = work.let("the unit, M/C", sp.together(mass / damping), "lemma-4's, in steps")
    rho = sp.factor(mass * stiffness / damping**2)
    grown = {_L: sp.log(1 / rho)}
    return work.close(
        delay=delay * time, delay_error=delay_slip * rho,
        inflection_leading=inflection.subs(grown) * time,
        inflection_error=inflection_slip.subs(grown) * rho,
    )
