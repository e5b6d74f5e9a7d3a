r"""theorem-7 and eq-9: training is a damped oscillator, to second order in the rate of a mode.

.. math:: M \ddot q + C \dot q + K q = \text{noise}

with M, C, K the quadratic Taylor polynomial of chi(exp(lambda*delta)) at lambda = 0. For heavy ball
and constant lag M = ((1 + mu) + x_s*d**2)/2 * delta**2, C = ((1 - mu) - x_s*d) * delta, K = x.
Source: arXiv:2606.30789, Theorem 7 and equation (9), named and worded for stale share 1; the
formula is reconstructed here. It is a model of the map: the first neglected coefficient is a result
too.
"""

from __future__ import annotations

from functools import lru_cache

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import lag, momentum
from derivations.taylor import by_power_of_x, chi_at, taylor
from derivations.update import Update

__all__ = ["derive"]

_lam, _delta = quantity("lambda"), quantity("delta")


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the oscillator and its leading error.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic. Under a sawtooth
        the phase average of the lag is used: a model, not the map over one refresh.

    Returns
    -------
    Derivation
        Results ``mass``, ``damping``, ``stiffness``, and ``cubic``, the coefficient of lambda**3
        that the oscillator leaves out. Units time**2, time, 1, time**3; at ``delta`` = 1 in steps.
        Provenance: reconstructed.
    """
    work = Workings(
        "theorem-7", "Training as a damped oscillator", Provenance.RECONSTRUCTED,
        update.conventions(), ("characteristic", "lemma-4", "lemma-5"),
        use="Threshold, transition, relaxation time and slow start are read off its coefficients.",
    )
    inertia, ageing = momentum.derive(update), lag.derive(update)
    mass = work.let(
        "mass", by_power_of_x((inertia["mass"] + ageing["mass_gain"]) / _delta**2) * _delta**2,
        "lemma-4's inertia of momentum plus lemma-5's inertia of lag",
    )
    damping = work.let(
        "damping", by_power_of_x((inertia["damping"] - ageing["damping_loss"]) / _delta) * _delta,
        "lemma-4's friction minus what lemma-5's lag undoes of it",
    )
    stiffness = inertia["stiffness"]
    chi, weight, extra = chi_at(update, _lam * _delta)
    cubic = taylor(update, 3)[3] * _delta**3
    work.expands(
        "oscillator and first term left out", chi,
        weight * (cubic * _lam**3 + mass * _lam**2 + damping * _lam + stiffness), _lam, 4 + extra,
        "a slow mode exp(lambda*t), sampled every delta, obeys the oscillator up to lambda**3"
        + ("; both sides carry the factor that the phase average divides by" if extra else ""),
    )
    return work.close(mass=mass, damping=damping, stiffness=stiffness, cubic=cubic)
