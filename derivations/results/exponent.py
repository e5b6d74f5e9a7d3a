r"""eq-15: the size exponent of the timescale is the curvature-scaling exponent.

With tau = C/K the logarithmic slopes satisfy d ln tau/d ln size = -d ln(K/C)/d ln size, so
tau ~ size**a if and only if K/C ~ size**-a. At zero lag tau = (1 - mu)/x, and K alone scales so
only where eta and mu do not change with size. Source: arXiv:2606.30789, equation (15), in words;
reconstructed here. That the exponent is 0.3, and that the coefficients are power laws at all, is
left to data.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import oscillator, overdamped
from derivations.update import Update

__all__ = ["derive"]

_C, _K, _mu, _x, _eta, _delta, _size, _tau = (
    quantity(name) for name in ("C", "K", "mu", "x", "eta", "delta", "size", "tau")
)


def _slope(expression: sp.Expr) -> sp.Expr:
    """Return the logarithmic slope size * d ln(expression)/d size, as differentiation leaves it."""
    return _size * sp.diff(sp.log(expression), _size)


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive how the relaxation time scales with model size from how K/C does.

    Returns
    -------
    Derivation
        Results ``exponent_identity``, the exponent of K/C where tau ~ size**a; ``tau_zero_lag``
        (steps) in mu and x; ``slope_split``, d ln tau/d ln size at zero lag with mu, eta and K
        functions of size. Provenance: reconstructed.
    """
    work = Workings(
        "eq-15", "The size exponent is the curvature-scaling exponent", Provenance.RECONSTRUCTED,
        {
            "regime": "overdamped, so that tau = C/K",
            "left to data": "that K/C is a power of size, and that the exponent is 0.3",
        },
        ("theorem-7", "cor-13"),
        use="Turns a measured timescale exponent into one of stiffness over damping, or back.",
    )
    tau = overdamped.derive()["tau"]
    damping, stiffness, momentum, step = (
        sp.Function(name, real=True)(_size) for name in ("C", "K", "mu", "eta")
    )
    work.equal(
        "logarithmic slopes", _slope(tau.subs({_C: damping, _K: stiffness})),
        sp.expand(-_slope(stiffness) + _slope(damping)),
        "tau = C/K at every size, power law or not: its slope is minus that of K/C",
    )
    a, scale = sp.Symbol("a", real=True), sp.Symbol("c", positive=True)
    law = _tau - tau
    work.solves(
        "from stiffness over damping to timescale", law.subs(_K, _C * _size**-a / scale), _tau,
        scale * _size**a, "K/C = size**-a/c gives tau = c*size**a",
    )
    rate = work.solves(
        "from timescale to stiffness over damping", law.subs(_tau, scale * _size**a), _K,
        _C * _size**-a / scale, "and tau = c*size**a gives K/C = size**-a/c",
    ) / _C
    exponent = work.let(
        "the exponent", sp.cancel(_slope(rate)), "a power's logarithmic slope is its exponent"
    )
    fresh = oscillator.derive(Update.named("heavy-ball", "constant", lag=0))
    tau_zero_lag = work.let(
        "timescale at zero lag",
        tau.subs({_C: fresh["damping"], _K: fresh["stiffness"]}) / _delta,
        "theorem-7's coefficients for heavy ball without lag, in steps",
    )
    split = work.equal(
        "what may scale at zero lag",
        _slope(tau_zero_lag.subs(_x, _eta * stiffness).subs({_mu: momentum, _eta: step})),
        _slope(1 - momentum) - _slope(step) - _slope(stiffness),
        "so tau's exponent is that of 1/K alone only at fixed step size and momentum",
    )
    return work.close(exponent_identity=exponent, tau_zero_lag=tau_zero_lag, slope_split=split)
