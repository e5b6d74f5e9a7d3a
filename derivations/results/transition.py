r"""sec-3.5: the overdamped-to-oscillatory transition of the oscillator, C**2 = 4*M*K.

Source: arXiv:2606.30789, section 3.5, in words; the formula is reconstructed here. With theorem-7's
coefficients the discriminant C**2 - 4*M*K is a quadratic a*x**2 + 2*b*x + c in x, positive at
x = 0, and its first zero is c/(-b + sqrt(b**2 - a*c)): the form that does not cancel and that stays
valid where the quadratic degenerates to a line (lag 0). The map's own onset is another number.
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

_mu, _x, _delta, _M, _C, _K = (quantity(name) for name in ("mu", "x", "delta", "M", "C", "K"))


def _first_zero(work: Workings, quadratic: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Return the first zero and its radicand, proved to be first for all coefficients at once."""
    coefficients = [quadratic.coeff(_x, k) / (1, 2, 1)[k] for k in range(3)]
    common = sp.gcd_list(coefficients)  # EMA's 1 - mu; its sign is put so that c stays positive
    common = -common if common.subs(_mu, 0).is_negative else common
    c, b, a = (sp.factor(sp.cancel(coefficient / common)) for coefficient in coefficients)
    radicand = sp.factor(b**2 - a * c)
    # A line has the square b**2 under its root, which is -b only where the zero is positive.
    first = work.solves(
        "zeros", quadratic, _x, c / (-b + (-b if a == 0 else sp.sqrt(radicand))),
        "the quadratic formula, written so that nothing cancels where a tends to 0",
    )
    work.implies(
        "positive without stiffness", [sp.Ge(_mu, 0), sp.Lt(_mu, 1)], sp.Gt(c, 0),
        "at x = 0 only the optimizer's own friction is left",
    )
    A, B, c0, w = sp.symbols("a b c w", real=True)  # any coefficients; w is the square root
    parabola = A * _x**2 + 2 * B * _x + c0
    given = [sp.Gt(c0, 0), sp.Ge(w, 0), sp.Eq(w**2, B**2 - A * c0), sp.Gt(_x, 0)]
    work.implies(
        "it is the first", [*given, sp.Gt(w - B, 0), sp.Lt(_x * (w - B), c0)],
        sp.Gt(parabola, 0), "before it the discriminant keeps the sign it has at x = 0",
    )
    work.implies(
        "or there is none", [*given, sp.Le(w - B, 0)], sp.Gt(parabola, 0),
        "without a positive zero of this form the discriminant is positive for every x > 0",
    )
    return first, radicand


@lru_cache(maxsize=256)
def derive(update: Update) -> Derivation:
    r"""Derive the smallest x > 0 at which C**2 = 4*M*K with C > 0.

    Parameters
    ----------
    update
        Any optimizer, lag model and stale share; lag or refresh fixed or symbolic.

    Returns
    -------
    Derivation
        Results ``truncated_onset`` (dimensionless x); ``discriminant``, C**2 - 4*M*K as a quadratic
        in x; ``radicand``, what stands under the root of the onset; ``damping_at_onset``, C there.
        The oscillator has an onset where ``radicand`` is not negative and ``truncated_onset`` and
        ``damping_at_onset`` are positive, as they are for heavy ball and EMA at every share >= 0.
        Provenance: reconstructed; other optimizers and shares are an extension.
    """
    oscillating = oscillator.derive(update)
    work = Workings(
        "sec-3.5", "The overdamped-to-oscillatory transition", Provenance.RECONSTRUCTED,
        update.conventions(), ("theorem-7",),
        use="Tells at which step size or lag the oscillator starts to swing, well before it fails.",
    )
    mass, damping, stiffness = (
        oscillating[name].subs(_delta, 1) for name in ("mass", "damping", "stiffness")
    )
    work.let(
        "critical damping", sp.Eq(_C**2, 4 * _M * _K, evaluate=False),
        "the two rates of M*q'' + C*q' + K*q = 0 meet; the step's duration cancels",
    )
    discriminant = work.equal(
        "the discriminant", damping**2 - 4 * mass * stiffness,
        by_power_of_x(damping**2 - 4 * mass * stiffness), "theorem-7's coefficients, linear in x",
    )
    onset, radicand = _first_zero(work, discriminant)
    work.implies(
        "damping is positive up to it",
        [sp.Gt(_M, 0), sp.Gt(_K, 0), sp.Ge(_C**2 - 4 * _M * _K, 0)], sp.Ne(_C, 0),
        "C starts at the optimizer's friction and cannot pass zero while C**2 >= 4*M*K > 0",
    )
    return work.close(
        truncated_onset=onset, discriminant=discriminant,
        radicand=radicand, damping_at_onset=damping.subs(_x, onset),
    )
