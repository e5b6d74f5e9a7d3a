r"""The saturation laws of arXiv:2507.18014 in the theory's terms: what can be decided by algebra.

Its later version states :math:`R = R_\infty(1 - e^{-t/\mathrm{size}^{0.3}})`, its first a sigmoid
in t. The later law is cor-13's single exponential for a reward that starts at 0, and its constant 1
before the power of size belongs to one choice of units: in others, and at another step size or
momentum, it is another number. The two versions bend in opposite directions, and the sigmoid, read
as a success rate, asks for a logit that grows steadily, which it does not without a KL anchor.
Provenance: extension.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import exponent, no_kl, overdamped
from derivations.results.objective import NORMALISERS
from derivations.results.surd import tidy

__all__ = ["EXPONENT", "derive"]

#: The exponent of size, as printed.
EXPONENT = sp.Rational(3, 10)

_t, _tau, _size, _u, _v, _p, _R_0, _R_inf = (
    quantity(n) for n in ("t", "tau", "size", "u", "v", "p", "R_0", "R_inf")
)


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive what the printed laws say of units, of the start and of the success rate's logit.

    Returns
    -------
    Derivation
        ``reward``, cor-13's for a start at 0; ``constant``, what stands before size**0.3 when t is
        counted in a unit u times smaller and size in one v times smaller; ``constant_zero_lag``,
        the same at zero lag in steps, from theorem-7; ``logit_acceleration_std`` and
        ``logit_acceleration_mean``, d2 logit p/dt2 without a KL anchor. Provenance: extension.
    """
    work = Workings(
        "saturation-law", "The published saturation laws in the theory's terms",
        Provenance.EXTENSION,
        {
            "later version": "R = R_inf*(1 - exp(-t/size**(3/10)))",
            "first version": "a sigmoid in t",
        },
        ("cor-13", "eq-15", "no-kl"),
        use="Says what a fitted saturation law can mean, and what its constant hides.",
    )
    decay = sp.exp(-_t / _tau)
    reward = work.equal(
        "from zero reward", overdamped.derive()["reward"].subs(_R_0, 0), _R_inf * (1 - decay),
        "cor-13's single exponential is the printed curve only if the reward starts at 0",
    )
    constant = _units(work)
    zero_lag = work.let(
        "the constant at zero lag", exponent.derive()["tau_zero_lag"] * _size**-EXPONENT,
        "tau over size**0.3, for heavy ball in steps: it holds step size, stiffness and momentum",
    )
    _bends(work, overdamped.derive()["reward"])
    logits = {f"logit_acceleration_{n}": _logit(work, n) for n in NORMALISERS}
    return work.close(reward=reward, constant=constant, constant_zero_lag=zero_lag, **logits)


def _units(work: Workings) -> sp.Expr:
    """Derive the constant of the same curve in other units."""
    positive = {s: sp.Symbol(s.name, positive=True) for s in (_t, _size, _u, _v)}
    constant = sp.Symbol("constant", positive=True)
    old, new = _t / _size**EXPONENT, _u * _t / (constant * (_v * _size) ** EXPONENT)
    found = _u / _v**EXPONENT
    work.solves(
        "the constant in other units", (new - old).subs(positive), constant, found.subs(positive),
        "u*t and v*size are the numbers there; the constant is 1 in the old units",
    )
    return found


def _bends(work: Workings, exponential: sp.Expr) -> None:
    """State that the two versions bend in opposite directions while they rise."""
    y, width = sp.symbols("y width", real=True)
    speed = y * (1 - y) / width
    work.let("the sigmoid", speed, "dy/dt of y = 1/(1 + exp(-(t - half)/width)), by its height")
    work.implies(
        "the sigmoid starts slowly", [sp.Gt(y, 0), sp.Lt(y, sp.Rational(1, 2)), sp.Gt(width, 0)],
        sp.Gt(sp.factor(sp.diff(speed, y) * speed), 0), "below half its height it accelerates",
    )
    fall = sp.Symbol("fall", real=True)
    bend = sp.diff(exponential, _t, 2).subs(sp.exp(-_t / _tau), fall)
    work.implies(
        "the exponential does not", [sp.Gt(_R_inf, _R_0), sp.Gt(_tau, 0), sp.Gt(fall, 0)],
        sp.Lt(bend, 0), "with fall = exp(-t/tau): it decelerates from the first step",
    )


def _logit(work: Workings, normaliser: str) -> sp.Expr:
    """Derive how the logit of success accelerates at beta = 0; a sigmoid's does not."""
    rate = no_kl.derive(normaliser)["rate"]
    speed = tidy(rate / (_p * (1 - _p)))
    return work.equal(
        f"acceleration of the logit, {normaliser}", sp.diff(speed, _p) * rate,
        tidy(sp.diff(speed, _p) * rate),
        "a sigmoid's logit is linear in t; this one gains speed up to one half and loses it after",
    )
