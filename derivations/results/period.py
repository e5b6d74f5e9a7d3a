r"""The period of the swing, where training swings.

Theorem-7's oscillator turns at the imaginary part of its rates, so a turn takes
4*pi*M/sqrt(4*M*K - C**2). The map's own period is 2*pi over the angle of its dominant complex pair;
it has no closed form in general and is enclosed where it is needed.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import oscillator
from derivations.taylor import by_power_of_x
from derivations.update import Update

__all__ = ["derive"]

_lam, _t, _delta, _M, _C, _K = (quantity(n) for n in ("lambda", "t", "delta", "M", "C", "K"))


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the period of theorem-7's oscillator in steps.

    .. math:: T = \frac{4\pi M}{\sqrt{4 M K - C^2}}, \qquad 4 M K > C^2

    Provenance: extension; the coefficients are theorem-7's.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic.

    Returns
    -------
    Derivation
        Results ``period`` in steps and ``swings``, 4*M*K - C**2, positive where there is one.
    """
    oscillating = oscillator.derive(update)
    work = Workings(
        "oscillation-period", "The period of the swing", Provenance.EXTENSION,
        update.conventions(), ("theorem-7",),
        use="A logged curve must be sampled at less than half of it to show the swing at all.",
    )
    turn = sp.Symbol("omega", real=True)
    rate = -_C / (2 * _M) + sp.I * turn
    work.let("a swinging mode", sp.Eq(_lam, rate, evaluate=False), "q = exp(lambda*t)")
    angular = work.solves(
        "angular rate", sp.expand(_M * rate**2 + _C * rate + _K),
        turn, sp.sqrt(4 * _M * _K - _C**2) / (2 * _M),
        "real where 4*M*K > C**2; the conjugate turns the other way",
    )
    period = work.solves(
        "one turn", angular * _t - 2 * sp.pi, _t, 4 * sp.pi * _M / sp.sqrt(4 * _M * _K - _C**2),
        "after it the mode has the phase it started with",
    )
    mass, damping, stiffness = (
        oscillating[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    swings = by_power_of_x(4 * mass * stiffness - damping**2)
    found = work.equal(
        "in theorem-7's coefficients",
        period.subs({_M: mass, _C: damping, _K: stiffness}, simultaneous=True),
        2 * sp.pi * by_power_of_x(2 * mass) / sp.sqrt(swings),
        "it swings where the radicand is positive, which needs a positive mass",
    )
    return work.close(period=found, swings=swings)
