r"""lemma-5: lag supplies inertia and weakens damping.

What the stale part of the force adds to the quadratic Taylor polynomial of the zero-lag map: for
heavy ball mass + x_s*d**2/2 * delta**2, damping - x_s*d * delta. Source: arXiv:2606.30789 v1,
Lemma 5, in words; the formula is reconstructed here. Under a sawtooth refresh the powers of the lag
are averaged over its phases: a model, since the map is then periodic and has no chi.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.characteristic import characteristic, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.taylor import by_power_of_x, chi_at, mean_age_power, taylor, zero_lag
from derivations.update import Update

__all__ = ["derive"]

_lam, _delta, _N = (quantity(name) for name in ("lambda", "delta", "N"))


def _phase_means(work: Workings) -> None:
    """State the mean of the age's first two powers over the phases, each proved by induction."""
    for power in (1, 2):
        total = _N * mean_age_power(power)
        work.equal(
            f"sum over the phases of age**{power}",
            sp.Matrix([total.subs(_N, 1), total.subs(_N, _N + 1) - total]),
            sp.Matrix([0, _N**power]),
            "by induction: with N = 1 the only age is 0, and one phase more adds the age N",
        )


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive what lag adds to mass and takes from damping.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic.

    Returns
    -------
    Derivation
        Results ``mass_gain`` (lagged minus zero-lag mass, time squared) and ``damping_loss``
        (zero-lag minus lagged damping, time; positive where lag weakens damping).
        Provenance: reconstructed (v1's Lemma 5 in words); optimizers other than heavy ball and
        shares other than 1 are an extension.
    """
    work = Workings(
        "lemma-5", "Lag supplies inertia and weakens damping", Provenance.RECONSTRUCTED,
        update.conventions(), ("characteristic", "lemma-4"),
        use="Tells what old samples do to the dynamics, and that the sign is the stale share's.",
    )
    h = _lam * _delta
    lagged, weight, extra = chi_at(update, h)
    fresh, _, _ = chi_at(zero_lag(update), h)
    work.let(
        "what lag changes", sp.Eq(
            sp.Function("gap")(z),
            characteristic(update)["force"] - characteristic(zero_lag(update))["force"],
            evaluate=False,
        ),
        "the lagged characteristic function minus the one with every sample fresh",
    )
    if update.lag_model.name == "sawtooth" and update.steps is None:
        _phase_means(work)
    gap = [
        by_power_of_x(aged - new)
        for aged, new in zip(taylor(update, 2), taylor(zero_lag(update), 2), strict=True)
    ]
    damping_loss, mass_gain = -gap[1] * _delta, gap[2] * _delta**2
    work.expands(
        "first and second order", lagged - weight * fresh,
        weight * (mass_gain * _lam**2 - damping_loss * _lam), _lam, 3 + extra,
        "an old sample pulls as hard as a fresh one (no term in lambda**0), but late"
        + ("; both sides carry the factor that the phase average divides by" if extra else ""),
    )
    return work.close(mass_gain=mass_gain, damping_loss=damping_loss)
