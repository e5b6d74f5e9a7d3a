r"""prop-14 and eq-16: the slow start of an oscillator released from rest.

With r_p > r_m > 0 the roots of M*r**2 - C*r + K,

.. math:: R(t) = R_\infty - (R_\infty - R_0)\,
          \frac{r_p e^{-r_m t} - r_m e^{-r_p t}}{r_p - r_m}, \qquad R'(0) = 0,

with its inflection at ln(r_p/r_m)/(r_p - r_m). Source: arXiv:2606.30789, Proposition 14 and
equation (16), named and worded; the formulas are reconstructed here, with the critical and the
underdamped curve.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.notation import quantity

__all__ = ["derive"]

_M, _C, _K, _t, _R_0, _R_inf = (quantity(name) for name in ("M", "C", "K", "t", "R_0", "R_inf"))
_p, _m, _w = sp.symbols("r_p r_m omega", positive=True)
_g = sp.Symbol("gamma", real=True)


def _from_rest(
    work: Workings, name: str, curve: sp.Expr, damping: sp.Expr, stiffness: sp.Expr
) -> None:
    """State that q solves q'' + damping*q' + stiffness*q = 0 with q(0) = 1, q'(0) = 0."""
    work.let(f"{name} curve", sp.Eq(sp.Function("q")(_t), curve, evaluate=False), "to be checked")
    speed = sp.diff(curve, _t)
    work.equal(
        f"{name}: motion and start",
        sp.Matrix([sp.diff(speed, _t), curve.subs(_t, 0), speed.subs(_t, 0)]),
        sp.Matrix([-damping * speed - stiffness * curve, 1, 0]),
        "it solves the equation of motion, and is released from rest at 1",
    )


def _overdamped(work: Workings) -> tuple[sp.Expr, sp.Expr]:
    """Derive the curve of two real rates and its inflection."""
    curve = (_p * sp.exp(-_m * _t) - _m * sp.exp(-_p * _t)) / (_p - _m)
    _from_rest(work, "overdamped", curve, _p + _m, _p * _m)
    bend = _m * sp.exp((_p - _m) * _t) - _p
    work.equal(
        "overdamped: curvature", sp.diff(curve, _t, 2),
        bend * _p * _m * sp.exp(-_p * _t) / (_p - _m),
        "negative at first, so the start is slow, and positive once this bracket has changed sign",
    )
    inflection = work.solves(
        "overdamped: inflection", bend, _t, sp.log(_p / _m) / (_p - _m),
        "the bracket vanishes once",
    )
    return curve, inflection


def _underdamped(work: Workings) -> tuple[sp.Expr, sp.Expr]:
    """Derive the curve of two complex rates gamma +- i*omega and its first inflection."""
    curve = sp.exp(-_g * _t) * (sp.cos(_w * _t) + _g / _w * sp.sin(_w * _t))
    _from_rest(work, "underdamped", curve, 2 * _g, _g**2 + _w**2)
    bend = _g * sp.sin(_w * _t) - _w * sp.cos(_w * _t)
    work.equal(
        "underdamped: curvature", sp.diff(curve, _t, 2),
        bend * (_g**2 + _w**2) / _w * sp.exp(-_g * _t),
        "so it bends first where omega*t is the angle of (gamma, omega)",
    )
    inflection = work.solves(
        "underdamped: first inflection", bend, _t, sp.atan2(_w, _g) / _w,
        "the bracket's first zero at t > 0",
    )
    return curve, inflection


def _critical(work: Workings) -> tuple[sp.Expr, sp.Expr]:
    """Derive the curve of a double rate gamma and its inflection."""
    curve = sp.exp(-_g * _t) * (1 + _g * _t)
    _from_rest(work, "critical", curve, 2 * _g, _g**2)
    inflection = work.solves(
        "critical: inflection", sp.diff(curve, _t, 2), _t, 1 / _g, "the curvature vanishes once",
    )
    return curve, inflection


@lru_cache(maxsize=1)
def derive() -> Derivation:
    r"""Derive q(t) of M*q'' + C*q' + K*q = 0 from q(0) = 1, q'(0) = 0 in its three regimes.

    Returns
    -------
    Derivation
        Results in M (time**2), C (time), K (1) and t: ``overdamped`` (C**2 > 4*M*K), ``critical``,
        ``underdamped``; ``inflection_time`` (overdamped), ``inflection_critical``,
        ``inflection_underdamped`` (the first one); the rates ``fast_rate`` r_p and ``slow_rate``
        r_m; ``reward_overdamped`` in R_0 and R_inf and ``initial_slope``, its slope at t = 0.
        Provenance: reconstructed.
    """
    work = Workings(
        "prop-14", "The slow start of an oscillator from rest", Provenance.RECONSTRUCTED,
        {"motion": "M*q'' + C*q' + K*q = 0 with q(0) = 1, q'(0) = 0", "signs": "M, C, K > 0"},
        ("theorem-7",),
        use="The three-phase law of a reward curve: slow start, rise, saturation.",
    )
    overdamped, inflection = _overdamped(work)
    underdamped, inflection_underdamped = _underdamped(work)
    critical, inflection_critical = _critical(work)
    root = sp.sqrt(_C**2 - 4 * _M * _K)
    fast, slow, gap = (_C + root) / (2 * _M), 2 * _K / (_C + root), root / _M
    work.equal(
        "the rates r_p and r_m", sp.Matrix([fast + slow, fast * slow, fast - slow]),
        sp.Matrix([_C / _M, _K / _M, gap]),
        "the roots of M*r**2 - C*r + K by sum and product, the slow one without cancellation",
    )
    decay, swing = _C / (2 * _M), sp.sqrt(4 * _M * _K - _C**2) / (2 * _M)
    work.equal(
        "decay gamma and frequency omega", sp.Matrix([2 * decay, decay**2 + swing**2]),
        sp.Matrix([_C / _M, _K / _M]), "the same sum and product for complex roots",
    )
    rise = work.equal(
        "slow start of the reward", sp.diff(_R_inf - (_R_inf - _R_0) * overdamped, _t),
        (_R_inf - _R_0) * _p * _m * (sp.exp(-_m * _t) - sp.exp(-_p * _t)) / (_p - _m),
        "flat at t = 0 and rising after, which a single exponential cannot be",
    )

    def real(e: sp.Expr) -> sp.Expr:
        return e.subs(_p - _m, gap).subs({_p: fast, _m: slow})

    def swinging(e: sp.Expr) -> sp.Expr:
        return e.subs({_g: decay, _w: swing})

    return work.close(
        overdamped=real(overdamped), critical=swinging(critical),
        underdamped=swinging(underdamped),
        reward_overdamped=_R_inf - (_R_inf - _R_0) * real(overdamped),
        inflection_time=real(inflection), inflection_critical=swinging(inflection_critical),
        inflection_underdamped=swinging(inflection_underdamped), fast_rate=fast, slow_rate=slow,
        initial_slope=rise.subs(_t, 0),
    )
