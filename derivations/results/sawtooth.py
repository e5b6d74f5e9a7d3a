r"""The exact stability border when the sampling policy is refreshed every N steps.

With the whole force stale, :math:`r = (1-\mu^N)/(1-\mu)`, and for heavy ball,

.. math:: x_c = \min\left(
          \frac{2(1-\mu)(1+\mu^N)}{N(1+\mu^N) - 2\mu r},\;
          \frac{(1-\mu)(1-\mu^N)}{\mu r - N\mu^N}\right) \ge \frac{2(1-\mu)}{N},

the first a flip, the second a Neimark-Sacker border that exists where its denominator, which is
(1 - mu) times the sum of j mu**j over j < N, is positive. Source: the theory's point 3.2;
extension. Nesterov's case of the lower bound is not in the theory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import sympy as sp

from derivations.algebra import canonical, is_zero
from derivations.characteristic import closed_monodromy
from derivations.claim import Provenance
from derivations.derivation import Derivation, Workings
from derivations.gain import is_ordinary
from derivations.judge import smt
from derivations.notation import QUANTITIES, quantity
from derivations.results.binding import binding
from derivations.results.stability_conditions import conditions
from derivations.update import LAG_MODELS, Update

__all__ = ["derive"]

_mu, _x, _N = (quantity(name) for name in ("mu", "x", "N"))
_j = sp.Symbol("j", integer=True)
_BOX = smt.box(_mu, QUANTITIES["mu"].domain)


@lru_cache(maxsize=64)
def derive(update: Update) -> Derivation:
    r"""Derive the borders of stability from the map over one refresh.

    Parameters
    ----------
    update
        Sawtooth; stale share 1, or any share with a fixed refresh.

    Returns
    -------
    Derivation
        At stale share 1, in mu and N: ``flip``, where an eigenvalue reaches -1; ``ns_denominator``,
        and where it is positive ``neimark_sacker``, where a pair reaches modulus 1; the threshold
        is the smaller. ``momentum_free``, the threshold at mu = 0; and ``sufficient``, a bound on
        x below which the map is stable for every N, attained only at mu = 0.
        At a fixed refresh ``stable``, the inequalities of the stable region, at stale share 1
        without redundant ones.

    Raises
    ------
    ValueError
        If the lag model is not the sawtooth, or the refresh is a symbol at a stale share other
        than 1, where the map over one refresh has no closed form.
    """
    if update.lag_model.name != "sawtooth":
        raise ValueError(f"lag_model {update.lag_model.name!r} has no refresh; give 'sawtooth'")
    work = Workings(
        "sawtooth-threshold", "The exact stability border under a refresh every N steps",
        Provenance.EXTENSION, update.conventions(), ("monodromy",),
        use="The step size, momentum and refresh interval at which training starts to diverge.",
    )
    results: dict[str, sp.Basic] = {}
    if is_zero(update.stale_share - 1):
        results |= _for_every_refresh(work, update)
    elif update.steps is None:
        raise ValueError(
            f"at stale share {update.stale_share} the sawtooth map has no closed form for every N; "
            "give a refresh or stale_share 1"
        )
    if update.steps is not None:
        needed: Sequence[sp.Expr] = conditions(update)
        work.argue(
            "stable region", sp.And(*(c > 0 for c in needed)),
            f"Jury's conditions on the map over {update.steps} steps",
        )
        needed = binding(work, needed) if "flip" in results else needed
        results["stable"] = sp.And(_x > 0, *(c > 0 for c in needed))
    return work.close(**results)


def _for_every_refresh(work: Workings, update: Update) -> dict[str, sp.Basic]:
    matrix = closed_monodromy(update)
    u = matrix["u"]
    o = update.optimizer
    moved, push = o.passed * o.intake, o.passed * o.intake + o.direct * (1 - _mu)
    r = (1 - u) / (1 - _mu)
    # The buffer's part in the push of a held force on q; and 1/G(1), what one unit of x is worth.
    buffered, reach = sp.cancel(moved / push), sp.cancel((1 - _mu) / push)
    trace = matrix["a11"] + matrix["a22"]
    determinant = matrix["a11"] * matrix["a22"] - matrix["a12"] * matrix["a21"]
    work.equal(
        "no eigenvalue reaches 1", 1 - trace + determinant, _x * _N * r * push,
        "with u for mu**N: positive for every x > 0",
    )
    flipped = work.equal(
        "an eigenvalue at -1", reach * (1 + trace + determinant),
        2 * reach * (1 + u) - _x * (_N * (1 + u) - 2 * buffered * _mu * r),
        "positive at x = 0 and linear in x",
    )
    turned = work.equal(
        "a pair on the unit circle", reach * (1 - determinant),
        reach * (1 - u) - _x * (buffered * _mu * r - _N * u), "positive at x = 0 and linear in x",
    )
    results: dict[str, sp.Basic] = {}
    for name, border in (("flip", flipped), ("neimark_sacker", turned)):
        slope = -sp.diff(border, _x)
        results[name] = work.solves(
            f"the {name.replace('_', '-')} border", border, _x, border.subs(_x, 0) / slope,
            "linear in x",
        )
        denominator = slope / reach
    weight = sp.expand(push * _N - _mu * o.direct)
    work.equal(
        "denominator, from N to N + 1",
        sp.Matrix([denominator.subs({u: _mu, _N: 1}, simultaneous=True),
                   denominator.subs({u: _mu * u, _N: _N + 1}, simultaneous=True) - denominator]),
        sp.Matrix([-_mu * o.direct, u * weight]),
        f"the second border is 1 - u over it; it sums ({weight.subs(_N, _j)})*mu**j over j < N",
    )
    results["ns_denominator"] = denominator
    results["momentum_free"] = work.equal(
        "without momentum", results["flip"].subs({u: 0, _mu: 0}), 2 * reach.subs(_mu, 0) / _N,
        "u = 0; the other border is then out of reach",
    )
    results = {name: _at(result, update, u) for name, result in results.items()}
    if results["ns_denominator"] == 0:
        del results["neimark_sacker"]
    if is_ordinary(Update(o, LAG_MODELS["constant"])):
        _at_least_twice(work, u)
        results["sufficient"] = _x < 2 * reach / update.lag
    return results


def _at(result: sp.Expr, update: Update, u: sp.Symbol) -> sp.Expr:
    """Put mu**N for u, and lowest terms at a fixed refresh."""
    written = result.subs({u: _mu**_N}).subs(_N, update.lag)
    return canonical(written) if update.steps is not None else written


def _at_least_twice(work: Workings, u: sp.Symbol) -> None:
    """Prove that neither border is reached while x N is below 2/G(1), for every N."""
    r = (1 - u) / (1 - _mu)
    gap = _N * (1 + u) - 2 * _mu * r
    growth = 1 - u * (_N * (1 - _mu) + _mu)

    def advanced(e: sp.Expr) -> sp.Expr:
        return e.subs({u: _mu * u, _N: _N + 1}, simultaneous=True)

    started = {u: _mu, _N: 1}
    work.equal(
        "N (1 + u) > 2 mu r at N = 1",
        sp.Matrix([gap.subs(started), growth.subs(started)]),
        sp.Matrix([1 - _mu, 1 - _mu]), "the gap and its growth start positive",
    )
    work.equal(
        "from N to N + 1", sp.Matrix([advanced(gap) - gap, advanced(growth) - growth]),
        sp.Matrix([growth, _N * u * (1 - _mu) ** 2]),
        "the growth never falls, so both stay positive: by induction for every N",
    )
    y, p = sp.symbols("y p", real=True)
    work.implies(
        "below the bound no border is reached",
        [*_BOX, u >= 0, u < 1, y > 0, y < 2 * (1 - _mu), p >= 0, 2 * p <= y * (1 + u)],
        sp.And(2 * (1 - _mu) * (1 + u) - (y * (1 + u) - 2 * p) > 0,
               (1 - _mu) * (1 - u) - (p - y * u) > 0),
        "y is x N over 1/G(1), times 1 - mu, and p its buffered x mu r: 2 p <= y (1 + u)",
    )
