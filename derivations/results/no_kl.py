r"""Training without a KL anchor (beta = 0): no fixed point, power-law saturation, a slow start.

The clock of the flow dp/dt = eta*F(p) is a function with slope 1/F: it reads eta*t more at every
later moment. All of this section is read off the clock.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results.objective import NORMALISERS, checked
from derivations.results.objective import derive as objective
from derivations.results.softmax import derive as softmax
from derivations.results.surd import tidy

__all__ = ["derive", "p_0"]

_p, _eta, _t, _beta, _eps = (quantity(n) for n in ("p", "eta", "t", "beta", "eps"))
_q = sp.Symbol("q", real=True)  # 1 - p
p_0 = quantity("p_0")


@lru_cache(maxsize=2)
def derive(normaliser: str) -> Derivation:
    r"""Derive the mean-field curve of training at beta = 0 and no momentum.

    ``std``: :math:`\dot p = \eta (p(1-p))^{3/2}`, solved by
    :math:`\cot 2\phi = \cot 2\phi_0 - \eta t/4`, :math:`p = \sin^2\phi`. ``mean``:
    :math:`\dot p = \eta (p(1-p))^2`, solved by
    :math:`2\,\mathrm{logit}\,p + (2p-1)/(p(1-p))` growing as :math:`\eta t`. On-policy, infinite
    group. Provenance: extension (theory: beta = 0).

    Parameters
    ----------
    normaliser
        ``std`` or ``mean``.

    Returns
    -------
    Derivation
        ``rate`` dp/dt; ``clock`` c(p) with c(p(t)) = c(p_0) + eta*t; ``acceleration`` d2p/dt2;
        ``inflection``, the p at which it changes sign; ``time_to_half`` from ``p_0``;
        ``saturation``, 1 - p at late times to leading order; and for ``std`` ``path`` p(t).

    Raises
    ------
    ValueError
        If the normaliser is unknown.
    """
    checked("normaliser", normaliser, NORMALISERS)
    work = Workings(
        "no-kl", "Training without a KL anchor", Provenance.EXTENSION,
        {"beta": "0", "normaliser": normaliser, "momentum": "none", "lag": "none",
         "group size": "infinite", "eps": "0"},
        depends=("eq-2", "softmax"),
        use="A curve that starts slowly and saturates as a power law needs no inertia.",
    )
    drift = objective(staleness="delayed-gradient", kl="reverse", normaliser=normaliser)
    speed = tidy((softmax()["slope"] * drift["on_policy"]).subs({_beta: 0, _eps: 0}))
    rate = work.let("rate", _eta * speed, "dp/dt = p(1-p) times the drift of the logit")
    clock = _clock(work, speed, normaliser)
    acceleration = tidy(sp.diff(rate, _p) * rate)
    half = sp.Rational(1, 2)
    work.solves("inflection", sp.diff(speed, _p), _p, half, "where the speed is largest")
    work.implies(
        "a slow start without inertia", [sp.Gt(_p, 0), sp.Lt(_p, half), sp.Gt(_eta, 0)],
        sp.Gt(acceleration, 0), "below one half the curve bends upwards from the first step",
    )
    more = {"path": _path(work, clock, speed)} if normaliser == "std" else {}
    return work.close(
        rate=rate, clock=clock, acceleration=acceleration, inflection=half,
        time_to_half=(clock.subs(_p, half) - clock.subs(_p, p_0)) / _eta,
        saturation=_saturation(work, clock, speed), **more,
    )


def _clock(work: Workings, speed: sp.Expr, normaliser: str) -> sp.Expr:
    """Integrate 1/speed: through the angle phi, p = sin(phi)**2, or by partial fractions."""
    if normaliser == "std":
        phi = sp.Symbol("phi", real=True)
        turn = work.let(
            "speed of the angle", _eta * sp.sin(2 * phi) ** 2 / 8,
            "dphi/dt, as p = sin(phi)**2, sigma = sin(2*phi)/2 and dp = sin(2*phi)*dphi",
        )
        angle = sp.integrate(_eta / turn, phi)
        sigma = sp.sqrt(_p * (1 - _p))
        clock = tidy(angle.subs({sp.cos(2 * phi): 1 - 2 * _p, sp.sin(2 * phi): 2 * sigma}))
    else:
        clock = sp.integrate(sp.apart(1 / speed, _p), _p).subs(sp.log(_p - 1), sp.log(1 - _p))
        clock = sp.Add(*map(tidy, clock.args))
    work.equal("clock", sp.diff(clock, _p), 1 / speed, "so along the curve it runs at rate eta")
    return clock


def _path(work: Workings, clock: sp.Expr, speed: sp.Expr) -> sp.Expr:
    """Invert the clock of ``std``, cot(2*phi) = -clock/4."""
    c = sp.Symbol("c", real=True)  # cot(2*phi), falling at rate eta/4
    wide = sp.sqrt(1 + c**2)
    there = (1 - c / wide) / 2
    work.equal(
        "spread on the path", there * (1 - there), 1 / (2 * wide) ** 2,
        "p = (1 - cos(2*phi))/2 with cos = cot/sqrt(1 + cot**2)",
    )
    sigma = sp.Symbol("sigma", positive=True)
    work.equal(
        "its clock",
        clock.subs(sp.sqrt(_p * (1 - _p)), sigma).subs({_p: there, sigma: 1 / (2 * wide)}),
        -4 * c, "with that spread for the root",
    )
    work.equal(
        "its speed", sp.diff(there, c) * -sp.Rational(1, 4),
        speed.subs(_p * (1 - _p), sigma**2).subs(sigma, 1 / (2 * wide)),
        "as c falls at rate eta/4, p moves at eta times the speed",
    )
    return there.subs(c, tidy(-clock.subs(_p, p_0) / 4) - _eta * _t / 4)


def _saturation(work: Workings, clock: sp.Expr, speed: sp.Expr) -> sp.Expr:
    """Derive the late distance to 1 from the exponent of the speed there."""
    near = tidy(speed.subs(_p, 1 - _q))
    power = tidy(_q * sp.diff(near, _q) / near).subs(_q, 0)
    root = sp.Symbol("r", positive=True)  # r = q**(power - 1), the inverse of late time
    slow = clock.coeff(sp.log(1 - _p)) * sp.log(1 - _p)
    late = (clock - slow).subs(_p, 1 - _q).subs(_q, root ** (1 / (power - 1)))
    work.expands(
        "clock close to 1", sp.cancel(late * root), 1 / (power - 1), root, 1,
        f"times r = (1 - p)**({power - 1})"
        + ("" if slow == 0 else ", less a term in r*log(r), which vanishes too"),
    )
    return ((power - 1) * _eta * _t) ** (-1 / (power - 1))
