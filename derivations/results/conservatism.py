r"""How much prop-9's rule gives away: between nothing and a factor pi/2.

At stale share 1 the exact threshold x_c of heavy ball (EMA: with 1 in place of 1 - mu) satisfies

.. math:: 1 \le \frac{x_c\, d}{1-\mu} = \frac{d \sin w}{\sin(d w)} < \frac{\pi}{2}, \qquad d \ge 1,

with w the angle of the mode on the border. It is 1 at d = 1 and tends to pi/2 as d (1 - mu) grows.
Source: the theory's point 3.1; extension.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.algebra import is_zero
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.gain import gain, on_circle
from derivations.judge import smt
from derivations.notation import QUANTITIES, inverse, quantity
from derivations.results import lag_rule, stability
from derivations.update import Update

__all__ = ["derive"]

_mu, _x, _d, _w = (quantity(name) for name in ("mu", "x", "d", "w"))
_BOX = smt.box(_mu, QUANTITIES["mu"].domain)
_HALF_PI = sp.pi / 2


@lru_cache(maxsize=16)
def derive(update: Update) -> Derivation:
    r"""Derive the ratio of the exact threshold to the rule's, its bounds and its limit.

    The rule is lag-rule's at stale share 1, x d < (1 - mu)/G(1): prop-9's for heavy ball and EMA.

    Parameters
    ----------
    update
        Constant lag, stale share 1.

    Returns
    -------
    Derivation
        ``conservatism``, the ratio in mu, d and the angle w of the border, and
        ``conservatism_low``, its lower bound for d >= 1.
        For an optimizer whose gain is a constant (heavy ball, EMA) also ``conservatism_high``, its
        upper bound; ``conservatism_limit``, what it tends to as d (1 - mu) grows; ``angle_low``, a
        lower bound of the border's angle; ``conservatism_without_momentum``, the ratio at mu = 0.

    Raises
    ------
    ValueError
        If the stale share is not 1, or the lag is 0, where the rule is silent.
    """
    if not is_zero(update.stale_share - 1) or update.lag == 0:
        raise ValueError(
            "the rule and the exact threshold are compared at stale share 1 and d >= 1; "
            f"given {update.conventions()}"
        )
    work = Workings(
        "rule-conservatism", "How much the published rule gives away", Provenance.EXTENSION,
        update.conventions(), ("constant-lag-threshold", "lag-rule", "prop-9"),
        use="Tells how far above the rule training is still stable; heavy ball, EMA: 57 % at most.",
    )
    a, b = gain(update)
    m = update.optimizer.memory
    every = Update(update.optimizer, update.lag_model, update.stale_share, _d)
    border = stability.derive(every)
    rule = sp.cancel((1 - m) / (a + b)) / _d
    # Real part times Im G plus imaginary part times Re G: chi times the conjugate of the gain.
    turned = (
        border["boundary_imag"] * (a + b * sp.cos(_w))
        + border["boundary_real"] * b * sp.sin(_w)
    )
    friction, power = on_circle(update, sp.cos(_w))
    slowing = sp.cancel(friction * (a + b) / ((1 - m) * power))
    unknown = sp.Symbol("ratio", real=True)
    ratio = work.solves(
        "ratio on the border", turned.subs(_x, unknown * rule), unknown,
        slowing * _d * sp.sin(_w) / sp.sin(_d * _w),
        "the imaginary part of chi times the conjugate of G, with x the rule's times a ratio",
    )
    lag_rule.sine_bound(work)
    s, S, f = sp.symbols("sin_w sin_dw f", real=True)
    work.implies(
        "at least 1", [_d >= 1, f >= 1, s > 0, S > 0, _d * s >= S], f * _d * s / S >= 1,
        "f is friction relative to its least, lag-rule's; sin(d w) has the sign of sin w",
    )
    results = {"conservatism": ratio, "conservatism_low": sp.S.One}
    if b == 0:
        results |= _bounded(work, border["levin_may"], rule, m)
    return work.close(**{name: result.subs(_d, update.lag) for name, result in results.items()})


def _bounded(
    work: Workings, levin_may: sp.Expr, rule: sp.Expr, memory: sp.Expr
) -> dict[str, sp.Expr]:
    """Bound the ratio from above, and find what it tends to."""
    _below_half_pi(work)
    low = _angle(work, memory)
    alone = (levin_may / rule).subs(_mu, 0)
    e = inverse("d")
    short = (levin_may / (_d * rule)).subs({_mu: 0, _d: 1 / e})
    limit = work.expands(
        "long lags without momentum", short.replace(sp.sin, lambda t: sp.sin(sp.cancel(t))),
        _HALF_PI * e, e, 2, "so d times it tends to pi/2",
    )
    return {
        "conservatism_high": _HALF_PI, "conservatism_limit": limit / e, "angle_low": low,
        "conservatism_without_momentum": alone,
    }


def _below_half_pi(work: Workings) -> None:
    """d sin w/sin(d w) < pi/2, with s, S for the sines, t for d w and h for pi/2."""
    s, S, t, h, shift = sp.symbols("sin_w sin_dw t h shift", real=True)
    work.implies(
        "d w below pi/2", [sp.Eq(t + _w / 2 + shift, h), _w > 0, shift >= 0], t < h,
        "the phase condition, whose shift by the buffer is not negative",
    )
    chord = sp.sin(_w) - 2 * _w / sp.pi
    work.equal(
        "Jordan's inequality",
        sp.Matrix([chord.subs(_w, 0), chord.subs(_w, _HALF_PI), sp.diff(chord, _w, 2)]),
        sp.Matrix([0, 0, -sp.sin(_w)]),
        "sin lies above its chord on (0, pi/2): equal at both ends and concave",
    )
    under = _w - sp.sin(_w)
    work.equal(
        "sin w < w", sp.Matrix([under.subs(_w, 0), sp.diff(under, _w)]),
        sp.Matrix([0, 1 - sp.cos(_w)]), "equal at 0, and the difference does not fall",
    )
    work.implies(
        "below pi/2", [_d >= 1, s > 0, h > 0, t > 0, t < h, _d * s < t, S * h >= t],
        _d * s / S < h, "d sin w < d w = t, and sin t >= t/(pi/2)",
    )


def _angle(work: Workings, memory: sp.Expr) -> sp.Expr:
    """Bound the border's angle from below: it is what drives the ratio to pi/2."""
    shift, h = sp.symbols("shift h", real=True)
    low = _HALF_PI / (_d + (1 + memory) / (2 * (1 - memory)))
    work.implies(
        "the angle is not small",
        [*_BOX, _d >= 1, h > 0, _w > 0, sp.Eq(_w * (_d + sp.Rational(1, 2)) + shift, h),
         shift * (1 - memory) <= memory * _w],
        _w >= (low / _HALF_PI) * h,
        "the buffer's shift is at most its tangent, at most mu w/(1 - mu); with w < pi/(2 d) this "
        "puts d w between (pi/2)/(1 + (1 + mu)/(2 d (1 - mu))) and pi/2",
    )
    return low
