r"""The exponent that a compute-performance law would need, moment by moment.

arXiv:2510.13786 states, for a reward R at compute C,

.. math:: R - R_0 = \frac{R_\infty - R_0}{1 + (C_{mid}/C)^B}.

With y the share of the rise that is done, that is :math:`\ln(y/(1-y)) = B\ln(C/C_{mid})`: a curve
is this law if and only if :math:`C\,y'/(y(1-y))` is the same at every C. Here it is derived for the
theory's own curves, compute counted in steps. It starts at 1 where nothing has inertia and at 2
from rest; late it is 2 or 1 without a KL anchor, and grows without bound with one.
Provenance: extension.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import count

import sympy as sp

from derivations.algebra import is_zero
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity
from derivations.results import no_kl, overdamped, slow_start
from derivations.results.surd import tidy

__all__ = ["CURVES", "derive"]

CURVES = ("no-kl-std", "no-kl-mean", "exponential", "from-rest")

_t, _tau, _p, _p_0, _eta, _B, _C_mid, _R_0, _R_inf = (
    quantity(n) for n in ("t", "tau", "p", "p_0", "eta", "B", "C_mid", "R_0", "R_inf")
)
_r_p, _r_m = quantity("r_p"), quantity("r_m")
_h = sp.Symbol("h", real=True)
_E = sp.Symbol("E", real=True)  # an exponential that falls from 1 to 0
_BETWEEN = (sp.Gt(_E, 0), sp.Lt(_E, 1))


@lru_cache(maxsize=len(CURVES))
def derive(curve: str) -> Derivation:
    r"""Derive the exponent of a compute-performance law that a curve has locally.

    Parameters
    ----------
    curve
        ``no-kl-std``, ``no-kl-mean``: training at beta = 0 from success probability p_0, without
        momentum; ``exponential``: cor-13's; ``from-rest``: prop-14's, overdamped.

    Returns
    -------
    Derivation
        ``exponent``, at beta = 0 in p and p_0, otherwise in t; ``start`` and ``late``, its limits;
        ``half``, at half of the rise, but for ``from-rest``, which has no closed form there;
        ``by_spread``, at beta = 0 and p > 1/2 in the spread of rewards sigma;
        ``law_inflection``, where the law itself is steepest, for B > 1.

    Raises
    ------
    ValueError
        If the curve is unknown.
    """
    if curve not in CURVES:
        raise ValueError(f"curve {curve!r} is unknown (one of: {', '.join(CURVES)})")
    work = Workings(
        "compute-exponent", "The exponent a compute-performance law would need",
        Provenance.EXTENSION, {"curve": curve, "compute": "counted in steps"},
        depends=("no-kl",) if curve.startswith("no-kl") else ("cor-13", "prop-14"),
        use="Says what a fitted B means, and that no B is a constant of the method.",
    )
    inflection = _law(work)
    shape = {"exponential": _exponential, "from-rest": _from_rest}.get(curve)
    results = _no_kl(work, curve.removeprefix("no-kl-")) if shape is None else shape(work)
    return work.close(**results, law_inflection=inflection)


def _law(work: Workings) -> sp.Expr:
    """State what the printed law is: straight in the logarithms, and steepest where."""
    share = work.let(
        "the law", 1 / (1 + (_C_mid / _t) ** _B), "share of the rise done at compute t, as printed"
    )
    work.equal(
        "exponent of the law", _slope(share), _B,
        "so the law holds for a curve if and only if t*y'/(y*(1 - y)) does not change",
    )
    u = quantity("u")
    finer = {_t: u * _t, _C_mid: u * _C_mid}
    work.equal(
        "in other units of compute", share.subs(finer, simultaneous=True), share,
        "the unit is taken up by C_mid, and B does not depend on it",
    )
    rest = (_C_mid / _t) ** _B
    bend = (_B - 1) * rest - (_B + 1)
    work.equal(
        "its curvature", sp.diff(share, _t, 2), bend * _B * rest / (_t**2 * (1 + rest) ** 3),
        "at B > 1 positive at first: a slow start, flat at t = 0, without any inertia",
    )
    inflection, above = _C_mid * ((_B - 1) / (_B + 1)) ** (1 / _B), sp.Symbol("b", positive=True)
    work.solves(
        "where it is steepest", bend.subs(_B, 1 + above), _t, inflection.subs(_B, 1 + above),
        "with B = 1 + b, b > 0; at B <= 1 the bracket is negative from the start",
    )
    return inflection


def _slope(share: sp.Expr) -> sp.Expr:
    """Return d ln(y/(1 - y))/d ln t."""
    return _t * sp.diff(share, _t) / (share * (1 - share))


def _order(derivatives: Iterable[sp.Expr]) -> sp.Integer:
    """Return the power of t a rise begins with, from its derivatives at t = 0, the first on."""
    return sp.Integer(next(k for k, value in enumerate(derivatives, 1) if not is_zero(value)))


def _no_kl(work: Workings, normaliser: str) -> dict[str, sp.Expr]:
    """Derive it along the flow at beta = 0, where time is read off the clock."""
    flow = no_kl.derive(normaliser)
    clock, rate = flow["clock"], flow["rate"]
    speed = tidy(rate / _eta)
    moved = clock - clock.subs(_p, _p_0)
    share = (_p - _p_0) / (1 - _p_0)
    top, bottom = moved * speed * (1 - _p_0), (_p - _p_0) * (1 - _p)
    exponent = work.equal(
        "exponent on the path", moved / _eta * rate / (1 - _p_0) / (share * (1 - share)),
        top / bottom, "t is the clock's advance over eta, and y = (p - p_0)/(1 - p_0)",
    )
    start = _order([rate.subs(_p, _p_0)])
    work.expands(
        "at the start", top.subs(_p, _p_0 + _h), start * bottom.subs(_p, _p_0 + _h), _h, 2,
        "numerator and denominator to first order in p - p_0: the rise begins with t",
    )
    sigma = quantity("sigma")
    by_spread, run, height = _by_spread(work, normaliser, exponent)
    saturation = flow["saturation"]
    late = sp.cancel(-_t * sp.diff(saturation, _t) / saturation)
    work.expands(
        "late", run * height * (1 - _p_0), late * (height - _p_0), sigma, 1,
        "as rewards cease to differ: the exponent is that of the power law of saturation",
    )
    return {
        "exponent": exponent, "start": start, "half": exponent.subs(_p, (1 + _p_0) / 2),
        "late": late, "by_spread": by_spread,
    }  # fmt: skip


def _by_spread(
    work: Workings, normaliser: str, exponent: sp.Expr
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Write it in the spread of rewards sigma = sqrt(p*(1 - p)), p above 1/2; and its factors."""
    sigma = sp.Symbol("sigma", positive=True)
    root = sp.sqrt(1 - 4 * sigma**2)
    p = (1 + root) / 2
    begun = no_kl.derive(normaliser)["clock"].subs(_p, _p_0)
    run = (
        2 * root - begun * sigma if normaliser == "std"
        else root + sigma**2 * (4 * sp.log(p) - 4 * sp.log(sigma) - begun)
    )  # fmt: skip
    spread = {_p * (1 - _p): sigma**2, sp.log(1 - _p): 2 * sp.log(sigma) - sp.log(_p)}
    shown = work.equal(
        "by the spread of rewards", exponent.subs(spread).subs(_p, p),
        run * (1 - _p_0) * p / (p - _p_0),
        "with sigma**2 for p*(1 - p), so p = (1 + sqrt(1 - 4*sigma**2))/2",
    )
    return tuple(e.subs(sigma, quantity("sigma")) for e in (shown, run, p))


def _exponential(work: Workings) -> dict[str, sp.Expr]:
    """Derive it for the single exponential."""
    reward = overdamped.derive()["reward"]
    share = work.equal(
        "share of the single exponential", (reward - _R_0) / (_R_inf - _R_0),
        1 - sp.exp(-_t / _tau), "cor-13's reward",
    )
    time = _t / _tau
    exponent = work.equal(
        "exponent on the curve", _slope(share), time / (1 - sp.exp(-time)), "as for the law"
    )
    start = _order(sp.diff(share, _t, k).subs(_t, 0) for k in count(1))
    work.expands(
        "at the start", time, (1 - sp.exp(-time)) * (start + time / 2), _t, 3,
        "so the exponent is 1 + t/(2*tau) up to second order",
    )
    work.implies(
        "without bound", [sp.Ge(_t, 0), *_BETWEEN], sp.Ge(_t / (1 - _E), _t),
        "with E = exp(-t/tau): it is never below t/tau, so no B fits to the end",
    )
    half = exponent.subs(_t, _tau * sp.log(2))
    return {"exponent": exponent, "start": start, "half": half, "late": sp.oo}


def _from_rest(work: Workings) -> dict[str, sp.Expr]:
    """Derive it for the overdamped oscillator from rest, with rates r_p > r_m."""
    slow, fast = sp.exp(-_r_m * _t), sp.exp(-_r_p * _t)
    left = (_r_p * slow - _r_m * fast) / (_r_p - _r_m)
    shown = slow_start.derive()["overdamped"]
    gap = sp.sqrt((_r_p + _r_m) ** 2 - 4 * _r_p * _r_m)
    by_rates = {quantity("M"): 1, quantity("C"): _r_p + _r_m, quantity("K"): _r_p * _r_m}
    work.equal(
        "share left", shown.subs(by_rates, simultaneous=True).subs(gap, _r_p - _r_m), left,
        "prop-14's curve, by its rates",
    )
    speed = _r_p * _r_m * (slow - fast) / (_r_p - _r_m)
    exponent = work.equal(
        "exponent on the curve", _slope(1 - left), _t * speed / (left * (1 - left)),
        "as for the law",
    )
    start = _order(-sp.diff(left, _t, k).subs(_t, 0) for k in count(1))
    work.expands(
        "at the start", _t * speed, start * (1 - left), _t, 3,
        "the rise begins with t**2, so the exponent starts at 2",
    )
    rate = _r_p * _r_m * (1 - _E) / (_r_p - _r_m * _E)
    work.equal(
        "rate late", speed / left, rate.subs(_E, sp.exp(-(_r_p - _r_m) * _t)),
        "the share left falls at this rate, and the exponent is t times it over y",
    )
    work.implies(
        "without bound", [sp.Gt(_r_m, 0), sp.Gt(_r_p, _r_m), *_BETWEEN],
        sp.Ge(rate, _r_m * (1 - _E)),
        "y is below 1, so the exponent is at least t*r_m*(1 - E): no B fits to the end",
    )
    return {"exponent": exponent, "start": start, "late": sp.oo}
