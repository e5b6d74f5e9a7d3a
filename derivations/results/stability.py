r"""The exact stability border under a constant lag.

On the border a mode sits at z = exp(i w). For any stale share that is two real equations; at stale
share 1 they separate into a phase condition for w alone and an explicit x. For heavy ball

.. math:: w\,(d + \tfrac12) + \operatorname{atan2}(\mu \sin w,\, 1 - \mu\cos w) = \tfrac{\pi}{2},
          \qquad x_c = 2 \sin\tfrac w2 \sqrt{1 - 2\mu\cos w + \mu^2},

and at mu = 0 Levin and May's 2 sin(pi/(2(2d+1))). Source: the theory's point 3.1; extension (the
case mu = 0: Levin and May 1976).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

from derivations.algebra import is_zero
from derivations.characteristic import characteristic, z
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.gain import gain, is_ordinary, on_circle
from derivations.judge import smt
from derivations.notation import QUANTITIES, quantity
from derivations.results import lag_rule
from derivations.results.binding import BOX, binding
from derivations.results.stability_conditions import conditions
from derivations.update import Update

__all__ = ["derive"]

_mu, _x, _d, _w = (quantity(name) for name in ("mu", "x", "d", "w"))
_BOX = smt.box(_mu, QUANTITIES["mu"].domain)
_cos = sp.Symbol("cos_w", real=True)

#: Largest fixed lag whose stable region is written out and its border solved for.
SHORT = 2


@lru_cache(maxsize=64)
def derive(update: Update) -> Derivation:
    r"""Derive the border of stability.

    Parameters
    ----------
    update
        Constant lag, fixed or symbolic; any stale share.

    Returns
    -------
    Derivation
        ``boundary_real``, ``boundary_imag``: real and imaginary part of chi(exp(i w)), in mu, x, s,
        d and w; a mode is on the unit circle at angle w where both vanish.
        ``boundary_x``, the x of the border at angle w. At stale share 1 ``boundary_phase``, which
        has its one zero in (0, pi) for d >= 1 and is zero at pi for d = 0, where stability is first
        lost; ``levin_may``, the threshold at mu = 0. At other shares (not 0, nor at lag 0)
        ``boundary_angle``, which vanishes wherever in (0, pi) a pair of modes is on the circle.
        At a fixed lag up to `SHORT`: ``stable``, the inequalities that bound the stable region,
        redundant ones left out; and where one inequality of degree at most 2 in x is left,
        ``threshold``, the first x at which stability is lost.
        From lag-rule: ``sufficient`` and ``rule_sufficient``.

    Raises
    ------
    ValueError
        If the lag model is not constant.
    """
    gain(update)  # refuses other lag models
    work = Workings(
        "constant-lag-threshold", "The exact stability border under a constant lag",
        Provenance.EXTENSION, update.conventions(), ("characteristic", "lag-rule"),
        use="The step size, momentum and lag at which training starts to diverge.",
    )
    every = Update(update.optimizer, update.lag_model, update.stale_share, _d)
    results = _on_the_circle(work, every)
    ordinary = is_ordinary(update)
    if is_zero(update.stale_share - 1):
        results |= _parametric(work, every) if ordinary else {}
    elif not is_zero(update.stale_share) and update.lag != 0:
        results |= _eliminated(work, results)
    results = {name: result.subs(_d, update.lag) for name, result in results.items()}
    if ordinary:
        results |= lag_rule.derive(update).results
        if update.steps is not None and update.steps <= SHORT:
            results |= _polynomial(work, update)
    return work.close(**results)


def _rotated(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Real and imaginary part of a real Laurent polynomial in z at z = exp(i w)."""
    weights: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(expression)):
        weight, power = term.as_independent(z, as_Add=False)
        exponent = sum((p.as_base_exp()[1] for p in sp.Mul.make_args(power) if p != 1), sp.S.Zero)
        weights[exponent] = weights.get(exponent, sp.S.Zero) + weight
    angles = [(sp.factor(weight), sp.expand(e * _w)) for e, weight in weights.items()]
    return (
        sum((weight * sp.cos(angle) for weight, angle in angles), sp.S.Zero),
        sum((weight * sp.sin(angle) for weight, angle in angles), sp.S.Zero),
    )


def _on_the_circle(work: Workings, update: Update) -> dict[str, sp.Basic]:
    chi = characteristic(update)["chi"]
    real, imaginary = _rotated(chi)
    work.equal(
        "a mode on the unit circle",
        chi.subs(z**-_d, sp.exp(-sp.I * _d * _w)).subs(z, sp.exp(sp.I * _w)),
        real + sp.I * imaginary,
        "chi(e^{i w}), split into real and imaginary part; both vanish on the border",
    )
    return {"boundary_real": real, "boundary_imag": imaginary}


def _eliminated(work: Workings, parts: Mapping[str, sp.Basic]) -> dict[str, sp.Basic]:
    """Eliminate x between the two equations, which are linear in it."""
    real, imaginary = (sp.collect(sp.expand(part), _x) for part in parts.values())
    slope, rise = (sp.factor(part.coeff(_x, 1)) for part in (imaginary, real))
    border = work.solves(
        "x on the border", imaginary, _x, sp.factor(imaginary.coeff(_x, 0)) / -slope,
        "the imaginary part, in which only the stale force appears for heavy ball and EMA",
    )
    angle = work.equal(
        "the border's angles", real.subs(_x, border) * slope,
        sp.factor(real.coeff(_x, 0)) * slope - rise * sp.factor(imaginary.coeff(_x, 0)),
        "the real part with that x; stability changes only at its zeros and at z = 1 and z = -1",
    )
    return {"boundary_x": border, "boundary_angle": angle}


def _parametric(work: Workings, update: Update) -> dict[str, sp.Basic]:
    """Solve the two equations at stale share 1: the whole force then has one modulus and phase."""
    a, b = gain(update)
    m = update.optimizer.memory
    turn = sp.exp(sp.I * _w)

    def modulus(e: sp.Expr) -> sp.Expr:
        return sp.expand(e.subs(z, turn) * e.subs(z, 1 / turn))

    still, push = 1 - m / z, a + b / z
    buffered = sp.expand(1 + m**2) - 2 * m * sp.cos(_w)
    pushed = on_circle(update, sp.cos(_w))[1]
    squared = 4 * sp.sin(_w / 2) ** 2 * buffered / pushed
    work.equal(
        "modulus", modulus(z - 1) * modulus(still) / modulus(push), squared,
        "x = -z^d (z - 1)(1 - mu/z)/G(z) on the border, so x^2 is this",
    )
    parts, gained = _rotated(still), _rotated(push)
    work.equal(
        "phases of the factors", sp.Matrix([turn - 1, still.subs(z, turn), push.subs(z, turn)]),
        sp.Matrix([2 * sp.sin(_w / 2) * sp.exp(sp.I * _w / 2) * sp.I,
                   parts[0] + sp.I * parts[1], gained[0] + sp.I * gained[1]]),
        "z - 1, 1 - mu/z and G on the circle: the first has phase w/2 + pi/2",
    )
    lead, shift = sp.atan2(*reversed(parts)), sp.S.Zero if b == 0 else sp.atan2(*reversed(gained))
    phase = _w * (_d + sp.Rational(1, 2)) + lead - shift - sp.pi / 2
    work.argue(
        "phase condition", sp.Eq(phase, 0, evaluate=False),
        "x is positive, so the phases of z^d, z - 1, 1 - mu/z and 1/G add up to pi; those of the "
        "last two are read off their parts",
    )
    rate = _d + (1 - m**2) / (2 * buffered) + b * (b + a * sp.cos(_w)) / pushed
    work.equal("phase, as w grows", sp.diff(phase, _w), rate, "derivative in w")
    speed, first = rate.subs(sp.cos(_w), _cos), squared / (2 * sp.sin(_w / 2) ** 2)
    arc = [*_BOX, _cos > -1, _cos < 1]
    work.implies(
        "one angle", [*arc, _d >= 1], speed > 0,
        "the phase rises from -pi/2 at w = 0 to pi d at w = pi, so it vanishes once in between; "
        "at d = 0 it vanishes at w = pi",
    )
    square = (1 - _cos) * first.subs(sp.cos(_w), _cos)
    work.implies(
        "x grows with the angle", arc, sp.diff(square, _cos) < 0,
        "so the smallest angle is the first loss of stability, and z = -1 is not before it",
    )
    size = a if b == 0 else sp.sqrt(pushed)
    results = {
        "boundary_x": 2 * sp.sin(_w / 2) * sp.sqrt(buffered) / size, "boundary_phase": phase,
    }
    if is_zero(m.subs(_mu, 0)):
        angle = work.solves(
            "without momentum", phase.subs(_mu, 0), _w, sp.pi / (2 * _d + 1),
            "the buffer's phase is gone and the condition is linear in w",
        )
        # With w*(d + 1/2) = pi/2 the age z**-d is exp(-i (pi - w)/2), whatever d is.
        aged = sp.exp(-sp.I * (sp.pi - _w) / 2)
        free = characteristic(update)["chi"].subs(_mu, 0).expand().subs(z**-_d, aged)
        work.equal(
            "its mode is on the circle",
            free.subs({z: turn, _x: results["boundary_x"].subs(_mu, 0)}),
            sp.S.Zero,
            "chi(e^{i w}) vanishes there: modulus and phase were argued, this is checked",
        )
        results["levin_may"] = results["boundary_x"].subs(_mu, 0).subs(_w, angle)
    return results


def _polynomial(work: Workings, update: Update) -> dict[str, sp.Basic]:
    """Reduce the stability conditions to those that bind, and solve for x where one is left."""
    left = binding(work, conditions(update))
    results: dict[str, sp.Basic] = {"stable": sp.And(_x > 0, *(c > 0 for c in left))}
    if len(left) == 1 and sp.degree(left[0], _x) <= 2:
        results["threshold"] = _first_zero(work, left[0])
    return results


def _first_zero(work: Workings, polynomial: sp.Expr) -> sp.Expr:
    a, b, c = (polynomial.coeff(_x, k) for k in (2, 1, 0))
    # Citardauq's form: the smallest positive root, with no division by a, which may vanish.
    root = c / -b if a == 0 else 2 * c / (-b + sp.sqrt(sp.factor(b**2 - 4 * a * c)))
    work.solves("border", polynomial, _x, root, "the condition that binds, at equality")
    work.implies("stable before it", [*BOX, _x < root], polynomial > 0, "no earlier zero")
    work.implies("not after it", [*BOX, polynomial > 0], _x < root, "and no return of stability")
    return root
