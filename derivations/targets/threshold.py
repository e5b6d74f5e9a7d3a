r"""Targets about borders: where the exact map is stable, and where it starts to oscillate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from derivations.algebra import canonical, is_zero
from derivations.characteristic import characteristic_polynomial, closed_monodromy, monodromy
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.formula import render
from derivations.judge import balls
from derivations.judge.region import Region
from derivations.judge.search import Point
from derivations.judge.value import Value
from derivations.notation import quantity
from derivations.results import lag_rule, onset, sawtooth, stability
from derivations.results.binding import binding
from derivations.results.stability_conditions import conditions, is_stable_at
from derivations.targets.base import (
    LINEAR,
    Setting,
    Target,
    TargetError,
    every_lag,
    needs_flint,
)
from derivations.update import Update

__all__ = ["THRESHOLDS", "sufficient_for_every_lag"]

_mu, _x = quantity("mu"), quantity("x")
#: Lags whose stability conditions a solver digests in seconds; beyond, points are decided exactly.
LONGEST_SOLVED = 7
#: Terms of a condition that still reads well.
SHORT = 12


def _positive(e: sp.Expr) -> sp.Basic:
    return sp.StrictGreaterThan(e, 0, evaluate=False)


@lru_cache(maxsize=64)
def _binding(update: Update) -> tuple[sp.Expr, ...]:
    """Return the stability conditions that bind; the others are proved to follow."""
    work = Workings("stable-region", "", Provenance.EXTENSION, update.conventions())
    return tuple(binding(work, conditions(update)))


def _edge(binding: tuple[sp.Expr, ...]) -> sp.Expr | None:
    """Return the threshold as a formula where one condition binds and has degree 1 or 2 in x."""
    if len(binding) != 1:
        return None
    polynomial = sp.Poly(binding[0], _x)
    if polynomial.degree() > 2:
        return None
    roots = sp.solve(binding[0], _x)
    at = {_mu: sp.Rational(1, 3), quantity("s"): sp.S.One}
    positive = [r for r in roots if r.subs(at).evalf() > 0]
    return min(positive, key=lambda r: r.subs(at).evalf()) if positive else None


def _threshold(setting: Setting) -> Region:
    update = setting.update
    assert update is not None
    if _has_levin_may(setting):
        return _levin_may(update)
    if _is_one_number(setting):
        return _one_number(update)
    binds = _binding(update) if (update.steps or 0) <= LONGEST_SOLVED else None
    edge = _edge(binds) if binds is not None else None
    lag = update.lag_model.parameter
    return Region(
        binds,
        _contains(setting),
        _x,
        edge,
        _text(update, binds, edge),
        ("stability-conditions",),
        sufficient=tuple(r.subs(lag, update.lag) for _, r in sufficient_for_every_lag(update)),
    )


def _contains(setting: Setting) -> Callable[[Point], bool]:
    update = setting.update
    assert update is not None
    lag = update.lag_model.parameter
    return lambda point: is_stable_at(
        update, {s: v for s, v in {**setting.pinned, **point}.items() if s != lag}
    )


def _text(update: Update, binds: tuple[sp.Expr, ...] | None, edge: sp.Expr | None) -> str:
    """Return the region as a reader should see it: the shortest true form there is."""
    if edge is not None and edge.is_rational_function():
        return f"x < {render(canonical(edge))}"
    if binds is not None and sum(len(sp.Add.make_args(c)) for c in binds) <= SHORT:
        return " and ".join(render(_positive(c)) for c in binds)
    if update.lag_model.name == "constant" and update.stale_share == 1:
        derived = stability.derive(update)
        phase = sp.Eq(derived["boundary_phase"], 0, evaluate=False)
        return f"x < {render(derived['boundary_x'])} at the w in (0, pi) with {render(phase)}"
    return "spectral radius < 1"


def _has_levin_may(setting: Setting) -> bool:
    """Whether the claim is about every constant lag without momentum: there is a closed form."""
    update = setting.update
    return (
        every_lag(setting)
        and update is not None
        and update.lag_model.name == "constant"
        and update.stale_share == 1
        and setting.pinned.get(_mu) == 0
    )


def _is_one_number(setting: Setting) -> bool:
    """Whether a claim is about every refresh without momentum: q at a refresh is all there is."""
    update = setting.update
    return (
        every_lag(setting)
        and update is not None
        and update.lag_model.name == "sawtooth"
        and update.stale_share == 1
        and setting.pinned.get(_mu) == 0
    )


def _one_number(update: Update) -> Region:
    """At mu = 0 the map over a refresh has one eigenvalue that is not 0, and it is linear in x."""
    matrix, lag = closed_monodromy(update), update.lag_model.parameter
    alone = {_mu: 0, matrix["u"]: 0}  # u = mu**N, N >= 1
    a, b, d = (sp.expand(matrix[name].subs(alone)) for name in ("a11", "a12", "a22"))
    if not (is_zero(b) and is_zero(d)):
        raise TargetError(f"{update.optimizer.name} keeps a memory without momentum")
    edge = sp.solve_linear(a + 1, 0, [_x])[1]

    def contains(point: Point) -> bool:
        rest = {_mu: Fraction(0), **{s: v for s, v in point.items() if s != lag}}
        return is_stable_at(update.at(int(point[lag])), rest)

    text = f"x < {render(edge)}"
    return Region((edge - _x,), contains, _x, edge, text, (matrix.id,), whole=True)


def _levin_may(update: Update) -> Region:
    derived = stability.derive(update)
    edge, lag = derived["levin_may"], update.lag_model.parameter

    def contains(point: Point) -> bool:
        rest = {_mu: Fraction(0), **{s: v for s, v in point.items() if s != lag}}
        return is_stable_at(update.at(int(point[lag])), rest)

    return Region(
        (edge - _x,), contains, _x, edge, f"x < {render(edge)}", (derived.id,), whole=True
    )


def sufficient_for_every_lag(update: Update) -> list[tuple[int, sp.Basic]]:
    """Return the derived theorems "this implies stability for every lag from the first on".

    Returns
    -------
    list of (first lag, relation)
        Relations in x, mu, the share and the symbolic lag.
    """
    if update.lag_model.name == "sawtooth":
        derived = sawtooth.derive(update) if update.stale_share == 1 else None
        found = derived.results.get("sufficient") if derived is not None else None
        return [(1, found)] if found is not None else []
    relation = lag_rule.derive(update)["sufficient"]
    parity = sp.S.NegativeOne ** quantity("d")
    either = [
        relation.subs(parity, sign) for sign in (1, -1)
    ]  # so that it serves even and odd lags
    return [(1, sp.And(*either))]


def _closed(
    derive: Callable[[Update], Derivation], result: str, *positive: str
) -> Callable[[Setting], Value]:
    """A border with a closed form for some premises only; elsewhere the claim is refused.

    It exists where the results named in `positive` are above zero.
    """

    def build(setting: Setting) -> Value:
        update = setting.update
        assert update is not None
        try:
            derived = derive(update)
        except ValueError as error:
            raise TargetError(str(error)) from error
        if result not in derived.results:
            chosen = ", ".join(f"{k} {v}" for k, v in update.conventions().items())
            raise TargetError(
                f"there is no closed form of the {result} for {chosen}; "
                "grpo-dynamics predict gives it in numbers"
            )
        where = tuple(_positive(derived[name]) for name in positive if name in derived.results)
        return Value(derived[result], where=where, basis=(derived.id,))

    return build


def _sketched_onset(setting: Setting) -> Value:
    """The first x at which two roots meet, in numbers: of chi, or of the map over a refresh."""
    update = setting.update
    assert update is not None

    def enclose(point: Point, bits: int) -> Any:
        where = {**setting.pinned, **point}
        if not where.get(_mu):
            raise balls.Undefined("without momentum a root at 0 may be among those that meet")
        with balls.precision(bits):
            return _first_double(update, where)

    return Value(enclose=needs_flint(enclose), text="the onset", symbols=(_mu,))


def _first_double(update: Update, point: Point) -> Any:
    """Under constant lag the largest x(z) = -P_0(z)/P_1(z) at which chi = P_0 + x*P_1 vanishes."""
    from flint import arb_poly

    if update.lag_model.name == "sawtooth":
        matrix = monodromy(update)
        gap = sp.Poly(sp.expand(matrix.trace() ** 2 - 4 * matrix.det()), _x)
        meetings = _above(Fraction(0), _numbers(gap.all_coeffs(), point))
        return min(meetings, key=lambda x: float(x.mid()))
    coefficients = characteristic_polynomial(update).all_coeffs()
    fixed = _numbers([c.subs(_x, 0) for c in coefficients], point)
    pulled = _numbers([sp.diff(c, _x) for c in coefficients], point)
    slope = fixed.derivative() * pulled - fixed * pulled.derivative()
    over, under = arb_poly(fixed), arb_poly(pulled)
    tops = [-over(z) / under(z) for z in _above(point[_mu], slope) if z < 1]
    if not tops:
        raise balls.Undefined("the slow root meets no other")
    return max(tops, key=lambda x: float(x.mid()))


def _numbers(coefficients: Sequence[sp.Expr], point: Point) -> Any:
    """Return a polynomial with rational coefficients, given highest power first."""
    from flint import fmpq, fmpq_poly

    exact = [balls.rational_value(c, point) for c in reversed(coefficients)]
    if None in exact:
        raise balls.Undefined("the point leaves a symbol open")
    return fmpq_poly([fmpq(c.numerator, c.denominator) for c in exact if c is not None])


def _above(low: Fraction, polynomial: Any) -> list[Any]:
    """Return the real roots above `low`."""
    from flint import fmpq

    roots = [root.real for root, _ in polynomial.complex_roots() if root.imag.contains(0)]
    return [root for root in roots if root > fmpq(low.numerator, low.denominator)]


THRESHOLDS = (
    Target(
        "threshold",
        "first x > 0 at which the exact map loses stability",
        "1",
        LINEAR,
        _threshold,
        by_lag=lambda setting: every_lag(setting)
        and not (_has_levin_may(setting) or _is_one_number(setting)),
        contains=_contains,
        border=True,
    ),
    Target(
        "onset",
        "first x at which the dominant root is no longer real and positive",
        "1",
        LINEAR,
        _closed(onset.derive, "onset"),
        sketch=_sketched_onset,
        border=True,
    ),
    Target(
        "flip_threshold",
        "x at which a monodromy eigenvalue reaches -1",
        "1",
        LINEAR,
        _closed(sawtooth.derive, "flip"),
        border=True,
    ),
    Target(
        "neimark_sacker_threshold",
        "x at which a pair of monodromy eigenvalues reaches modulus 1",
        "1",
        LINEAR,
        _closed(sawtooth.derive, "neimark_sacker", "ns_denominator"),
        border=True,
    ),
)
