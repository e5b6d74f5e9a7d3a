r"""prop-9: the published rule for the refresh interval, the lag at which damping vanishes.

For heavy ball x*s*d < 1 - mu; EMA momentum x*s*d < 1; Nesterov x*(s*d - mu) < 1 - mu. Source:
arXiv:2606.30789, Proposition 9, in words, for stale share 1; the formula is reconstructed here.
Under a sawtooth the rule is read as its users read it, with the refresh interval N in place of the
lag, and not with the mean age. It is where theorem-7's damping vanishes, not where the map loses
stability.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.algebra import is_zero
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import oscillator
from derivations.update import LAG_MODELS, Update

__all__ = ["derive"]

_mu, _x, _delta = (quantity(name) for name in ("mu", "x", "delta"))


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the x at which theorem-7's damping vanishes.

    Parameters
    ----------
    update
        Any optimizer and stale share; under a sawtooth its refresh stands for the lag.

    Returns
    -------
    Derivation
        Results ``rule_threshold`` (dimensionless x) and ``denominator``: the rule names a threshold
        only where ``denominator`` is positive, and elsewhere damping never vanishes. Provenance:
        reconstructed; optimizers other than heavy ball are an extension.

    Raises
    ------
    ValueError
        If damping does not depend on x (as for heavy ball at lag 0): there is no such x to derive.
    """
    aged = Update(update.optimizer, LAG_MODELS["constant"], update.stale_share, update.lag)
    oscillating = oscillator.derive(aged)
    work = Workings(
        "prop-9", "The refresh-interval rule", Provenance.RECONSTRUCTED, update.conventions(),
        ("theorem-7",),
        use="The published limit on how old samples may be; the exact threshold audits it.",
    )
    damping = work.let(
        "damping", sp.cancel(oscillating["damping"] / _delta),
        "theorem-7's, per step, at a constant lag; a refresh interval stands for the lag",
    )
    line = sp.Poly(damping, _x)
    friction, slope = line.coeff_monomial(1), line.coeff_monomial(_x)
    if is_zero(slope):
        raise ValueError(
            f"theorem-7's damping {damping} does not depend on x, so no x is its threshold; "
            "give a lag and a stale share other than 0"
        )
    # The quotient's sign is put below, so that the denominator alone tells whether the rule speaks.
    over, under = sp.fraction(sp.cancel(friction / -slope))
    if over.subs(_mu, 0).is_negative:
        over, under = -over, -under
    rule = work.solves("the rule", damping, _x, over / under, "damping is linear in x")
    box = [sp.Ge(_mu, 0), sp.Lt(_mu, 1), sp.Gt(_x, 0)]
    work.implies(
        "below it damping is positive",
        [*box, sp.Gt(under, 0), sp.Lt(_x * under, over)], sp.Gt(damping, 0),
        "damping starts at the optimizer's own friction and falls as x grows",
    )
    work.implies(
        "no rule without a positive denominator",
        [*box, sp.Le(under, 0)], sp.Gt(damping, 0), "then lag adds to damping at every x",
    )
    return work.close(rule_threshold=rule, denominator=under)
