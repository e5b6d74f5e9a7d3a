r"""lemma-4: momentum lifts gradient flow to second order.

At zero lag the map's characteristic function, at a mode :math:`e^{\lambda t}` sampled every delta,
has the quadratic part of an oscillator: for heavy ball mass (1 + mu)/2 * delta**2, damping
(1 - mu) * delta, stiffness x. Source: arXiv:2606.30789, Lemma 4, in words; the formula is
reconstructed here.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.taylor import by_power_of_x, chi_at, taylor, zero_lag
from derivations.update import Update

__all__ = ["derive"]

_lam, _delta, _mu = (quantity(name) for name in ("lambda", "delta", "mu"))


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive mass and damping of the map without lag.

    Parameters
    ----------
    update
        Only its optimizer matters: the lag is set to zero, where the stale share drops out.

    Returns
    -------
    Derivation
        Results ``mass`` (time squared), ``damping`` (time) and ``stiffness`` (1), with
        chi(exp(lambda*delta)) = mass*lambda**2 + damping*lambda + stiffness + O(lambda**3).
        Provenance: reconstructed (the source has Lemma 4 in words).
    """
    fresh = zero_lag(update)
    work = Workings(
        "lemma-4", "Momentum lifts gradient flow to second order", Provenance.RECONSTRUCTED,
        fresh.conventions() | {"stale_share": "any: without lag it drops out"},
        ("characteristic",),
        use="Gives the oscillator its mass: what momentum costs in delay and can cost in swings.",
    )
    chi, _, _ = chi_at(fresh, _lam * _delta)
    work.let(
        "a mode without lag", sp.Eq(sp.Function("chi")(sp.exp(_lam * _delta)), chi, evaluate=False),
        "the characteristic function at z = exp(lambda*delta), every sample fresh",
    )
    stiffness, damping, mass = (m * _delta**k for k, m in enumerate(taylor(fresh, 2)))
    work.expands(
        "second order", chi, mass * _lam**2 + damping * _lam + stiffness, _lam, 3,
        "the coefficient of lambda**k is the k-th moment of the exponents of z over k factorial",
    )
    work.equal(
        "what momentum adds to the mass",
        (sp.diff(chi, _lam, 2) - sp.diff(chi, _lam, 2).subs(_mu, 0)).subs(_lam, 0) / 2,
        by_power_of_x(mass - mass.subs(_mu, 0)),
        "the half step that gradient descent has by being discrete is not momentum's",
    )
    return work.close(mass=mass, damping=damping, stiffness=stiffness)
