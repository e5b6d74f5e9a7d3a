r"""A stability rule for every constant lag and every stale share, proved for all lags at once.

.. math:: |x_s|\,d < \frac{1-\mu}{G(1)}, \quad x > 0, \quad
          x_f + (-1)^d x_s < \frac{2(1+\mu)}{G(-1)} \;\Longrightarrow\; \text{every mode decays},

with G the optimizer's gain: G(1) = G(-1) = 1 for heavy ball and 1 - mu for EMA; for Nesterov
G(1) = 1 and G(-1) = 1 + 2 mu. At stale share 1 it is prop-9's rule for heavy ball and EMA, which is
therefore safe at every lag d >= 1. Source: the theory's points 3.1 and 3.7; extension. Nesterov's
case is not in the theory.
"""

from __future__ import annotations

from functools import lru_cache

import sympy as sp

from derivations.algebra import is_zero
from derivations.characteristic import characteristic, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.gain import gain, is_ordinary, on_circle
from derivations.judge import smt
from derivations.notation import QUANTITIES, quantity
from derivations.update import Update

__all__ = ["derive", "sine_bound"]

_mu, _x, _d, _w = (quantity(name) for name in ("mu", "x", "d", "w"))
#: Stand for sin(w), cos(w), sin(d*w), cos(d*w) where the solver reasons about them.
_sin, _cos, _SIN, _COS = sp.symbols("sin_w cos_w sin_dw cos_dw", real=True)
_aged, _sign = sp.symbols("aged sign", real=True)  # z**-d, and (-1)**d
_BOX = smt.box(_mu, QUANTITIES["mu"].domain)


def sine_bound(work: Workings) -> None:
    r"""Make the two steps that prove :math:`|\sin(d w)| \le d\,|\sin w|` by induction on d."""
    work.equal(
        "sine of a sum", sp.sin((_d + 1) * _w),
        sp.sin(_d * _w) * sp.cos(_w) + sp.cos(_d * _w) * sp.sin(_w), "addition theorem",
    )
    work.implies(
        "|sin(d w)| <= d |sin w|, from d to d + 1",
        [_d**2 * _sin**2 >= _SIN**2, _COS**2 <= 1, _cos**2 <= 1, _d >= 0],
        (_SIN * _cos + _COS * _sin) ** 2 <= (_d + 1) ** 2 * _sin**2,
        "it is an equality at d = 0, so by induction it holds for every whole d",
    )


@lru_cache(maxsize=64)
def derive(update: Update) -> Derivation:
    r"""Prove the rule by excluding every way in which a mode could reach the unit circle.

    The imaginary part of chi = 0 on the circle leaves only z = 1 and z = -1, the other two
    conditions exclude those, and the conditions survive when x shrinks to 0, where the map is
    stable: by continuity no mode ever crosses.

    Parameters
    ----------
    update
        Constant lag, fixed or symbolic; any stale share.

    Returns
    -------
    Derivation
        Result ``sufficient``: the three conditions, joined. At stale share 1, unless the lag is 0,
        also ``rule_sufficient``: d >= 1, x > 0 and x d < (1 - mu)/G(1).

    Raises
    ------
    ValueError
        If the lag model is not constant, or the optimizer opposes the force.
    """
    a, b = gain(update)
    if not is_ordinary(update):
        raise ValueError(
            f"{update.optimizer.name}: this optimizer does not forget or opposes the force; "
            "give memory in [0, 1), direct >= 0 and passed*intake >= 0"
        )
    work = Workings(
        "lag-rule", "A rule that is safe at every constant lag", Provenance.EXTENSION,
        update.conventions(), ("characteristic",),
        use="Says which lags are safe without solving for a threshold, at any stale share.",
    )
    m, lag = update.optimizer.memory, sp.sympify(update.lag, strict=True)
    limit, edge = sp.cancel((1 - m) / (a + b)), 2 * (1 + m) / (a - b)
    sine_bound(work)
    chi = _for_every_lag(update)
    _no_pair(work, update, chi, limit)
    _no_end(work, update, chi, limit, edge)
    apart = sp.true if lag == 0 else sp.Abs(update.stale_share) * _x * lag < limit
    both = sp.collect(sp.expand(update.fresh + (-1) ** lag * update.stale), _x)
    results = {"sufficient": sp.And(_x > 0, apart, both < edge)}
    if is_zero(update.stale_share - 1) and lag != 0:
        work.implies(
            "share 1", [*_BOX, _d >= 1, _x > 0, _d * _x < limit, _sign**2 <= 1], _sign * _x < edge,
            "with the whole force stale and d >= 1 the first condition gives the third",
        )
        results["rule_sufficient"] = sp.And(lag >= 1, _x > 0, lag * _x < limit)
    return work.close(**results)


def _for_every_lag(update: Update) -> sp.Expr:
    """Return chi with the symbol `_aged` for z**-d: the proof is for every lag at once."""
    every = Update(update.optimizer, update.lag_model, update.stale_share, _d)
    return characteristic(every)["chi"].subs(z**-_d, _aged)


def _no_pair(work: Workings, update: Update, chi: sp.Expr, limit: sp.Expr) -> None:
    """Exclude roots on the unit circle other than 1 and -1."""
    a, b = gain(update)
    turn = sp.exp(sp.I * _w)
    gained = chi.subs({z: turn, _aged: sp.exp(-sp.I * _d * _w)}) * (a + b * turn)
    friction, power = on_circle(update, sp.cos(_w))
    work.equal(
        "imaginary part on the circle", (gained - gained.subs(_w, -_w)) / (2 * sp.I),
        friction * sp.sin(_w) - power * update.stale * sp.sin(_d * _w),
        "of chi(e^{i w}) times the conjugate of G(e^{i w}), whose square modulus multiplies x_s; "
        "of the force only the stale part is left",
    )
    friction, power = on_circle(update, _cos)
    work.implies(
        "friction is least for slow modes", [*_BOX, _cos >= -1, _cos <= 1],
        sp.And(sp.Ge(friction, limit * power), sp.Gt(power, 0)), "with equality at w = 0",
    )
    f, y = sp.symbols("f y", real=True)
    work.implies(
        "only z = 1 and z = -1 are left",
        [f >= limit, _d >= 0, y >= 0, y * _d < limit, _d**2 * _sin**2 >= _SIN**2,
         sp.Eq(f**2 * _sin**2, y**2 * _SIN**2), *_BOX],
        sp.Eq(_sin, 0),
        "f is friction over |G|^2 and y is |x_s|: where the imaginary part vanishes, sin w does",
    )


def _no_end(
    work: Workings, update: Update, chi: sp.Expr, limit: sp.Expr, edge: sp.Expr
) -> None:
    """Exclude roots at 1 and -1, and reach every x from the stable map at small x."""
    a, b = gain(update)
    work.equal(
        "not at z = 1", chi.subs({z: 1, _aged: 1}), (a + b) * _x, "chi(1) > 0 while x > 0"
    )
    work.equal(
        "not at z = -1", chi.subs({z: -1, _aged: _sign}),
        (a - b) * (update.fresh + _sign * update.stale - edge),
        "with sign for (-1)**d: chi(-1) < 0 by the third condition",
    )
    stale, end, t = sp.symbols("x_s x_end t", real=True)
    given = [sp.Abs(stale) * _d < limit, _x > 0, end < edge]
    shrunk = {stale: t * stale, _x: t * _x, end: t * end}
    work.implies(
        "kept when x shrinks", [*_BOX, *given, _d >= 0, t > 0, t <= 1],
        sp.And(*(g.subs(shrunk, simultaneous=True) for g in given)),
        "each condition for x gives the same condition for every smaller x",
    )
    # At x = 0 the age of the samples has no part in chi, so z**-d may be left as it is.
    slope = -sp.diff(chi, _x).subs(_aged, 1) / sp.diff(chi.subs(_x, 0), z)
    work.equal(
        "stable for small x", slope.subs({_x: 0, z: 1}), -(a + b) / (1 - update.optimizer.memory),
        "at x = 0 the modes are 1, mu and 0; the one at 1 moves inwards, so for small x all are "
        "inside, and by continuity none can leave while the conditions hold",
    )
